"""Which variables are alive at once: one pass backwards over the tree, without iteration.

Every variable is bound before a loop, in it, or is one of its parameters. What a loop's body reads of the first and
third kind is alive throughout the loop, so that the set at the head of the loop is known before its body is walked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace

from adjoint.backend.tree import (
    Bind,
    Choice,
    Guard,
    Jump,
    Leave,
    Move,
    Number,
    Repeat,
    Stmt,
    number_of,
    own_definitions,
    own_uses,
    walk,
)

Live = frozenset[Number]
_NONE: Live = frozenset()


class Interference:
    """Which variables may not share a name."""

    def __init__(self) -> None:
        self.with_: dict[Number, set[Number]] = {}

    def add(self, number: Number, others: Iterable[Number]) -> None:
        mine = self.with_.setdefault(number, set())
        for other in others:
            if other != number:
                mine.add(other)
                self.with_.setdefault(other, set()).add(number)

    def of(self, number: Number) -> set[Number]:
        return self.with_.get(number, set())


@dataclass(frozen=True, slots=True)
class _Around:
    """What is alive where a jump leads, and where an exception does."""

    broken: Live = _NONE
    continued: Live = _NONE
    raised: Live = _NONE


def interference_of(statements: list[Stmt], params: Iterable[Number]) -> Interference:
    """Walks a function's statements; assignments of values that nobody reads are dropped from the moves."""
    found = Interference()
    at_entry = _Liveness(found).block(statements, _NONE, _Around())
    for param in params:
        found.add(param, at_entry)
        found.add(param, params)
    return found


class _Liveness:
    def __init__(self, found: Interference) -> None:
        self.found = found

    def block(self, statements: list[Stmt], live: Live, around: _Around) -> Live:
        """The variables alive before the statements, ``live`` being those alive after them."""
        live |= around.raised
        for statement in reversed(statements):
            live = self.statement(statement, live, around) | around.raised
        return live

    def statement(self, statement: Stmt, live: Live, around: _Around) -> Live:
        match statement:
            case Bind(targets=targets):
                bound = frozenset(target for target in targets if target is not None)
                for target in bound:
                    self.found.add(target, live | bound)
                return (live - bound) | frozenset(own_uses(statement))
            case Move():
                return self.move(statement, live)
            case Choice(then=then, orelse=orelse):
                sides = self.block(then, live, around) | self.block(orelse, live, around)
                return sides | frozenset(own_uses(statement))
            case Repeat():
                return self.repeat(statement, live, around)
            case Guard():
                return self.guard(statement, live, around)
            case Jump(kind=kind):
                return around.broken if kind == "break" else around.continued
            case Leave():
                return frozenset(own_uses(statement))
            case _:
                return live | frozenset(own_uses(statement))

    def move(self, move: Move, live: Live) -> Live:
        move.pairs = [(target, source) for target, source in move.pairs if target in live or _acts(source)]
        targets = frozenset(target for target, _ in move.pairs)
        for target, source in move.pairs:
            copied = None if source is None else number_of(source)
            self.found.add(target, live - {copied} if copied is not None else live)
            self.found.add(target, targets)
        return (live - targets) | frozenset(own_uses(move))

    def repeat(self, repeat: Repeat, live: Live, around: _Around) -> Live:
        exhausted = self.block(repeat.orelse, live, around) if repeat.over is not None else _NONE
        inside = frozenset(number for part in walk(repeat.body) for number in own_uses(part))
        bound = frozenset(number for part in walk(repeat.body) for number in own_definitions(part))
        index = frozenset(number for number in repeat.index if number is not None)
        params, targets = frozenset(repeat.params), frozenset(repeat.targets)
        head = (inside - (bound - params) - index) | exhausted | (live - targets)
        entered = self.block(repeat.body, head, replace(around, broken=live, continued=head))
        for number in index:
            self.found.add(number, entered | index)
        return head | (entered - index) | frozenset(own_uses(repeat))

    def guard(self, guard: Guard, live: Live, around: _Around) -> Live:
        raised = around.raised
        if guard.final is not None:
            raised |= self.block(guard.final, raised, around)
            live = self.block(guard.final, live, around)
        caught = raised
        for handler in guard.handlers:
            entered = self.block(handler.body, live, replace(around, raised=raised))
            if handler.name is not None:
                self.found.add(handler.name, entered | raised)
                entered -= {handler.name}
            caught |= entered
        body = self.block(guard.body, live, replace(around, raised=caught))
        if guard.name is not None:
            self.found.add(guard.name, body)
            body -= {guard.name}
        return body | caught | frozenset(own_uses(guard))


def _acts(source: ast.expr | None) -> bool:
    """Whether an expression may do something besides having a value."""
    return source is not None and any(isinstance(part, ast.Call) for part in ast.walk(source))
