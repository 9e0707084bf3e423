"""Something for what has no value on some path, where it is handed over all the same."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.analysis.joins import joins, reached
from adjoint.frontend.interpreter.joins import Shape, Store, flatten, leaf_types
from adjoint.frontend.interpreter.values import Value
from adjoint.ir.builder import Builder
from adjoint.ir.nodes import (
    UNDEFINED,
    Atom,
    Block,
    Branch,
    Call,
    Const,
    Continue,
    Definition,
    Exit,
    Guarded,
    If,
    Loop,
    Return,
    Statement,
    Terminator,
    Var,
    Yield,
)
from adjoint.ir.rebuild import map_blocks, with_values
from adjoint.ir.types import BOOL, FLOAT, INT, Type
from adjoint.ir.walk import leaves, statements_in
from adjoint.records import replace

_BLANKS: dict[Type | None, Const] = {FLOAT: Const(0.0), INT: Const(0), BOOL: Const(False)}


def blank(type_: Type | None) -> Const:
    """A value for a place that nobody reads."""
    return _BLANKS.get(type_, Const(None))


def handed_over(value: Value, shape: Shape, store: Store, block: Builder) -> tuple[Atom, ...]:
    """What a value consists of; where it has one of several structures, the others' parts are something, too."""
    atoms = flatten(value, shape, store, block)
    types = (type_ for type_, _ in leaf_types(shape, "t"))
    return tuple(blank(type_) if atom is UNDEFINED else atom for atom, type_ in zip(atoms, types, strict=True))


def with_values_handed_over(block: Block, *, is_called: bool = False) -> Block:
    """A function's body with something for what it hands to recursive functions, on all paths.

    Where it ``is_called`` itself, so with what it returns.
    """
    statements = statements_in(block)
    calls = [each for each in statements if isinstance(each, Call) and isinstance(each.callee, Definition)]
    ends = [leaf for leaf in leaves(block) if isinstance(leaf, Return)] if is_called else []
    returned = [value for end in ends for value in end.values]
    flows = [flow for statement in statements for flow in joins(statement)]
    origins: dict[Var, list[Var]] = {}
    for source, target in flows:
        if isinstance(source, Var):
            origins.setdefault(target, []).append(source)
    handed = (*returned, *(arg for call in calls for arg in call.args))
    wanted = reached([atom for atom in handed if isinstance(atom, Var)], origins)
    if not any(source is UNDEFINED and target in wanted for source, target in flows):
        return block
    return _Filling(wanted).block(block, (), ())


class _Filling:
    def __init__(self, wanted: set[Var]) -> None:
        self.wanted = wanted

    def block(self, block: Block, params: Sequence[Var], targets: Sequence[Var]) -> Block:
        """A block whose end gives ``targets``, or the next iteration's ``params``."""
        statements = tuple(map(self.statement, block.statements))
        return Block(statements, self.end(block.terminator, params, targets))

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case If(targets=targets) | Guarded(targets=targets):
                return map_blocks(statement, lambda inner: self.block(inner, (), targets))
            case Loop(params=params, targets=targets):
                filled = replace(statement, inits=self.filled(statement.inits, params))
                return map_blocks(filled, lambda inner: self.block(inner, params, targets))
            case _:
                return statement

    def end(self, end: Terminator, params: Sequence[Var], targets: Sequence[Var]) -> Terminator:
        match end:
            case Branch(cond=cond, then=then, orelse=orelse, span=span):
                return Branch(cond, self.block(then, params, targets), self.block(orelse, params, targets), span)
            case Yield(values=values) | Exit(values=values):
                return with_values(end, self.filled(values, targets))
            case Continue(values=values):
                return with_values(end, self.filled(values, params))
            case _:
                return end

    def filled(self, values: Sequence[Atom], names: Sequence[Var]) -> tuple[Atom, ...]:
        pairs = zip(values, names, strict=False)
        filled = [blank(name.type) if value is UNDEFINED and name in self.wanted else value for value, name in pairs]
        return (*filled, *values[len(filled) :])
