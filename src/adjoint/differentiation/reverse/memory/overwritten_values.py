"""What was in an array that is written later: a derivative that reads it is handed a copy, made where it was read.

The copy is only made if the reverse region, once it is complete, still reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.reachable import all_memory, parts
from adjoint.analysis.memory.storage_alias import owns_result
from adjoint.analysis.shapes.shape_arguments import shape_argument
from adjoint.diagnostics import Span
from adjoint.differentiation.reverse.bindings import Region, Regions
from adjoint.differentiation.reverse.region import Sweep
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_key
from adjoint.ir.walk import blocks_of, key_atoms, operands, statements_in, targets_of, terminators_in
from adjoint.runtime.copies import owned, snapshot

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.memory.loose_views import LooseViews
    from adjoint.differentiation.reverse.memory.ordered_stores import Ordered
    from adjoint.differentiation.reverse.statements import Reverser

_COPY_ARRAY: Any = np.copy
_COPY_LIST: Any = list.copy


Moment = tuple[int, tuple[int, ...]]
"""A place in a function's text, and the loops around it."""


class _Timeline:
    """The order of a function's statements, the loops around each, and what each of them writes."""

    def __init__(self, function: ir.Function) -> None:
        self.number: dict[int, Moment] = {}
        self.left: dict[int, Moment] = {}
        """Where statements end of which one block runs, or one and then another."""
        self.events: list[tuple[int, tuple[int, ...], ir.Storage, ir.Atom | None]] = []
        self.bound: dict[ir.Atom, Moment] = dict.fromkeys(function.params, (-1, ()))
        self.born: dict[ir.Atom, Moment] = {}
        self.scan(function.body, ())

    def scan(self, block: ir.Block, loops: tuple[int, ...]) -> None:
        for statement in block.statements:
            place = len(self.number)
            now = self.number[id(statement)] = place, loops
            for storage, name in _writes_of(statement):
                self.events.append((place, loops, storage, name))
            if isinstance(statement, (ir.Call, ir.Load)):
                self.bound |= dict.fromkeys(targets_of(statement), now)
                if isinstance(statement, ir.Call) and owns_result(statement, effects_of(statement)):
                    self.born[statement.targets[0]] = now
            inner = (*loops, id(statement)) if isinstance(statement, ir.Loop) else loops
            if isinstance(statement, ir.Loop):
                self.bound |= dict.fromkeys(statement.params, (place, inner))
            for nested in blocks_of(statement):
                self.scan(nested, inner)
            if isinstance(statement, ir.If) or (isinstance(statement, ir.Guarded) and statement.final is None):
                self.left[id(statement)] = len(self.number) - 1, loops
        for nested in blocks_of(block.terminator):
            self.scan(nested, loops)

    def is_younger(self, written: ir.Atom | None, read: ir.Atom) -> bool:
        """Whether an array is made anew each time behind the place where a variable is bound.

        Then what it is called when it is written is never what the variable refers to, now or in other iterations.
        """
        if written is None or written not in self.born or read not in self.bound:
            return False
        (born, within), (bound, around) = self.born[written], self.bound[read]
        return bound < born and within[: len(around)] == around


class Writes:
    """When memory is written, as far as the program text tells.

    Parameters
    ----------
    elsewhere
        Memory that others write after the function has run.
    final
        Memory that holds what it will hold whenever it is read: stores into it are left out.
    """

    def __init__(
        self,
        regions: Regions,
        function: ir.Function,
        elsewhere: Collection[ir.Storage] = (),
        final: Collection[ir.Storage] = (),
    ) -> None:
        self.regions = regions
        self.function = function
        self.elsewhere = {storage.find() for storage in elsewhere}
        self.final = {storage.find() for storage in final}
        self.homes: dict[ir.Storage, Region] = {}
        for var, binding in regions.bindings.items():
            for storage in all_memory(var.type):
                before = self.homes.get(storage, binding.region)
                self.homes[storage] = _common(before, binding.region)

    @cached_property
    def timeline(self) -> _Timeline:
        return _Timeline(self.function)

    @cached_property
    def is_vague(self) -> bool:
        """Whether there is something of which it is not known whether it is a number or an array, or another index."""
        return any(isinstance(var.type, (ir.Number, ir.Opaque, ir.Tuple)) for var in self.regions.bindings)

    def written_parts(self) -> Iterator[ir.Load]:
        """What is read at indices that may pick out views, or copies, and is written."""
        if self.is_vague:
            from adjoint.differentiation.memory.constant_views import is_unsure_part  # lazy

            yield from (load for load in statements_in(self.function.body) if is_unsure_part(load))

    @cached_property
    def loose(self) -> LooseViews | None:
        """The values that may be views; None where all ranks are known, and all indices."""
        if not self.is_vague:
            return None
        from adjoint.differentiation.reverse.memory.loose_views import loose_views  # lazy

        return loose_views(self.function, lambda statement: self.timeline.number[id(statement)], self.may_write)

    @cached_property
    def held(self) -> dict[ir.Atom, set[ir.Storage]]:
        """The memory that results of functions of which nothing is known may refer to: any that these were handed."""
        found: dict[ir.Atom, set[ir.Storage]] = {}
        for statement in statements_in(self.function.body):
            given = set[ir.Storage]().union(*(found.get(atom, ()) for atom in operands(statement)))
            if isinstance(statement, ir.Call) and not effects_of(statement).known:
                given.update(*(all_memory(type_of_atom(atom)) for atom in operands(statement)))
            if given and isinstance(statement, (ir.Call, ir.Load)):
                opaque = [target for target in targets_of(statement) if isinstance(target.type, ir.Opaque)]
                found.update(dict.fromkeys(opaque, given))
        return found

    def read_late(self) -> Iterator[tuple[ir.Var, Span | None]]:
        """Values that may be views of memory which was written before they are read."""
        loose = self.loose
        if loose is None or not loose.found:
            return iter(())

        def writes(storage: ir.Storage) -> list[Moment]:
            events = self.timeline.events
            return [(place, loops) for place, loops, written, _ in events if written.find() is storage.find()]

        return loose.read_late(self.function, lambda statement: self.timeline.number[id(statement)], writes)

    @cached_property
    def ordered(self) -> Ordered:
        from adjoint.differentiation.reverse.memory.ordered_stores import Ordered  # lazy

        return Ordered(self.function, self.regions, lambda storage: _loops_around(self.homes.get(storage.find())))

    def after(
        self, statement: ir.Statement, storage: ir.Storage, read: ir.Atom | None = None, *, left: bool = False
    ) -> bool:
        """Whether memory, or the part that is read of it, may be written after a statement began, or was left.

        Memory that nothing outside of one iteration refers to is made anew in each.
        """
        root = storage.find()
        if root in self.elsewhere:
            return True
        place, loops = self.timeline.number[id(statement)]
        if left:
            place, loops = self.timeline.left.get(id(statement), (place, loops))
        lifetime = _loops_around(self.homes.get(root))
        again = [loop for loop in loops if loop not in lifetime]
        written = any(
            event.find() is root
            and (when > place or any(loop in where for loop in again))
            and not (read is not None and self.timeline.is_younger(name, read))
            for when, where, event, name in self.timeline.events
        )
        return written and not (read is not None and self.ordered.holds(statement, read))

    def reach(self, statement: ir.Statement, read: ir.Var) -> bool:
        """Whether what a value refers to, or what lies in it, may be written after it was read."""
        storage = ir.storage_of(read.type)
        if storage is not None and self.may_write(storage) and self.after(statement, storage, read):
            return True
        if self.loose is not None and any(self.after(statement, found) for found in self.loose.memory_of(read)):
            return True
        if any(self.may_write(found) and self.after(statement, found) for found in self.held.get(read, ())):
            return True
        inner = [found for part in parts(read.type) for found in all_memory(part)]
        return any(self.may_write(found) and self.after(statement, found) for found in inner)

    def may_write(self, storage: ir.Storage) -> bool:
        """Whether anybody writes memory at any time."""
        root = storage.find()
        return root in self.elsewhere or (storage.written and root not in self.final)

    def settled(self, statement: ir.Statement, base: ir.Atom) -> bool:
        """Whether what a statement reads from memory can be read again at any later time."""
        storage = getattr(base.type, "storage", None) if isinstance(base, ir.Var) else None
        if not isinstance(storage, ir.Storage):
            return isinstance(base, ir.Var) and isinstance(base.type, ir.Tuple)
        return not self.may_write(storage) or not self.after(statement, storage, base)

    def is_repeatable(self, load: ir.Load) -> bool:
        """Whether a load gives the same at any later time: arrays of places and masks in its index stay, too."""
        places = [atom for atom in key_atoms(load.key) if isinstance(atom, ir.Var)]
        return self.settled(load, load.base) and not any(self.reach(load, atom) for atom in places)


def _common(one: Region, other: Region) -> Region:
    while not other.within(one):
        assert one.parent is not None
        one = one.parent
    return one


def _loops_around(region: Region | None) -> set[int]:
    found = set()
    while region is not None:
        if region.kind == "loop":
            found.add(id(region.owner))
        region = region.parent
    return found


def refuse_lost_reference(reverser: Reverser, statement: ir.Statement, value: ir.Atom, *, left: bool = False) -> None:
    """Refuses what is held as a number or an array where it is an array that is written later, and changes there.

    It is handed on where a statement begins, or where it is ``left``.
    """
    if not isinstance(value, ir.Var) or not isinstance(value.type, ir.Array) or not ir.is_handle(value.type):
        return
    if reverser.writes.after(statement, value.type.storage, left=left):
        label = "what is a number elsewhere is an array here, which is written later"
        reverser.context.problem("AD0303", statement.span, label)


def written_by(statement: ir.Statement) -> Iterator[ir.Storage]:
    """The memory that a statement writes by itself."""
    return (storage for storage, _ in _writes_of(statement))


def _writes_of(statement: ir.Statement) -> Iterator[tuple[ir.Storage, ir.Atom | None]]:
    """The memory that a statement writes, and by which name; None for what lies in containers."""
    if isinstance(statement, ir.Store):
        yield from _own(statement.base)
    elif isinstance(statement, ir.Call):
        found = effects_of(statement)
        values = operands(statement)
        if not found.known:  # what lies in containers may be written, too
            reached: dict[ir.Storage, None] = {}
            for value in values:
                reached.update(dict.fromkeys(all_memory(value.type) if isinstance(value, ir.Var) else ()))
            yield from ((storage, None) for storage in reached)
        for place in found.writes:
            yield from _own(values[place]) if place < len(values) else ()


def _own(atom: ir.Atom) -> Iterator[tuple[ir.Storage, ir.Atom]]:
    storage = getattr(atom.type, "storage", None) if isinstance(atom, ir.Var) else None
    if isinstance(storage, ir.Storage) and storage.written:
        yield storage, atom


def content(reverser: Reverser, atom: ir.Atom, statement: ir.Statement, *, result: bool = False) -> ir.Atom:
    """What stands in the reverse region for what an atom held when a statement was executed.

    ``result`` says that the atom is bound by the statement, so that it is read after it.
    """
    if type(atom) is not ir.Var or type(atom.type) is ir.Scalar or not reverser.writes.reach(statement, atom):
        return atom
    known = reverser.known_copies.get((id(statement), atom, result))
    if known is not None:
        return known
    from adjoint.differentiation.memory.copying import can_be_copied  # lazy

    hint = f"{atom.hint}_kept"
    match atom.type:
        case ir.Array(dtype=dtype, dims=dims):
            copy, make = ir.Var(hint, ir.Array(dtype, dims)), _COPY_ARRAY
        case ir.List(element=element) if isinstance(element, (ir.Scalar, ir.Number, ir.Array)) and not ir.is_handle(
            element
        ):
            copy, make = ir.Var(hint, ir.List(element)), _COPY_LIST
        case ir.Number():
            copy, make = ir.Var(hint, atom.type), owned
        case type_ if can_be_copied(type_):
            copy, make = ir.Var(hint, ir.fresh(type_)), snapshot
        case _:
            reverser.context.problem("AD0303", statement.span, "what is read here is changed later")
            return atom
    reverser.bind_at(copy, statement, after=result)
    reverser.context.copies[copy] = ir.Call((copy,), make, (atom,))
    reverser.originals[copy] = atom
    reverser.known_copies[id(statement), atom, result] = copy
    return copy


def content_key(reverser: Reverser, key: ir.Key, statement: ir.Statement) -> ir.Key:
    """An index as it was when a statement was executed; an object is found by what it is, whatever is in it."""
    if not isinstance(key, ir.Subscript):
        return key

    def kept(atom: ir.Atom) -> ir.Atom:
        is_object = isinstance(atom, ir.Var) and isinstance(atom.type, ir.Instance)
        return atom if is_object else content(reverser, atom, statement)

    mapped = map_key(key, kept)
    assert mapped is not None
    return mapped


def ask_originals(reverser: Reverser, sweep: Sweep, start: int) -> None:
    """In what was written since ``start``, lets shapes of arrays be asked of the array itself: they do not change."""
    for place in range(start, len(sweep.nodes)):
        node = sweep.nodes[place]
        position = shape_argument(node.callee) if isinstance(node, ir.Call) else None
        if isinstance(node, ir.Call) and position is not None and position < len(node.args):
            arg = node.args[position]
            original = reverser.originals.get(arg) if isinstance(arg, ir.Var) else None
            if original is not None and isinstance(original.type, ir.Array):
                args = (*node.args[:position], original, *node.args[position + 1 :])
                sweep.nodes[place] = ir.Call(node.targets, node.callee, args, node.kwargs, node.span)


def only_asked(function: ir.Function) -> set[ir.Atom]:
    """The parameters that a function asks for nothing but their shapes."""
    found: set[ir.Atom] = set(function.params)
    for node in (*statements_in(function.body), *terminators_in(function.body)):
        asked = shape_argument(node.callee) if isinstance(node, ir.Call) else None
        found.difference_update(atom for place, atom in enumerate(operands(node)) if place != asked)
    return found
