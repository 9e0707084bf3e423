"""What is done to each element of arrays, and sums to shapes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.native.llvm.rules import arrays, checks, numbers
from adjoint.native.llvm.rules.table import RULES, Rule, applied, rule
from adjoint.native.llvm.values import Array, Complex, Number, Unsupported, Value, common_kind, is_complex
from adjoint.native.llvm.writer import as_complex, as_kind, constant, truth
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.arithmetic import numbers as runtime_numbers
from adjoint.runtime.array_functions import arrays as runtime_arrays
from adjoint.runtime.array_functions import linalg

ELEMENTWISE = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow, pow,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    np.sqrt, np.exp, np.log, np.sin, np.cos, np.tanh, np.sign, np.abs, np.maximum, np.minimum, np.square,
    runtime_numbers.product, runtime_numbers.quotient, runtime_numbers.times, runtime_numbers.divide,
    np.add, np.subtract, np.multiply, np.true_divide, np.divide, np.power, np.negative, runtime_numbers.sign,
    np.tan, np.sinh, np.cosh, np.arcsin, np.arccos, np.arctan, np.arcsinh, np.arccosh, np.arctanh,
    np.conj, np.conjugate, np.ndarray.conj, np.ndarray.conjugate, np.angle, runtime_arrays.complex_of,
    np.isnan, np.isinf, np.isfinite, runtime_numbers.selected, runtime_numbers.undefined,
)  # fmt: skip


def of_elements(callee: Any, scalar: Rule) -> Rule:
    """What a function of numbers does to arrays."""

    def write_(e: Emission, *values: Value, **named: Value) -> Value:
        if not any(isinstance(value, Array) for value in values):
            return applied(callee, scalar, e, *values, **named)  # type: ignore[no-any-return]
        if named:
            raise Unsupported("arrays with options")
        return mapped(e, lambda *given: applied(callee, scalar, e, *given), *values)

    return write_


def _may_lie_by_rows(e: Emission, given: Sequence[Array]) -> None:
    """Leaves to NumPy what is computed of arrays that do not lie by rows, where the program asks how its arrays lie.

    Else it is laid out by rows, as loops over elements do.
    """
    if e.program.asks_layouts and not all(x.kind.by_rows or x.kind.rank < 2 for x in given):
        raise Unsupported("new arrays in another layout than by rows")


def mapped(e: Emission, function: Callable[..., Number | Complex], *values: Value) -> Array:
    """A function of each element of what is broadcast, in a new array."""
    given = [value for value in values if isinstance(value, Array)]
    if len(given) != sum(not isinstance(value, (Number, Complex)) for value in values):
        raise Unsupported("arrays beside what is no number")
    _may_lie_by_rows(e, given)
    shape = checks.common_shape(e, given)
    rank = len(shape)
    kind = _result_kind(e, function, values)
    out = arrays.new(e, kind, shape, checked=False)

    def body(index: Sequence[str]) -> None:
        found = function(*[arrays.element(e, value, index, rank) for value in values])
        arrays.write(e, kind, arrays.address(e, out, index), found)

    arrays.nest(e, shape, body)
    return out


@rule(runtime_arrays.empty_sum)
def _empty_sum(e: Emission, a: Value, b: Value) -> Array:
    given = [arrays.array(a), arrays.array(b)]
    _may_lie_by_rows(e, given)
    if given[0].kind.element != given[1].kind.element:
        raise Unsupported("arrays of several kinds")
    return arrays.new(e, given[0].kind.element, checks.common_shape(e, given), checked=False)


def _result_kind(e: Emission, function: Callable[..., Number | Complex], values: Sequence[Value]) -> str:
    """The kind of the results: those of numbers of the kinds that the operands have. What is tried is not kept."""
    lines = len(e.writer.lines)
    found = function(*[_one(e, value.kind.element) if isinstance(value, Array) else value for value in values])
    del e.writer.lines[lines:]
    given = [value.kind.element if isinstance(value, Array) else found.kind for value in values]
    if not is_complex(common_kind([*given, found.kind])):
        _require_one_kind(values)
        if found.kind != "b1" and "b1" in given:
            raise Unsupported("arithmetic of truth values")
    return found.kind


def _one(e: Emission, kind: str) -> Number | Complex:
    """One, as a number of a kind."""
    return as_complex(e.writer, constant(1.0), kind) if is_complex(kind) else constant(1, kind)


def _require_one_kind(values: Sequence[Value]) -> None:
    kinds = {value.kind.element for value in values if isinstance(value, Array)}
    if any(isinstance(value, Number) and value.kind not in ("f8", "i8", "b1") for value in values) or len(kinds) > 1:
        raise Unsupported("arrays of several kinds")
    (kind,) = kinds
    loose = [value for value in values if isinstance(value, Number)]
    if kind not in ("f8", "i8", "b1") or (
        kind != "f8" and any(common_kind([kind, each.kind]) != kind for each in loose)
    ):
        raise Unsupported("arrays of these kinds")


@rule(runtime_arrays.unbroadcast, runtime_arrays.match)
def _unbroadcast(e: Emission, cotangent: Value, like_: Value) -> Value:
    """A cotangent summed to the shape of what was broadcast."""
    kind = arrays.float_kind(like_.kind.element if isinstance(like_, Array) else numbers.scalar(like_).kind)
    if not isinstance(like_, Array):
        found = total(e, cotangent) if isinstance(cotangent, Array) else numbers.scalar(cotangent)
        return _cast(e, found, kind)
    x = like_
    if not isinstance(cotangent, Array):
        filled = arrays.new(e, kind, x.shape, checked=False)
        return arrays.full(e, filled, _cast(e, numbers.scalar(cotangent), kind))
    given = cotangent
    if given.kind.element[0] not in "fc":
        raise Unsupported("cotangents of whole numbers")
    if given.kind.rank != x.kind.rank or given.kind.element != kind:
        return _summed_to(e, given, x)
    same = numbers.both(
        e, truth("true"), *[truth(e.writer.compare("eq", *each)) for each in zip(given.shape, x.shape, strict=True)]
    )
    return arrays.one_of(e, same.name, given, lambda: _summed_to(e, given, x))


def _cast(e: Emission, found: Number | Complex, kind: str) -> Number | Complex:
    """A cotangent as one of a kind: of complex ones real parts are what real numbers have."""
    if is_complex(kind):
        return as_complex(e.writer, found, kind)
    return as_kind(e.writer, found.parts[0] if isinstance(found, Complex) else found, kind)


def _summed_to(e: Emission, given: Array, x: Array) -> Array:
    """A cotangent summed to a shape, in a new array."""
    kind = arrays.float_kind(x.kind.element)
    out = arrays.new(e, kind, x.shape, zero=True, checked=False)
    shape = checks.common_shape(e, (given, x))

    def body(index: Sequence[str]) -> None:
        own = index[len(shape) - x.kind.rank :]
        places_ = [
            e.writer.select(e.writer.compare("eq", extent, "1"), "i64", "0", place)
            for extent, place in zip(x.shape, own, strict=True)
        ]
        place = arrays.address(e, out, places_)
        one = _cast(e, arrays.element(e, given, index, len(shape)), kind)
        arrays.write(e, kind, place, RULES[operator.add](e, arrays.item(e, kind, place), one))

    arrays.nest(e, shape, body)
    return out


@rule(runtime_numbers.selected)
def _selected(e: Emission, support: Value, value: Value) -> Number:
    given = numbers.number(value)
    if given.kind[0] != "f":
        raise Unsupported("supports of these numbers")
    return numbers.choice(e, numbers.is_true(e, support), given, constant(0.0, given.kind))


@rule(np.any, runtime_numbers.somewhere)
def _any(e: Emission, a: Value) -> Number:
    """Whether some element is not zero."""
    return _truth_of_all(e, a, numbers.either, start="false")


@rule(np.all)
def _all(e: Emission, a: Value) -> Number:
    """Whether no element is zero."""
    return _truth_of_all(e, a, numbers.both, start="true")


def _truth_of_all(
    e: Emission, a: Value, combined: Callable[[Emission, Number, Number], Number], *, start: str
) -> Number:
    if isinstance(a, Number):
        return numbers.is_true(e, a)
    x = arrays.array(a)
    if is_complex(x.kind.element):
        raise Unsupported("truths of complex numbers")
    slot = e.slots(1)
    e.writer.line(f"store i1 {start}, ptr {slot}")

    def body(index: Sequence[str]) -> None:
        found = as_kind(e.writer, arrays.read(e, x.kind.element, arrays.address(e, x, index)), "b1")
        so_far = e.writer.op(f"load i1, ptr {slot}")
        e.writer.line(f"store i1 {combined(e, truth(so_far), found).name}, ptr {slot}")

    arrays.nest(e, x.shape, body)
    return truth(e.writer.op(f"load i1, ptr {slot}"))


@rule(linalg.scaled_by)
def _scaled_by(e: Emission, m: Value, factor: Value) -> Array:
    if not isinstance(factor, Number):
        raise Unsupported("stacks of matrices")
    return mapped(e, lambda one, other: numbers.arithmetic(e, "fmul", one, other), m, factor)


def total(e: Emission, x: Array) -> Number | Complex:
    """The sum of all elements, one after the other."""
    if x.kind.element[0] not in "fc":
        raise Unsupported("sums of whole numbers")
    slot = e.slots(2)
    kind = x.kind.element
    arrays.write(e, kind, slot, constant(0.0))

    def body(index: Sequence[str]) -> None:
        one = arrays.item(e, kind, arrays.address(e, x, index))
        arrays.write(e, kind, slot, RULES[fused_loops.plus](e, arrays.item(e, kind, slot), one))

    arrays.nest(e, x.shape, body)
    return arrays.item(e, kind, slot)


@rule(np.sum)
def _sum(e: Emission, x: Value) -> Number | Complex:
    return total(e, arrays.array(x))


@rule(runtime_arrays.spread)
def _spread(e: Emission, cotangent: Value, x: Value, axis: Value | None = None, keepdims: Value | None = None) -> Value:
    if isinstance(x, Array) and isinstance(cotangent, Array):
        raise Unsupported("sums along an axis")
    return RULES[runtime_arrays.unbroadcast](e, cotangent, x)  # type: ignore[no-any-return]
