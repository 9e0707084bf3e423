"""Something for what has no value on some path, where it is handed over all the same."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint import ir
from adjoint.analysis.joins import joins, reached
from adjoint.frontend.interpreter.joins import Shape, Store, flatten, leaf_types
from adjoint.frontend.interpreter.type_joins import TypeJoins
from adjoint.frontend.interpreter.values import Value
from adjoint.ir.builder import Builder
from adjoint.ir.rebuild import map_blocks, with_values
from adjoint.ir.walk import leaves, statements_in
from adjoint.records import replace

_BLANKS: dict[ir.Type | None, ir.Const] = {ir.FLOAT: ir.Const(0.0), ir.INT: ir.Const(0), ir.BOOL: ir.Const(False)}


def blank(type_: ir.Type | None) -> ir.Const:
    """A value for a place that nobody reads."""
    return _BLANKS.get(type_, ir.Const(None))


def handed_over(value: Value, shape: Shape, store: Store, block: Builder, types: TypeJoins) -> tuple[ir.Atom, ...]:
    """What a value consists of; where it has one of several structures, the others' parts are something, too."""
    atoms = zip(flatten(value, shape, store, block, types), leaf_types(shape, "t"), strict=True)
    return tuple(blank(type_) if atom is ir.UNDEFINED else atom for atom, (type_, _) in atoms)


def with_values_handed_over(block: ir.Block, *, is_called: bool = False) -> ir.Block:
    """A function's body with something for what it hands to functions that it calls and to derivatives, on all paths.

    Where it ``is_called`` itself, so with what it returns.
    """
    statements = statements_in(block)
    called = (ir.Definition, ir.Derived)
    calls = [each for each in statements if isinstance(each, ir.Call) and isinstance(each.callee, called)]
    ends = [leaf for leaf in leaves(block) if isinstance(leaf, ir.Return)] if is_called else []
    returned = [value for end in ends for value in end.values]
    flows = [flow for statement in statements for flow in joins(statement)]
    origins: dict[ir.Var, list[ir.Var]] = {}
    for source, target in flows:
        if isinstance(source, ir.Var):
            origins.setdefault(target, []).append(source)
    handed = (*returned, *(arg for call in calls for arg in call.args))
    wanted = reached([atom for atom in handed if isinstance(atom, ir.Var)], origins)
    if not any(source is ir.UNDEFINED and target in wanted for source, target in flows):
        return block
    return _Filling(wanted).block(block, (), ())


class _Filling:
    def __init__(self, wanted: set[ir.Var]) -> None:
        self.wanted = wanted

    def block(self, block: ir.Block, params: Sequence[ir.Var], targets: Sequence[ir.Var]) -> ir.Block:
        """A block whose end gives ``targets``, or the next iteration's ``params``."""
        statements = tuple(map(self.statement, block.statements))
        return ir.Block(statements, self.end(block.terminator, params, targets))

    def statement(self, statement: ir.Statement) -> ir.Statement:
        match statement:
            case ir.If(targets=targets) | ir.Guarded(targets=targets):
                return map_blocks(statement, lambda inner: self.block(inner, (), targets))
            case ir.Loop(params=params, targets=targets):
                filled = replace(statement, inits=self.filled(statement.inits, params))
                return map_blocks(filled, lambda inner: self.block(inner, params, targets))
            case _:
                return statement

    def end(self, end: ir.Terminator, params: Sequence[ir.Var], targets: Sequence[ir.Var]) -> ir.Terminator:
        match end:
            case ir.Branch(cond=cond, then=then, orelse=orelse, span=span):
                return ir.Branch(cond, self.block(then, params, targets), self.block(orelse, params, targets), span)
            case ir.Yield(values=values) | ir.Exit(values=values):
                return with_values(end, self.filled(values, targets))
            case ir.Continue(values=values):
                return with_values(end, self.filled(values, params))
            case _:
                return end

    def filled(self, values: Sequence[ir.Atom], names: Sequence[ir.Var]) -> tuple[ir.Atom, ...]:
        pairs = zip(values, names, strict=False)
        filled = [blank(name.type) if value is ir.UNDEFINED and name in self.wanted else value for value, name in pairs]
        return (*filled, *values[len(filled) :])
