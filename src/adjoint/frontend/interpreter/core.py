"""The state of lowering: the open block, the store of variables and objects, and where control may leave to.

Lowering runs the program on values that are partly known. Where the program forks, each side runs on its own copy
of the store; where sides meet, :meth:`Lowerer.join_leaves` makes one store of theirs, and what differs becomes a phi.
"""

from __future__ import annotations

import ast
import operator
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adjoint.diagnostics import Diagnostic, calls_through, diagnostic
from adjoint.diagnostics.spans import Span
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.places import headline, users_frame
from adjoint.frontend.interpreter.tracking import set_unseen
from adjoint.frontend.interpreter.values import (
    UNDEFINED,
    Cell,
    Closure,
    Local,
    Record,
    Ref,
    RuntimeSites,
    Site,
    Value,
    is_atom,
    is_torn,
)
from adjoint.ir.builder import Builder
from adjoint.ir.nodes import (
    Atom,
    Block,
    Branch,
    Call,
    Const,
    If,
    Load,
    Raise,
    Return,
    Statement,
    Terminator,
    Var,
    Yield,
)
from adjoint.ir.raising import is_decided, raises_itself
from adjoint.ir.types import INT, Scalar, Storage, Type
from adjoint.ir.walk import targets_of
from adjoint.records import dataclass, field
from adjoint.rules.typing import type_of_call
from adjoint.sources.definitions import FunctionSource
from adjoint.sources.library_folders import is_of_a_library
from adjoint.target import PYTHON, Target

MAX_INLINE_DEPTH = 120


class Problem(Exception):
    """A statement cannot be lowered: caught by the statement, so that others are looked at too."""

    def __init__(self, found: Diagnostic) -> None:
        super().__init__(found)
        self.diagnostic = found


class Restart(Exception):
    """Something was found out that lowering must know from its beginning; ``code``: of how that function is called."""

    def __init__(self, code: ast.AST | None = None) -> None:
        super().__init__()
        self.code = code


class OtherItems(Restart):
    """The containers that are made at these places hold something else than they were taken to hold."""

    def __init__(self, sites: tuple[Site, ...]) -> None:
        super().__init__()
        self.sites = sites


class EverythingInlined(Exception):
    """Functions cannot stay functions here: lowering starts again, and what was found out of calls of them is void."""


class TooMuch(Exception):
    """More statements of a library were followed than what comes out may be worth."""


class Unreached(Exception):
    """A recursive call of which it is not yet known what it returns: this path is looked at again later."""


class Open(Builder):
    """A block under construction, whose end may be decided by what follows."""

    def __init__(self, run: Run | None = None, parent: Open | None = None) -> None:
        super().__init__(type_of_call)
        self.run = run
        self.parent = parent
        self.branch: tuple[Atom, Open, Open, Span | None] | None = None
        self.terminator: Terminator | None = None

    def emit(self, statement: Statement) -> None:
        self.statements.append(statement)
        run = self.run
        if run is None:
            return
        run.emitted += 1
        if run.handled and raises_itself(statement):
            run.raising += 1
        for watch in run.watches:
            watch.append(statement)

    def seal(self) -> Block:
        if self.branch is not None:
            cond, then, orelse, span = self.branch
            return self.block(Branch(cond, then.seal(), orelse.seal(), span))
        assert self.terminator is not None, "a block without an end"
        return self.block(self.terminator)


@dataclass(eq=False, slots=True)
class Checkpoint:
    """Where lowering was, for a part of a function that is lowered again."""

    block: Open
    store: dict[Any, Value]
    depth: int
    lengths: list[tuple[list[Any], int]]
    inlined: dict[ast.AST, tuple[Repeated, ...]]


@dataclass(eq=False, slots=True)
class Exiting:
    """A point at which control leaves a region: the block to end there, the store, and what is carried out."""

    block: Open
    store: dict[Any, Value]
    action: str
    """``fall``, ``break``, ``continue``, ``return``"""
    value: Value = UNDEFINED


@dataclass(eq=False, slots=True)
class Region:
    """A construct that control can leave: ``function``, ``loop`` or ``guarded``."""

    kind: str
    exits: list[Exiting] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of an inlined function."""

    closure: Closure
    cells: dict[str, Cell]
    caller: Frame | None
    call_span: Span | None
    makes_closures: bool = False
    self_cell: Cell | None = None
    returned: Callable[[Value], Value] | None = None
    """What is done to a value that is returned, where it is."""
    yielded: Callable[[Value, ast.expr, Site], None] | None = None
    """What is done in place of a ``yield``, with its value; the site is that of the innermost generator."""
    given: dict[str, Value] = field(default_factory=dict)
    """What its parameters were when it was entered."""
    log: list[Statement] = field(default_factory=list)
    """The statements emitted in it, where adjoints inside of it ask for them."""
    adjoints: list[Any] = field(default_factory=list)
    """The adjoints inside of it, of what it returns from here on."""
    is_class: bool = False
    """Whether it runs the body of a class, whose variables functions inside it do not see."""

    @property
    def visible_to_closures(self) -> dict[str, Cell]:
        return self.closure.cells if self.is_class else {**self.closure.cells, **self.cells}

    @property
    def source(self) -> FunctionSource:
        return self.closure.source


class Lowerer:
    """Lowers one function with all that it calls."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.run_data = Run()
        self.root = Open(self.run_data)
        self.block: Open | None = self.root
        self.store: dict[Any, Value] = {}
        self.regions: list[Region] = []
        self.frame: Frame | None = None
        self.depth = 0
        self.enclosed = False
        self.counted_loops: list[Site] = []
        """The loops around over ranges whose bounds are known, which could be unrolled."""
        self.awaited: list[tuple[Collection[Cell], set[Cell]]] = []
        """What the loops around may bind in an iteration for the next, and what of that was read."""
        self.iterated: list[Value] = []
        """The lists and dicts that the loops around run through."""
        self.origins: dict[Var, tuple[Atom, Any]] = {}
        """What was taken out of a container: from where."""
        self.fixed_span: Span | None = None
        """Where all statements belong, for code that is spliced in."""
        self.latest_span: tuple[ast.AST, Frame, Span] | None = None
        """What was asked for last: one node after the other is asked for twice or more."""

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
        a value may have, or a library does it, which is not the user's to change: then this path ends with the
        exception.
        """
        if not self.run_data.handled and not self.run_data.choices:
            name = exception.__name__ if code == "AD0213" else name
            fields: dict[str, Any] = {} if name is None else {"name": name}
            found = self.problem(code, node, label, helps=helps, **fields)
            if self.frame is None or not is_of_a_library(users_frame(self.frame)[0].source.file):
                return found
            self.run_data.reasons.append(found.diagnostic)
        self.stop(Raise(self.open.call(exception, Const(label)), None, self.span(node)))
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
        return Site(tuple(path))

    def known_part(self, ref: Ref, key: Any, part: Value) -> Value:
        """A part of an object; one that an inner derivative changed is only known if the object exists at run time."""
        if part is UNDEFINED and (ref, key) in self.run_data.forgotten:
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

    def emit(self, statement: Statement) -> None:
        if isinstance(statement, Load):
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
        if isinstance(value, Var) and not value.named and self.block is not None and self.block.statements:
            last = self.block.statements[-1]
            if isinstance(last, (Call, If, Load)) and value in targets_of(last):
                value.hint, value.named = name, True

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
        )
        lengths = [(each, len(each)) for each in lists]
        return Checkpoint(self.open, self.store.copy(), self.depth, lengths, run.inlined.copy())

    def roll_back(self, to: Checkpoint) -> None:
        """Forgets what was lowered since, in this block or in blocks that it led to."""
        self.block, self.store, self.depth = to.block, to.store, to.depth
        self.run_data.inlined = to.inlined
        to.block.branch = to.block.terminator = None
        for each, count in to.lengths:
            del each[count:]

    # -- control flow ----------------------------------------------------------------------------------------------

    def leave(self, action: str, value: Value = UNDEFINED) -> None:
        """Control leaves the innermost region; nothing follows in this block."""
        if self.block is None:
            return
        self.regions[-1].exits.append(Exiting(self.block, self.store, action, value))
        self.block = None

    def stop(self, terminator: Terminator) -> None:
        """Ends this block for good (an exception)."""
        self.run_data.raising += 1
        self.open.terminator = terminator
        self.block = None

    @contextmanager
    def region(self, kind: str) -> Iterator[Region]:
        region = Region(kind)
        self.regions.append(region)
        try:
            yield region
        finally:
            assert self.regions.pop() is region

    def fork(self, store: dict[Any, Value], parent: Open | None = None) -> Open:
        """Starts a block that runs on a copy of ``store``, where ``parent`` leads to it and to nothing else twice."""
        self.block = Open(self.run_data, parent)
        self.store = store.copy()
        return self.block

    def branch(
        self, cond: Atom, then: Callable[[], Value], orelse: Callable[[], Value], node: ast.AST | None = None
    ) -> Value:
        """Runs both sides and goes on where they meet (or in the one that goes on). The value is what they give."""
        if isinstance(cond, Const):
            return then() if cond.value else orelse()
        self.run_data.raising += not is_decided(cond)
        span = self.span(node)
        origin, base = self.open, self.store
        region = self.regions[-1]
        exits_before = len(region.exits)
        sides: list[Open] = []
        falling: list[Exiting] = []
        for side in (then, orelse):
            sides.append(self.fork(base, origin))
            value = self.attempt(side)
            if self.block is not None:
                falling.append(Exiting(self.block, self.store, "fall", value))
        if len(falling) < 2:
            origin.branch = (cond, sides[0], sides[1], span)
            self.block = falling[0].block if falling else None
            self.store = falling[0].store if falling else base
            return falling[0].value if falling else UNDEFINED
        leaving = region.exits[exits_before:]
        del region.exits[exits_before:]
        self.block = origin
        exits = self.join_leaves(falling + leaving, base)
        for leaf, atoms in zip(falling + leaving, exits.columns, strict=True):
            leaf.block.terminator = Yield(atoms)
        self.emit(If(cond, sides[0].seal(), sides[1].seal(), exits.targets, span))
        self.store = exits.store
        if leaving:
            self._dispatch(exits.kind, falling, leaving, exits)
        return exits.value

    def attempt(self, body: Callable[[], Value]) -> Value:
        """Runs a path; one of which nothing can be known yet ends."""
        try:
            return body()
        except Unreached:
            if self.block is not None:
                self.stop(Raise(Const(RecursionError)))
            return UNDEFINED

    def _dispatch(self, kind: Atom, falling: list[Exiting], leaving: list[Exiting], exits: Joined) -> None:
        """After a join that only some paths fall through: sends the others on their way."""
        for action in dict.fromkeys(leaf.action for leaf in leaving):
            code = exits.kinds.index(action)
            cond = self.open.call(operator.eq, kind, Const(code))
            origin, store = self.open, self.store
            gone = self.fork(store)
            self.leave(action, exits.value_of(action))
            rest = self.fork(store)
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
        columns: list[list[Atom]] = [[] for _ in leaves]
        targets: list[Var] = []
        kind: Atom = Const(0)
        if len(kinds) > 1:
            kind = Var("way", INT)
            targets.append(kind)
            for leaf, column in zip(leaves, columns, strict=True):
                column.append(Const(kinds.index(leaf.action)))
        store = base.copy()
        merged: dict[str, Value] = {}
        for action in kinds:
            values = [leaf.value if leaf.action == action else UNDEFINED for leaf in leaves]
            merged[action] = self._join_values(values, leaves, "result", False, columns, targets, store)
        for key in _changed_keys(leaves, base):
            values = [leaf.store.get(key, UNDEFINED) for leaf in leaves]
            hint, named = (key.name, True) if isinstance(key, Cell) else ("part", False)
            set_unseen(store, key, self._join_values(values, leaves, hint, named, columns, targets, store, key))
        return Joined(store, tuple(targets), [tuple(column) for column in columns], kind, kinds, merged)

    def _join_values(
        self,
        values: list[Value],
        leaves: Sequence[Exiting],
        hint: str,
        named: bool,
        columns: list[list[Atom]],
        targets: list[Var],
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
            list(joins.flatten(value, shape, leaf.store, leaf.block))
            for value, leaf in zip(values, leaves, strict=True)
        ]
        atoms: list[Atom] = []
        for place, (type_, name) in enumerate(joins.leaf_types(shape, hint)):
            row = [atoms_of_leaf[place] for atoms_of_leaf in rows]
            if all(atom == row[0] for atom in row) and not (self.enclosed and isinstance(row[0], Var)):
                atoms.append(row[0])
                continue
            target = Var(name, type_, named)
            targets.append(target)
            atoms.append(target)
            for column, atom in zip(columns, row, strict=True):
                column.append(atom)
        return joins.build(shape, iter(atoms), store)

    def join_shapes(self, found: Sequence[joins.Shape], key: Any = None) -> joins.Shape:
        shape = found[0]
        for other in found[1:]:
            try:
                shape = joins.join(shape, other)
            except joins.TooManyOptions:
                self.unroll_innermost()
                name = key.name if isinstance(key, Cell) else "a value"
                raise self.problem(
                    "AD0402", None, f"{name!r} has too many different structures where paths meet"
                ) from None
        if isinstance(key, Ref) and isinstance(shape, joins.UnionShape):
            self._guess_element(key.site, shape)
            raise joins.NeedsRuntime((key.site,))
        return shape

    def _guess_element(self, site: Site, shape: joins.UnionShape) -> None:
        """Takes a list that grows to hold what it held so far, where those are numbers of one type."""
        records = [option for option in shape.options if isinstance(option, joins.RecordShape)]
        items = {item for record in records if record.cls is list for item in record.items}
        match list(items):
            case [joins.Leaf(type=Scalar() as type_)]:
                self.settings.guesses.setdefault(site.place[0], type_)

    def unroll_innermost(self) -> None:
        """Where a loop over a known range makes structures that do not settle: starts again with it unrolled."""
        for site in reversed(self.counted_loops):
            if site not in self.settings.unrolled:
                self.settings.unrolled.add(site)
                self.settings.runtime_sites.clear()
                self.settings.site_types.clear()
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
            return UNDEFINED
        if len(exits) == 1 and exits[0].block is origin:
            self.block, self.store = origin, exits[0].store
            return exits[0].value
        if len(exits) == 1:
            # The other paths raise: go on inside the path that returns.
            self.block, self.store = exits[0].block, exits[0].store
            return exits[0].value
        joined = self.join_leaves(exits, base, enclosed=is_behind_one_side(origin, exits))
        for leaf, atoms in zip(exits, joined.columns, strict=True):
            leaf.block.terminator = Yield(atoms)
        assert origin.branch is not None and start <= len(origin.statements)
        cond, then, orelse, span = origin.branch
        origin.branch = None
        self.block, self.store = origin, joined.store
        self.emit(If(cond, then.seal(), orelse.seal(), joined.targets, span))
        return joined.value

    def finish(self, region: Region, root: Open, results: Callable[[Exiting], tuple[Atom, ...]]) -> Block:
        """Ends a function: every exit returns."""
        for leaf in region.exits:
            leaf.block.terminator = Return(results(leaf))
        return root.seal()


@dataclass(eq=False, slots=True)
class Joined:
    """What :meth:`Lowerer.join_leaves` found."""

    store: dict[Any, Value]
    targets: tuple[Var, ...]
    columns: list[tuple[Atom, ...]]
    kind: Atom
    kinds: tuple[str, ...]
    values: dict[str, Value]

    def value_of(self, action: str) -> Value:
        return self.values[action]

    @property
    def value(self) -> Value:
        """What the paths give that go on."""
        return self.values.get("fall", self.values.get("return", UNDEFINED))


Form = dict[str, joins.Shape]
"""What is known of the arguments of a call."""


@dataclass(frozen=True, slots=True)
class Repeated:
    """Calls of a function that one could serve, and how many statements they took, inlined."""

    form: Form
    calls: int
    statements: int


@dataclass(eq=False, slots=True)
class Run:
    """What one attempt at lowering takes from outside the function."""

    root: Any = None
    """The function that is differentiated."""
    all_constant: bool = False
    """Everything captured is a constant: for functions of rules."""
    of_users: bool = False
    """Those are rules of users, which may capture what changes."""
    captured: dict[Any, Value] = field(default_factory=dict)
    outside: dict[Any, Value] = field(default_factory=dict)
    """What captured variables and objects held on entry: true on every path, wherever it was looked up first."""
    objects: dict[int, Value] = field(default_factory=dict)
    told_apart: dict[Site, Any] = field(default_factory=dict)
    """The objects that others of their kind cannot stand for: a derivative is declared of them or of their methods."""
    cells: dict[int, Cell] = field(default_factory=dict)
    contents: dict[Cell, Any] = field(default_factory=dict)
    """The cells of function objects in which variables live that are captured."""
    given: dict[Cell, tuple[Var, int]] = field(default_factory=dict)
    """Of those that functions among the arguments capture: the function, and the place among its cells."""
    globals: dict[tuple[int, str], Cell] = field(default_factory=dict)
    """The global variables that the function assigns, by the identity of the dict and the name."""
    places: dict[Cell, Atom] = field(default_factory=dict)
    """Where variables live that outlive the call and are assigned."""
    inputs: list[Any] = field(default_factory=list)
    guards: list[Any] = field(default_factory=list)
    outside_writes: list[tuple[Var, Atom, Span | None]] = field(default_factory=list)
    """Writes into containers that global or captured variables may hold: the container and the value."""
    reasons: list[Diagnostic] = field(default_factory=list)
    """Why paths end by an exception that is certain: told where none returns."""
    argument_guards: list[tuple[tuple[Any, ...], int]] = field(default_factory=list)
    """Integers, and lengths of lists, that the specialisation takes for known."""
    sites_of_storage: list[tuple[Storage, Site]] = field(default_factory=list)
    loose: list[tuple[Var, Any]] = field(default_factory=list)
    """Containers that are given, whose items are told apart at run time only, with what they are now."""
    diagnostics: dict[tuple[str, Span | None], Diagnostic] = field(default_factory=dict)
    warnings: list[Diagnostic] = field(default_factory=list)
    arguments: dict[int | str, Any] = field(default_factory=dict)
    """The arguments of the call for which this is lowered, for messages."""
    closures: dict[Any, Closure] = field(default_factory=dict)
    changed: list[tuple[Ref, Record, Record]] = field(default_factory=list)
    """Arguments that the function of an inner derivative changed: what they held, and what they hold after it."""
    forgotten: set[tuple[Any, Any]] = field(default_factory=set)
    """Parts of objects that the function of an inner derivative changed: nobody knows to what."""
    stored_constants: list[tuple[Var, Var, str, Span | None]] = field(default_factory=list)
    """What is stored in fields that carry no derivative, the constants that are read there, the fields, and where."""
    checkpointed: dict[ast.AST, tuple[Atom, ...]] = field(default_factory=dict)
    """Loops that keep few of their states: how many, in what memory, how many on disk."""
    has_marks: bool = False
    """Whether there are calls that are run again."""
    activations: list[tuple[ast.AST, tuple[Value, ...]]] = field(default_factory=list)
    """The functions being inlined, outermost first, with their arguments."""
    surgery: bool = False
    """Whether cotangents are changed somewhere."""
    behind_blocks: dict[Var, tuple[Var, str]] = field(default_factory=dict)
    """What variables are behind blocks of the reverse sweep: what they were before, and their names."""
    flow: bool = False
    """Whether derivatives of values are asked for, whose flow the end of the function shows."""
    declared: list[Any] = field(default_factory=list)
    """The declared derivatives being followed, outermost first."""
    made_with: dict[Var, tuple[Atom, ...]] = field(default_factory=dict)
    """What functions of which nobody sees the body were given that may vary, by the variable of their result."""
    called_values: dict[Span, Span] = field(default_factory=dict)
    """Where functions of which nobody sees the body are called by a name, and where that name gets its value."""
    originals: set[Var] = field(default_factory=set)
    """What functions gave whose derivative is declared, where they were called as they stand."""
    repeated: dict[ast.AST, int] = field(default_factory=dict)
    """How often each function was inlined in itself."""
    emitted: int = 0
    """How many statements were emitted so far."""
    steps: int = 0
    """How many statements of the source were followed so far."""
    most_steps: int = sys.maxsize
    """After how many of them :class:`TooMuch` is raised."""
    inlined: dict[ast.AST, tuple[Repeated, ...]] = field(default_factory=dict)
    """How many statements inlined calls of a function took."""
    has_grown: bool = False
    """Whether something was found out that concerns what was lowered before: this starts again when it is through."""
    again: int = 0
    """How often something was lowered again on its own."""
    definitions: dict[Any, Any] = field(default_factory=dict)
    watches: list[list[Statement]] = field(default_factory=list)
    """Where statements are taken down while they are emitted."""
    handled: int = 0
    """How many ``try`` statements are around whose handlers may go on."""
    choices: int = 0
    """Of how many values, that may have one of several structures or lengths, one is being looked at."""
    raising: int = 0
    """How much was emitted in them that may raise."""
    boxes: dict[Cell, tuple[Var, ...]] = field(default_factory=dict)
    """The lists of one item in which variables are kept for handlers."""
    torn: dict[Var, tuple[Site, Cell]] = field(default_factory=dict)
    """What stands for variables that may have been written or not, with the ``try`` statement that knows."""
    classes: dict[Site, int] = field(default_factory=dict)
    """How often each statement was run that defines a class."""
    handed_out: list[Any] = field(default_factory=list)
    """Arrays that recursive functions return."""
    prologue: Open = field(default_factory=Open)
    """Loads from arguments and captured data, before everything else."""


@dataclass(eq=False, slots=True)
class Settings:
    """What is known beforehand, and what earlier attempts at lowering found out."""

    target: Target = PYTHON
    attempts: int = 0
    """How often lowering was started."""
    runtime_sites: RuntimeSites = field(default_factory=RuntimeSites)
    bare_sites: RuntimeSites = field(default_factory=RuntimeSites)
    """Where objects are made that must exist at run time before their ``__init__`` has run."""
    unrolled: set[Site] = field(default_factory=set)
    """Loops over known ranges in which structures are made that cannot exist at run time."""
    one_by_one: set[Site] = field(default_factory=set)
    """Loops that change what their items are computed from, so that these cannot be computed before them."""
    fixed_sites: set[Site] = field(default_factory=set)
    """List arguments whose length must be known."""
    single_sites: set[Site] = field(default_factory=set)
    """List arguments of whose objects more is asked than arrays of their fields can tell."""
    site_types: dict[Site, Type] = field(default_factory=dict)
    guesses: dict[Any, Scalar | None] = field(default_factory=dict)
    """By place in the source: what a list that starts empty is taken to hold that is made there; None for nothing."""
    boxed: dict[Site, set[str]] = field(default_factory=dict)
    """By ``try`` statement, the variables that are kept where handlers find them."""
    classes: dict[Any, Local] = field(default_factory=dict)
    """Classes that are defined inside functions: by statement, and how often that was run before."""
    tracked: set[tuple[ast.AST, str]] = field(default_factory=set)
    """Variables, by function and name, with respect to which derivatives of values are asked for."""
    adjoined: set[ast.AST] = field(default_factory=set)
    """Functions inside of which adjoints are defined."""
    called: set[Any] = field(default_factory=set)
    """Code of functions that call themselves: called, not inlined."""
    nested: set[Any] = field(default_factory=set)
    """Code of functions that were being inlined several times in themselves."""
    often: set[Any] = field(default_factory=set)
    """Code of functions that are called because they are in themselves so often."""
    kept: dict[Any, tuple[Repeated, ...]] = field(default_factory=dict)
    """Code of functions that are called because inlining repeats too much: how many calls took how many statements."""
    inlined: set[Any] = field(default_factory=set)
    """Code of functions that cannot stay calls."""
    rules_inlined: bool = False
    """Whether those of the definitions of library functions are inlined, which say by their values what they cover."""
    forms: dict[Any, list[Form]] = field(default_factory=dict)
    """For which structures of arguments functions are lowered that stay calls."""
    widened: set[Any] = field(default_factory=set)
    """Code of functions that call themselves with ever other numbers that are known."""
    patience: int = 1
    """How many times as often a function may be inlined in itself: more where calling it is refused."""
    copied_results: set[Any] = field(default_factory=set)
    """Functions that call themselves and return arrays of their own that are written elsewhere."""
    shared_results: set[Any] = field(default_factory=set)
    """Functions that call themselves and return memory that others have, and that is written."""
    uncovered: dict[tuple[Any, Span | None], str] = field(default_factory=dict)
    """Definitions that said of a call, by its place, that they do not cover it, and what it is that they do not."""
    constant_inputs: set[tuple[Any, ...]] = field(default_factory=set)
    """Paths of integer inputs whose value must be known."""
    assigned_outside: dict[Any, tuple[Any, str]] = field(default_factory=dict)
    """Global and captured variables that the function assigns: the dict or the cell, and the name."""
    unseen: dict[Any, Diagnostic] = field(default_factory=dict)
    """Classes and methods of libraries that are not looked into, with what was in the way."""
    loop_shapes: dict[Any, dict[Any, joins.Shape]] = field(default_factory=dict)


def is_behind_one_side(origin: Open, leaves: Sequence[Exiting]) -> bool:
    """Whether all leaves are on one side of a block's branch, where values may be bound that they have in common."""
    if origin.branch is None:
        return False
    ends = {id(leaf.block) for leaf in leaves}
    return not all(any(id(block) in ends for block in _within(side)) for side in origin.branch[1:3])


def _within(block: Open) -> Iterator[Open]:
    """A block and those that it branches to."""
    pending = [block]
    while pending:
        block = pending.pop()
        yield block
        if block.branch is not None:
            pending += block.branch[1:3]


def _changed_keys(leaves: Sequence[Exiting], base: dict[Any, Value]) -> Iterator[Any]:
    """Variables and objects whose value some path changed, in the order in which they were first bound."""
    seen: dict[Any, None] = {}
    for leaf in leaves:
        for key, value in leaf.store.items():
            if key not in seen and (key not in base or base[key] is not value):
                seen[key] = None
    return iter(seen)
