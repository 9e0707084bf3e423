"""What arrays of truth values of any rank select, for Numba: one loop over them."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc"

from __future__ import annotations

from numba.core import types
from numba.extending import register_jitable

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.general import _all_axes, _extents, _is_array, _is_number, _made, _nest
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.array_functions import plain


@overload(plain.selected)
def _selected(a, mask):
    if not _is_mask_of(mask, a):
        return None
    rest = "".join(f"a.shape[{axis}], " for axis in range(mask.ndim, a.ndim))
    part = f"a[{_all_axes(mask.ndim)}]"
    store = f"out[place] = {part}" if mask.ndim == a.ndim else f"plain.put(out[place], {part})"
    lines = [*_count(mask), f"    out = plain.empty((count, {rest}), a.dtype)", "    place = 0"]
    lines += [*_nest_where(mask, store, "place += 1"), "    return out"]
    return _made("a, mask", lines, check_axis=_check_axis)


def _declare(function, operation, operate):
    @overload(function)
    def declared(a, values, mask):
        if not _is_mask_of(mask, a) or not (_is_number(values) or _is_array(values)):
            return None
        dtype = values.dtype if _is_array(values) else values
        if isinstance(dtype, types.Complex) and not isinstance(a.dtype, types.Complex):
            return None
        rest = a.ndim - mask.ndim
        lines, part = _checks(mask), f"a[{_all_axes(mask.ndim)}]"
        after = ""
        if _is_number(values):
            value = "values"
        elif values.ndim == 0:
            value = "values[()]"
        elif values.ndim <= rest:
            value = "values"
        elif values.ndim == rest + 1:
            lines = [*_count(mask), "    fits_extent(values.shape[0], count)", "    held = values.copy()"]
            lines += ["    place, step = 0, step_along(values.shape[0])"]
            value, after = "held[place]", "place += step"
        else:
            return None
        store = f"{operate}({part}, {value})" if rest else f"{part} {operation} {value}"
        lines += _nest_where(mask, store, after)
        names = {
            "fits_extent": fused_loops.fits_extent,
            "step_along": fused_loops.step_along,
            "check_axis": _check_axis,
        }
        return _made("a, values, mask", lines, **names)


def _is_mask_of(mask, a):
    are_arrays = _is_array(a) and _is_array(mask)
    return are_arrays and isinstance(mask.dtype, types.Boolean) and 0 < mask.ndim <= a.ndim


def _checks(mask):
    return [f"    check_axis(mask.shape[{axis}], a.shape[{axis}])" for axis in range(mask.ndim)]


@register_jitable
def _check_axis(extent, whole):
    if extent != whole:
        raise IndexError("boolean index did not match indexed array")


def _count(mask):
    """Lines that bind how many elements are selected."""
    return [
        *_checks(mask),
        "    count = 0",
        *_nest(_extents("mask", mask.ndim), f"count += mask[{_all_axes(mask.ndim)}]"),
    ]


def _nest_where(mask, *lines):
    test = f"if mask[{_all_axes(mask.ndim)}]:"
    return _nest(_extents("mask", mask.ndim), test, *[f"    {line}" for line in lines if line])


_declare(plain.put_selected, "=", "plain.put")
_declare(plain.add_selected, "+=", "plain.add_to")
_declare(plain.take_selected, "-=", "plain.take_from")
