"""What is put into vectors and taken out of them, for Numba: places first, then one loop."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc"

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import register_jitable

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.general import _float_like, _is_array, _is_number
from adjoint.runtime.array_functions import places, plain


@overload(places.all_but)
def _all_but(extent, obj):
    if isinstance(obj, types.Integer):

        def all_but_one(extent, obj):
            left = _place_in(obj, extent - 1, extent)
            out = np.arange(extent - 1)
            out[left:] += 1
            return out

        return all_but_one
    if isinstance(obj, types.SliceType):
        return lambda extent, obj: _without(extent, np.arange(extent)[obj])
    if _is_array(obj) and obj.ndim == 1 and isinstance(obj.dtype, types.Boolean):

        def all_that_are_not(extent, obj):
            if obj.size != extent:
                raise ValueError("a boolean array of what to delete has one element for each place of the axis")
            return np.flatnonzero(~obj)

        return all_that_are_not
    return (lambda extent, obj: _without(extent, obj)) if _are_places(obj) else None


def _are_places(obj):
    is_line = isinstance(obj, types.List) or (_is_array(obj) and obj.ndim == 1)
    return is_line and isinstance(obj.dtype, types.Integer)


@register_jitable
def _place_in(place, last, extent):
    """A place counted from the first; those of an axis end at ``last``."""
    if not -extent <= place <= last:
        raise IndexError("index is out of bounds for axis")
    return place + extent if place < 0 else place


@register_jitable
def _without(extent, left):
    """The places up to an extent without some of them."""
    kept = np.ones(extent, np.bool_)
    for place in left:
        kept[_place_in(place, extent - 1, extent)] = False
    return np.flatnonzero(kept)


@overload(places.uninserted)
def _uninserted(ct, arr, obj, values, axis=None):
    if not _are_vectors(ct, arr, obj, values, axis):
        return None
    where, dtype = _where(obj), _float_like(arr)

    def uninserted(ct, arr, obj, values, axis=None):
        out = plain.empty(arr.shape[0], dtype)
        own = np.ones(ct.shape[0], np.bool_)
        for place in where(arr.shape[0], obj, ct.shape[0] - arr.shape[0]):
            own[place] = False
        count = 0
        for place in range(ct.shape[0]):
            if own[place]:
                out[count] = ct[place]
                count += 1
        return out

    return uninserted


@overload(places.insertions)
def _insertions(ct, arr, obj, values, axis=None):
    if not _are_vectors(ct, arr, obj, values, axis):
        return None
    where, dtype = _where(obj), _float_like(values)
    zero = dtype.type(0)
    if _is_number(values):

        def inserted_number(ct, arr, obj, values, axis=None):
            total = zero
            for place in where(arr.shape[0], obj, ct.shape[0] - arr.shape[0]):
                total += ct[place]
            return total

        return inserted_number

    def inserted_values(ct, arr, obj, values, axis=None):
        out = plain.zeros(values.shape[0], dtype)
        step = 0 if values.shape[0] == 1 else 1
        for number, place in enumerate(where(arr.shape[0], obj, ct.shape[0] - arr.shape[0])):
            out[number * step] += ct[place]
        return out

    return inserted_values


def _are_vectors(ct, arr, obj, values, axis):
    if not all(_is_array(array) and array.ndim == 1 for array in (ct, arr)):
        return False
    if not isinstance(ct.dtype, types.Float) or not (isinstance(obj, types.Integer) or _are_places(obj)):
        return False
    return _is_number(values) or (_is_array(values) and values.ndim == 1)


def _where(obj):
    """What finds the places at which inserted elements are, in the order of the elements."""
    return _block if isinstance(obj, types.Integer) else _scattered


@register_jitable
def _block(extent, place, count):
    first = _place_in(place, extent, extent)
    return np.arange(first, first + count)


@register_jitable
def _scattered(extent, before, count):
    if len(before) == 1:
        return _block(extent, before[0], count)
    found = np.empty(count, np.intp)
    for number in range(count):
        found[number] = _place_in(before[number], extent, extent)
    order = np.argsort(found, kind="mergesort")
    for number in range(count):
        found[order[number]] += number
    return found
