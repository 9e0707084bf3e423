"""Arrays made of numbers: of lists, and of nested lists whose shape is known."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.native.llvm.rules import arrays, numbers
from adjoint.native.llvm.rules.containers import lists
from adjoint.native.llvm.rules.table import RULES, rule
from adjoint.native.llvm.values import Array, List, Number, Tuple, Unsupported, Value, common_kind
from adjoint.native.llvm.writer import constant
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.array_functions import sequences
from adjoint.runtime.array_functions.arrays import unbroadcast


@rule(np.asarray, np.asanyarray)
def _as_array(e: Emission, x: Value, dtype: Value | None = None) -> Array:
    if isinstance(x, Array) and arrays.element_kind(dtype, x.kind.element) == x.kind.element:
        return x
    return _array(e, x, dtype)


@rule(np.array)
def _array(e: Emission, x: Value, dtype: Value | None = None) -> Array:
    if isinstance(x, Array):
        return arrays.copied(e, x, arrays.element_kind(dtype, x.kind.element))
    if not isinstance(x, List) or not isinstance(x.kind.element, str):
        raise Unsupported("an array of what are no numbers")
    kind = arrays.element_kind(dtype, x.kind.element)
    out = arrays.new(e, kind, (lists.length(e, x).name,), checked=False)

    def one(place: str) -> None:
        arrays.write(e, kind, arrays.address(e, out, [place]), lists.item(e, x, place))

    e.each(out.shape[0], one)
    return out


@rule(np.ascontiguousarray)
def _in_rows(e: Emission, x: Value) -> Array:
    return arrays.in_rows(e, x) if isinstance(x, Array) else _array(e, x)


def _template(value: Value) -> Any:
    """A tree of places, as the compiler knows it."""
    if isinstance(value, Number):
        return int(value.name)
    if not isinstance(value, Tuple):
        raise Unsupported("nested lists of an unknown shape")
    return tuple(map(_template, value.items))


@rule(sequences.array_of)
def _array_of(e: Emission, template: Value, *leaves: Value) -> Array:
    given = [numbers.scalar(leaf) for leaf in leaves]
    kind = common_kind([leaf.kind for leaf in given])
    paths = sequences.leaves_at(_template(template))
    shape = [str(1 + max(path[axis] for path, _ in paths)) for axis in range(len(paths[0][0]))]
    out = arrays.new(e, kind, shape, checked=False)
    for path, leaf in paths:
        arrays.write(e, kind, arrays.address(e, out, list(map(str, path))), given[leaf])
    return out


@rule(sequences.array_leaf)
def _array_leaf(e: Emission, cotangent: Value, template: Value, place: Value, leaf: Value) -> Value:
    given = arrays.array(cotangent)
    total: Value = constant(0.0)
    for path, found in sequences.leaves_at(_template(template)):
        if len(path) != given.kind.rank:
            raise Unsupported("rows of an array as arrays")
        if found == int(numbers.number(place).name):
            one = arrays.item(e, given.kind.element, arrays.address(e, given, list(map(str, path))))
            total = RULES[operator.add](e, total, one)
    return RULES[unbroadcast](e, total, leaf)  # type: ignore[no-any-return]
