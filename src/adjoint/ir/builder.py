"""Building blocks of IR, statement by statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint.diagnostics.spans import Span
from adjoint.ir.nodes import Atom, Attribute, Block, Call, Key, Load, Statement, Store, Subscript, Terminator, Var
from adjoint.ir.types import Type

TypeOfCall = Callable[[Any, Sequence[Atom], Sequence[tuple[str, Atom]]], tuple[Type, ...]]


class Builder:
    """An open block. ``type_of_call`` infers the types of a call's results."""

    def __init__(self, type_of_call: TypeOfCall, span: Span | None = None) -> None:
        self.type_of_call = type_of_call
        self.span = span
        self.statements: list[Statement] = []

    def nested(self) -> Builder:
        """A builder for a block inside this one."""
        return Builder(self.type_of_call, self.span)

    def emit(self, statement: Statement) -> None:
        self.statements.append(statement)

    def call(self, callee: Any, *args: Atom, hint: str = "t", named: bool = False, **kwargs: Atom) -> Var:
        """Emits a call with one result."""
        pairs = tuple(kwargs.items())
        (type_,) = self.type_of_call(callee, args, pairs)
        target = Var(hint, type_, named)
        self.emit(Call((target,), callee, args, pairs, self.span))
        return target

    def effect(self, callee: Any, *args: Atom, **kwargs: Atom) -> None:
        """Emits a call for its effect."""
        self.emit(Call((), callee, args, tuple(kwargs.items()), self.span))

    def load(self, base: Atom, key: Key, type_: Type, hint: str = "t", named: bool = False) -> Var:
        target = Var(hint, type_, named)
        self.emit(Load(target, base, key, self.span))
        return target

    def item(self, base: Atom, index: Atom, type_: Type, hint: str = "t") -> Var:
        return self.load(base, Subscript((index,)), type_, hint)

    def attribute(self, base: Atom, name: str, type_: Type, hint: str = "t") -> Var:
        return self.load(base, Attribute(name), type_, hint)

    def store(self, base: Atom, key: Key | None, value: Atom, mode: Any = "set") -> None:
        self.emit(Store(base, key, value, mode, self.span))

    def block(self, terminator: Terminator) -> Block:
        return Block(tuple(self.statements), terminator)
