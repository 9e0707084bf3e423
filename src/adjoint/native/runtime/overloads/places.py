"""The runtime's functions of lists and of places in arrays, for Numba."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc, union-attr, arg-type"

from __future__ import annotations

import math

import numpy as np
from numba.core import types
from numba.extending import register_jitable

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.general import _is_array, _made
from adjoint.runtime import lists, objects, tangents
from adjoint.runtime.array_functions import arrays, places, plain, sequences

_PLACE = np.dtype(np.intp)

# Lists


@overload(lists.no_items)
def _no_items(sample):
    return lambda sample: [sample for _ in range(0)]


@overload(lists.any_layout)
def _any_layout(array):
    return lambda array: array[::1]


@overload(sequences.unarray)
def _unarray(ct, x):
    if not isinstance(x, types.List):
        return lambda ct, x: arrays.unbroadcast(ct, x)
    if not _is_array(ct):
        return None
    return lambda ct, x: [sequences.unarray(ct[place], part) for place, part in enumerate(x)]


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


# Places


@overload(places.from_diagonal)
def _from_diagonal(v, k=0):
    if not _is_array(v) or v.ndim != 1:
        return None
    dtype = v.dtype

    def from_diagonal(v, k=0):
        extent = v.shape[0] + abs(k)
        out = plain.zeros((extent, extent), dtype)
        for i in range(v.shape[0]):
            out[i + max(-k, 0), i + max(k, 0)] = v[i]
        return out

    return from_diagonal


@overload(places.to_diagonal)
def _to_diagonal(m, k=0):
    if not _is_array(m) or m.ndim != 2:
        return None
    dtype = m.dtype

    def to_diagonal(m, k=0):
        out = plain.empty(max(min(m.shape[0] - max(-k, 0), m.shape[1] - max(k, 0)), 0), dtype)
        for i in range(out.shape[0]):
            out[i] = m[i + max(-k, 0), i + max(k, 0)]
        return out

    return to_diagonal


@overload(places.diag)
def _diag(v, k=0):
    if not _is_array(v) or v.ndim != 2:
        return None

    def diag(v, k=0):
        part = v[:, max(k, 0) :] if k >= 0 else v[-k:]
        length = min(part.shape[0], part.shape[1])
        return np.lib.stride_tricks.as_strided(part, (length,), (part.strides[0] + part.strides[1],))

    return diag


@overload(places.diagonal)
def _diagonal(a, offset=0):
    if not _is_array(a) or a.ndim != 2:
        return None
    return lambda a, offset=0: places.diag(a, offset)


@overload(plain.may_overlap)
def _may_overlap(a, b):
    if not _is_array(a) or not _is_array(b):
        return None
    bounds_of_a, bounds_of_b = _bounds(a), _bounds(b)

    def may_overlap(a, b):
        a_first, a_end = bounds_of_a(a)
        b_first, b_end = bounds_of_b(b)
        return a_first < b_end and b_first < a_end and a.size > 0 and b.size > 0

    return may_overlap


def _bounds(array):
    """What finds the addresses between which the elements of an array lie."""
    if array.layout in "CF":
        return register_jitable(lambda a: (a.ctypes.data, a.ctypes.data + a.size * a.itemsize))

    def bounds(a):
        first = last = a.ctypes.data
        for axis in range(a.ndim):
            reach = (a.shape[axis] - 1) * a.strides[axis]
            first += min(reach, 0)
            last += max(reach, 0)
        return first, last + a.itemsize

    return register_jitable(bounds)


@overload(tangents.follow_view)
def _follow_view(shadow, base, like, like_base):
    if not all(map(_is_array, (shadow, base, like, like_base))):
        return None

    def follow_view(shadow, base, like, like_base):
        follows = plain.may_overlap(shadow, base)
        if not plain.may_overlap(like, like_base):
            return lists.any_layout(shadow.copy() if follows else shadow)
        if not follows:
            raise ValueError("a tangent is laid out differently from the array that it belongs to")
        return lists.any_layout(shadow)

    return follow_view


@overload(places.numbered)
def _numbered(selected):
    if _is_array(selected):
        return lambda selected: np.arange(selected.size).reshape(selected.shape)
    return lambda selected: np.zeros((), np.int64)


@overload(places.bins_of)
def _bins_of(a, edges):
    if not _are_real(a, edges) or edges.ndim != 1:
        return None

    def bins_of(a, edges):
        points, last = np.ravel(a), edges.shape[0] - 1
        first, end = edges[0], edges[last]
        width = (end - first) / max(last, 1)
        inside, members = plain.empty(points.size, _PLACE), plain.empty(points.size, _PLACE)
        count = 0
        for place in range(points.size):
            point = points[place]
            if not first <= point <= end:
                continue
            found = min(int((point - first) / width), last - 1) if 0 < width < math.inf else last - 1
            if found < 0 or not edges[found] <= point < edges[found + 1]:  # they are not at equal distances
                found = min(_last_not_above(point, edges), last - 1)
            inside[count] = place
            members[count] = found
            count += 1
        return inside[:count].copy(), members[:count].copy()

    return bins_of


def _are_real(*arrays):
    kinds = (types.Float, types.Integer)
    return all(isinstance(array, types.Array) and isinstance(array.dtype, kinds) for array in arrays)


@register_jitable
def _last_not_above(point, edges):
    """The place of the last edge that is at most a number, in ascending order; the first one is."""
    low, high = 0, edges.shape[0]
    while low < high - 1:
        middle = (low + high) // 2
        if edges[middle] <= point:
            low = middle
        else:
            high = middle
    return low
