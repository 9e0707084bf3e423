"""Inlining a rule's function into code that a transform builds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adjoint.frontend.calls import call_value
from adjoint.frontend.core import Lowerer, Open, Problem, Settings
from adjoint.frontend.materialize import materialize
from adjoint.frontend.values import NONE, Record, Ref, TupleValue, Value
from adjoint.ir.builder import Builder
from adjoint.ir.nodes import Atom, Const

Spliced = Any
"""An atom, None for nothing, or a tuple of these."""


def splice(builder: Builder, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Atom] | None = None) -> Spliced:
    """Inlines ``fn(*args, **kwargs)`` into ``builder``.

    Parameters
    ----------
    builder
        The open block.
    fn
        A plain Python function: a rule's lambda.
    args, kwargs
        Atoms, None, or tuples of these.

    Returns
    -------
    Atom, tuple or None
        What the function returns, in the same form.
    """
    lowerer = Lowerer(Settings())
    lowerer.fixed_span = builder.span
    lowerer.run_data.all_constant = True
    block = Open()
    block.statements = builder.statements
    block.span = builder.span
    lowerer.block = block
    try:
        with lowerer.region("function"):
            value = call_value(
                lowerer,
                Const(fn),
                [_value(arg) for arg in args],
                {name: _value(atom) for name, atom in (kwargs or {}).items()},
                None,
            )
    except Problem as problem:
        raise AssertionError(f"the rule {fn!r} cannot be spliced: {problem.diagnostic}") from problem
    if lowerer.run_data.diagnostics:
        found = next(iter(lowerer.run_data.diagnostics.values()))
        raise AssertionError(f"the rule {fn!r} cannot be spliced: {found}")
    assert lowerer.block is block, "a rule has one way out"
    for statement in lowerer.run_data.prologue.statements:
        block.statements.append(statement)
    return _result(lowerer, value)


def _value(arg: Any) -> Value:
    if arg is None:
        return NONE
    if isinstance(arg, (tuple, list)):
        return TupleValue(tuple(_value(part) for part in arg))
    return arg  # type: ignore[no-any-return]


def _result(lowerer: Lowerer, value: Value) -> Spliced:
    match value:
        case Const(value=None):
            return None
        case TupleValue(items=items):
            return tuple(_result(lowerer, item) for item in items)
        case Ref():
            record = lowerer.store[value]
            if isinstance(record, Record) and record.cls is list:
                return tuple(_result(lowerer, item) for item in record.items)
    return materialize(lowerer, value, None)
