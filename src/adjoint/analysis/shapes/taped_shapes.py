"""The shapes of what is on tapes: one of all items, or one for each turn of the loops that fill a tape."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from adjoint import ir
from adjoint.analysis.shapes.mirrored_loops import single_index, turns_of
from adjoint.analysis.shapes.tapes import pushed_together, tapes_of
from adjoint.analysis.shapes.terms import Extent, names
from adjoint.analysis.shapes.window_extents import WholeNumbers

Shape = tuple[Extent, ...]


class TapedShapes:
    """What is known of the shapes of items, in terms that name no more than the turn of the loops that put them there.

    A loop that reads tapes turn by turn shares the index of the loop that has filled them: the index has a value in
    one of the two at a time, and terms leave a loop without it.

    Attributes
    ----------
    known
        The shapes of items, by tapes; None where they differ.
    mirrored
        The indices of loops that read tapes, each with that of the loop over the same range that has filled them.
    """

    def __init__(self, body: ir.Block) -> None:
        self.known: dict[ir.Var, Shape | None] = dict.fromkeys(tapes_of(body))
        self._filled: dict[ir.Var, Shape | None] = {}
        self._together = pushed_together(body) if self.known else {}
        self._turns = turns_of(body, self.known) if self.known else {}
        self._mirrors = {id(one): other for turns in self._turns.values() for one, other in turns.pairs()}
        self.mirrored: dict[ir.Var, ir.Var] = {}

    def __contains__(self, atom: object) -> bool:
        return atom in self.known

    def settle(self) -> bool:
        """Takes what tapes have been filled with for what they hold; whether that was known before."""
        before, self.known = self.known, {tape: self._filled.get(tape) for tape in self.known}
        self._filled = {}
        return self.known == before

    def of_all_items(self, tape: ir.Var) -> Shape | None:
        """The shape that all items of a tape have; None where they differ."""
        shape = _at(self.known.get(tape), None)
        return None if self._differs_by_turn(tape, shape) else shape

    def of_item(self, tape: ir.Var, key: ir.Key | None) -> Shape | None:
        """The shape of an item, the last one without a key; if it differs by turn, that of the turn of the reader."""
        shape = _at(self.known.get(tape), key)
        if not self._differs_by_turn(tape, shape):
            return shape
        turns = self._turns[tape]
        read = [loop.index for loop in turns.popped] if key is None else [single_index(key)]
        filled = [self.mirrored.get(index) if isinstance(index, ir.Var) else None for index in read]
        return shape if filled == [loop.index for loop in turns.put] else None

    def indices(self, tape: ir.Var) -> dict[ir.Var, ir.Var]:
        """For the index of each loop that fills a tape that of the loop which takes the item of the same turn."""
        turns = self._turns.get(tape)
        if turns is None:
            return {}
        pairs = ((filling.index, reading.index) for reading, filling in turns.pairs())
        return {mine: other for mine, other in pairs if mine and other and self.mirrored.get(other) is mine}

    def fill(self, tape: ir.Var, shape: Shape | None) -> None:
        """Takes note of what is put on a tape."""
        if shape is not None and tape in self._together:
            shape = tuple([_on_tape(extent, self._together[tape]) for extent in shape])
        self._filled[tape] = shape if self._filled.get(tape, shape) == shape else None

    def mask(self, tape: ir.Atom, key: ir.Key) -> Extent | None:
        """How many elements an item selects that is a mask: as many as at the same index of the tape."""
        index = single_index(key)
        return ("count", ("item", tape, index)) if tape in self._together and index is not None else None

    def enter(self, loop: ir.Loop, whole: WholeNumbers) -> None:
        """Has a loop that reads tapes share the index of that which has filled them, where the ranges are one."""
        other = self._mirrors.get(id(loop))
        if other is None or loop.index is None or other.index is None:
            return
        if whole.range_of(loop) == whole.range_of(other):
            whole.name(loop.index, ("number", other.index))
            self.mirrored[loop.index] = other.index
        else:
            self.mirrored.pop(loop.index, None)

    def shared_index(self, loop: ir.Loop) -> Collection[ir.Var]:
        """The index that may stand for that of a loop which reads tapes."""
        other = self._mirrors.get(id(loop))
        return () if other is None or other.index is None else (other.index,)

    def leave(self, bound: set[ir.Var]) -> None:
        """Forgets shapes that name what a loop has bound, but for the turn in which an item was put on its tape."""
        for tape, shape in self._filled.items():
            if not names(shape, bound):
                continue
            if tape not in self._turns or names(shape, bound - self._turns[tape].indices()):
                self._filled[tape] = None

    def _differs_by_turn(self, tape: ir.Var, shape: Shape | None) -> bool:
        return tape in self._turns and names(shape, self._turns[tape].indices())


def _on_tape(extent: Extent, together: Mapping[ir.Atom, ir.Var]) -> Extent:
    """The term of an extent for who takes an array from its tape: masks are there at the same index."""
    match extent:
        case ("count", ir.Var() as mask) if mask in together:
            return ("count", ("pushed", together[mask]))
    return extent


def _at(shape: Shape | None, key: ir.Key | None) -> Shape | None:
    """The shape of an item of a tape: where masks say its extents, those are the items at the same index."""
    if shape is None or not any(_is_pushed(extent) for extent in shape):
        return shape
    index = single_index(key)
    if index is None:
        return None
    return tuple([("count", ("item", extent[1][1], index)) if _is_pushed(extent) else extent for extent in shape])  # type: ignore[index]


def _is_pushed(extent: Extent) -> bool:
    match extent:
        case ("count", ("pushed", _)):
            return True
    return False


__all__ = ["Shape", "TapedShapes"]
