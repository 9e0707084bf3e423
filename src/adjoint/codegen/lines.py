"""Statements of one line: calls, loads and stores, and moves of what blocks hand out."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from adjoint import ir
from adjoint.codegen.expressions import Expressions
from adjoint.codegen.global_names import GlobalNames
from adjoint.codegen.placement.memory_order import (
    NOTHING,
    READS,
    WRITES,
    WRITES_ANYTHING,
    Access,
    Accesses,
    Memory,
    strongest,
)
from adjoint.codegen.placement.pending import EARLY, Fragment, OpenBlock
from adjoint.codegen.placement.uses import Insides, Uses
from adjoint.codegen.tree import Bind, Move, Plain
from adjoint.diagnostics.spans import Span
from adjoint.ir.raising import may_raise
from adjoint.ir.walk import key_atoms, operands

_LOAD = ast.Load()


class Lines:
    """Lowers the statements of one function that hold no blocks."""

    def __init__(self, function: ir.Function, names: GlobalNames, counted: bool = False) -> None:
        self.counted = counted
        self.function = function
        self.uses = Uses(function)
        self.insides = Insides()
        self.mentions: dict[ir.Var, Fragment] = {}
        self.memory = Memory(function)
        self.expressions = Expressions(names, self.uses.numbers)
        self.clock = 0
        self.too_long: set[int] = set()
        """The choices, by their ids, that were found not to fit into an expression: asked again for each around them,
        a nest of them would take time exponential in its depth."""
        self.calls: dict[ir.Var, ir.Call] = {}
        self.places: dict[int, tuple[ast.expr, Span]] = {}
        """Expressions, by their ids, and where they come from."""

    def _tick(self) -> int:
        self.clock += 1
        return self.clock

    def _number(self, var: ir.Var) -> int:
        return self.uses.numbers[var]

    def _numbers(self, variables: Sequence[ir.Var]) -> tuple[int, ...]:
        return tuple(self.uses.numbers[var] for var in variables)

    def _placed(self, written: ast.expr, span: Span | None) -> ast.expr:
        if span is not None:
            self.places[id(written)] = written, span
        return written

    def _result(self, target: ir.Var, fragment: Fragment, place: int, out: OpenBlock, span: Span | None) -> None:
        """A value: it waits for its use, or it is bound here."""
        if self.uses.inlinable(target):
            out.wait(target, fragment, place, span)
        elif self.uses.count(target) or target.named or fragment.effect == WRITES:
            bind = Bind((self._number(target),), fragment.node, span)
            out.emit(bind, fragment.accesses, frozenset((target.hint,)))

    def _accesses(self, statement: ir.Statement, out: OpenBlock) -> Accesses:
        """What a statement does to memory and, where exceptions are handled, to the order of things by raising one."""
        own = self.memory.of(statement)
        orders = out.handled and (strongest(own) == WRITES or may_raise(statement))
        return own | WRITES_ANYTHING if orders else own

    def _call(self, call: ir.Call, out: OpenBlock) -> None:
        clock, own = self._tick(), self._accesses(call, out)
        atoms = operands(call)
        count = len(call.args)

        def make(nodes: list[ast.expr]) -> ast.expr:
            pairs = [(name, node) for (name, _), node in zip(call.kwargs, nodes[count:], strict=True)]
            return self._placed(self.expressions.call(call.callee, call.args, nodes[:count], pairs), call.span)

        beside = 0
        for target in call.targets:
            beside += len(target.hint) + 3
        span = out.origin(call.span, atoms)
        fragment = out.take(atoms, make, clock, own, self.expressions.order(call.callee, len(atoms)), beside)
        if len(call.targets) == 1:
            self.calls[call.targets[0]] = call
            used = self.uses.count(call.targets[0]) > 0
            if used or call.targets[0].named or strongest(own) != WRITES:
                self._result(call.targets[0], fragment, clock, out, span)
                return
        if call.targets and any(map(self.uses.count, call.targets)):
            targets = tuple(self._number(var) if self.uses.count(var) else None for var in call.targets)
            hints = frozenset(var.hint for var in call.targets)
            out.emit(Bind(targets, fragment.node, span), fragment.accesses, hints)
        elif fragment.effect == WRITES:
            out.emit(Plain(ast.Expr(fragment.node), span), fragment.accesses, frozenset())

    def _load(self, load: ir.Load, out: OpenBlock) -> None:
        target, base, key = load.target, load.base, load.key
        clock, own = self._tick(), self._accesses(load, out)
        atoms = (base, *key_atoms(key))
        beside = len(target.hint)
        span = out.origin(load.span, atoms)

        def make(nodes: list[ast.expr]) -> ast.expr:
            return self._placed(self.expressions.load(nodes[0], key, nodes[1:]), load.span)

        fragment = out.take(atoms, make, clock, own, beside=beside)
        self._result(target, fragment, clock, out, span)

    def _store(self, store: ir.Store, out: OpenBlock) -> None:
        base = store.base
        if isinstance(base, ir.Var) and base in out.waiting and not self._may_hold_store(store, out, base):
            out.release(out.waiting[base])
        atoms = (base, *key_atoms(store.key), store.value)
        *places, value = range(len(atoms))
        own = self._accesses(store, out)
        early: Accesses = NOTHING
        order = [*places, value]
        if store.mode == "set":
            order = [value, *places]
        elif store.mode != "add_at":
            order = [*places, EARLY, value]
            early = frozenset(Access(READS, access.memory) for access in own)
        span = out.origin(store.span, atoms)
        fragment = out.take(atoms, several, self._tick(), own, order, early=early)
        statement = self._store_syntax(store, parts_of(fragment))
        out.emit(Plain(statement, span), fragment.accesses, frozenset())

    @staticmethod
    def _may_hold_store(store: ir.Store, out: OpenBlock, base: ir.Var) -> bool:
        """Whether the base of a store may be written out: parts of objects, but no fresh object."""
        node = out.waiting[base].fragment.node
        return store.key is not None and isinstance(node, (ast.Attribute, ast.Subscript))

    def _store_syntax(self, store: ir.Store, nodes: list[ast.expr]) -> ast.stmt:
        base, *parts, value = nodes
        if store.key is None:
            if store.mode == "set":
                return ast.Assign([ast.Subscript(base, ast.Constant(...), ast.Store())], value)
            if isinstance(store.base, ir.Var) and isinstance(base, ast.Name):
                return ast.AugAssign(ast.Name(base.id, ast.Store()), _in_place(store), value)
            whole = ast.Subscript(base, ast.Constant(...), ast.Store())  # a global name must not be bound
            return ast.AugAssign(whole, _in_place(store), value)
        if store.mode == "add_at":
            assert isinstance(store.key, ir.Subscript)
            at = ast.Attribute(ast.Attribute(self.expressions.names.module("np"), "add", _LOAD), "at", _LOAD)
            return ast.Expr(ast.Call(at, [base, self.expressions.index_value(store.key, parts), value], []))
        target = self.expressions.load(base, store.key, parts)
        assert isinstance(target, (ast.Attribute, ast.Subscript))
        target.ctx = ast.Store()
        if store.mode == "set":
            return ast.Assign([target], value)
        return ast.AugAssign(target, _in_place(store), value)

    # Values that are handed out

    def _take_values(
        self, atoms: Sequence[ir.Atom], out: OpenBlock, targets: Sequence[ir.Var] = ()
    ) -> tuple[list[ast.expr | None], Accesses]:
        """Expressions for values that are assigned one by one, in an order that is not known yet."""
        known = [atom for atom in atoms if not isinstance(atom, ir.Undefined)]
        if len(known) > 1:
            for atom in known:
                slot = out.waiting.get(atom) if isinstance(atom, ir.Var) else None
                if slot is not None and slot.fragment.effect == WRITES:
                    out.release(slot)
        fragment = out.take(known, several, beside=10, separate=not self._entangled(atoms, targets, out))
        rest = iter(parts_of(fragment))
        return [None if isinstance(atom, ir.Undefined) else next(rest) for atom in atoms], fragment.accesses

    @staticmethod
    def _entangled(atoms: Sequence[ir.Atom], targets: Sequence[ir.Var], out: OpenBlock) -> bool:
        """Whether two assignments seem to need each other's old values, so that they share a line."""
        hints = [frozenset() if isinstance(atom, ir.Undefined) else out.fragment(atom).hints for atom in atoms]
        pairs = [(target.hint, reads) for target, reads in zip(targets, hints, strict=False)]
        return any(
            mine in other_reads and other in reads
            for at, (mine, reads) in enumerate(pairs)
            for other, other_reads in pairs[at + 1 :]
        )

    def _move(self, targets: Sequence[ir.Var], nodes: Sequence[ast.expr | None]) -> list[tuple[int, ast.expr | None]]:
        return [(self._number(target), node) for target, node in zip(targets, nodes, strict=True)]

    def _hand_out(self, targets: Sequence[ir.Var], values: Sequence[ir.Atom], out: OpenBlock) -> None:
        """Assigns the values of a leaf."""
        wanted = [(var, value) for var, value in zip(targets, values, strict=True) if self.uses.wanted(var)]
        receivers = [var for var, _ in wanted]
        origins = [(self._number(var), out.origin(None, (value,))) for var, value in wanted]
        nodes, accesses = self._take_values([value for _, value in wanted], out, receivers)
        if wanted:
            spans = {number: span for number, span in origins if span is not None}
            out.emit(Move(self._move(receivers, nodes), spans=spans), accesses, frozenset())


def several(nodes: list[ast.expr]) -> ast.expr:
    """Carries the parts of a statement through the building of an expression."""
    return ast.Tuple(nodes, _LOAD)


def parts_of(fragment: Fragment) -> list[ast.expr]:
    assert isinstance(fragment.node, ast.Tuple)
    return fragment.node.elts


def _in_place(store: ir.Store) -> ast.operator:
    return ast.Add() if store.mode == "add" else ast.Sub()
