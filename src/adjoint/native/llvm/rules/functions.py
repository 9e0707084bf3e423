"""Mathematical functions: intrinsics of LLVM, and the C library."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.native.llvm.rules import numbers
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import Number, Unsupported, Value, bundle_of, width_of
from adjoint.native.llvm.writer import as_kind, constant, literal, whole
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.arithmetic import numbers as runtime_numbers


def _declare_intrinsic(name: str, *callees: Any) -> None:
    @rule(*callees)
    def write(e: Emission, *values: Value) -> Number:
        given = numbers.floats(e, *values)
        return Number(given[0].kind, numbers.intrinsic(e, name, given[0].kind, *[each.name for each in given]))


for _name, *_callees in (
    ("sqrt", math.sqrt, np.sqrt),
    ("exp", math.exp, np.exp),
    ("exp2", getattr(math, "exp2", np.exp2), np.exp2),
    ("log", math.log, np.log),
    ("log2", math.log2, np.log2),
    ("log10", math.log10, np.log10),
    ("sin", math.sin, np.sin),
    ("cos", math.cos, np.cos),
    ("fabs", math.fabs, np.fabs),
    ("floor", np.floor),
    ("ceil", np.ceil),
    ("trunc", np.trunc),
    ("rint", np.rint),
    ("copysign", math.copysign, np.copysign),
):
    _declare_intrinsic(_name, *_callees)


_PURE = "nounwind willreturn memory(none)"


def _of_library(e: Emission, name: str, *values: Number) -> Number:
    """A function of the C library."""
    return Number("f8", e.writer.call(name, "double", [("double", each.name) for each in values], _PURE))


def _declare_in_double(name: str, compute: Callable[..., Number], *callees: Any) -> None:
    """Declares what is computed in double precision; of single precision the result is single, too."""

    @rule(*callees)
    def write(e: Emission, *values: Value) -> Number:
        given = [numbers.number(value) for value in values]
        if any(width_of(each.kind) for each in given):
            raise Unsupported(f"{name} of bundles")
        found = compute(e, *[as_kind(e.writer, each, "f8") for each in given])
        return as_kind(e.writer, found, "f4") if all(each.kind == "f4" for each in given) else found


def _declare_library(name: str, *callees: Any) -> None:
    _declare_in_double(name, lambda e, *values: _of_library(e, name, *values), *callees)


for _own, *_usual in (
    ("tan", math.tan, np.tan),
    ("asin", math.asin, np.arcsin),
    ("acos", math.acos, np.arccos),
    ("atan", math.atan, np.arctan),
    ("atan2", math.atan2, np.arctan2),
    ("sinh", math.sinh, np.sinh),
    ("cosh", math.cosh, np.cosh),
    ("tanh", math.tanh, np.tanh),
    ("asinh", math.asinh, np.arcsinh),
    ("acosh", math.acosh, np.arccosh),
    ("atanh", math.atanh, np.arctanh),
    ("expm1", math.expm1, np.expm1),
    ("log1p", math.log1p, np.log1p),
    ("cbrt", np.cbrt),
    ("erf", math.erf),
    ("erfc", math.erfc),
    ("fmod", math.fmod, np.fmod),
    ("pow", math.pow),
    ("tgamma", math.gamma),
    ("lgamma", math.lgamma),
):
    _declare_library(_own, *_usual)


_LEAST_SQUARE, _MOST_SQUARE = 1e-280, 1e280
"""Sums of squares between these have lost nothing to underflow, and nothing to overflow."""


def _hypot(e: Emission, x: Number, y: Number) -> Number:
    """The root of the sum of squares, where that is in range: the C library is called for what is not."""
    writer = e.writer
    total = numbers.arithmetic(e, "fadd", numbers.arithmetic(e, "fmul", x, x), numbers.arithmetic(e, "fmul", y, y))
    least, most = constant(_LEAST_SQUARE, "f8"), constant(_MOST_SQUARE, "f8")
    in_range = numbers.both(e, numbers.compare(e, "gt", total, least), numbers.compare(e, "lt", total, most))
    root, library, on = (writer.new_label(name) for name in ("root", "hypot", "on"))
    writer.branch(in_range.name, root, library)
    writer.start(root)
    fast = numbers.intrinsic(e, "sqrt", "f8", total.name)
    writer.jump(on)
    writer.start(library)
    slow = _of_library(e, "hypot", x, y)
    writer.jump(on)
    writer.start(on)
    return Number("f8", writer.phi("double", [(fast, root), (slow.name, library)]))


_declare_in_double("hypot", _hypot, math.hypot, np.hypot)


@rule(runtime_numbers.log)
def _log(e: Emission, value: Value) -> Number:
    return RULES[np.log](e, value)  # type: ignore[no-any-return]


@rule(runtime_numbers.sqrt)
def _sqrt(e: Emission, value: Value) -> Number:
    return RULES[np.sqrt](e, value)  # type: ignore[no-any-return]


@rule(builtins.abs, np.abs, np.absolute)
def magnitude(e: Emission, value: Value) -> Number:
    given = numbers.number(value)
    if numbers.is_float(given):
        return Number(given.kind, numbers.intrinsic(e, "fabs", given.kind, given.name))
    word = numbers.word(e, given)
    return whole(e.writer.most(word, e.writer.op(f"sub i64 0, {word}")))


def _declare_rounding(name: str, callee: Any) -> None:
    @rule(callee)
    def write(e: Emission, value: Value) -> Number:
        given = numbers.number(value)
        if not numbers.is_float(given):
            return as_kind(e.writer, given, "i8")
        return as_kind(e.writer, Number(given.kind, numbers.intrinsic(e, name, given.kind, given.name)), "i8")


_declare_rounding("floor", math.floor)
_declare_rounding("ceil", math.ceil)
_declare_rounding("trunc", math.trunc)


@rule(np.sign)
def _sign(e: Emission, value: Value) -> Number:
    given = numbers.number(value)
    zero, kind = constant(0, given.kind), given.kind
    if kind[0] not in "fi" or width_of(kind):
        raise Unsupported("signs of these numbers")
    below = numbers.choice(e, numbers.compare(e, "lt", given, zero), constant(-1, kind), given)
    return numbers.choice(e, numbers.compare(e, "gt", given, zero), constant(1, kind), below)


@rule(runtime_numbers.sign)
def _sign_of(e: Emission, value: Value) -> Number:
    given = numbers.number(value)
    if not numbers.is_float(given):
        raise Unsupported("signs of whole numbers")
    flat = Number(given.kind, e.writer.op(f"fmul {given.type} {given.name}, {literal(given.kind, 0.0)}"))
    below = numbers.choice(
        e, numbers.compare(e, "lt", given, constant(0.0, given.kind)), constant(-1.0, given.kind), flat
    )
    return numbers.choice(
        e, numbers.compare(e, "gt", given, constant(0.0, given.kind)), constant(1.0, given.kind), below
    )


def _declare_extreme(order: str, *callees: Any) -> None:
    @rule(*callees)
    def write(e: Emission, *values: Value) -> Number:
        found, *others = [numbers.number(value) for value in values]
        if not others:
            raise Unsupported("the extreme of what is no number")
        for each in others:
            found = numbers.choice(e, numbers.compare(e, order, found, each), each, found)
        return found


_declare_extreme("lt", max)
_declare_extreme("gt", min)


def _declare_numpy_extreme(name: str, order: str, *callees: Any) -> None:
    @rule(*callees)
    def write(e: Emission, a: Value, b: Value) -> Number:
        one, other = numbers.common(e, a, b)
        if numbers.is_float(one):
            return Number(one.kind, numbers.intrinsic(e, name, one.kind, one.name, other.name))
        return numbers.choice(e, numbers.compare(e, order, one, other), one, other)


_declare_numpy_extreme("maximum", "gt", np.maximum, fused_loops.largest)
_declare_numpy_extreme("minimum", "lt", np.minimum, fused_loops.smallest)
_declare_numpy_extreme("maxnum", "gt", np.fmax)
_declare_numpy_extreme("minnum", "lt", np.fmin)


@rule(math.isnan, np.isnan)
def is_nan(e: Emission, value: Value) -> Number:
    given = numbers.as_float(e, value)
    name = e.writer.op(f"fcmp uno {given.type} {given.name}, {given.name}")
    return Number(bundle_of("b1", width_of(given.kind)), name)


@rule(math.isinf, np.isinf)
def is_infinite(e: Emission, value: Value) -> Number:
    given = magnitude(e, numbers.as_float(e, value))
    return numbers.compare(e, "eq", given, constant(math.inf, given.kind))


@rule(math.isfinite, np.isfinite)
def is_finite(e: Emission, value: Value) -> Number:
    given = magnitude(e, numbers.as_float(e, value))
    return numbers.compare(e, "lt", given, constant(math.inf, given.kind))
