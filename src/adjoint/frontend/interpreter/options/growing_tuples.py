"""Variables that hold ever longer tuples: one in each iteration of a loop whose number is known at run time only.

Each length is another structure. The tuple that such a variable holds before the loop exists at run time, and so do
those that are made of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import Cell, Union, Value

if TYPE_CHECKING:
    from adjoint.frontend.interpreter.core import Lowerer


def note_growing(lo: Lowerer, key: Any, found: Sequence[joins.Shape]) -> None:
    """Starts again where a variable of a loop holds tuples of too many lengths, with them at run time.

    So do the others that hold such tuples there: they may be handed from one to the next.
    """
    loop = next((loop for loop in reversed(lo.run_data.loops) if key in loop[1]), None)
    if loop is None or not _are_several(found):
        return
    site, cells = loop
    alike = {cell.name for cell in cells if _are_several(_shapes(lo, cell))}
    new = {(site, name) for name in (key.name, *alike)} - lo.settings.growing
    if new:
        lo.settings.growing |= new
        raise Restart(sites=(site,))


def note_growing_value(lo: Lowerer, value: Value) -> None:
    """The same where all items are asked for of what may be one of tuples of several lengths."""
    if isinstance(value, Union):
        cells = {cell for _, inner in lo.run_data.loops for cell in inner if lo.store.get(cell) is value}
        for cell in sorted(cells, key=lambda cell: cell.name):
            note_growing(lo, cell, _shapes(lo, cell))


def _shapes(lo: Lowerer, cell: Cell) -> Sequence[joins.Shape]:
    value = lo.store.get(cell)
    return [joins.shape_of(value, lo.store)] if isinstance(value, Union) else []


def _are_several(found: Sequence[joins.Shape]) -> bool:
    """Whether something is one of tuples of several lengths, known or not."""
    shapes = [option for shape in found for option in _options(shape)]
    lengths = {len(shape.items) for shape in shapes if isinstance(shape, joins.TupleShape)}
    is_one_unknown = any(isinstance(shape, joins.Leaf) for shape in shapes)
    return all(map(_is_tuple, shapes)) and bool(lengths) and len(lengths) + is_one_unknown > 1


def _options(shape: joins.Shape) -> Sequence[joins.Shape]:
    return shape.options if isinstance(shape, joins.UnionShape) else (shape,)


def _is_tuple(shape: joins.Shape) -> bool:
    match shape:
        case joins.TupleShape(cls=cls):
            return cls is tuple
        case joins.Leaf(type=ir.List(is_tuple=is_tuple)):
            return is_tuple
        case joins.Same(value=ir.Const(value=known)):
            return type(known) is tuple
        case _:
            return False
