"""Orders along an axis, and what they are used for, for Numba: line by line of an array; and orders of items."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc"

from __future__ import annotations

import itertools

import numpy as np
from numba.core import types
from numba.extending import register_jitable

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.general import _all_axes, _float_like, _is_array, _loses, _made, _nest
from adjoint.native.runtime.overloads.joining import _axis_from_first, _is_nothing
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.array_functions import arrays, places, plain


@register_jitable
def _order(line):
    return np.argsort(line, kind="mergesort")


@overload(arrays.order_of, prefer_literal=True)
def _order_of(x, axis=-1):
    return _along_lines("x", axis, "order(x[{at}].copy())", [x], np.dtype(np.intp), order=_order)


@overload(plain.in_order, prefer_literal=True)
def _in_order(x, axis=-1):
    return _along_lines("x", axis, "np.sort(x[{at}].copy())", [x], getattr(x, "dtype", None))


@overload(plain.partitioned, prefer_literal=True)
def _partitioned(x, kth, axis=-1):
    if isinstance(kth, types.Integer):
        select = _selected
    elif isinstance(getattr(kth, "dtype", None), types.Integer):
        select = _all_selected
    else:
        return None
    value = "select(x[{at}].copy(), kth)"
    return _along_lines("x, kth", axis, value, [x], getattr(x, "dtype", None), select=select)


@register_jitable
def _all_selected(line, places):
    for kth in places:
        _selected(line, kth)
    return line


@register_jitable
def _selected(line, kth):
    """Puts the element where it stands in order, smaller ones before it and larger ones behind: Hoare's FIND."""
    low, high = 0, line.shape[0] - 1
    if not -high - 1 <= kth <= high:
        raise ValueError("kth is out of bounds")
    place = kth if kth >= 0 else kth + line.shape[0]
    while low < high:
        pivot = line[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while _comes_before(line[i], pivot):
                i += 1
            while _comes_before(pivot, line[j]):
                j -= 1
            if i <= j:
                line[i], line[j] = line[j], line[i]
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            break
    return line


@register_jitable
def _comes_before(one, other):
    """What is not a number comes last."""
    return one < other or (other != other and one == one)


@overload(places.origins, prefer_literal=True)
def _origins(y, a, axis=-1):
    value = "origins(y[{at}].copy(), a[{at}].copy())"
    return _along_lines("y, a", axis, value, [y, a], np.dtype(np.intp), origins=_line_of_origins)


@register_jitable
def _line_of_origins(y, a):
    found = np.empty(y.shape[0], np.intp)
    found[_order(y)] = _order(a)
    return found


def _along_lines(params, axis, value, given, dtype, **names):
    """A function that gives a line for each line of its arguments; None if it does not know how."""
    names["np"] = np
    if not all(_is_array(array) and isinstance(array.dtype, (types.Float, types.Integer)) for array in given):
        return None
    first, rank = params[0], given[0].ndim
    if _is_nothing(axis):
        flat = [f"    {name} = np.ravel({name})" for name in params.split(", ") if name != "kth"]
        return _made(f"{params}, axis=-1", [*flat, f"    return {value.format(at=':')}"], **names)
    along = _axis_from_first(axis, rank)
    if along is None or any(array.ndim != rank for array in given):
        return None
    at = ", ".join(":" if place == along else f"i{place}" for place in range(rank))
    lines = [f"    out = plain.empty({first}.shape, dtype)"]
    others = [place for place in range(rank) if place != along]
    for depth, place in enumerate(others, 1):
        lines.append(f"{'    ' * depth}for i{place} in range({first}.shape[{place}]):")
    lines.append(f"{'    ' * (len(others) + 1)}plain.put(out[{at}], {value.format(at=at)})")
    return _made(f"{params}, axis=-1", [*lines, "    return out"], dtype=dtype, **names)


@overload(plain.taken_along, prefer_literal=True)
def _taken_along(x, indices, axis=-1):
    if not _are_places(x, indices):
        return None
    if _is_nothing(axis):
        return (lambda x, indices, axis=-1: np.ravel(x)[indices]) if indices.ndim == 1 else None
    along = _axis_from_first(axis, x.ndim)
    if along is None or indices.ndim != x.ndim:
        return None
    lines, taken = _with_extents(x.ndim, along), _all_axes(x.ndim)
    lines.append(f"    out = plain.empty(({''.join(f'n{axis}, ' for axis in range(x.ndim))}), x.dtype)")
    lines += _nest([f"n{axis}" for axis in range(x.ndim)], f"out[{taken}] = x[{_at_place(x.ndim, along)}]")
    return _made("x, indices, axis=-1", [*lines, "    return out"], **_NAMES)


@overload(arrays.scatter_along, prefer_literal=True)
def _scatter_along(ct, x, indices, axis=None):
    if not _are_places(x, indices) or not _is_array(ct) or ct.ndim != indices.ndim:
        return None
    dtype = _float_like(x)
    if _loses(ct, dtype):
        return None
    if _is_nothing(axis):
        if indices.ndim != 1:
            return None

        def scattered(ct, x, indices, axis=None):
            out = plain.zeros(x.size, dtype)
            for place in range(indices.shape[0]):
                out[indices[place]] += ct[place]
            return out.reshape(x.shape)

        return scattered
    along = _axis_from_first(axis, x.ndim)
    if along is None or indices.ndim != x.ndim:
        return None
    lines = [*_with_extents(x.ndim, along), "    out = plain.zeros(x.shape, dtype)"]
    lines += _nest(
        [f"n{axis}" for axis in range(x.ndim)], f"out[{_at_place(x.ndim, along)}] += ct[{_all_axes(x.ndim)}]"
    )
    return _made("ct, x, indices, axis=None", [*lines, "    return out"], dtype=dtype, **_NAMES)


def _are_places(x, indices):
    return _is_array(x) and _is_array(indices) and isinstance(indices.dtype, types.Integer)


_NAMES = {"common_places": fused_loops.common_places, "step_along": fused_loops.step_along}


def _with_extents(rank, along):
    """Lines that bind the extents ``n0, n1, ...`` of places broadcast against an array."""
    extents = [f"common_places(indices.shape[{axis}], x.shape[{axis}])" for axis in range(rank)]
    extents[along] = f"indices.shape[{along}]"
    return [f"    n{axis} = {extent}" for axis, extent in enumerate(extents)]


def _at_place(rank, along):
    """The index of the element to which a place belongs."""
    place = ", ".join(f"i{axis} * step_along(indices.shape[{axis}])" for axis in range(rank))
    items = [f"i{axis} * step_along(x.shape[{axis}])" for axis in range(rank)]
    items[along] = f"indices[{place}]"
    return ", ".join(items)


@overload(arrays.scatter_take, prefer_literal=True)
def _scatter_take(ct, x, indices, axis=None):
    if not _is_array(ct) or not _are_places(x, indices) or indices.ndim == 0:
        return None
    dtype = _float_like(x)
    if _loses(ct, dtype):
        return None
    if _is_nothing(axis):

        def scattered(ct, x, indices, axis=None):
            out = plain.zeros(x.size, dtype)
            places.add_at(out, ct, indices)
            return out.reshape(x.shape)

        return scattered
    along = _axis_from_first(axis, x.ndim)
    if along is None or ct.ndim != x.ndim + indices.ndim - 1:
        return None
    index = "".join("slice(None), " for _ in range(along))
    lines = ["    out = plain.zeros(x.shape, dtype)", f"    add_at(out, ct, {index}indices)", "    return out"]
    return _made("ct, x, indices, axis=None", lines, dtype=dtype, add_at=places.add_at)


# Orders of items: lists of lists, where Python has tuples; Numba compares neither with the other


@overload(itertools.permutations)
def _permutations(iterable):
    """In the order of Python: the last item that can be replaced by a later one is."""
    if not isinstance(iterable, (types.RangeType, types.List, types.UniTuple)):
        return None

    def permutations(iterable):
        items = [item for item in iterable]  # noqa: C416
        count = len(items)
        places = [place for place in range(count)]  # noqa: C416
        orders = [[items[place] for place in places]]
        last = count - 2
        while last >= 0:
            if places[last] > places[last + 1]:
                last -= 1
                continue
            other = count - 1
            while places[other] < places[last]:
                other -= 1
            places[last], places[other] = places[other], places[last]
            low, high = last + 1, count - 1
            while low < high:
                places[low], places[high] = places[high], places[low]
                low, high = low + 1, high - 1
            orders.append([items[place] for place in places])
            last = count - 2
        return orders

    return permutations
