"""Which variables are alive at once: one pass backwards over the tree, without iteration.

Every variable is bound before a loop, in it, or is one of its parameters. What a loop's body reads of the first and
third kind is alive throughout the loop, so that the set at the head of the loop is known before its body is walked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from adjoint.codegen.tree import (
    NONE,
    Bind,
    Bits,
    Choice,
    Guard,
    Jump,
    Leave,
    Move,
    Number,
    Repeat,
    Stmt,
    bits,
    mentioned,
    number_of,
    read_by,
    walk,
)
from adjoint.records import dataclass, replace


class Interference:
    """Which variables are alive where another one is bound: the two may not share a name."""

    def __init__(self) -> None:
        self._at_definition: dict[Number, Bits] = {}

    def add(self, number: Number, others: Bits) -> None:
        """Notes what is alive where a variable is bound."""
        self._at_definition[number] = self._at_definition.get(number, NONE) | others

    def at_definition(self, number: Number) -> Bits:
        """What is alive where a variable is bound, itself included."""
        return self._at_definition.get(number, NONE)


@dataclass(frozen=True, slots=True)
class _Around:
    """What is alive where a jump leads, and where an exception does."""

    broken: Bits = NONE
    continued: Bits = NONE
    raised: Bits = NONE


def interference_of(statements: list[Stmt], params: Iterable[Number]) -> Interference:
    """Walks a function's statements; assignments of values that nobody reads are dropped from the moves."""
    found = Interference()
    at_entry = _Liveness(found).block(statements, NONE, _Around())
    together = at_entry | bits(params)
    for param in params:
        found.add(param, together)
    return found


class _Liveness:
    def __init__(self, found: Interference) -> None:
        self.found = found

    def block(self, statements: list[Stmt], live: Bits, around: _Around) -> Bits:
        """The variables alive before the statements, ``live`` being those alive after them."""
        live |= around.raised
        for statement in reversed(statements):
            live = self.statement(statement, live, around) | around.raised
        return live

    def statement(self, statement: Stmt, live: Bits, around: _Around) -> Bits:
        match statement:
            case Bind(targets=targets):
                bound = bits(targets)
                for target in targets:
                    if target is not None:
                        self.found.add(target, live | bound)
                return (live & ~bound) | read_by(statement)
            case Move():
                return self.move(statement, live)
            case Choice(then=then, orelse=orelse):
                sides = self.block(then, live, around) | self.block(orelse, live, around)
                return sides | read_by(statement)
            case Repeat():
                return self.repeat(statement, live, around)
            case Guard():
                return self.guard(statement, live, around)
            case Jump(kind=kind):
                return around.broken if kind == "break" else around.continued
            case Leave():
                return read_by(statement)
            case _:
                return live | read_by(statement)

    def move(self, move: Move, live: Bits) -> Bits:
        move.pairs = [(target, source) for target, source in move.pairs if live >> target & 1 or _acts(source)]
        targets = bits([target for target, _ in move.pairs])
        for target, source in move.pairs:
            copied = None if source is None else number_of(source)
            self.found.add(target, (live & ~bits([copied])) | targets)
        return (live & ~targets) | read_by(move)

    def repeat(self, repeat: Repeat, live: Bits, around: _Around) -> Bits:
        exhausted = self.block(repeat.orelse, live, around) if repeat.over is not None else NONE
        inside, bound = mentioned(walk(repeat.body))
        index, params, targets = bits(repeat.index), bits(repeat.params), bits(repeat.targets)
        head = (inside & ~(bound & ~params) & ~index) | exhausted | (live & ~targets)
        entered = self.block(repeat.body, head, replace(around, broken=live, continued=head))
        for number in repeat.index:
            if number is not None:
                self.found.add(number, entered | index)
        return head | (entered & ~index) | read_by(repeat)

    def guard(self, guard: Guard, live: Bits, around: _Around) -> Bits:
        raised = around.raised
        if guard.final is not None:
            raised |= self.block(guard.final, raised, around)
            live = self.block(guard.final, live, around)
        caught = raised
        for handler in guard.handlers:
            entered = self.block(handler.body, live, replace(around, raised=raised))
            if handler.name is not None:
                self.found.add(handler.name, entered | raised)
                entered &= ~bits([handler.name])
            caught |= entered
        body = self.block(guard.body, live, replace(around, raised=caught))
        if guard.name is not None:
            self.found.add(guard.name, body)
            body &= ~bits([guard.name])
        return body | caught | read_by(guard)


def _acts(source: ast.expr | None) -> bool:
    """Whether an expression may do something besides having a value."""
    return source is not None and any(isinstance(part, ast.Call) for part in ast.walk(source))
