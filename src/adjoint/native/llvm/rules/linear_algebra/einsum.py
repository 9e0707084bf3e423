"""``np.einsum``: sums of products with labels, two operands at a time.

Labels that two operands share and nobody else needs are summed up by BLAS: the operands are seen as matrices, or stacks
of them, whose rows and columns have several labels. Where nothing is summed, or one operand alone is summed up, it is a
loop.
"""

from __future__ import annotations

import functools
import operator
import string
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.native.llvm.rules import arrays
from adjoint.native.llvm.rules.checks import both_words, either_word
from adjoint.native.llvm.rules.linear_algebra.products import product
from adjoint.native.llvm.rules.numbers import arithmetic
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import (
    Array,
    ArrayKind,
    Complex,
    Known,
    Number,
    Unsupported,
    Value,
)
from adjoint.native.llvm.writer import constant
from adjoint.native.llvm.writing.emission import Emission
from adjoint.records import dataclass
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.array_functions.products import einsum_expand, einsum_of_one, einsum_terms, reached_labels

_ELEMENTS = ("f8", "f4", "c8", "c4")
_MISMATCH = "einsum: operands could not be broadcast together"


@dataclass(frozen=True, slots=True)
class _Labelled:
    """An array with a label for each axis, all different."""

    array: Array
    labels: str

    def extent(self, label: str) -> str:
        return self.array.shape[self.labels.index(label)]

    def stride(self, label: str) -> str:
        return self.array.strides[self.labels.index(label)]

    def seen_by(self, labels: str) -> Array:
        """The array with its axes in the order of labels."""
        return arrays.transposed(self.array, [self.labels.index(label) for label in labels])


@rule(np.einsum)
def _einsum(e: Emission, subscripts: Value, *operands: Value, optimize: Value | None = None) -> Value:
    if len(operands) > 2 and not (optimize is None or (isinstance(optimize, Known) and optimize.value is False)):
        raise Unsupported("sums of products in an order that is found")
    terms, result = _terms(subscripts, operands)
    _element(operands)
    if not any(isinstance(each, Array) for each in operands):
        raise Unsupported("sums of products of numbers")
    if e.guards:  # where exceptions are handled: a function leaves by them
        return _of_arrays(e, subscripts, *operands)
    function = _function(_with_plain_labels(terms, result), len(operands))
    return e.called(function, function, operands, ())


def _with_plain_labels(terms: Sequence[str], result: str) -> str:
    """Subscripts that name labels in the order in which they come up, so that others like them share a function."""
    text = f"{','.join(terms)}->{result}"
    labels = dict.fromkeys(each for each in text if each.isalpha())
    return text.translate({ord(label): new for label, new in zip(labels, string.ascii_letters, strict=False)})


def _sum_of_products(subscripts: str, *operands: Any) -> Any:
    """What :func:`np.einsum` becomes in a function of its own, which all sums with these subscripts share."""
    return np.einsum(subscripts, *operands)


@functools.lru_cache(maxsize=256)
def _function(subscripts: str, count: int) -> ir.Function:
    params = tuple([ir.Var("x", ir.OPAQUE) for _ in range(count)])
    found = ir.Var("found", ir.OPAQUE)
    call = ir.Call((found,), _sum_of_products, (ir.Const(subscripts), *params))
    return ir.Function("einsum", params, ir.Block((call,), ir.Return((found,))))


def _copying() -> ir.Function:
    """A function that copies an array, which all sums share: such of many axes are long."""
    param, found = ir.Var("x", ir.OPAQUE), ir.Var("found", ir.OPAQUE)
    call = ir.Call((found,), np.ndarray.copy, (param,))
    return ir.Function("copy", (param,), ir.Block((call,), ir.Return((found,))))


_COPYING = _copying()


@rule(_sum_of_products)
def _of_arrays(e: Emission, subscripts: Value, *operands: Value) -> Value:
    terms, result = _terms(subscripts, operands)
    element = _element(operands)
    given = [_labelled(e, each, term) for each, term in zip(operands, terms, strict=True) if isinstance(each, Array)]
    given = _broadcast(e, given)
    while len(given) > 1:
        one, other, *rest = given
        needed = result + "".join(each.labels for each in rest)
        given = [_multiplied(e, element, one, other, needed), *rest]
    found: Value = _as_result(e, element, given[0], result, is_new=len(operands) > 1)
    for factor in operands:
        if isinstance(factor, (Number, Complex)):
            found = _scaled(e, found, factor)
    return found


@rule(einsum_of_one)
def _of_one(e: Emission, subscripts: Value, operand: Value) -> Value:
    if isinstance(operand, (Number, Complex)):
        return operand
    (term,), result = _terms(subscripts, (operand,))
    x = _labelled(e, arrays.array(operand), term)
    if sorted(x.labels) != sorted(result):
        raise Unsupported("a sum that is a view")
    return x.seen_by(result)


def _terms(subscripts: Value, operands: Sequence[Value]) -> tuple[tuple[str, ...], str]:
    """The labels of the operands and of the result."""
    if not isinstance(subscripts, Known) or not isinstance(subscripts.value, str):
        raise Unsupported("subscripts that are not known")
    ranks = [each.kind.rank if isinstance(each, Array) else 0 for each in operands]
    terms, result = einsum_terms(subscripts.value, *ranks)
    if any(len(term) != rank for term, rank in zip(terms, ranks, strict=True)) or len(set(result)) < len(result):
        raise Unsupported("subscripts that NumPy refuses")
    if not set(result) <= set("".join(terms)):
        raise Unsupported("subscripts that NumPy refuses")
    return terms, result


def _element(operands: Sequence[Value]) -> str:
    """The kind of numbers that all operands are of."""
    kinds = {each.kind.element if isinstance(each, Array) else getattr(each, "kind", None) for each in operands}
    if len(kinds) != 1 or not kinds <= set(_ELEMENTS):
        raise Unsupported("sums of products of these numbers")
    return str(kinds.pop())


def _labelled(e: Emission, x: Value, term: str) -> _Labelled:
    """An array by its labels; of axes with the same one the diagonal."""
    x = arrays.array(x)
    labels = "".join(dict.fromkeys(term))
    if len(labels) == len(term):
        return _Labelled(x, term)
    writer = e.writer
    shape, strides = [], []
    for label in labels:
        axes = [axis for axis, each in enumerate(term) if each == label]
        first, stride = x.shape[axes[0]], x.strides[axes[0]]
        for axis in axes[1:]:
            e.check(writer.compare("ne", x.shape[axis], first), ValueError, _MISMATCH)
            stride = writer.add(stride, x.strides[axis])
        shape.append(first)
        strides.append(stride)
    kind = ArrayKind(x.kind.element, len(labels), False, x.kind.read_only)
    return _Labelled(Array(kind, x.base, x.data, tuple(shape), tuple(strides), x.owner), labels)


def _broadcast(e: Emission, given: Sequence[_Labelled]) -> list[_Labelled]:
    """The operands with one extent for each label: axes of one element are repeated."""
    writer = e.writer
    extents: dict[str, str] = {}
    for each in given:
        for label in each.labels:
            known, own = extents.get(label), each.extent(label)
            extents[label] = own if known is None else known if known == own else _longer(e, known, own)
    found, fits = [], "true"
    for each in given:
        strides = []
        for label in each.labels:
            own = each.extent(label)
            if own == extents[label]:
                strides.append(each.stride(label))
                continue
            is_one, is_whole = writer.compare("eq", own, "1"), writer.compare("eq", own, extents[label])
            fits = both_words(e, fits, either_word(e, is_one, is_whole))
            strides.append(writer.select(is_whole, "i64", each.stride(label), "0"))
        shape = tuple(extents[label] for label in each.labels)
        if shape == each.array.shape:
            found.append(each)
            continue
        x = each.array
        kind = ArrayKind(x.kind.element, x.kind.rank, False, x.kind.read_only)
        found.append(_Labelled(Array(kind, x.base, x.data, shape, tuple(strides), x.owner), each.labels))
    if fits != "true":
        e.check(writer.op(f"xor i1 {fits}, true"), ValueError, _MISMATCH)
    return found


def _longer(e: Emission, one: str, other: str) -> str:
    """The extent of an axis of which an operand may have one element that is repeated."""
    return e.writer.select(e.writer.compare("eq", one, "1"), "i64", other, one)


def _multiplied(e: Emission, element: str, one: _Labelled, other: _Labelled, needed: str) -> _Labelled:
    """The product of two operands, summed over the labels that are not needed."""
    one, other = (
        _summed(e, element, each, "".join(label for label in each.labels if label in needed + rest.labels))
        for each, rest in ((one, other), (other, one))
    )
    both = [label for label in one.labels if label in other.labels]
    stacked = "".join(label for label in both if label in needed)
    inner = "".join(label for label in both if label not in needed)
    rows = "".join(label for label in one.labels if label not in both)
    columns = "".join(label for label in other.labels if label not in both)
    if not inner or stacked:
        return _looped(e, element, [one, other], stacked + rows + columns, inner)
    found = product(e, _matrix(e, one, rows, inner), _matrix(e, other, inner, columns))
    shape = (*map(one.extent, rows), *map(other.extent, columns))
    return _Labelled(arrays.seen_as(e, arrays.array(found), shape), rows + columns)


def _matrix(e: Emission, x: _Labelled, rows: str, columns: str) -> Array:
    """An operand as a matrix whose rows and columns have several labels."""
    shape = tuple(_extent(e, x, labels) for labels in (rows, columns))
    if len(rows) == len(columns) == 1:
        return x.seen_by(rows + columns)
    whole = x.seen_by(rows + columns)
    if rows + columns != x.labels or not x.array.kind.by_rows:
        whole = arrays.array(e.called(_COPYING, _COPYING, [whole], ()))
    return arrays.seen_as(e, whole, shape)


def _extent(e: Emission, x: _Labelled, labels: str) -> str:
    found = "1"
    for label in labels:
        found = e.writer.mul(found, x.extent(label))
    return found


def _summed(e: Emission, element: str, x: _Labelled, labels: str) -> _Labelled:
    """An operand summed over all labels but these."""
    over = "".join(label for label in x.labels if label not in labels)
    return _looped(e, element, [x], labels, over) if over else x


def _looped(e: Emission, element: str, given: Sequence[_Labelled], labels: str, inner: str) -> _Labelled:
    """The products of elements, summed over some labels."""
    extents = {label: each.extent(label) for each in given for label in each.labels}
    out = arrays.new(e, element, [extents[label] for label in labels], checked=False)
    slot = e.slots(2) if inner else None

    def at(index: Sequence[str]) -> Number | Complex:
        places = dict(zip(labels + inner, [*index], strict=True))
        found: Number | Complex | None = None
        for each in given:
            one = _item(e, each, places)
            found = one if found is None else _times(e, found, one)
        assert found is not None
        return found

    def body(index: list[str]) -> None:
        if slot is None:
            arrays.write(e, element, arrays.address(e, out, index), at(index))
            return
        arrays.write(e, element, slot, constant(0.0))
        outer = [*index]

        def add(places: Sequence[str]) -> None:
            so_far = arrays.item(e, element, slot)
            arrays.write(e, element, slot, RULES[fused_loops.plus](e, so_far, at([*outer, *places])))

        arrays.nest(e, [extents[label] for label in inner], add)
        arrays.write(e, element, arrays.address(e, out, outer), arrays.item(e, element, slot))

    arrays.nest(e, out.shape, body)
    return _Labelled(out, labels)


def _times(e: Emission, one: Value, other: Value) -> Number | Complex:
    found = arithmetic(e, "fmul", one, other) if isinstance(one, Number) else RULES[np.multiply](e, one, other)
    assert isinstance(found, (Number, Complex))
    return found


def _scaled(e: Emission, x: Value, factor: Value) -> Value:
    if not isinstance(x, Array):
        return _times(e, x, factor)
    out = arrays.new(e, x.kind.element, x.shape, checked=False)

    def body(index: Sequence[str]) -> None:
        found = _times(e, arrays.item(e, x.kind.element, arrays.address(e, x, index)), factor)
        arrays.write(e, x.kind.element, arrays.address(e, out, index), found)

    arrays.nest(e, x.shape, body)
    return out


def _as_result(e: Emission, element: str, x: _Labelled, result: str, is_new: bool) -> Value:
    """What is left, with the axes of the result."""
    x = _summed(e, element, x, "".join(label for label in x.labels if label in result))
    if not result:
        return arrays.item(e, element, x.array.data)
    seen = x.seen_by(result)
    return seen if is_new else arrays.copied(e, seen)


@rule(einsum_expand)
def _expanded(e: Emission, part: Value, operand: Value, subscripts: Value, place: Value, *ranks: Value) -> Value:
    """A cotangent in the shape of an operand: each element is added to where it came from."""
    known = [_known(value) for value in (subscripts, place, *ranks)]
    terms, result = einsum_terms(known[0], *known[2:])
    term, x = terms[known[1]], arrays.array(operand)
    reached = reached_labels(terms, result, known[1])
    element = _element((part, operand))
    if len(term) != x.kind.rank:
        raise Unsupported("subscripts that NumPy refuses")
    out = arrays.new(e, element, x.shape, zero=True, checked=False)
    into = _labelled(e, out, term)
    if not isinstance(part, Array):
        given, into = None, _broadcast(e, [into])[0]
    else:
        given, into = _broadcast(e, [_Labelled(part, reached), into])
    extents = dict(zip(into.labels, into.array.shape, strict=True))

    def body(index: Sequence[str]) -> None:
        places = dict(zip(into.labels, index, strict=True))
        one = part if given is None else _item(e, given, places)
        address = arrays.address(e, into.array, [*index])
        arrays.write(e, element, address, _sum(e, arrays.item(e, element, address), one))

    arrays.nest(e, list(extents.values()), body)
    return out


def _known(value: Value) -> Any:
    """What an argument is that has to be known."""
    if isinstance(value, Known):
        return value.value
    if isinstance(value, Number) and value.name.isdigit():
        return int(value.name)
    raise Unsupported("subscripts that are not known")


def _item(e: Emission, x: _Labelled, places: Mapping[str, str]) -> Number | Complex:
    return arrays.item(e, x.array.kind.element, arrays.address(e, x.array, [places[label] for label in x.labels]))


def _sum(e: Emission, one: Value, other: Value) -> Number | Complex:
    found = RULES[operator.add](e, one, other)
    assert isinstance(found, (Number, Complex))
    return found
