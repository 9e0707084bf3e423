"""Arrays made of several, and what of their cotangents belongs to each, for Numba: one loop for each part."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc, union-attr, arg-type"

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.extending import register_jitable
from numba.np.numpy_support import as_dtype

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.general import _all_axes, _extents, _float_like, _is_array, _loses, _made, _nest
from adjoint.runtime.array_functions import plain, sequences


@overload(plain.joined, prefer_literal=True)
def _joined(axis, *arrays):
    parts = _numeric(arrays)
    if parts is None:
        return None
    if _is_nothing(axis):
        return _joined_flat(parts)
    along = _axis_from_first(axis, parts[0].ndim)
    rank = parts[0].ndim
    if along is None or rank == 0 or any(part.ndim != rank for part in parts):
        return None
    extents = _extents("arrays[0]", rank)
    extents[along] = " + ".join(f"arrays[{k}].shape[{along}]" for k in range(len(parts)))
    lines = _same_extents(parts, [axis for axis in range(rank) if axis != along])
    lines += [f"    out = plain.empty({_tuple(extents)}, dtype)", "    start = 0"]
    for k in range(len(parts)):
        target = ", ".join(f"start + i{axis}" if axis == along else f"i{axis}" for axis in range(rank))
        lines += _nest(_extents(f"arrays[{k}]", rank), f"out[{target}] = arrays[{k}][{_all_axes(rank)}]")
        lines.append(f"    start += arrays[{k}].shape[{along}]")
    return _made("axis, *arrays", [*lines, "    return out"], dtype=_dtype_of(parts), same_extent=_same_extent)


def _joined_flat(parts):
    lines = [f"    out = plain.empty({' + '.join(f'arrays[{k}].size' for k in range(len(parts)))}, dtype)"]
    lines.append("    place = 0")
    for k in range(len(parts)):
        lines += [f"    for item in arrays[{k}].flat:", "        out[place] = item", "        place += 1"]
    return _made("axis, *arrays", [*lines, "    return out"], dtype=_dtype_of(parts))


@overload(sequences.concatenated_part, prefer_literal=True)
def _concatenated_part(ct, place, axis, *arrays):
    parts, own = _numeric(arrays), getattr(place, "literal_value", place)
    if parts is None or type(own) is not int or not _is_array(ct):
        return None
    if _is_nothing(axis):
        return _part_of_flat(ct, parts, own)
    rank = ct.ndim
    along = _axis_from_first(axis, rank)
    if along is None or any(part.ndim != rank for part in parts[: own + 1]):
        return None
    lines = [f"    start = {' + '.join(['0', *[f'arrays[{k}].shape[{along}]' for k in range(own)]])}"]
    within = ["start : start + arrays[{own}].shape[{along}]" if axis == along else ":" for axis in range(rank)]
    index = ", ".join(within).format(own=own, along=along)
    return _view("ct, place, axis, *arrays", lines, ct, index, parts[own])


def _part_of_flat(ct, parts, own):
    if ct.ndim != 1 or _loses(ct, _float_like(parts[own])):
        return None
    rank = parts[own].ndim
    lines = [f"    out = plain.empty(arrays[{own}].shape, dtype)"]
    lines.append(f"    start = {' + '.join(['0', *[f'arrays[{k}].size' for k in range(own)]])}")
    lines += _nest(_extents(f"arrays[{own}]", rank), f"out[{_all_axes(rank)}] = ct[start]", "start += 1")
    return _made("ct, place, axis, *arrays", [*lines, "    return out"], dtype=_float_like(parts[own]))


def _view(params, lines, ct, index, like):
    """A part of a cotangent, in the dtype of what it belongs to."""
    dtype = _float_like(like)
    if as_dtype(ct.dtype) == dtype:
        return _made(params, [*lines, f"    return ct[{index}]"])
    if _loses(ct, dtype):
        return None
    return _made(params, [*lines, f"    return ct[{index}].astype(dtype)"], dtype=dtype)


@overload(plain.stacked, prefer_literal=True)
def _stacked(axis, *arrays):
    parts = _numeric(arrays)
    along = None if parts is None else _axis_from_first(axis, parts[0].ndim + 1)
    if along is None or any(part.ndim != parts[0].ndim for part in parts):
        return None
    rank = parts[0].ndim
    extents = _extents("arrays[0]", rank)
    extents.insert(along, str(len(parts)))
    lines = _same_extents(parts, range(rank))
    lines.append(f"    out = plain.empty({_tuple(extents)}, dtype)")
    for k in range(len(parts)):
        target = [f"i{axis}" for axis in range(rank)]
        target.insert(along, str(k))
        lines += _nest(_extents(f"arrays[{k}]", rank), f"out[{', '.join(target)}] = arrays[{k}][{_all_axes(rank)}]")
    return _made("axis, *arrays", [*lines, "    return out"], dtype=_dtype_of(parts), same_extent=_same_extent)


@overload(sequences.stacked_part, prefer_literal=True)
def _stacked_part(ct, place, axis, array):
    along = _axis_from_first(axis, ct.ndim) if _is_array(ct) and _is_array(array) else None
    if along is None or not 0 < array.ndim == ct.ndim - 1:
        return None
    index = ", ".join("place" if axis == along else ":" for axis in range(ct.ndim))
    return _view("ct, place, axis, array", [], ct, index, array)


def _numeric(arrays):
    """The types of arrays of numbers; None if something else is among them."""
    parts = arrays[0] if len(arrays) == 1 and isinstance(arrays[0], types.BaseTuple) else arrays
    known = all(_is_array(part) and isinstance(part.dtype, (types.Number, types.Boolean)) for part in parts)
    return list(parts) if parts and known else None


def _dtype_of(parts):
    return np.result_type(*[as_dtype(part.dtype) for part in parts])


def _is_nothing(axis):
    return axis is None or isinstance(axis, types.NoneType)


def _axis_of(axis, *ranks):
    """An axis that is known; None if it is not, or if arrays of some of the ranks have none such."""
    value = getattr(axis, "literal_value", getattr(axis, "value", axis))
    return value if type(value) is int and all(-rank <= value < rank for rank in ranks) else None


def _axis_from_first(axis, rank):
    """The same of one array, counted from the first."""
    value = _axis_of(axis, rank)
    return None if value is None else value % rank


def _tuple(items):
    return f"({''.join(f'{item}, ' for item in items)})"


def _same_extents(parts, axes):
    """Lines that raise where arrays do not fit to the first one."""
    pairs = [(k, axis) for k in range(1, len(parts)) for axis in axes]
    return [f"    same_extent(arrays[0].shape[{axis}], arrays[{k}].shape[{axis}])" for k, axis in pairs]


@register_jitable
def _same_extent(one, other):
    if one != other:
        raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
