"""Stores into parts of arrays, for Numba: plain loops, without the messages of Numba's."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc"

from __future__ import annotations

from numba.core import types

from adjoint.backend.declaring import overload
from adjoint.backend.overloads import _all_axes, _extents, _is_array, _is_number, _made, _nest
from adjoint.runtime import plain


def _declare(function, operation):
    @overload(function)
    def declared(part, value):
        if not _is_array(part) or part.ndim == 0:
            return None
        if _is_number(value):
            store = f"part[{_all_axes(part.ndim)}] {operation} value"
            return _made("part, value", _nest(_extents("part", part.ndim), store))
        if not _is_array(value) or not 0 < value.ndim <= part.ndim:
            return None
        if isinstance(value.dtype, types.Complex) and not isinstance(part.dtype, types.Complex):
            return None
        return _loops(part.ndim, value.ndim, operation)


def _loops(rank, narrow, operation):
    """Loops over a part; axes of extent 1 of what is stored stand still."""
    first = rank - narrow
    axes = range(first, rank)
    whole = [f"i{axis}" for axis in range(rank)]
    extents = _extents("part", rank)
    lines = [f"    if value.shape == ({', '.join(extents[first:])},):"]
    lines += _nest(extents, f"part[{', '.join(whole)}] {operation} value[{', '.join(whole[first:])}]", depth=2)
    lines += ["    else:"]
    for axis in axes:
        given = f"value.shape[{axis - first}]"
        lines += [f"        step{axis} = 0 if {given} == 1 else 1"]
        lines += [f"        if {given} != 1 and {given} != part.shape[{axis}]:"]
        lines += ["            raise ValueError('could not broadcast input array into shape of the part')"]
    places = ", ".join(f"i{axis} * step{axis}" for axis in axes)
    lines += _nest(extents, f"part[{', '.join(whole)}] {operation} value[{places}]", depth=2)
    return _made("part, value", lines)


_declare(plain.put, "=")
_declare(plain.add_to, "+=")
_declare(plain.take_from, "-=")
