"""What lies at places in arrays, for Numba: as many arrays of places as there are, broadcast together."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs
# mypy: disable-error-code="no-any-return, misc, arg-type"

from __future__ import annotations

from numba.core import types

from adjoint.native.runtime.declaring import overload
from adjoint.native.runtime.overloads.general import _is_array, _is_number, _made
from adjoint.runtime.arithmetic import fused_loops
from adjoint.runtime.array_functions import places, plain


class _Index:
    """An index as nested loops walk through it: ``i0, i1, ...`` over places, slices within.

    Parameters
    ----------
    base
        The type of the array.
    items
        The types of the parts of the index: whole numbers, slices, arrays of whole numbers.
    """

    def __init__(self, base, items):
        self.items = items
        self.arrays = [place for place, item in enumerate(items) if _is_array(item)]
        self.rank = max([items[place].ndim for place in self.arrays], default=0)
        self.kept = sum(isinstance(item, types.SliceType) for item in items) + base.ndim - len(items)
        taken = [place for place, item in enumerate(items) if not isinstance(item, types.SliceType)]
        together = bool(taken) and taken == list(range(taken[0], taken[-1] + 1))
        self.first = taken[0] if together else 0
        self.taken = taken

    def prologue(self):
        """Lines that bind the extents ``n0, n1, ...`` of the loops, and the steps of arrays along them."""
        lines = []
        for axis in range(self.rank):
            here = [(place, axis - self.rank + self.items[place].ndim) for place in self.arrays]
            extents = [(place, f"index[{place}].shape[{own}]") for place, own in here if own >= 0]
            lines.append(f"    n{axis} = {extents[0][1]}")
            lines += [f"    n{axis} = common_places(n{axis}, {extent})" for _, extent in extents[1:]]
            lines += [f"    step{place}_{axis} = step_along({extent})" for place, extent in extents[1:]]
            if len(extents) > 1:
                lines.append(f"    step{extents[0][0]}_{axis} = step_along({extents[0][1]})")
        return lines

    def loops(self, line, depth=1):
        lines = [f"{'    ' * (axis + depth)}for i{axis} in range(n{axis}):" for axis in range(self.rank)]
        return [*lines, f"{'    ' * (self.rank + depth)}{line}"]

    def at(self):
        """The index of the elements of which the loops speak."""
        parts = []
        for place, item in enumerate(self.items):
            if not _is_array(item):
                parts.append(f"index[{place}]")
                continue
            axes = range(self.rank - item.ndim, self.rank)
            parts.append(f"index[{place}][{', '.join(self.along(place, axis) for axis in axes)}]")
        return ", ".join(parts)

    def along(self, place, axis):
        others = sum(self.items[other].ndim >= self.rank - axis for other in self.arrays) > 1
        return f"i{axis} * step{place}_{axis}" if others else f"i{axis}"

    def of_selected(self):
        """The index of the same elements in what is selected."""
        return ", ".join([*[":"] * self.first, *[f"i{axis}" for axis in range(self.rank)]])

    def extents(self):
        """The shape of what is selected, given ``part``, which lies at one place."""
        extents = [f"part.shape[{axis}]" for axis in range(self.kept)]
        extents[self.first : self.first] = [f"n{axis}" for axis in range(self.rank)]
        return "".join(f"{extent}, " for extent in extents)

    def part(self):
        """What lies at the first place; an array without elements has none."""
        parts = ["0" if place in self.taken else f"index[{place}]" for place in range(len(self.items))]
        return ", ".join(parts)


def _index_of(base, index):
    items = list(index[0] if len(index) == 1 and isinstance(index[0], types.BaseTuple) else index)
    known = (types.Integer, types.SliceType)
    plain_items = all(isinstance(item, known) or _is_places(item) for item in items)
    if not _is_array(base) or not plain_items or len(items) > base.ndim:
        return None
    return _Index(base, items)


def _is_places(item):
    return _is_array(item) and isinstance(item.dtype, types.Integer) and item.ndim > 0


@overload(plain.taken_at)
def _taken_at(a, *index):
    found = _index_of(a, index)
    if found is None:
        return None
    lines = found.prologue()
    if not found.kept:
        extents = "".join(f"n{axis}, " for axis in range(found.rank))
        lines += [f"    out = plain.empty(({extents}), a.dtype)"]
        lines += found.loops(f"out[{found.of_selected()}] = a[{found.at()}]")
    else:
        lines += [f"    part = a[{found.part()}]", f"    out = plain.empty(({found.extents()}), a.dtype)"]
        lines += found.loops(f"plain.put(out[{found.of_selected()}], a[{found.at()}])")
    return _made("a, *index", [*lines, "    return out"], **_NAMES)


@overload(plain.check_places)
def _check_places(a, *index):
    found = _index_of(a, index)
    if found is None:
        return None
    lines = []
    for axis in range(len(found.items)):
        if axis in found.arrays:
            lines += [f"    for at in index[{axis}].flat:", *_check("at", axis, "        ")]
        elif axis in found.taken:
            lines += _check(f"index[{axis}]", axis, "    ")
    return _made("a, *index", lines)


@overload(plain.check_inside)
def _check_inside(places, extent):
    if not _is_places(places):
        return None

    def check_inside(places, extent):
        for place in places.flat:
            if place < -extent or place >= extent:
                raise IndexError("index is out of bounds")

    return check_inside


def _check(place, axis, indent):
    extent = f"a.shape[{axis}]"
    outside = f"{place} < -{extent} or {place} >= {extent}"
    return [f"{indent}if {outside}:", f"{indent}    raise IndexError('index is out of bounds')"]


def _declare(function, operation, operate):
    @overload(function)
    def declared(a, values, *index):
        found = _index_of(a, index)
        if found is None or not (_is_number(values) or _is_array(values)):
            return None
        lines = found.prologue()
        if _is_number(values) or values.ndim == 0:
            value = "values" if _is_number(values) else "values[()]"
        else:
            if values.ndim > found.rank + found.kept:
                return None
            value, checks = _element(found, values.ndim)
            lines += checks
        target = f"a[{found.at()}]"
        line = f"{operate}({target}, {value})" if found.kept else f"{target} {operation} {value}"
        return _made("a, values, *index", [*lines, *found.loops(line)], **_NAMES)


def _element(found, rank):
    """What of an array of values belongs to one place, and what binds its steps along the places."""
    parts, lines = [], []
    whole = found.rank + found.kept
    for own in range(rank):
        axis = own + whole - rank
        if not found.first <= axis < found.first + found.rank:
            parts.append(":")
            continue
        along = axis - found.first
        lines += [f"    fits_extent(values.shape[{own}], n{along})", f"    by{along} = step_along(values.shape[{own}])"]
        parts.append(f"i{along} * by{along}")
    return f"values[{', '.join(parts)}]", lines


_NAMES = {
    "common_places": fused_loops.common_places,
    "fits_extent": fused_loops.fits_extent,
    "step_along": fused_loops.step_along,
}
_declare(places.add_at, "+=", "plain.add_to")
_declare(plain.put_at, "=", "plain.put")
