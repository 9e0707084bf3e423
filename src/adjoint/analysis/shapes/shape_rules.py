"""The shapes of arrays whose makers are told them: lines, sums over axes, and what is reshaped or broadcast.

None where the terms do not say it: a number of the program could be negative, and ``-1`` stands for what is left over.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from adjoint import ir
from adjoint.analysis.shapes.window_extents import Extent, total
from adjoint.ir.join import is_whole_number
from adjoint.runtime import display
from adjoint.runtime.array_functions import sequences

if TYPE_CHECKING:
    from adjoint.analysis.shapes.extents import Extents, Shape

_TRANSFORMS = (
    *(np.fft.fft, np.fft.ifft, np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn),
    *(np.fft.fftshift, np.fft.ifftshift),
)
_MOVED = (np.roll, np.flip)
_RUNNING = (np.cumsum, np.cumprod)
_OF_A_SIDE = (np.triu, np.tril)
_ALONG = {sequences.vstack_of: 0, sequences.hstack_of: 1}
"""What puts matrices one behind the other, and along which axis."""
_DRAWS_BY_EXTENTS = ("rand", "randn")
_RESHAPED = (np.reshape, np.ndarray.reshape)


def told_shape(known: Extents, call: ir.Call) -> Shape | None:
    """The shape of what a call makes, of those whose makers are told it."""
    callee, args = call.callee, call.args
    if not isinstance(callee, Hashable):
        return None
    if callee in _TRANSFORMS:
        return known.of(args[0]) if len(args) == 1 and not call.kwargs else None
    if callee in _MOVED:
        return known.of(args[0])
    if callee in _RUNNING:
        is_along = len(args) > 1 or any(name == "axis" and value != ir.Const(None) for name, value in call.kwargs)
        return known.of(args[0]) if is_along else None
    if callee is np.linspace:
        return _line(known, call)
    if callee is display.draw:
        return _drawn(known, call)
    if any(name != "dtype" for name, _ in call.kwargs):
        return None
    if callee is np.arange:
        return _counted(known, args)
    if callee is np.broadcast_to and len(args) == 2:
        return known.made(args[1])
    if callee in _RESHAPED and len(args) == 2:
        return _reshaped(known, call)
    if callee in _OF_A_SIDE:
        shape = known.of(args[0])
        return shape if shape is not None and len(shape) > 1 else None
    if callee in _ALONG:
        return _joined([known.of(arg) for arg in args], _ALONG[callee])
    if callee is np.outer and len(args) == 2:
        return _outer(known.of(args[0]), known.of(args[1]))
    return None


def reduced_shape(known: Extents, call: ir.Call) -> Shape | None:
    """The shape of a sum, or the like, over axes that are known."""
    options = dict(zip(("axis",), call.args[1:], strict=False)) | dict(call.kwargs)
    if len(call.args) > 2 or not options.keys() <= {"axis", "keepdims", "dtype"}:
        return None
    shape, axis = known.of(call.args[0]), options.get("axis", ir.Const(None))
    keeps = options.get("keepdims", ir.Const(False))
    if shape is None or not isinstance(axis, ir.Const) or not isinstance(keeps, ir.Const):
        return None
    given = range(len(shape)) if axis.value is None else np.atleast_1d(axis.value).tolist()
    axes = {place % len(shape) for place in given if isinstance(place, int) and -len(shape) <= place < len(shape)}
    if len(axes) != len(given):
        return None
    if keeps.value:
        return tuple(1 if place in axes else extent for place, extent in enumerate(shape))
    return tuple(extent for place, extent in enumerate(shape) if place not in axes)


def total_extent(shape: Shape) -> Extent | None:
    """How many elements an array has; None where no term says it."""
    return _quotient(shape, ())


def _line(known: Extents, call: ir.Call) -> Shape | None:
    """``np.linspace`` between two numbers."""
    named = dict(call.kwargs)
    if len(call.args) not in (2, 3) or not named.keys() <= {"num", "endpoint", "dtype"}:
        return None
    if any(known.of(end) != () for end in call.args[:2]):
        return None
    return known.made(call.args[2] if len(call.args) == 3 else named.get("num", ir.Const(50)))


def _drawn(known: Extents, call: ir.Call) -> Shape | None:
    """The shape of random numbers, where it is named, or every argument is an extent."""
    method, *args = call.args
    size = dict(call.kwargs).get("size")
    if size is not None:
        return known.made(size)
    name = getattr(method.value, "__name__", None) if isinstance(method, ir.Const) else None
    if name not in _DRAWS_BY_EXTENTS or not all(map(is_whole_number, args)):
        return None
    for arg in args:
        known.whole.count(arg)
    return tuple(known.number(arg) for arg in args)


def _joined(parts: Sequence[Shape | None], axis: int) -> Shape | None:
    """The shape of matrices one behind the other: they agree in the extent across."""
    across = {part[1 - axis] for part in parts if part is not None and len(part) == 2}
    if len(across) != 1 or any(part is None or len(part) != 2 for part in parts):
        return None
    along = total([part[axis] for part in parts if part is not None])
    return (along, across.pop()) if axis == 0 else (across.pop(), along)


def _counted(known: Extents, args: Sequence[ir.Atom]) -> Shape | None:
    """``np.arange`` of whole numbers: of one that is an extent, or of some that are known."""
    if len(args) == 1 and is_whole_number(args[0]) and known.whole.is_natural(args[0]):
        return (known.number(args[0]),)
    values = [arg.value for arg in args if isinstance(arg, ir.Const) and type(arg.value) is int]
    if not 1 <= len(values) == len(args) <= 3 or values[2:] == [0]:
        return None
    return (len(range(*values)),)


def _outer(one: Shape | None, other: Shape | None) -> Shape | None:
    if one is None or other is None or len(one) != 1 or len(other) != 1:
        return None
    return (*one, *other)


def _reshaped(known: Extents, call: ir.Call) -> Shape | None:
    """The shape that an array is given anew, with what is left over where it says ``-1``."""
    wanted = _extents_in(known, call.args[1])
    if wanted is None:
        return None
    rest = [place for place, extent in enumerate(wanted) if extent is None]
    others = [extent for extent in wanted if extent is not None]
    if not rest:
        return tuple(others)
    before = known.of(call.args[0])
    if before is None or len(rest) > 1:
        return None
    left = _quotient(before, others)
    return None if left is None else tuple(left if extent is None else extent for extent in wanted)


def _extents_in(known: Extents, size: ir.Atom) -> list[Extent | None] | None:
    """The extents in a shape, None for ``-1``; None for all where one may be anything."""
    atoms: Sequence[ir.Atom]
    match size:
        case ir.Const(value=tuple() as values):
            atoms = [ir.Const(value) for value in values]
        case ir.Var() if size in known.parts:
            atoms = known.parts[size]
        case ir.Var() if size in known.tuples:
            return list(known.tuples[size])
        case _ if is_whole_number(size):
            atoms = [size]
        case _:
            return None
    found: list[Extent | None] = []
    for atom in atoms:
        if isinstance(atom, ir.Const) and atom.value == -1:
            found.append(None)
        elif known.whole.is_natural(atom):
            found.append(known.number(atom))
        else:
            return None
    return found


def _quotient(before: Sequence[Extent], others: Sequence[Extent]) -> Extent | None:
    """The number by which others are multiplied to be as many as there were."""
    symbols = Counter(extent for extent in before if not isinstance(extent, int))
    taken = Counter(extent for extent in others if not isinstance(extent, int))
    if taken - symbols:
        return None
    count, divisor = _product_of_numbers(before), _product_of_numbers(others)
    rest = list((symbols - taken).elements())
    if divisor == 0 or count % divisor or len(rest) > 1 or (rest and count != divisor):
        return None
    return rest[0] if rest else count // divisor


def _product_of_numbers(extents: Sequence[Extent]) -> int:
    return math.prod(extent for extent in extents if isinstance(extent, int))


__all__ = ["reduced_shape", "told_shape", "total_extent"]
