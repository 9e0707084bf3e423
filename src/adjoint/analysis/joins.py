"""Which values become which where control flows: at the ends of a statement's blocks, and where an exception lands."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from adjoint.ir.nodes import (
    Atom,
    Block,
    Call,
    Continue,
    Definition,
    Exit,
    Guarded,
    If,
    Loop,
    Raise,
    Statement,
    Var,
    Yield,
)
from adjoint.ir.walk import leaves, statements_in, terminators_in

Place = TypeVar("Place", bound=Hashable)


def joins(statement: Statement) -> list[tuple[Atom, Var]]:
    """The values that flow together at the ends of a statement's blocks, each with what it becomes.

    What a loop gives and what it carries are one, in both directions.
    """
    found = flows(statement)
    if isinstance(statement, Loop):
        found += zip(statement.targets, statement.params, strict=False)
    return found


def flows(statement: Statement) -> list[tuple[Atom, Var]]:
    """The same in the direction of time alone."""
    found: list[tuple[Atom, Var]] = []
    match statement:
        case If(then=then, orelse=orelse, targets=targets):
            _join_leaves((then, orelse), (), targets, found)
        case Guarded(body=body, handlers=handlers, targets=targets):
            _join_leaves((body, *(handler.body for handler in handlers)), (), targets, found)
        case Loop(params=params, inits=inits, body=body, targets=targets):
            found += zip(inits, params, strict=True)
            found += zip(params, targets, strict=False)
            _join_leaves((body,), params, targets, found)
    return found


def reached(
    sources: Iterable[Place], onward: Mapping[Place, Iterable[Place]], within: Container[Place] | None = None
) -> set[Place]:
    """What sources flow into, by steps of which ``onward`` tells where each begins, and the sources.

    No step leads out of ``within``.
    """
    found = set(sources)
    work = list(found)
    while work:
        for place in onward.get(work.pop(), ()):
            if place not in found and (within is None or place in within):
                found.add(place)
                work.append(place)
    return found


def _join_leaves(
    blocks: Sequence[Block], params: tuple[Var, ...], targets: tuple[Var, ...], found: list[tuple[Atom, Var]]
) -> None:
    for block in blocks:
        for leaf in leaves(block):
            match leaf:
                case Yield(values=values) | Exit(values=values):
                    found += zip(values, targets, strict=True)
                case Continue(values=values):
                    found += zip(values, params, strict=True)


def caught(statement: Statement) -> list[tuple[Atom, Var]]:
    """What ``with ... as`` and ``except ... as`` give names: the context, and whatever may be raised in the body."""
    if not isinstance(statement, Guarded):
        return []
    found: list[tuple[Atom, Var]] = []
    if statement.name is not None and statement.context is not None:
        found.append((statement.context, statement.name))
    names = [handler.name for handler in statement.handlers if handler.name is not None]
    if names:
        found += [(raised, name) for raised in _raised_in(statement.body) for name in names]
    return found


def _raised_in(body: Block) -> list[Atom]:
    """The exceptions that a block raises, and what those may carry that the functions it calls raise."""
    ends = [end.exception for end in terminators_in(body) if isinstance(end, Raise)]
    calls = [each for each in statements_in(body) if isinstance(each, Call) and isinstance(each.callee, Definition)]
    return [end for end in ends if end is not None] + [arg for call in calls for arg in call.args]
