"""Mathematical functions without branches, as text: LLVM turns loops that call them into vector code.

Each is a function of its module, which is inlined where it is called. Rare arguments go to the C library one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.native.llvm.rules.numbers import both, choice, compare, number
from adjoint.native.llvm.rules.table import RULES
from adjoint.native.llvm.values import LLVM_TYPES, Number, Value, bundle_of, common_kind, width_of
from adjoint.native.llvm.writer import Module, Writer, as_kind, constant, literal
from adjoint.native.llvm.writing.emission import Emission
from adjoint.native.vectors.code import Code
from adjoint.native.vectors.exponentials import write_exp, write_log, write_tanh
from adjoint.native.vectors.power import write_power
from adjoint.native.vectors.waves import write_cos, write_sin
from adjoint.runtime.arithmetic import vector_math

FIXED = "afn"
"""Lets functions be approximated: of no consequence here, but instructions with flags are given no others."""


class TextCode(Code):
    """Arithmetic on doubles as text."""

    def __init__(self, writer: Writer, width: int = 0) -> None:
        self.writer = writer
        self.width = width
        self.kind = bundle_of("f8", width)
        self.doubles, self.words, self.bits_ = (LLVM_TYPES[bundle_of(kind, width)] for kind in ("f8", "i8", "b1"))

    def number(self, value: float) -> str:
        return literal(self.kind, value)

    def word(self, value: int) -> str:
        return literal(bundle_of("i8", self.width), value - 2**64 if value >= 2**63 else value)

    def _value(self, x: Any) -> str:
        return self.number(x) if isinstance(x, float) else str(x)

    def _double(self, instruction: str, a: Any, b: Any) -> str:
        return self.writer.op(f"{instruction} {FIXED} {self.doubles} {self._value(a)}, {self._value(b)}")

    def add(self, a: Any, b: Any) -> str:
        return self._double("fadd", a, b)

    def sub(self, a: Any, b: Any) -> str:
        return self._double("fsub", a, b)

    def mul(self, a: Any, b: Any) -> str:
        return self._double("fmul", a, b)

    def div(self, a: Any, b: Any) -> str:
        return self._double("fdiv", a, b)

    def negated(self, x: Any) -> str:
        return self.writer.op(f"fneg {FIXED} {self.doubles} {self._value(x)}")

    def intrinsic(self, name: str, *args: Any) -> str:
        own = f"llvm.{name}.v{self.width}f64" if self.width else f"llvm.{name}.f64"
        return self.writer.call(own, self.doubles, [(self.doubles, self._value(arg)) for arg in args])

    def choose(self, condition: str, a: Any, b: Any) -> str:
        one, other = self._value(a), self._value(b)
        text = f"select {self.bits_} {condition}, {self.doubles} {one}, {self.doubles} {other}"
        return self.writer.op(text)

    def less(self, a: Any, b: Any) -> str:
        return self.writer.op(f"fcmp {FIXED} olt {self.doubles} {self._value(a)}, {self._value(b)}")

    def equal(self, a: Any, b: Any) -> str:
        return self.writer.op(f"fcmp {FIXED} oeq {self.doubles} {self._value(a)}, {self._value(b)}")

    def both(self, condition: str, other: str) -> str:
        return self.writer.op(f"and {self.bits_} {condition}, {other}")

    def either(self, condition: str, other: str) -> str:
        return self.writer.op(f"or {self.bits_} {condition}, {other}")

    def unless(self, condition: str, other: str) -> str:
        every = literal(bundle_of("b1", self.width), True)
        return self.both(self.writer.op(f"xor {self.bits_} {condition}, {every}"), other)

    def has_bits(self, word: str, mask: int) -> str:
        return self.writer.op(f"icmp ne {self.words} {self.masked(word, mask)}, {self.word(0)}")

    def bits(self, x: Any) -> str:
        return self.writer.op(f"bitcast {self.doubles} {self._value(x)} to {self.words}")

    def from_bits(self, word: str) -> str:
        return self.writer.op(f"bitcast {self.words} {word} to {self.doubles}")

    def _word(self, instruction: str, a: str, b: str) -> str:
        return self.writer.op(f"{instruction} {self.words} {a}, {b}")

    def plus_word(self, word: str, other: str) -> str:
        return self._word("add", word, other)

    def minus_word(self, word: str, other: str) -> str:
        return self._word("sub", word, other)

    def masked(self, word: str, mask: int) -> str:
        return self._word("and", word, self.word(mask))

    def with_bits(self, word: str, mask: int) -> str:
        return self._word("or", word, self.word(mask))

    def differing(self, word: str, other: str) -> str:
        return self._word("xor", word, other)

    def shifted_left(self, word: str, places: int) -> str:
        return self._word("shl", word, self.word(places))

    def shifted_right(self, word: str, places: int) -> str:
        return self._word("lshr", word, self.word(places))

    def where_large(self, name: str, bound: float, x: Any, found: Any) -> str:
        own = f"rare_{name}"
        module = self.writer.module
        if own not in module.functions:
            _declare_rare(module, name, bound)
        if self.width:
            return self._where_any_is_large(own, bound, x, found)
        forms = ",".join(f"_ZGV_LLVM_N{width}vv_{own}({own}_{width})" for width in _WIDTHS)
        return self.writer.op(
            f"call double @{own}(double {self._value(x)}, double {self._value(found)}) "
            f'"vector-function-abi-variant"="{forms}"'
        )

    def _where_any_is_large(self, own: str, bound: float, x: Any, found: Any) -> str:
        """The same for several numbers, none of which is large as a rule."""
        writer, width = self.writer, self.width
        several = f"{own}_{width}"
        if several not in writer.module.functions:
            _declare_several(writer.module, own, bound, width)
        size = self.magnitude(x)
        large = writer.op(f"fcmp {FIXED} ogt {self.doubles} {size}, {self.number(bound)}")
        some = writer.op(f"icmp ne i{width} {writer.op(f'bitcast {self.bits_} {large} to i{width}')}, 0")
        before, rare, usual = writer.label, writer.new_label("rare"), writer.new_label("usual")
        writer.branch(some, rare, usual, ", !prof !0")
        writer.start(rare)
        mended = writer.op(f"call {self.doubles} @{several}({self.doubles} {x}, {self.doubles} {found})")
        writer.jump(usual)
        writer.start(usual)
        return writer.phi(self.doubles, [(found, before), (mended, rare)])


_WIDTHS = (2, 4, 8)
_PROMISES = "noinline nounwind willreturn memory(none)"


def _declare_rare(module: Module, name: str, bound: float) -> None:
    """The function that looks for large arguments, and its forms for several numbers at once."""
    own, far = f"rare_{name}", literal("f8", bound)
    intrinsic = f"llvm.{name}.f64"
    module.declare(intrinsic, "double", ["double"])
    module.declare("llvm.fabs.f64", "double", ["double"])
    module.functions[own] = f"""define weak_odr double @{own}(double %x, double %found) {_PROMISES} {{
  %size = call double @llvm.fabs.f64(double %x)
  %large = fcmp afn ogt double %size, {far}
  br i1 %large, label %rare, label %usual, !prof !0
rare:
  %right = call double @{intrinsic}(double %x)
  ret double %right
usual:
  ret double %found
}}"""
    for width in _WIDTHS:
        _declare_several(module, own, bound, width)


def _declare_several(module: Module, own: str, bound: float, width: int) -> None:
    """The form for several numbers at once."""
    kind = f"<{width} x double>"
    module.declare(f"llvm.fabs.v{width}f64", kind, [kind])
    bounds = literal(f"f8x{width}", bound)
    mended = []
    last = "%found"
    for place in range(width):
        mended += [
            f"  %x{place} = extractelement {kind} %x, i32 {place}",
            f"  %f{place} = extractelement {kind} %found, i32 {place}",
            f"  %r{place} = call double @{own}(double %x{place}, double %f{place})",
            f"  %m{place} = insertelement {kind} {last}, double %r{place}, i32 {place}",
        ]
        last = f"%m{place}"
    text = "\n".join(mended)
    module.functions[
        f"{own}_{width}"
    ] = f"""define weak_odr {kind} @{own}_{width}({kind} %x, {kind} %found) {_PROMISES} {{
  %size = call {kind} @llvm.fabs.v{width}f64({kind} %x)
  %large = fcmp afn ogt {kind} %size, {bounds}
  %bits = bitcast <{width} x i1> %large to i{width}
  %some = icmp ne i{width} %bits, 0
  br i1 %some, label %rare, label %usual, !prof !0
rare:
{text}
  ret {kind} {last}
usual:
  ret {kind} %found
}}"""


def _declare(callee: Any, name: str, write: Callable[..., Any], count: int) -> None:
    def rule(e: Emission, *values: Value) -> Number:
        module = e.writer.module
        given = [number(value) for value in values]
        single = all(each.kind == "f4" for each in given)
        width = width_of(common_kind([each.kind for each in given]))
        kind = bundle_of("f8", width)
        own = f"vector_{name}_{width}" if width else f"vector_{name}"
        if own not in module.functions:
            module.functions[own] = _function(module, own, write, count, width)
        args = ", ".join(f"{LLVM_TYPES[kind]} {as_kind(e.writer, each, kind).name}" for each in given)
        found = Number(kind, e.writer.op(f"call {LLVM_TYPES[kind]} @{own}({args})"))
        return as_kind(e.writer, found, "f4") if single else found

    RULES[callee] = rule


def _function(module: Module, name: str, write: Callable[..., Any], count: int, width: int) -> str:
    writer = Writer(module)
    params = [writer.name() for _ in range(count)]
    code = TextCode(writer, width)
    found = write(code, *params)
    text = ", ".join(f"{code.doubles} {param}" for param in params)
    head = f"define internal {code.doubles} @{name}({text}) alwaysinline nounwind {{"
    return "\n".join([head, "entry:", *writer.lines, f"  ret {code.doubles} {found}", "}"])


_declare(vector_math.vector_exp, "exp", write_exp, 1)
_declare(vector_math.vector_log, "log", write_log, 1)
_declare(vector_math.vector_tanh, "tanh", write_tanh, 1)
_declare(vector_math.vector_sin, "sin", write_sin, 1)
_declare(vector_math.vector_cos, "cos", write_cos, 1)
_declare(vector_math.vector_power, "power", write_power, 2)


def _power_to_infinity(e: Emission, x: Value, y: Value) -> Number:
    pole = both(e, compare(e, "eq", x, constant(0.0)), compare(e, "lt", y, constant(0.0)))
    found = RULES[vector_math.vector_power](e, x, y)
    return choice(e, pole, constant(float("inf")), found)


RULES[vector_math.vector_power_to_infinity] = _power_to_infinity
