"""Rebuilding expressions: values wait until their single use prints them, or something prevents that.

A value waits in its block as long as its computation could as well happen later. What a statement prints inside
itself must happen in the order of the IR as far as order matters: a read may not pass a write, nor a write anything.
A value that cannot wait any longer becomes a statement of its own at the place where it was computed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from adjoint import ir
from adjoint.codegen.expressions import Expressions
from adjoint.codegen.placement.memory_order import NOTHING, PURE, WRITES, Access, Accesses, Effect, conflict, strongest
from adjoint.codegen.tree import Bind, Stmt, width
from adjoint.diagnostics.spans import Span
from adjoint.records import dataclass, field

LINE_WIDTH = 100
INDENT = 4

Op = tuple[int, Access]
"""A computation whose order matters: its place in the IR and what it does."""

_NO_HINTS = frozenset[str]()

EARLY = -1
"""In an order of evaluation: what a statement does to memory before it evaluates all of its operands."""


@dataclass(eq=False, slots=True)
class Fragment:
    """An expression, the computations in it in Python's order, and the hints of the variables in it."""

    node: ast.expr
    ops: tuple[Op, ...] = ()
    hints: frozenset[str] = frozenset()

    @property
    def accesses(self) -> Accesses:
        return frozenset([access for _, access in self.ops]) if self.ops else NOTHING

    @property
    def effect(self) -> Effect:
        return strongest([access for _, access in self.ops]) if self.ops else PURE


@dataclass(eq=False, slots=True)
class Slot:
    """A value that waits, at its place among the statements of the block."""

    var: ir.Var
    fragment: Fragment
    place: int
    span: Span | None
    printed: bool = False


@dataclass(eq=False, slots=True)
class OpenBlock:
    """The statements of a block so far; ``mentions`` are the expressions that are variables.

    ``handled`` says that exceptions which it raises are handled around it, ``temporaries_wait`` that a value need not
    be printed before the variable of a temporary in it gets a new value, but under another name.
    """

    expressions: Expressions
    depth: int
    mentions: dict[ir.Var, Fragment]
    handled: bool = False
    temporaries_wait: bool = False
    items: list[Stmt | Slot] = field(default_factory=list)
    waiting: dict[ir.Var, Slot] = field(default_factory=dict)

    def wait(self, var: ir.Var, fragment: Fragment, place: int, span: Span | None) -> None:
        """Puts a value on hold."""
        slot = Slot(var, fragment, place, span)
        self.items.append(slot)
        self.waiting[var] = slot

    def origin(self, span: Span | None, atoms: Sequence[ir.Atom]) -> Span | None:
        """Where a statement comes from; if that is not known, where what is written inside of it comes from."""
        if span is not None:
            return span
        slots = (self.waiting.get(atom) for atom in atoms if isinstance(atom, ir.Var))
        return next((slot.span for slot in slots if slot is not None and slot.span is not None), None)

    def release(self, slot: Slot) -> None:
        """Makes a waiting value a statement, after those that must happen before it."""
        if slot.printed or slot.var not in self.waiting:
            return
        del self.waiting[slot.var]
        slot.printed = True
        accesses = slot.fragment.accesses
        if accesses:
            for other in list(self.waiting.values()):
                if other.place < slot.place and conflict(other.fragment.accesses, accesses):
                    self.release(other)
        for other in list(self.waiting.values()):
            if other.place < slot.place and slot.var.hint in other.fragment.hints:
                self.release(other)

    def release_all(self, at_least: Effect = PURE, keep: Sequence[ir.Atom] = ()) -> None:
        """Releases the values of at least this effect, except those that are about to be used."""
        for slot in list(self.waiting.values()):
            if slot.fragment.effect >= at_least and slot.var not in keep:
                self.release(slot)

    def release_reads_of(self, hints: frozenset[str]) -> None:
        """Releases what mentions variables that may be about to get new values under the same name."""
        for slot in list(self.waiting.values()):
            if slot.fragment.hints & hints:
                self.release(slot)

    def emit(self, statement: Stmt, accesses: Accesses, hints: frozenset[str]) -> None:
        """Adds a statement, after what may not wait for longer than until now."""
        if accesses:
            for slot in list(self.waiting.values()):
                if slot.fragment.ops and conflict(slot.fragment.accesses, accesses):
                    self.release(slot)
        if hints:
            self.release_reads_of(hints)
        self.items.append(statement)

    def fragment(self, atom: ir.Atom) -> Fragment:
        """The expression for an operand."""
        slot = self.waiting.get(atom) if type(atom) is ir.Var else None
        return self._named(atom) if slot is None else slot.fragment

    def _named(self, atom: ir.Atom) -> Fragment:
        """The expression for an operand that does not wait: a name, or a literal."""
        if type(atom) is not ir.Var:
            return Fragment(self.expressions.atom(atom))
        known = self.mentions.get(atom)
        if known is None:
            shares = atom.named or not self.temporaries_wait
            hints = frozenset((atom.hint,)) if shares else _NO_HINTS
            known = self.mentions[atom] = Fragment(self.expressions.var(atom), (), hints)
        return known

    def take(
        self,
        atoms: Sequence[ir.Atom],
        make: Callable[[list[ast.expr]], ast.expr],
        place: int = 0,
        own: Accesses = NOTHING,
        order: Sequence[int] | None = None,
        beside: int = 0,
        separate: bool = False,
        early: Accesses = NOTHING,
    ) -> Fragment:
        """Builds an expression out of operands, with those that wait inside it.

        Parameters
        ----------
        atoms
            The operands.
        make
            Builds the expression from the operands' expressions.
        place, own
            The computation that the expression itself is, after its operands.
        order
            The order in which Python evaluates the operands; ``EARLY`` stands for what ``early`` says.
        beside
            How many more characters the line holds.
        separate
            The operands are printed on lines of their own.
        """
        sequence = range(len(atoms)) if order is None else order
        waiting = self.waiting
        while True:
            fragments: list[Fragment] = []
            taken: list[Slot] = []
            for atom in atoms:
                slot = waiting.get(atom) if type(atom) is ir.Var else None
                if slot is not None:
                    taken.append(slot)
                fragments.append(self._named(atom) if slot is None else slot.fragment)
            ops: list[Op] = []
            if own or early or [slot for slot in taken if slot.fragment.ops]:
                for part in sequence:
                    ops += [(place, access) for access in early] if part == EARLY else fragments[part].ops
                ops += [(place, access) for access in own]
                late = self._out_of_order(taken, ops) if taken else ()
                if late:
                    for slot in late:
                        self.release(slot)
                    continue
            nodes = [fragment.node for fragment in fragments]
            node = make(nodes)
            if taken:
                wide = max(map(width, nodes)) if separate else width(node)
                if wide + beside + INDENT * self.depth > LINE_WIDTH:
                    self.release(max(taken, key=lambda slot: (slot.var.named, width(slot.fragment.node))))
                    continue
            break
        for slot in taken:
            del waiting[slot.var]
        hints = [fragment.hints for fragment in fragments if fragment.hints]
        return Fragment(node, tuple(ops), hints[0] if len(hints) == 1 else _NO_HINTS.union(*hints))

    def _out_of_order(self, taken: list[Slot], ops: Sequence[Op]) -> list[Slot]:
        """The values that may not be printed inside the expression, if any."""
        if not any(slot.fragment.ops for slot in taken):
            return []
        for index, (place, access) in enumerate(ops):
            if any(later < place and conflict((access,), (other,)) for later, other in ops[index + 1 :]):
                return [slot for slot in taken if slot.fragment.ops]
        first = min(place for place, _ in ops)
        waiting = (slot for slot in self.waiting.values() if slot.place > first and slot.fragment.ops)
        left = [slot for slot in waiting if slot not in taken]
        return [slot for slot in taken if any(_passes(slot, other) for other in left)]

    def close(self) -> list[Stmt]:
        """The statements. What still waits is of no use; it is printed only if it does something."""
        self.release_all(WRITES)
        statements: list[Stmt] = []
        for item in self.items:
            if isinstance(item, Slot):
                if item.printed:
                    number = self.expressions.numbers[item.var]
                    statements.append(Bind((number,), item.fragment.node, item.span))
            else:
                statements.append(item)
        return statements


def _passes(slot: Slot, other: Slot) -> bool:
    """Whether a value, printed later, would happen after one that has to come after it."""
    accesses = other.fragment.accesses
    return any(place < other.place and conflict((access,), accesses) for place, access in slot.fragment.ops)
