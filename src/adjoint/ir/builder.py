"""Building blocks of IR, statement by statement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint import ir
from adjoint.diagnostics.spans import Span
from adjoint.ir.walk import view_type

TypeOfCall = Callable[[Any, Sequence[ir.Atom], Sequence[tuple[str, ir.Atom]]], tuple[ir.Type, ...]]


class Builder:
    """An open block. ``type_of_call`` infers the types of a call's results."""

    def __init__(self, type_of_call: TypeOfCall, span: Span | None = None) -> None:
        self.type_of_call = type_of_call
        self.span = span
        self.statements: list[ir.Statement] = []

    def nested(self) -> Builder:
        """A builder for a block inside this one."""
        return Builder(self.type_of_call, self.span)

    def emit(self, statement: ir.Statement) -> None:
        self.statements.append(statement)

    def call(self, callee: Any, *args: ir.Atom, hint: str = "t", named: bool = False, **kwargs: ir.Atom) -> ir.Var:
        """Emits a call with one result."""
        pairs = tuple(kwargs.items())
        (type_,) = self.type_of_call(callee, args, pairs)
        target = ir.Var(hint, type_, named)
        self.emit(ir.Call((target,), callee, args, pairs, self.span))
        return target

    def effect(self, callee: Any, *args: ir.Atom, **kwargs: ir.Atom) -> None:
        """Emits a call for its effect."""
        self.emit(ir.Call((), callee, args, tuple(kwargs.items()), self.span))

    def load(self, base: ir.Atom, key: ir.Key, type_: ir.Type, hint: str = "t", named: bool = False) -> ir.Var:
        target = ir.Var(hint, view_type(base, key, type_), named)
        self.emit(ir.Load(target, base, key, self.span))
        return target

    def item(self, base: ir.Atom, index: ir.Atom, type_: ir.Type, hint: str = "t") -> ir.Var:
        return self.load(base, ir.Subscript((index,)), type_, hint)

    def attribute(self, base: ir.Atom, name: str, type_: ir.Type, hint: str = "t") -> ir.Var:
        return self.load(base, ir.Attribute(name), type_, hint)

    def store(self, base: ir.Atom, key: ir.Key | None, value: ir.Atom, mode: Any = "set") -> None:
        self.emit(ir.Store(base, key, value, mode, self.span))

    def block(self, terminator: ir.Terminator) -> ir.Block:
        return ir.Block(tuple(self.statements), terminator)
