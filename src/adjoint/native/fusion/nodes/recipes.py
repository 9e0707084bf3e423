"""What element-wise functions do to elements."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.join import is_python_number
from adjoint.native.costs import DIVISION, MOST_FACTORS, SLOW
from adjoint.native.fusion.nodes.complexes import complex_recipe, is_complex
from adjoint.native.fusion.nodes.terms import Recipe
from adjoint.native.fusion.scalars import DTYPES, Scalars
from adjoint.runtime.arithmetic import fused_loops, numbers
from adjoint.types.classes.safe_lookups import found_in

_Special = Callable[[Sequence[ir.Atom], np.dtype], tuple[Recipe, int] | None]
_ARITHMETIC: dict[Any, tuple[Any, int]] = {
    operator.add: (operator.add, 1),
    operator.sub: (operator.sub, 1),
    operator.mul: (operator.mul, 1),
    np.add: (operator.add, 1),
    np.subtract: (operator.sub, 1),
    np.multiply: (operator.mul, 1),
    operator.neg: (operator.neg, 1),
    np.negative: (operator.neg, 1),
    operator.pos: (operator.pos, 0),
    np.positive: (operator.pos, 0),
    abs: (abs, 1),
    np.abs: (abs, 1),
    np.maximum: (fused_loops.largest, 2),
    np.minimum: (fused_loops.smallest, 2),
}
_OF_FLOATS: dict[Any, tuple[Any, int]] = {
    operator.truediv: (operator.truediv, DIVISION),
    np.divide: (operator.truediv, DIVISION),
    np.fabs: (abs, 1),
    np.sqrt: (np.sqrt, DIVISION),
    numbers.sqrt: (np.sqrt, DIVISION),
    numbers.log: (np.log, SLOW),
    np.floor: (np.floor, 1),
    np.ceil: (np.ceil, 1),
    np.trunc: (np.trunc, 1),
    np.copysign: (np.copysign, 1),
}
_OF_FLOATS |= {
    function: (function, SLOW)
    for function in (
        *(np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.sin, np.cos, np.tan),
        *(np.arcsin, np.arccos, np.arctan, np.arctan2, np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh),
        *(np.hypot, np.deg2rad, np.rad2deg, np.radians, np.degrees, np.logaddexp),
    )
}
_COMPARISONS: dict[Any, Any] = {
    function: getattr(operator, name)
    for name, ufunc in (
        *(("lt", np.less), ("le", np.less_equal), ("gt", np.greater), ("ge", np.greater_equal)),
        *(("eq", np.equal), ("ne", np.not_equal)),
    )
    for function in (getattr(operator, name), ufunc)
}
_TESTS = {np.isnan: np.isnan, np.isinf: np.isinf, np.isfinite: np.isfinite}
_OF_TRUTHS: dict[Any, Any] = {
    operator.and_: operator.and_,
    operator.or_: operator.or_,
    operator.xor: operator.xor,
    operator.invert: operator.not_,
    np.logical_and: operator.and_,
    np.logical_or: operator.or_,
    np.logical_xor: operator.xor,
    np.logical_not: operator.not_,
}


def recipe_for(callee: Any, args: Sequence[ir.Atom], dtype: np.dtype) -> tuple[Recipe, int] | None:
    """How to compute an element of dtype ``dtype``, and at what cost; None for functions that are not known."""
    if not all(map(is_number, args)):
        return None
    kind = dtype.kind
    special: _Special | None = found_in(_SPECIAL, callee)
    if kind == "c" and special is _chosen:
        return special(args, dtype)
    if kind == "c" or any(map(is_complex, args)):
        return complex_recipe(callee, args, dtype)
    if (known := found_in(_ARITHMETIC, callee)) and kind != "b":
        return _applied(known[0], dtype), known[1]
    if (known := found_in(_OF_FLOATS, callee)) and kind == "f":
        return _applied(known[0], dtype), known[1]
    if comparison := found_in(_COMPARISONS, callee):
        return _compared(comparison, common_dtype(args)), 1
    if (test := found_in(_TESTS, callee)) and common_dtype(args).kind == "f":
        return (lambda scalars, parts: scalars.call(test, *parts, type=ir.BOOL)), 1
    if (of_truths := found_in(_OF_TRUTHS, callee)) and all(_dtype_of(arg) == np.bool_ for arg in args):
        return (lambda scalars, parts: scalars.of_dtype(of_truths, *parts, dtype=dtype)), 1
    return None if special is None else special(args, dtype)


def is_number(atom: ir.Atom) -> bool:
    """Whether an atom is a number or array that recipes work on."""
    match atom:
        case ir.Const(value=value):
            return type(value) in (bool, int, float, complex)
        case ir.Var(type=ir.Scalar(dtype=dtype)):
            return dtype is None or dtype in DTYPES
        case ir.Var(type=ir.Array(dtype=dtype)):
            return dtype is not None and dtype in DTYPES
        case _:
            return False


def _dtype_of(atom: ir.Atom) -> np.dtype | None:
    if isinstance(atom, ir.Var):
        type_ = atom.type
        assert isinstance(type_, (ir.Array, ir.Scalar))
        return np.dtype(np.bool_) if isinstance(type_, ir.Scalar) and type_.kind == "bool" else type_.dtype
    return np.dtype(np.bool_) if isinstance(atom, ir.Const) and type(atom.value) is bool else None


_EXAMPLES: dict[str, Any] = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}


def common_dtype(args: Sequence[ir.Atom]) -> np.dtype:
    """The dtype in which NumPy compares."""
    parts: list[Any] = []
    for arg in args:
        if isinstance(arg, ir.Const):
            parts.append(arg.value)
        elif isinstance(arg, ir.Var) and isinstance(arg.type, (ir.Array, ir.Scalar)):
            kind = arg.type.kind if isinstance(arg.type, ir.Scalar) else ""
            parts.append(_EXAMPLES[kind] if arg.type.dtype is None else arg.type.dtype)
    return np.result_type(*parts)


def _applied(function: Callable[..., Any], dtype: np.dtype) -> Recipe:
    def apply(scalars: Scalars, parts: tuple[ir.Atom, ...]) -> ir.Atom:
        operands = [scalars.cast(part, dtype) for part in parts]
        raises = function is operator.truediv and all(map(is_python_number, operands))
        return scalars.of_dtype(np.true_divide if raises else function, *operands, dtype=dtype)

    return apply


def _compared(function: Callable[..., Any], dtype: np.dtype) -> Recipe:
    return lambda scalars, parts: scalars.compare(function, *[scalars.cast(part, dtype) for part in parts])


def _square(args: Sequence[ir.Atom], dtype: np.dtype) -> tuple[Recipe, int] | None:
    if dtype.kind == "b":
        return None
    return (lambda scalars, parts: _powers(scalars, scalars.cast(parts[0], dtype), 2, dtype)), 1


def _reciprocal(args: Sequence[ir.Atom], dtype: np.dtype) -> tuple[Recipe, int] | None:
    if dtype.kind != "f":
        return None
    divide = _applied(operator.truediv, dtype)
    return (lambda scalars, parts: divide(scalars, (ir.Const(1.0), *parts))), DIVISION


def _power(args: Sequence[ir.Atom], dtype: np.dtype) -> tuple[Recipe, int] | None:
    exponent = args[1].value if isinstance(args[1], ir.Const) else None
    if isinstance(exponent, (int, float)) and exponent in range(1, MOST_FACTORS + 1) and dtype.kind != "b":
        count = int(exponent)
        return (lambda scalars, parts: _powers(scalars, scalars.cast(parts[0], dtype), count, dtype)), count - 1
    if dtype.kind != "f":
        return None
    if exponent == 0.5:
        root = _applied(np.sqrt, dtype)
        return (lambda scalars, parts: root(scalars, parts[:1])), DIVISION
    return _applied(operator.pow, dtype), SLOW


def _powers(scalars: Scalars, base: ir.Atom, count: int, dtype: np.dtype) -> ir.Atom:
    result = base
    for _ in range(count - 1):
        result = scalars.of_dtype(operator.mul, result, base, dtype=dtype)
    return result


def _cleared(function: Callable[..., Any], cost: int) -> Callable[..., tuple[Recipe, int] | None]:
    """A product or quotient that is zero where its first operand is."""

    def of(args: Sequence[ir.Atom], dtype: np.dtype) -> tuple[Recipe, int] | None:
        if dtype.kind != "f":
            return None
        plain = _applied(function, dtype)
        if isinstance(args[0], ir.Const) and args[0].value:
            return plain, cost

        def recipe(scalars: Scalars, parts: tuple[ir.Atom, ...]) -> ir.Atom:
            first = scalars.cast(parts[0], dtype)
            value = plain(scalars, (first, parts[1]))
            zero = scalars.cast(ir.Const(0.0), dtype)
            return scalars.choose(scalars.compare(operator.eq, first, zero), zero, value, dtype)

        return recipe, cost + 1

    return of


def _floating(function: Callable[..., Any], cost: int) -> Callable[..., tuple[Recipe, int] | None]:
    """A product or quotient of floats."""
    return lambda args, dtype: (_applied(function, dtype), cost) if dtype.kind == "f" else None


def _selected(args: Sequence[ir.Atom], dtype: np.dtype) -> tuple[Recipe, int] | None:
    if dtype.kind != "f":
        return None
    kind = _dtype_of(args[0])

    def recipe(scalars: Scalars, parts: tuple[ir.Atom, ...]) -> ir.Atom:
        support, value = parts
        zero = scalars.cast(ir.Const(0.0), dtype)
        if kind == np.bool_:
            return scalars.choose(support, scalars.cast(value, dtype), zero, dtype)
        is_zero = scalars.compare(operator.eq, scalars.cast(support, dtype), zero)
        return scalars.choose(is_zero, zero, scalars.cast(value, dtype), dtype)

    return recipe, 1


def _undefined(args: Sequence[ir.Atom], dtype: np.dtype) -> tuple[Recipe, int] | None:
    if dtype.kind != "f" or _dtype_of(args[0]) != np.bool_:
        return None
    zero, none = ir.Const(0.0), ir.Const(math.nan)
    return (lambda scalars, parts: scalars.choose(parts[0], zero, none, dtype)), 1


def _chosen(args: Sequence[ir.Atom], dtype: np.dtype) -> tuple[Recipe, int] | None:
    if len(args) != 3 or _dtype_of(args[0]) != np.bool_:
        return None

    def recipe(scalars: Scalars, parts: tuple[ir.Atom, ...]) -> ir.Atom:
        condition, a, b = parts
        return scalars.choose(condition, scalars.cast(a, dtype), scalars.cast(b, dtype), dtype)

    return recipe, 1


def converted(dtype: np.dtype) -> Recipe:
    """The element itself, in a dtype."""
    return lambda scalars, parts: scalars.cast(parts[0], dtype)


_SPECIAL: dict[Any, _Special] = {
    np.square: _square,
    np.reciprocal: _reciprocal,
    operator.pow: _power,
    np.power: _power,
    np.float_power: _power,
    numbers.power: _power,
    numbers.divide: _cleared(operator.truediv, DIVISION),
    numbers.times: _cleared(operator.mul, 1),
    numbers.quotient: _floating(operator.truediv, DIVISION),
    numbers.product: _floating(operator.mul, 1),
    numbers.selected: _selected,
    np.where: _chosen,
    numbers.choose: _chosen,
    numbers.undefined: _undefined,
}

REDUCTIONS: dict[Any, tuple[Callable[..., Any], float, bool]] = {
    np.sum: (fused_loops.plus, 0, False),
    np.prod: (fused_loops.times_by, 1, False),
    np.max: (fused_loops.largest, -math.inf, True),
    np.min: (fused_loops.smallest, math.inf, True),
    np.any: (operator.or_, False, False),
    np.all: (operator.and_, True, False),
}
"""How elements are combined, what to start with, and whether there must be any."""
