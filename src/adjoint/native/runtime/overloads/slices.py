"""Stores into parts of arrays, and complex numbers of their parts, for Numba: plain loops, without its messages."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc"

from __future__ import annotations

import numpy as np
from numba.core import types
from numba.np.numpy_support import as_dtype

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.general import _all_axes, _extents, _is_array, _is_number, _made, _nest
from adjoint.runtime.array_functions import arrays, plain


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


@overload(arrays.complex_of)
def _complex_of(real, imag):
    """In the shape of ``real``, unless that is a number."""
    if isinstance(imag.dtype if _is_array(imag) else imag, types.Complex):
        return None
    if _is_number(real) and _is_number(imag):
        return lambda real, imag: complex(real.real, imag)
    whole = "real" if _is_array(real) else "imag"
    rank = real.ndim if _is_array(real) else imag.ndim
    if not (_is_array(real) or _is_number(real)) or not (_is_array(imag) or _is_number(imag)):
        return None
    if _is_array(imag) and imag.ndim > rank:
        return None
    kinds = [as_dtype(part.dtype) for part in (real, imag) if _is_array(part)]
    axes = [f"i{axis}" for axis in range(rank)]
    of_real = f"real[{_all_axes(rank)}].real" if _is_array(real) else "real.real"
    of_imag, lines = "imag", []
    if _is_array(imag):
        first = rank - imag.ndim
        for axis in range(first, rank):
            given, there = f"imag.shape[{axis - first}]", f"{whole}.shape[{axis}]"
            lines += [f"    step{axis} = 0 if {given} == 1 else 1", f"    if {given} != 1 and {given} != {there}:"]
            lines += ["        raise ValueError('could not broadcast input array into shape of the part')"]
        places = [f"{axes[axis]} * step{axis}" for axis in range(first, rank)]
        of_imag = f"imag[{', '.join(places) or '()'}]"
    lines += [f"    out = plain.empty({whole}.shape, dtype)"]
    lines += _nest(_extents(whole, rank), f"out[{_all_axes(rank)}] = complex({of_real}, {of_imag})")
    return _made("real, imag", [*lines, "    return out"], dtype=np.result_type(*kinds, np.complex64))
