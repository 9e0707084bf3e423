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
from adjoint.analysis.shapes.terms import ONE, Extent, total
from adjoint.ir.join import is_whole_number
from adjoint.runtime import display
from adjoint.runtime.array_functions import sequences
from adjoint.runtime.array_functions.lu import inverse_factored, solve_factored
from adjoint.runtime.array_functions.triangular import SOLVERS

if TYPE_CHECKING:
    from adjoint.analysis.shapes.extents import Extents, Shape

_TRANSFORMS = (
    *(np.fft.fft, np.fft.ifft, np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn),
    *(np.fft.fftshift, np.fft.ifftshift),
)
_MOVED = (np.roll, np.flip)
_RUNNING = (np.cumsum, np.cumprod)
_ORDERED = (np.sort, np.argsort)
_OF_A_SIDE = (np.triu, np.tril)
_ALONG = {sequences.vstack_of: 0, sequences.hstack_of: 1}
"""What puts matrices one behind the other, and along which axis."""
_BEHIND = (sequences.concatenate_of, sequences.stack_of)
_AXES_MOVED = (np.transpose, np.swapaxes, np.moveaxis, np.expand_dims)
_DRAWS_BY_EXTENTS = ("rand", "randn")
_OF_SQUARES = (np.linalg.cholesky, np.linalg.inv, inverse_factored)
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
    if callee in _RUNNING or callee in _ORDERED:
        default = ir.Const(None if callee in _RUNNING else -1)
        axis = args[1] if len(args) > 1 else dict(call.kwargs).get("axis", default)
        return known.of(args[0]) if isinstance(axis, ir.Const) and axis.value is not None else None
    if callee is np.linspace:
        return _line(known, call)
    if callee is display.draw:
        return _drawn(known, call)
    if callee in _BEHIND:
        return _behind(known, call)
    if callee in _AXES_MOVED:
        return _axes_moved(known, call)
    if callee in _OF_A_SIDE:
        shape = known.of(args[0])
        return shape if shape is not None and len(shape) > 1 else None
    if callee in _OF_SQUARES:
        shape = known.of(args[0])
        return (*shape[:-1], shape[-2]) if shape is not None and len(shape) > 1 else None
    if callee in SOLVERS:
        shapes = [known.of(arg) for arg in args[:2]]
        return shapes[1] if all(shape is not None and len(shape) < 3 for shape in shapes) else None
    if callee is solve_factored:
        return known.of(args[2])
    if callee is np.eye:
        return _identity(known, call)
    if any(name != "dtype" for name, _ in call.kwargs):
        return None
    if callee is np.arange:
        return _counted(known, args)
    if callee is np.broadcast_to and len(args) == 2:
        return known.made(args[1])
    if callee in _RESHAPED and len(args) == 2:
        return _reshaped(known, call)
    if callee in _ALONG:
        return _joined([known.of(arg) for arg in args], _ALONG[callee])
    if callee is np.outer and len(args) == 2:
        return _outer(known.of(args[0]), known.of(args[1]))
    return None


def displayed_shape(template: ir.Atom) -> Shape | None:
    """The shape of an array whose numbers are written out."""
    if not isinstance(template, ir.Const):
        return None
    level, shape = template.value, []
    while isinstance(level, tuple):
        shape.append(len(level))
        level = level[0] if level else None
    return tuple(shape)


def reduced_shape(known: Extents, call: ir.Call) -> Shape | None:
    """The shape of a sum, or the like, over axes that are known."""
    names = ("ord", "axis", "keepdims") if call.callee is np.linalg.norm else ("axis",)
    options = dict(zip(names, call.args[1:], strict=False)) | dict(call.kwargs)
    if len(call.args) > 1 + len(names) or not options.keys() <= {"axis", "keepdims", "dtype", "ord"}:
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


def _identity(known: Extents, call: ir.Call) -> Shape | None:
    """The shape of ``np.eye``: of so many rows, and columns if there are others."""
    sides = [known.made(each) for each in call.args[:2] if each != ir.Const(None)]
    if not sides or any(name in ("N", "M") for name, _ in call.kwargs):
        return None
    extents = [side[0] for side in sides if side is not None and len(side) == 1]
    return (extents[0], extents[-1]) if len(extents) == len(sides) else None


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


def _behind(known: Extents, call: ir.Call) -> Shape | None:
    """The shape of arrays one behind the other: along a new axis, or along one that they have."""
    axis = dict(call.kwargs).get("axis", ir.Const(0))
    shapes = [known.of(arg) for arg in call.args]
    first, is_new = shapes[0] if shapes else None, call.callee is sequences.stack_of
    if first is None or not isinstance(axis, ir.Const) or type(axis.value) is not int:
        return None
    place = axis.value + len(first) + is_new if axis.value < 0 else axis.value
    if not 0 <= place < len(first) + is_new or any(shape is None or len(shape) != len(first) for shape in shapes):
        return None
    if is_new:  # all have the shape of one of which it is known
        return (*first[:place], len(shapes), *first[place:])
    return (*first[:place], total([shape[place] for shape in shapes if shape is not None]), *first[place + 1 :])


def _axes_moved(known: Extents, call: ir.Call) -> Shape | None:
    """Axes in another order, or a new one, where it is known which are meant: an example tells which they become."""
    shape = known.of(call.args[0])
    axes = [axis.value for axis in call.args[1:] if isinstance(axis, ir.Const)]
    named = {name: axis.value for name, axis in call.kwargs if isinstance(axis, ir.Const)}
    if shape is None or len(axes) + len(named) != len(call.args) - 1 + len(call.kwargs):
        return None
    example = np.broadcast_to(0.0, tuple(range(2, 2 + len(shape))))
    try:
        moved = call.callee(example, *axes, **named)
    except (TypeError, ValueError):  # of which an axis that is not there is one
        return None
    return tuple(ONE if extent == 1 else shape[extent - 2] for extent in moved.shape)


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


__all__ = ["ONE", "displayed_shape", "reduced_shape", "told_shape", "total_extent"]
