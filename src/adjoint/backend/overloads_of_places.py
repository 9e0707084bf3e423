"""The runtime's functions of lists and of places in arrays, for Numba."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc, union-attr, arg-type"

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import overload

from adjoint.backend.overloads import _is_array, _is_number, _made
from adjoint.runtime import objects, places, tables

# Lists


@overload(tables.no_items)
def _no_items(sample):
    return lambda sample: [sample for _ in range(0)]


@overload(tables.any_layout)
def _any_layout(array):
    return lambda array: array[::1]


@overload(objects.slice_bounds)
def _slice_bounds(sequence, lower, upper, step):
    given = [part for part in (lower, upper, step) if not isinstance(part, types.NoneType)]
    if not all(isinstance(part, types.Integer) for part in given):
        return None
    lines = ["    count = len(sequence)", f"    by = {'1' if isinstance(step, types.NoneType) else 'step'}"]
    lines += ["    if by == 0:", "        raise ValueError('slice step cannot be zero')"]
    lines += ["    least, most = (0, count) if by > 0 else (-1, count - 1)"]
    for name, part, default in (("lower", lower, ("least", "most")), ("upper", upper, ("most", "least"))):
        if isinstance(part, types.NoneType):
            lines.append(f"    at_{name} = {default[0]} if by > 0 else {default[1]}")
        else:
            lines.append(f"    at_{name} = min(max({name} + count if {name} < 0 else {name}, least), most)")
    return _made("sequence, lower, upper, step", [*lines, "    return at_lower, at_upper, by"])


# Indices


@overload(places.add_at)
def _add_at(a, values, *index):
    items = index[0] if len(index) == 1 and isinstance(index[0], types.BaseTuple) else index
    ranks = {item.ndim for item in items if _is_array(item)}
    plain = all(isinstance(item, (types.Integer, types.SliceType)) or _is_places(item) for item in items)
    if not plain or len(ranks) != 1 or not (_is_number(values) or _is_array(values)):
        return None
    (rank,) = ranks
    lead = next(place for place, item in enumerate(items) if _is_array(item))
    at = ", ".join(f"i{axis}" for axis in range(rank))
    indices = ", ".join(f"index[{place}]" + (f"[{at}]" if _is_array(item) else "") for place, item in enumerate(items))
    kept = sum(isinstance(item, types.SliceType) for item in items) + a.ndim - len(items)
    advanced = [place for place, item in enumerate(items) if not isinstance(item, types.SliceType)]
    first = advanced[0] if advanced == list(range(advanced[0], advanced[-1] + 1)) else 0
    lines = []
    value = "values"
    if _is_array(values):
        if values.ndim > rank + kept:
            return None
        if kept:
            first_part = ["0" if place in advanced else f"index[{place}]" for place in range(len(items))]
            lines.append(f"    part = a[{', '.join(first_part)}]")
        shape = [f"part.shape[{axis}]" for axis in range(kept)]
        shape[first:first] = [f"index[{lead}].shape[{axis}]" for axis in range(rank)]
        lines.append(f"    spread = np.broadcast_to(values, ({''.join(f'{extent}, ' for extent in shape)}))")
        value = f"spread[{', '.join([*[':'] * first, *[f'i{axis}' for axis in range(rank)]])}]"
    lines += [f"{'    ' * (axis + 1)}for i{axis} in range(index[{lead}].shape[{axis}]):" for axis in range(rank)]
    lines.append(f"{'    ' * (rank + 1)}a[{indices}] += {value}")
    checks = [place for place, item in enumerate(items) if _is_array(item) and place != lead]
    for place in checks:
        lines.insert(0, f"    assert index[{place}].shape == index[{lead}].shape")
    return _made("a, values, *index", lines, np=np)


def _is_places(item):
    return _is_array(item) and isinstance(item.dtype, types.Integer)


@overload(places.numbered)
def _numbered(selected):
    if _is_array(selected):
        return lambda selected: np.arange(selected.size).reshape(selected.shape)
    return lambda selected: np.zeros((), np.int64)
