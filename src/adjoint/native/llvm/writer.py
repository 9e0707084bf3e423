"""Text of LLVM IR: lines of one function, names for its values, and literals."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Sequence

from adjoint.native.llvm.values import LLVM_TYPES, Complex, Number, Unsupported, part_of, size_of, width_of


def literal(kind: str, value: bool | int | float) -> str:
    """A number as LLVM reads it."""
    if width_of(kind):
        number_kind = kind[:2]
        return f"splat ({LLVM_TYPES[number_kind]} {literal(number_kind, value)})"
    if kind[0] == "f":
        number = float(value)
        if kind == "f4" and math.isfinite(number):
            number = struct.unpack("f", struct.pack("f", number))[0]
        return f"0x{struct.unpack('Q', struct.pack('d', number))[0]:016X}"
    if kind == "b1":
        return "true" if value else "false"
    return str(int(value))


def constant(value: bool | int | float, kind: str | None = None) -> Number:
    """A number that is known; of Python's own kinds if none is told."""
    if kind is None:
        kind = "b1" if isinstance(value, bool) else "i8" if isinstance(value, int) else "f8"
    if kind == "i8" and not -(2**63) <= int(value) < 2**63:
        raise Unsupported("a whole number of more than 64 bits")
    return Number(kind, literal(kind, value))


def truth(name: str) -> Number:
    """A truth value."""
    return Number("b1", name)


def whole(name: str) -> Number:
    """A whole number."""
    return Number("i8", name)


class Module:
    """What functions of a module share: intrinsics, functions from elsewhere, global texts."""

    def __init__(self) -> None:
        self.declarations: dict[str, str] = {}
        self.functions: dict[str, str] = {}
        self.loops = 0
        self.one_by_one: set[int] = set()

    def declare(self, name: str, result: str, params: Sequence[str], attributes: str = "") -> None:
        """Declares a function that is elsewhere."""
        if name not in self.functions:
            self.declarations[name] = f"declare {result} @{name}({', '.join(params)}) {attributes}".rstrip()

    def text(self, header: str, *, in_order: bool = True) -> str:
        """The module; ``in_order`` says that sums keep the order in which the program adds up."""
        loops = []
        for place in range(_FIRST_LOOP, _FIRST_LOOP + self.loops):
            one_by_one = ", !2" if in_order and place in self.one_by_one else ""
            loops.append(f"!{place} = distinct !{{!{place}, !1{one_by_one}}}")
        kinds = [f"!1 = {_NOT_UNROLLED}", f"!2 = {_NOT_VECTORIZED}"] if loops else []
        return "\n".join([header, *self.declarations.values(), *self.functions.values(), *kinds, *loops, ""])

    def new_loop(self, *, one_by_one: bool) -> str:
        """What the last jump of a loop says of it; ``one_by_one``: that vectors do not pay where sums keep an order."""
        place = _FIRST_LOOP + self.loops
        self.loops += 1
        if one_by_one:
            self.one_by_one.add(place)
        return f"!llvm.loop !{place}"


_FIRST_LOOP = 3
_NOT_UNROLLED = '!{!"llvm.loop.unroll.runtime.disable"}'
"""A loop whose length is known as it runs only stays one, or becomes one of vectors. Copies of its body for several
iterations gain nothing (33 kernels and GradBench: within a hundredth), and are up to a quarter of what is compiled."""
_NOT_VECTORIZED = '!{!"llvm.loop.vectorize.enable", i1 false}'


class Writer:
    """Writes the body of one function."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.lines: list[str] = []
        self._count = 0
        self.label = "entry"

    def name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def new_label(self, hint: str) -> str:
        self._count += 1
        return f"{hint}{self._count}"

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def op(self, text: str) -> str:
        """An instruction that gives a value; its name."""
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        return name

    def start(self, label: str) -> None:
        """Begins a block."""
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        self.line(f"br label %{label}")

    def jump_back(self, label: str, *, one_by_one: bool = False) -> None:
        """Ends an iteration."""
        self.line(f"br label %{label}, {self.module.new_loop(one_by_one=one_by_one)}")

    def branch(self, condition: str, then: str, otherwise: str, weights: str = "") -> None:
        self.line(f"br i1 {condition}, label %{then}, label %{otherwise}{weights}")

    def phi(self, kind: str, incoming: Iterable[tuple[str, str]]) -> str:
        """A value that depends on the block before: pairs of a value and a block."""
        return self.op(f"phi {kind} {', '.join(f'[ {value}, %{label} ]' for value, label in incoming)}")

    def call(self, name: str, result: str, args: Sequence[tuple[str, str]], attributes: str = "") -> str:
        """Calls a function that is elsewhere, or an intrinsic."""
        self.module.declare(name, result, [kind for kind, _ in args], attributes)
        text = f"call {result} @{name}({', '.join(f'{kind} {value}' for kind, value in args)})"
        if result == "void":
            self.line(text)
            return ""
        return self.op(text)

    # Whole numbers of 64 bits, with literals folded

    def add(self, a: str, b: str) -> str:
        if is_literal(a) and is_literal(b):
            return str(int(a) + int(b))
        if a == "0":
            return b
        if b == "0":
            return a
        return self.op(f"add nsw i64 {a}, {b}")

    def sub(self, a: str, b: str) -> str:
        if is_literal(a) and is_literal(b):
            return str(int(a) - int(b))
        return a if b == "0" else self.op(f"sub nsw i64 {a}, {b}")

    def mul(self, a: str, b: str) -> str:
        if is_literal(a) and is_literal(b):
            return str(int(a) * int(b))
        if "0" in (a, b):
            return "0"
        if a == "1":
            return b
        if b == "1":
            return a
        return self.op(f"mul nsw i64 {a}, {b}")

    def mul_or_overflow(self, a: str, b: str) -> tuple[str, str]:
        """The product, and whether it is larger than 64 bits hold."""
        self.module.declare("llvm.smul.with.overflow.i64", "{ i64, i1 }", ["i64", "i64"])
        both = self.op(f"call {{ i64, i1 }} @llvm.smul.with.overflow.i64(i64 {a}, i64 {b})")
        return self.op(f"extractvalue {{ i64, i1 }} {both}, 0"), self.op(f"extractvalue {{ i64, i1 }} {both}, 1")

    def compare(self, order: str, a: str, b: str) -> str:
        """``icmp``: ``eq``, ``ne``, ``slt``, ``sge``, ..."""
        return self.op(f"icmp {order} i64 {a}, {b}")

    def select(self, condition: str, kind: str, a: str, b: str) -> str:
        return a if a == b else self.op(f"select i1 {condition}, {kind} {a}, {kind} {b}")

    def least(self, a: str, b: str) -> str:
        return self.select(self.compare("slt", a, b), "i64", a, b)

    def most(self, a: str, b: str) -> str:
        return self.select(self.compare("sgt", a, b), "i64", a, b)

    # Memory

    def place(self, data: str, offset: str) -> str:
        """An address some bytes on."""
        return data if offset == "0" else self.op(f"getelementptr inbounds i8, ptr {data}, i64 {offset}")

    def parts_at(self, address: str, types: Iterable[str]) -> list[str]:
        """Values that lie one behind the other, each in a word."""
        return [self.op(f"load {part}, ptr {self.place(address, str(8 * at))}") for at, part in enumerate(types)]

    def put_parts(self, address: str, parts: Iterable[tuple[str, str]]) -> None:
        """Puts values, with their types, one behind the other, each into a word."""
        for at, (part, name) in enumerate(parts):
            self.line(f"store {part} {name}, ptr {self.place(address, str(8 * at))}")

    def strides_by_rows(self, element: str, shape: Sequence[str]) -> tuple[str, ...]:
        """The strides of an array of a kind of elements that lie in the order of rows."""
        strides = [str(size_of(element))]
        for extent in reversed(shape[1:]):
            strides.append(self.mul(strides[-1], extent))
        return tuple(strides[::-1][: len(shape)])

    # Loops

    def each(self, count: str, body: Callable[[str], None]) -> None:
        """A loop over so many places."""
        before = self.label
        head, inner, end = (self.new_label(hint) for hint in ("each", "one", "after"))
        self.jump(head)
        self.start(head)
        counter = self.name()
        line = len(self.lines)
        self.lines.append("")
        self.branch(self.compare("slt", counter, count), inner, end)
        self.start(inner)
        body(counter)
        following = self.op(f"add nsw i64 {counter}, 1")
        self.lines[line] = f"  {counter} = phi i64 [ 0, %{before} ], [ {following}, %{self.label} ]"
        self.jump_back(head)
        self.start(end)


def is_literal(name: str) -> bool:
    return name[0] in "-0123456789"


def as_kind(writer: Writer, number: Number, kind: str) -> Number:
    """A number as one of another kind, converted as NumPy and C do it."""
    given = number.kind
    if given == kind:
        return number
    if width_of(kind):
        return _repeated(writer, number, kind)
    if width_of(given):
        raise Unsupported("a bundle in place of a number")
    mine, theirs = LLVM_TYPES[given], LLVM_TYPES[kind]
    name = number.name
    if given[0] == "f":
        if kind[0] == "f":
            return Number(kind, writer.op(f"{'fpext' if kind == 'f8' else 'fptrunc'} {mine} {name} to {theirs}"))
        if kind == "b1":
            return Number(kind, writer.op(f"fcmp une {mine} {name}, {literal(given, 0.0)}"))
        instruction = "fptoui" if kind[0] == "u" else "fptosi"
        found = writer.op(f"{instruction} {mine} {name} to {theirs}")
        return Number(kind, writer.op(f"freeze {theirs} {found}"))  # some number, where it is too large for any
    if kind == "b1":
        return Number(kind, writer.op(f"icmp ne {mine} {name}, 0"))
    if kind[0] == "f":
        if is_literal(name):
            return Number(kind, literal(kind, int(name)))
        instruction = "uitofp" if given[0] in "ub" else "sitofp"
        return Number(kind, writer.op(f"{instruction} {mine} {name} to {theirs}"))
    if name in ("true", "false"):
        return Number(kind, "1" if name == "true" else "0")
    if is_literal(name):
        return Number(kind, name)
    if mine == theirs:
        return Number(kind, name)
    wider = int(theirs[1:]) > int(mine[1:])
    instruction = "trunc" if not wider else "zext" if given[0] in "ub" else "sext"
    return Number(kind, writer.op(f"{instruction} {mine} {name} to {theirs}"))


def as_complex(writer: Writer, value: Number | Complex, kind: str) -> Complex:
    """A number as a complex one of a kind."""
    part = part_of(kind)
    if isinstance(value, Number):
        return Complex(kind, as_kind(writer, value, part).name, literal(part, 0.0))
    real, imag = (as_kind(writer, each, part).name for each in value.parts)
    return Complex(kind, real, imag)


def _repeated(writer: Writer, number: Number, kind: str) -> Number:
    """A number as a bundle that has it everywhere."""
    if width_of(number.kind):
        raise Unsupported("bundles of several kinds")
    one, wanted = as_kind(writer, number, kind[:2]), LLVM_TYPES[kind]
    first = writer.op(f"insertelement {wanted} poison, {one.type} {one.name}, i32 0")
    places = f"<{width_of(kind)} x i32> zeroinitializer"
    return Number(kind, writer.op(f"shufflevector {wanted} {first}, {wanted} poison, {places}"))
