"""What is computed before its turn: it must not tell the difference, and nobody else may."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.reachable import parts
from adjoint.frontend.data.outside.captures import parts_of
from adjoint.frontend.functions.closures import default_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import USED, Cell, Closure, GeneratorObject, GeneratorValue, Ref, Value
from adjoint.runtime import display
from adjoint.sources.trees import nodes

_NOTICED = "what computes the items changes what is used between them"
_CHANGED = "what the items are computed from changes while they are gone through"
_ENDLESS = "computing the items before the loop has no end, or raises an exception"
_LATER = ("compute them beforehand: list(...)",)


_IN_ORDER = (display.draw, *display.PRINTS)


class Noticed(Problem):
    """Something would be computed before its turn, and that could be seen."""


@contextmanager
def taken_down(lo: Lowerer, statements: list[ir.Statement]) -> Iterator[None]:
    """Collects the statements that are emitted meanwhile."""
    watches = lo.run_data.watches
    watches.append(statements)
    try:
        yield
    finally:
        assert watches.pop() is statements


@contextmanager
def before_its_turn(lo: Lowerer, node: ast.AST | None) -> Iterator[None]:
    """Something is computed before what comes between its parts: refuses what could be seen of that."""
    everything = Footprint(lo, *lo.store.values())
    before, raising = lo.store.copy(), lo.run_data.raising
    with everything.watched(node, _NOTICED):
        yield
    if lo.block is None:
        raise Noticed(lo.problem("AD0305", node, _ENDLESS, helps=_LATER).diagnostic)
    changed = any(lo.store[key] not in (value, USED) for key, value in before.items() if key in lo.store)
    handled = lo.run_data.handled > 0 and lo.run_data.raising > raising
    if changed or handled:
        raise Noticed(lo.problem("AD0305", node, _NOTICED, helps=_LATER).diagnostic)


def each_before_the_next(
    lo: Lowerer, parts: Sequence[Value], draw: Callable[[Value], Value], node: ast.AST | None
) -> list[Value]:
    """Values whose items are drawn by turns, all of each computed at once: refuses what tells in which order."""
    found, acting = [], 0
    for part in parts:
        statements: list[ir.Statement] = []
        with taken_down(lo, statements):
            found.append(draw(part))
        acting += any(map(_acts, statements))
    if acting > 1:
        raise Noticed(lo.problem("AD0305", node, _NOTICED, helps=_LATER).diagnostic)
    return found


def _acts(statement: ir.Statement) -> bool:
    """Whether it may do something of which the order can be seen: print, draw a random number, or anything."""
    if not isinstance(statement, ir.Call):
        return False
    facts = effects_of(statement)
    return statement.callee in _IN_ORDER or not (facts.known or facts.pure)


class Footprint:
    """What the items of an iterator are computed from.

    Where all are computed before a loop that would draw them one by one, nothing of this may change meanwhile.
    """

    def __init__(self, lo: Lowerer, *values: Value) -> None:
        self.lo = lo
        self.held: dict[Cell | Ref, Value | None] = {}
        self.memory: set[ir.Storage] = set()
        self.statements: list[ir.Statement] = []
        self.acts = False
        """Whether what computes the items acts: nothing may act meanwhile."""
        for value in values:
            self._look_at(value)
        for cell in lo.assigned_outside():
            self._keep(cell)

    def _look_at(self, value: Value | None) -> None:
        match value:
            case None:
                return
            case ir.Var(type=type_):
                self.memory.update(memory_of(type_))
            case Ref():
                self._keep(value)
            case GeneratorValue(node=node, frame=frame):
                self._look_at(value.first)
                self._keep_names(node, {**frame.closure.cells, **frame.cells})
            case GeneratorObject(frame=frame):
                self._keep_names(frame.source.node, {**frame.closure.cells, **frame.cells})
            case Closure(source=source, cells=cells, defaults=defaults, kw_defaults=named):
                self._keep_names(source.node, cells)
                for default in (*defaults, *named.values()):
                    self._look_at(default_of(self.lo, default))
            case _:
                for part in parts_of(self.lo, value):
                    self._look_at(part)

    def _keep_names(self, node: ast.AST, cells: dict[str, Cell]) -> None:
        for name in {part.id for part in nodes(node) if isinstance(part, ast.Name)} & cells.keys():
            self._keep(cells[name])

    def _keep(self, key: Cell | Ref) -> None:
        if key not in self.held:
            self.held[key] = self.lo.store.get(key)
            self._look_at(self.held[key])

    @contextmanager
    def computed(self) -> Iterator[None]:
        """All items are computed."""
        statements: list[ir.Statement] = []
        with taken_down(self.lo, statements):
            yield
        self.acts = any(map(_acts, statements))

    @contextmanager
    def watched(self, node: ast.AST | None, label: str = _CHANGED) -> Iterator[None]:
        """Refuses changes in the meantime."""
        with taken_down(self.lo, self.statements):
            yield
        store = self.lo.store if self.lo.block is not None else {}
        changed = any(store[key] not in (value, USED) for key, value in self.held.items() if key in store)
        acted = self.acts and any(map(_acts, self.statements))
        if changed or acted or any(map(self._is_written, self.statements)):
            raise Noticed(self.lo.problem("AD0305", node, label, helps=_LATER).diagnostic)

    def _is_written(self, statement: ir.Statement) -> bool:
        changed: list[ir.Storage] = []
        if isinstance(statement, ir.Store):
            changed += _own_memory(statement.base)
        elif isinstance(statement, ir.Call):
            facts = effects_of(statement)
            if not facts.known and not facts.pure:
                return bool(self.memory)
            of_container = getattr(statement.callee, "__objclass__", None) in (list, dict)
            for atom in facts.written(statement.args):
                changed += _own_memory(atom) if of_container else _reachable(atom)
        return not {storage.find() for storage in self.memory}.isdisjoint(changed)


def _own_memory(atom: ir.Atom) -> list[ir.Storage]:
    """The memory of a container itself: not that of what lies in it."""
    own = ir.storage_of(atom.type) if isinstance(atom, ir.Var) else None
    return [] if own is None else [own]


def _reachable(atom: ir.Atom) -> list[ir.Storage]:
    return list(memory_of(atom.type)) if isinstance(atom, ir.Var) else []


def memory_of(type_: ir.Type | None) -> Iterator[ir.Storage]:
    """The memory that can be reached from a value of a type, whether or not anybody writes to it."""
    own = ir.storage_of(type_)
    if own is not None:
        yield own
    for part in parts(type_):
        yield from memory_of(part)
