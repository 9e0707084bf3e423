"""Which values become which where control flows: at the ends of a statement's blocks, and where an exception lands."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from adjoint import ir
from adjoint.ir.walk import leaves, statements_in, terminators_in

Place = TypeVar("Place", bound=Hashable)


def joins(statement: ir.Statement) -> list[tuple[ir.Atom, ir.Var]]:
    """The values that flow together at the ends of a statement's blocks, each with what it becomes.

    What a loop gives and what it carries are one, in both directions.
    """
    found = flows(statement)
    if isinstance(statement, ir.Loop):
        found += zip(statement.targets, statement.params, strict=False)
    return found


def flows(statement: ir.Statement) -> list[tuple[ir.Atom, ir.Var]]:
    """The same in the direction of time alone."""
    found: list[tuple[ir.Atom, ir.Var]] = []
    match statement:
        case ir.If(then=then, orelse=orelse, targets=targets):
            _join_leaves((then, orelse), (), targets, found)
        case ir.Guarded(body=body, handlers=handlers, targets=targets):
            _join_leaves((body, *(handler.body for handler in handlers)), (), targets, found)
        case ir.Loop(params=params, inits=inits, body=body, targets=targets):
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
    blocks: Sequence[ir.Block],
    params: tuple[ir.Var, ...],
    targets: tuple[ir.Var, ...],
    found: list[tuple[ir.Atom, ir.Var]],
) -> None:
    for block in blocks:
        for leaf in leaves(block):
            match leaf:
                case ir.Yield(values=values) | ir.Exit(values=values):
                    found += zip(values, targets, strict=True)
                case ir.Continue(values=values):
                    found += zip(values, params, strict=True)


def caught(statement: ir.Statement) -> list[tuple[ir.Atom, ir.Var]]:
    """What ``with ... as`` and ``except ... as`` give names: the context, and whatever may be raised in the body."""
    if not isinstance(statement, ir.Guarded):
        return []
    found: list[tuple[ir.Atom, ir.Var]] = []
    if statement.name is not None and statement.context is not None:
        found.append((statement.context, statement.name))
    names = [handler.name for handler in statement.handlers if handler.name is not None]
    if names:
        found += [(raised, name) for raised in _raised_in(statement.body) for name in names]
    return found


def _raised_in(body: ir.Block) -> list[ir.Atom]:
    """The exceptions that a block raises, and what those may carry that the functions it calls raise."""
    ends = [end.exception for end in terminators_in(body) if isinstance(end, ir.Raise)]
    calls = [
        each for each in statements_in(body) if isinstance(each, ir.Call) and isinstance(each.callee, ir.Definition)
    ]
    return [end for end in ends if end is not None] + [arg for call in calls for arg in call.args]


# Which variables have no value on some path: nobody may read them there


def may_be_undefined(block: ir.Block) -> set[ir.Var]:
    """The variables of a block that have no value on some path."""
    flows: dict[ir.Var, list[ir.Var]] = {}
    found: set[ir.Var] = set()
    for statement in statements_in(block):
        if isinstance(statement, ir.Loop):
            found.update(statement.targets[len(statement.params) :])  # only exits give them a value
        for source, target in joins(statement):
            if source is ir.UNDEFINED or (isinstance(target.type, ir.Array) and is_undefined(source)):
                found.add(target)
            elif isinstance(source, ir.Var):
                flows.setdefault(source, []).append(target)
    return reached(found, flows)


def is_undefined(source: ir.Atom) -> bool:
    """Whether an array has no value: on a path on which nobody reads it, it may be None."""
    return source is ir.UNDEFINED or (isinstance(source, ir.Const) and source.value is None)
