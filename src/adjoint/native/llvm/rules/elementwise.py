"""What is done to each element of arrays, and sums to shapes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np

from adjoint.native.llvm.rules import arrays, checks, numbers
from adjoint.native.llvm.rules.table import Rule, rule
from adjoint.native.llvm.values import (
    Array,
    Number,
    Unsupported,
    Value,
    common_kind,
)
from adjoint.native.llvm.writer import as_kind, constant, truth
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.arithmetic import numbers as runtime_numbers
from adjoint.runtime.array_functions import arrays as runtime_arrays

ELEMENTWISE = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow,
    operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge,
    np.sqrt, np.exp, np.log, np.sin, np.cos, np.tanh, np.sign, np.abs, np.maximum, np.minimum, np.square,
    runtime_numbers.product, runtime_numbers.quotient, runtime_numbers.times, runtime_numbers.divide,
)  # fmt: skip


def of_elements(scalar: Rule) -> Rule:
    """What a function of numbers does to arrays."""

    def write_(e: Emission, *values: Value, **named: Value) -> Value:
        if not any(isinstance(value, Array) for value in values):
            return scalar(e, *values, **named)  # type: ignore[no-any-return]
        if named:
            raise Unsupported("arrays with options")
        return mapped(e, lambda *given: scalar(e, *given), *values)

    return write_


def mapped(e: Emission, function: Callable[..., Number], *values: Value) -> Array:
    """A function of each element of what is broadcast, in a new array."""
    given = [value for value in values if isinstance(value, Array)]
    if len(given) != sum(not isinstance(value, Number) for value in values):
        raise Unsupported("arrays beside what is no number")
    arrays.only_by_rows(*given)
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
    arrays.only_by_rows(*given)
    if given[0].kind.element != given[1].kind.element:
        raise Unsupported("arrays of several kinds")
    return arrays.new(e, given[0].kind.element, checks.common_shape(e, given), checked=False)


def _result_kind(e: Emission, function: Callable[..., Number], values: Sequence[Value]) -> str:
    """The kind of the results: those of numbers of the kinds that the operands have. What is tried is not kept."""
    kinds = {value.kind.element for value in values if isinstance(value, Array)}
    if any(isinstance(value, Number) and value.kind not in ("f8", "i8", "b1") for value in values) or len(kinds) > 1:
        raise Unsupported("arrays of several kinds")
    (kind,) = kinds
    loose = [value for value in values if isinstance(value, Number)]
    if kind not in ("f8", "i8", "b1") or (
        kind != "f8" and any(common_kind([kind, each.kind]) != kind for each in loose)
    ):
        raise Unsupported("arrays of these kinds")
    lines = len(e.writer.lines)
    found = function(*[constant(1, kind) if isinstance(value, Array) else value for value in values])
    del e.writer.lines[lines:]
    return found.kind


@rule(runtime_arrays.unbroadcast, runtime_arrays.match)
def _unbroadcast(e: Emission, cotangent: Value, like_: Value) -> Value:
    """A cotangent summed to the shape of what was broadcast."""
    if isinstance(like_, Number):
        kind = arrays.float_kind(like_.kind)
        if isinstance(cotangent, Number):
            return as_kind(e.writer, cotangent, kind)
        return as_kind(e.writer, total(e, arrays.array(cotangent)), kind)
    x = arrays.array(like_)
    kind = arrays.float_kind(x.kind.element)
    if isinstance(cotangent, Number):
        return arrays.full(e, arrays.new(e, kind, x.shape, checked=False), cotangent)
    given = arrays.array(cotangent)
    if given.kind.element[0] != "f":
        raise Unsupported("cotangents of whole numbers")
    if given.kind.rank != x.kind.rank or given.kind.element != kind:
        return _summed_to(e, given, x)
    same = numbers.both(
        e, truth("true"), *[truth(e.writer.compare("eq", *each)) for each in zip(given.shape, x.shape, strict=True)]
    )
    return arrays.one_of(e, same.name, given, lambda: _summed_to(e, given, x))


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
        added = numbers.arithmetic(e, "fadd", arrays.read(e, kind, place), arrays.element(e, given, index, len(shape)))
        arrays.write(e, kind, place, added)

    arrays.nest(e, shape, body)
    return out


def total(e: Emission, x: Array) -> Number:
    """The sum of all elements, one after the other."""
    if x.kind.element[0] != "f":
        raise Unsupported("sums of whole numbers")
    slot = e.slots(1)
    kind = x.kind.element
    arrays.write(e, kind, slot, constant(0.0, kind))

    def body(index: Sequence[str]) -> None:
        added = numbers.arithmetic(
            e, "fadd", arrays.read(e, kind, slot), arrays.read(e, kind, arrays.address(e, x, index)), "reassoc nsz "
        )
        arrays.write(e, kind, slot, added)

    arrays.nest(e, x.shape, body)
    return arrays.read(e, kind, slot)
