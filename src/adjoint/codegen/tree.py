"""The statements between IR and Python: expressions are rebuilt, values handed out have become moves.

Expressions are Python syntax trees in which variables and global objects are *tokens*: names such as ``x%3`` and
``np$0``. The names are chosen last, when it is known which variables may share one.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Literal

from adjoint.codegen.unparse import Expressions
from adjoint.diagnostics.spans import Span
from adjoint.records import dataclass, field

Number = int
"""A variable: its place in the order of definitions."""
Bits = int
"""A set of variables: bit ``n`` stands for variable ``n``."""
NONE: Bits = 0


def bits(numbers: Iterable[Number | None]) -> Bits:
    """The set of some variables; None is no variable."""
    found = NONE
    for number in numbers:
        if number is not None:
            found |= 1 << number
    return found


def union(sets: Iterable[Bits]) -> Bits:
    """The variables that are in any of some sets."""
    return reduce(operator.or_, sets, NONE)


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
    spans: dict[Number, Span] = field(default_factory=dict)
    """Where the values of single variables come from, where they are not all of one place."""


@dataclass(slots=True)
class Plain:
    """A Python statement that binds no variable."""

    statement: ast.stmt
    span: Span | None = None


@dataclass(slots=True)
class Choice:
    """``if``; ``effect`` says that the condition must be evaluated even if nothing depends on it.

    ``asks`` says that its truth must be asked, too, which may raise.
    """

    cond: ast.expr
    then: list[Stmt]
    orelse: list[Stmt]
    effect: bool = False
    span: Span | None = None
    asks: bool = False


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

_KEPT = "variables"  # the attribute of a syntax tree that keeps the variables in it


def token(hint: str, number: Number) -> ast.Name:
    """A variable in an expression."""
    name = ast.Name(f"{hint}%{number}", ast.Load())
    attributes = name.__dict__
    attributes["number"] = number
    attributes[_KEPT] = 1 << number
    return name


def number_in(name: str) -> Number:
    """The variable that a token stands for."""
    return int(name[name.rindex("%") + 1 :])


def number_of(node: ast.AST) -> Number | None:
    """The variable that an expression consists of, if it is one."""
    return getattr(node, "number", None)


def numbers(variables: Bits) -> Iterator[Number]:
    """The variables of a set, in order."""
    while variables:
        lowest = variables & -variables
        yield lowest.bit_length() - 1
        variables ^= lowest


def variables_in(node: ast.AST | None) -> Bits:
    """The variables in a piece of syntax; they are kept on it, so that syntax built around it is fast to ask."""
    if node is None:
        return NONE
    attributes = node.__dict__
    found: Bits | None = attributes.get(_KEPT)
    if found is None:
        found = attributes[_KEPT] = _found_in(node)
    return found


def _found_in(node: ast.AST) -> Bits:
    if type(node) is ast.Name:
        return 1 << number_in(node.id) if "%" in node.id else NONE
    found = NONE
    for name in _HOLDING[type(node)]:
        part = getattr(node, name, None)
        if type(part) is list:
            for item in part:
                found |= variables_in(item)
        elif isinstance(part, ast.AST):
            found |= variables_in(part)
    return found


class _Holding(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each class of syntax that may hold syntax with variables in it."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        held = self[kind] = tuple([name for name in kind._fields if name not in _WITHOUT_VARIABLES])
        return held


_WITHOUT_VARIABLES = frozenset(["id", "attr", "arg", "op", "ops", "ctx", "kind", "value_of", "conversion"])
_HOLDING = _Holding({ast.Constant: ()})


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


def read_by(statement: Stmt) -> Bits:
    """The variables that a statement reads, outside its bodies."""
    match statement:
        case Bind(value=node) | Plain(statement=node) | Choice(cond=node) | Repeat(over=node) | Leave(statement=node):
            return variables_in(node)
        case Move(pairs=pairs):
            return union([variables_in(source) for _, source in pairs])
        case Guard(context=context, handlers=handlers):
            return union([variables_in(context), *(variables_in(handler.exception) for handler in handlers)])
        case _:
            return NONE


def bound_by(statement: Stmt) -> Bits:
    """The variables that a statement binds, outside its bodies."""
    match statement:
        case Bind(targets=targets) | Repeat(index=targets):
            return bits(targets)
        case Move(pairs=pairs):
            return bits([target for target, _ in pairs])
        case Guard(name=name, handlers=handlers):
            return bits([name, *(handler.name for handler in handlers)])
        case _:
            return NONE


def mentioned(statements: list[Stmt]) -> tuple[Bits, Bits]:
    """The variables that some statements read, and those that they bind, outside their bodies."""
    return union(map(read_by, statements)), union(map(bound_by, statements))


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
