"""The statements between IR and Python: expressions are rebuilt, values handed out have become moves.

Expressions are Python syntax trees in which variables and global objects are *tokens*: names such as ``x%3`` and
``np$0``. The names are chosen last, when it is known which variables may share one.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Literal

from adjoint.backend.text import Expressions
from adjoint.diagnostics.spans import Span
from adjoint.records import dataclass

Number = int
"""A variable: its place in the order of definitions."""


@dataclass(slots=True)
class Bind:
    """``targets = value``; None stands for a result that nobody reads."""

    targets: tuple[Number | None, ...]
    value: ast.expr
    span: Span | None = None


@dataclass(slots=True)
class Move:
    """Assignments that happen at once. A source of None means that the value is never read."""

    pairs: list[tuple[Number, ast.expr | None]]
    span: Span | None = None


@dataclass(slots=True)
class Plain:
    """A Python statement that binds no variable."""

    statement: ast.stmt
    span: Span | None = None


@dataclass(slots=True)
class Choice:
    """``if``; ``effect`` says that the condition must be evaluated even if nothing depends on it."""

    cond: ast.expr
    then: list[Stmt]
    orelse: list[Stmt]
    effect: bool = False
    span: Span | None = None


@dataclass(slots=True)
class Repeat:
    """``for index in over`` or, without ``over``, ``while True``; ``orelse`` runs when ``over`` is exhausted.

    ``index`` has two numbers for ``enumerate``. ``params`` are assigned at the ends of the body, ``targets`` at
    its exits and in ``orelse``.
    """

    index: tuple[Number | None, ...]
    over: ast.expr | None
    params: tuple[Number, ...]
    targets: tuple[Number, ...]
    body: list[Stmt]
    orelse: list[Stmt]
    span: Span | None = None


@dataclass(slots=True)
class Catch:
    """One ``except`` clause."""

    exception: ast.expr | None
    name: Number | None
    body: list[Stmt]


@dataclass(slots=True)
class Guard:
    """``with`` or ``try``."""

    context: ast.expr | None
    name: Number | None
    body: list[Stmt]
    handlers: list[Catch]
    final: list[Stmt] | None
    span: Span | None = None


@dataclass(slots=True)
class Jump:
    """``break`` or ``continue``."""

    kind: Literal["break", "continue"]


@dataclass(slots=True)
class Leave:
    """``return`` or ``raise``."""

    statement: ast.Return | ast.Raise
    span: Span | None = None


Stmt = Bind | Move | Plain | Choice | Repeat | Guard | Jump | Leave

_KEPT = "numbers"  # the attribute of a syntax tree that keeps the variables in it


def token(hint: str, number: Number) -> ast.Name:
    """A variable in an expression."""
    name = ast.Name(f"{hint}%{number}", ast.Load())
    name.__dict__[_KEPT] = (number,)
    return name


def number_in(name: str) -> Number:
    """The variable that a token stands for."""
    return int(name[name.rindex("%") + 1 :])


def number_of(node: ast.AST) -> Number | None:
    """The variable that an expression consists of, if it is one."""
    return number_in(node.id) if type(node) is ast.Name and "%" in node.id else None


def numbers_in(node: ast.AST | None) -> tuple[Number, ...]:
    """The variables in a piece of syntax; they are kept on it, so that syntax built around it is fast to ask."""
    if node is None:
        return ()
    attributes = node.__dict__
    found: tuple[Number, ...] | None = attributes.get(_KEPT)
    if found is None:
        found = attributes[_KEPT] = _find_numbers(node)
    return found


def _find_numbers(node: ast.AST) -> tuple[Number, ...]:
    numbers: list[Number] = []
    _collect_numbers(node, numbers)
    return tuple(numbers)


def _collect_numbers(node: ast.AST, numbers: list[Number]) -> None:
    known = node.__dict__.get(_KEPT)
    if known is not None:
        numbers += known
        return
    if type(node) is ast.Name:
        if "%" in node.id:
            numbers.append(number_in(node.id))
        return
    for name in node._fields:
        part = getattr(node, name, None)
        if type(part) is list:
            for item in part:
                if isinstance(item, ast.AST):
                    _collect_numbers(item, numbers)
        elif isinstance(part, ast.AST) and part._fields:
            _collect_numbers(part, numbers)


_MEASURED = Expressions(lambda name: name.rstrip("0123456789")[:-1] if "%" in name or "$" in name else name, keep=True)


def width(node: ast.expr) -> int:
    """About how many characters an expression takes."""
    return len(_MEASURED.write(node))


def children(statement: Stmt) -> tuple[list[Stmt], ...]:
    """The bodies inside a statement."""
    match statement:
        case Choice():
            return statement.then, statement.orelse
        case Repeat():
            return statement.body, statement.orelse
        case Guard():
            final = () if statement.final is None else (statement.final,)
            return statement.body, *(handler.body for handler in statement.handlers), *final
        case _:
            return ()


def own_uses(statement: Stmt) -> Sequence[Number]:
    """The variables that a statement reads, outside its bodies."""
    match statement:
        case Bind(value=node) | Plain(statement=node) | Choice(cond=node) | Repeat(over=node) | Leave(statement=node):
            return numbers_in(node)
        case Move(pairs=pairs):
            return [number for _, source in pairs for number in numbers_in(source)]
        case Guard(context=context, handlers=handlers):
            parts = [context, *(handler.exception for handler in handlers)]
            return [number for part in parts for number in numbers_in(part)]
        case _:
            return ()


def own_definitions(statement: Stmt) -> Sequence[Number]:
    """The variables that a statement binds, outside its bodies."""
    match statement:
        case Bind(targets=numbers) | Repeat(index=numbers):
            return [number for number in numbers if number is not None]
        case Move(pairs=pairs):
            return [target for target, _ in pairs]
        case Guard(name=name, handlers=handlers):
            return [number for number in (name, *(handler.name for handler in handlers)) if number is not None]
        case _:
            return ()


def walk(statements: list[Stmt]) -> list[Stmt]:
    """All statements, those inside others included, in source order."""
    found: list[Stmt] = []
    _collect(statements, found)
    return found


def _collect(statements: list[Stmt], found: list[Stmt]) -> None:
    for statement in statements:
        found.append(statement)
        for body in children(statement):
            _collect(body, found)
