"""The state of lowering: the open block, the store of variables and objects, and where control may leave to.

Lowering runs the program on values that are partly known. Where the program forks, each side runs on its own copy
of the store; where sides meet, :meth:`Lowerer.join_leaves` makes one store of theirs, and what differs becomes a phi.
"""

from __future__ import annotations

import ast
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adjoint import ir
from adjoint.diagnostics import calls_through, diagnostic
from adjoint.diagnostics.spans import Span
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.branch_specialization import knowing_flags
from adjoint.frontend.interpreter.options.growing_tuples import note_growing
from adjoint.frontend.interpreter.state.attempts import Path, Run, Settings
from adjoint.frontend.interpreter.state.blocks import (
    Checkpoint,
    Exiting,
    Joined,
    Open,
    Region,
    changed_keys,
    is_behind_one_side,
)
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.state.places import headline, users_frame
from adjoint.frontend.interpreter.state.signals import Problem, Restart, Unreached
from adjoint.frontend.interpreter.tracking import set_unseen
from adjoint.frontend.interpreter.type_joins import TypeJoins
from adjoint.frontend.interpreter.values import Cell, Forgotten, Ref, Site, Value, is_atom, is_torn
from adjoint.ir.raising import is_decided
from adjoint.ir.walk import targets_of
from adjoint.sources.library_folders import is_of_a_library

MAX_INLINE_DEPTH = 120


class Lowerer(ABC):
    """Lowers one function with all that it calls.

    What the constructs of the language mean, :class:`~adjoint.frontend.interpreter.interpreter.Interpreter` adds.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.run_data = Run()
        self.types = TypeJoins(settings.owners_told_apart, settings.kinds_told_apart)
        self.root = Open(self.run_data)
        self.block: Open | None = self.root
        self.store: dict[Any, Value] = {}
        self.regions: list[Region] = []
        self.frame: Frame | None = None
        self.depth = 0
        self.enclosed = False
        self.counted_loops: list[Site | frozenset[Path]] = []
        """The loops around over ranges, which could be unrolled: where bounds are inputs, the ways to these."""
        self.awaited: list[tuple[Collection[Cell], set[Cell]]] = []
        """What the loops around may bind in an iteration for the next, and what of that was read."""
        self.iterated: list[tuple[Value, Site | None]] = []
        """The lists and dicts that the loops around run through."""
        self.origins: dict[ir.Var, tuple[ir.Atom, Any]] = {}
        """What was taken out of a container: from where."""
        self.read_only: dict[ir.Var, bool] = {}
        self.which: tuple[int, ...] = ()
        """Of several calls of one function that are made for one in the source, which one this is."""
        self.fixed_span: Span | None = None
        """Where all statements belong, for code that is spliced in."""
        self.latest_span: tuple[ast.AST, Frame, Span] | None = None
        """What was asked for last: one node after the other is asked for twice or more."""

    # -- meaning ---------------------------------------------------------------------------------------------------

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression; statements that compute it go to the open block."""

    @abstractmethod
    def run(self, statements: Sequence[ast.stmt]) -> None:
        """Runs statements until control has left."""

    @abstractmethod
    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
        """``function(*args, **kwargs)``"""

    # -- places and problems ---------------------------------------------------------------------------------------

    def span(self, node: ast.AST | None) -> Span | None:
        if self.fixed_span is not None:
            return self.fixed_span
        if node is None or self.frame is None or not hasattr(node, "lineno"):
            return None
        if self.latest_span is not None and self.latest_span[0] is node and self.latest_span[1] is self.frame:
            return self.latest_span[2]
        frame, span = users_frame(self.frame)
        found = frame.source.span(node, frame.call_span) if span is None else span
        self.latest_span = node, self.frame, found
        return found

    def problem(
        self,
        code: str,
        node: ast.AST | None,
        label: str,
        *,
        notes: Iterable[str] = (),
        helps: Iterable[str] | None = None,
        others: Iterable[tuple[Span, str]] = (),
        **fields: Any,
    ) -> Problem:
        """An exception to raise: this code, at this place; without ``helps`` those of the catalogue."""
        span = self.fixed_span
        if span is None and self.frame is not None:
            frame, span = users_frame(self.frame)
            if span is None and node is not None and hasattr(node, "lineno"):
                span = headline(frame, node)
            elif span is None:
                notes = (*notes, *calls_through(frame.call_span))
        return Problem(diagnostic(code, span, label, notes=notes, helps=helps, others=others, **fields))

    def mistake(
        self,
        exception: type[Exception],
        node: ast.AST | None,
        label: str,
        *,
        code: str = "AD0213",
        helps: Iterable[str] = (),
        name: object = None,
    ) -> Exception:
        """What to raise where Python is certain to raise.

        That is refused, unless a handler around may be waiting for it, it is so for one of several structures that
        a value may have, the program asks for the attribute before, a condition decides whether it comes to it, or a
        library does it, which is not the user's to change: then this path ends with the exception.
        """
        is_asked_for = exception is AttributeError and name in self.run_data.asked_for
        if not self.run_data.handled and not self.run_data.choices and not is_asked_for:
            name = exception.__name__ if code == "AD0213" else name
            fields: dict[str, Any] = {} if name is None else {"name": name}
            found = self.problem(code, node, label, helps=helps, **fields)
            is_of_user = self.frame is None or not is_of_a_library(users_frame(self.frame)[0].source.file)
            if is_of_user and not self.open.is_conditional:
                return found
            self.run_data.reasons.append(found.diagnostic)
        self.stop(ir.Raise(self.open.call(exception, ir.Const(label)), None, self.span(node)))
        return Unreached()

    def site(self, node: ast.AST) -> Site:
        """The identity of an allocation: the place in the source, and the calls that led there.

        A function that calls itself is lowered for all calls of one structure: no call leads from one to the next.
        """
        path: list[Any] = [id(node)]
        frame, called = self.frame, self.settings.called
        while frame is not None:
            if frame.source.node in called and frame.source.node not in self.settings.kept:
                path.append(frame.source.node)
                break
            path.append(frame.call_span)
            frame = frame.caller
        return self.noted(Site((*path, *self.which)))

    def noted(self, site: Site) -> Site:
        """A place, once it is noted where it was come to."""
        self.run_data.come_to.append(site)
        return site

    def known_part(self, ref: Ref, part: Value) -> Value:
        """A part of an object; one that an inner derivative changed is only known if the object exists at run time."""
        if isinstance(part, Forgotten):
            raise joins.NeedsRuntime(tuple(joins.original_sites((ref.site,))))
        return part

    def cell_named(self, name: str) -> Cell | None:
        """The variable that a name is in this frame; None for a global name that the function does not assign."""
        frame, known = self.frame, self.run_data.globals
        assert frame is not None
        found = frame.cells.get(name) or frame.closure.cells.get(name)
        return found or (known.get((id(frame.closure.globals), name)) if known else None)

    def assigned_outside(self) -> list[Cell]:
        """The variables that outlive the call and that the function assigns."""
        run, known = self.run_data, self.settings.assigned_outside
        captured = [cell for cell, source in run.contents.items() if ("cell", id(source)) in known]
        return list(dict.fromkeys((*run.globals.values(), *captured, *run.places)))

    # -- the open block --------------------------------------------------------------------------------------------

    @property
    def open(self) -> Open:
        assert self.block is not None
        return self.block

    def emit(self, statement: ir.Statement) -> None:
        if isinstance(statement, ir.Load):
            self.origins[statement.target] = (statement.base, statement.key)
        self.open.emit(statement)

    def at(self, node: ast.AST | None) -> None:
        """Statements emitted from here on belong to ``node``."""
        if self.block is not None and node is not None:
            span = self.span(node)
            if span is not None:
                self.block.span = span

    def rename(self, value: Value, name: str) -> None:
        """Gives a value that was just computed, and has no name of its own, the name of its variable."""
        if isinstance(value, ir.Var) and not value.named and self.block is not None and self.block.statements:
            last = self.block.statements[-1]
            if isinstance(last, (ir.Call, ir.If, ir.Load)) and value in targets_of(last):
                value.hint, value.named = name, True

    @contextmanager
    def one_of(self, which: int) -> Iterator[None]:
        """What is made meanwhile is made elsewhere than by other calls of the same function, at the same place."""
        outer = self.which
        self.which = (*outer, which)
        try:
            yield
        finally:
            self.which = outer

    @contextmanager
    def beginning(self, node: ast.AST | None) -> Iterator[list[ir.Statement]]:
        """Meanwhile a function is lowered whose objects nobody else has: gives the statements that it begins with."""
        run, outer = self.run_data, self.run_data.scope
        run.scope = (outer, None if node is None else self.site(node))
        run.starts[run.scope] = []
        try:
            yield run.starts[run.scope]
        finally:
            run.scope = outer

    @contextmanager
    def awaiting(self, cells: Collection[Cell]) -> Iterator[set[Cell]]:
        """In a first look at an iteration ends where it reads what one before may have bound; gives what was read."""
        read: set[Cell] = set()
        self.awaited.append((cells, read))
        try:
            yield read
        finally:
            self.awaited.pop()

    def await_binding(self, cell: Cell) -> None:
        """Ends this path if its iteration may read there what one before has bound."""
        for cells, read in self.awaited:
            if cell in cells:
                read.add(cell)
                raise Unreached

    def checkpoint(self) -> Checkpoint:
        """Where lowering is; see :meth:`roll_back`."""
        run = self.run_data
        lists: tuple[list[Any], ...] = (
            self.open.statements,
            *(region.exits for region in self.regions),
            *run.watches,
            run.changed,
            run.come_to,
        )
        lengths = [(each, len(each)) for each in lists]
        return Checkpoint(self.open, self.store.copy(), self.depth, lengths, run.emitted, run.inlined.copy())

    def roll_back(self, to: Checkpoint) -> None:
        """Forgets what was lowered since, in this block or in blocks that it led to."""
        self.block, self.store, self.depth = to.block, to.store, to.depth
        self.run_data.emitted, self.run_data.inlined = to.emitted, to.inlined
        to.block.branch = to.block.terminator = None
        for each, count in to.lengths:
            del each[count:]

    # -- control flow ----------------------------------------------------------------------------------------------

    def leave(self, action: str, value: Value = ir.UNDEFINED) -> None:
        """Control leaves the innermost region; nothing follows in this block."""
        if self.block is None:
            return
        self.regions[-1].exits.append(Exiting(self.block, self.store, action, value))
        self.block = None

    def stop(self, terminator: ir.Terminator) -> None:
        """Ends this block for good (an exception)."""
        self.run_data.raising += 1
        self.open.terminator = terminator
        self.block = None

    @contextmanager
    def region(self, kind: str) -> Iterator[Region]:
        """Where exits meet: also those that a path has taken of which the rest is not reached."""
        region = Region(kind)
        self.regions.append(region)
        try:
            yield region
        except Unreached:
            self._end_path()
        finally:
            assert self.regions.pop() is region

    def fork(self, store: dict[Any, Value], parent: Open | None = None, *, is_conditional: bool = False) -> Open:
        """Starts a block that runs on a copy of ``store``, where ``parent`` leads to it and to nothing else twice."""
        self.block = Open(self.run_data, parent, parent or self.block, is_conditional=is_conditional)
        self.store = store.copy()
        return self.block

    def branch(
        self, cond: ir.Atom, then: Callable[[], Value], orelse: Callable[[], Value], node: ast.AST | None = None
    ) -> Value:
        """Runs both sides and goes on where they meet (or in the one that goes on). The value is what they give."""
        if (known := self.run_data.conditions.outcome(cond, self.open)) is not None:
            return then() if known else orelse()
        self.run_data.raising += not is_decided(cond)
        span = self.span(node)
        origin, base, region = self.open, self.store, self.regions[-1]
        exits_before = len(region.exits)
        sides: list[Open] = []
        falling: list[Exiting] = []
        for side in (then, orelse):
            here = self.fork(base, origin, is_conditional=True)
            sides.append(self.run_data.conditions.noted(here, cond, not sides))
            value = self.attempt(side)
            if self.block is not None:
                falling.append(Exiting(self.block, self.store, "fall", value))
        if len(falling) < 2:
            origin.branch = (cond, sides[0], sides[1], span)
            self.block = falling[0].block if falling else None
            self.store = falling[0].store if falling else base
            return falling[0].value if falling else ir.UNDEFINED
        leaving = region.exits[exits_before:]
        del region.exits[exits_before:]
        self.block = origin
        with knowing_flags(self, cond):
            exits = self.join_leaves(falling + leaving, base)
        for leaf, atoms in zip(falling + leaving, exits.columns, strict=True):
            leaf.block.terminator = ir.Yield(atoms)
        self.emit(ir.If(cond, sides[0].seal(), sides[1].seal(), exits.targets, span))
        self.store = exits.store
        if leaving:
            self.dispatch(exits.kind, leaving, exits)
        return exits.value

    def attempt(self, body: Callable[[], Value]) -> Value:
        """Runs a path; one of which nothing can be known yet ends."""
        try:
            return body()
        except Unreached:
            self._end_path()
            return ir.UNDEFINED

    def _end_path(self) -> None:
        if self.block is not None:
            self.stop(ir.Raise(ir.Const(RecursionError)))

    def dispatch(self, kind: ir.Atom, leaving: list[Exiting], exits: Joined) -> None:
        """After a join that only some paths fall through: sends the others on their way."""
        for action in dict.fromkeys(leaf.action for leaf in leaving):
            code = exits.kinds.index(action)
            cond = self.open.call(operator.eq, kind, ir.Const(code))
            origin, store = self.open, self.store
            gone = self.fork(store, origin, is_conditional=True)
            self.leave(action, exits.value_of(action))
            rest = self.fork(store, origin, is_conditional=True)
            origin.branch = (cond, gone, rest, None)

    def join_leaves(self, leaves: Sequence[Exiting], base: dict[Any, Value], *, enclosed: bool = False) -> Joined:
        """One store and one value for several paths; which path it was is told by ``kind`` where that matters.

        With ``enclosed``, what the paths computed is handed out by name even where they agree.
        """
        self.enclosed = enclosed
        for leaf in leaves:
            for key, value in self.run_data.outside.items():
                leaf.store.setdefault(key, value)
        kinds = tuple(dict.fromkeys(leaf.action for leaf in leaves))
        columns: list[list[ir.Atom]] = [[] for _ in leaves]
        targets: list[ir.Var] = []
        kind: ir.Atom = ir.Const(0)
        if len(kinds) > 1:
            kind = ir.Var("way", ir.INT)
            targets.append(kind)
            for leaf, column in zip(leaves, columns, strict=True):
                column.append(ir.Const(kinds.index(leaf.action)))
        store = base.copy()
        merged: dict[str, Value] = {}
        for action in kinds:
            values = [leaf.value if leaf.action == action else ir.UNDEFINED for leaf in leaves]
            merged[action] = self._join_values(values, leaves, "result", False, columns, targets, store)
        for key in changed_keys(leaves, base):
            values = [leaf.store.get(key, ir.UNDEFINED) for leaf in leaves]
            hint, named = (key.name, True) if isinstance(key, Cell) else ("part", False)
            set_unseen(store, key, self._join_values(values, leaves, hint, named, columns, targets, store, key))
        return Joined(store, tuple(targets), [tuple(column) for column in columns], kind, kinds, merged)

    def _join_values(
        self,
        values: list[Value],
        leaves: Sequence[Exiting],
        hint: str,
        named: bool,
        columns: list[list[ir.Atom]],
        targets: list[ir.Var],
        store: dict[Any, Value],
        key: Any = None,
    ) -> Value:
        first = values[0]
        torn = next((value for value in values if is_torn(value)), None)
        if torn is not None:
            return torn
        if not self.enclosed and all(value is first or (is_atom(value) and value == first) for value in values):
            return first
        shape = self.join_shapes([joins.shape_of(v, leaf.store) for v, leaf in zip(values, leaves, strict=True)], key)
        rows = [
            list(joins.flatten(value, shape, leaf.store, leaf.block, self.types))
            for value, leaf in zip(values, leaves, strict=True)
        ]
        atoms: list[ir.Atom] = []
        for place, (type_, name) in enumerate(joins.leaf_types(shape, hint)):
            row = [atoms_of_leaf[place] for atoms_of_leaf in rows]
            if all(atom == row[0] for atom in row) and not (self.enclosed and isinstance(row[0], ir.Var)):
                atoms.append(row[0])
                continue
            target = ir.Var(name, type_, named)
            targets.append(target)
            atoms.append(target)
            for column, atom in zip(columns, row, strict=True):
                column.append(atom)
        return joins.build(shape, iter(atoms), store)

    def join_shapes(self, found: Sequence[joins.Shape], key: Any = None) -> joins.Shape:
        shape = found[0]
        for other in found[1:]:
            try:
                shape = joins.join(shape, other, self.types)
            except joins.TooManyOptions:
                self.unroll_innermost()
                note_growing(self, key, found)
                name = key.name if isinstance(key, Cell) else "a value"
                label = f"{name!r} has too many different structures where paths meet"
                raise self.problem("AD0402", self.frame.statement if self.frame else None, label) from None
        if isinstance(key, Ref) and isinstance(shape, joins.UnionShape):
            self._guess_element(key.site, shape)
            raise joins.NeedsRuntime((key.site,))
        return shape

    def _guess_element(self, site: Site, shape: joins.UnionShape) -> None:
        """Takes a list that grows to hold what it held so far, where those are numbers of one type."""
        records = [option for option in shape.options if isinstance(option, joins.RecordShape)]
        items = {item for record in records if record.cls is list for item in record.items}
        match list(items):
            case [joins.Leaf(type=ir.Scalar() as type_)]:
                self.settings.guesses.setdefault(site.place[0], type_)

    def unroll_innermost(self, *, given: bool = False) -> None:
        """Where a loop over a known range makes structures that do not settle: starts again with it unrolled.

        With ``given`` also where bounds are inputs, of which the derivative is made for the values that they have.
        """
        for loop in reversed(self.counted_loops):
            if (given or isinstance(loop, Site)) and self.settings.unroll(loop):
                raise Restart

    # -- regions whose exits meet at their end ----------------------------------------------------------------------

    def run_region(self, body: Callable[[], Value]) -> Value:
        """Runs ``body`` in the open block; all its ``return`` points meet behind it."""
        origin, base = self.open, self.store
        start = len(origin.statements)
        with self.region("function") as region:
            value = self.attempt(body)
            if self.block is not None:
                self.leave("return", value)
        exits = region.exits
        if not exits:
            self.block = None
            return ir.UNDEFINED
        if len(exits) == 1:
            # The other paths, if there are any, raise: go on inside the path that returns.
            self.block, self.store = exits[0].block, exits[0].store
            return exits[0].value
        joined = self.join_leaves(exits, base, enclosed=is_behind_one_side(origin, exits))
        for leaf, atoms in zip(exits, joined.columns, strict=True):
            leaf.block.terminator = ir.Yield(atoms)
        assert origin.branch is not None and start <= len(origin.statements)
        cond, then, orelse, span = origin.branch
        origin.branch = None
        self.block, self.store = origin, joined.store
        self.emit(ir.If(cond, then.seal(), orelse.seal(), joined.targets, span))
        return joined.value

    def finish(self, region: Region, root: Open, results: Callable[[Exiting], tuple[ir.Atom, ...]]) -> ir.Block:
        """Ends a function: every exit returns."""
        for leaf in region.exits:
            leaf.block.terminator = ir.Return(results(leaf))
        return root.seal()
