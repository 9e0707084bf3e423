"""Loops in whose head ``ad.checkpointed`` stands: each becomes a function of its own, which is called.

A mark stands before such a loop as long as the function around it is lowered.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.declarations.checkpointing import checkpointed
from adjoint.diagnostics import Span
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.control.carried_arrays import with_values_carried, without_invariants
from adjoint.frontend.differentiation.inner_functions import name_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.placeholders import with_values_handed_over
from adjoint.frontend.interpreter.values import Value
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import clone, map_blocks, map_leaves, substitute
from adjoint.ir.walk import defined_in, free_vars, leaves, targets_of, vars_used
from adjoint.rules.declare import observer
from adjoint.runtime.snapshots import bytes_of

OPTIONS = ("snapshots", "memory", "disk")
HEAD = "write it in the head of the loop: for i in ad.checkpointed(range(n), snapshots=10)"


def _mark(snapshots: Any, memory: Any, disk: Any) -> None:
    """Marks the loop behind it."""


def _begin(name: Any) -> None:
    """Marks where a call begins that is run again."""


def _end(name: Any) -> None:
    """Marks where it ends."""


observer(_mark, _begin, _end)


@handles(checkpointed)
def _elsewhere(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    _check_options(lo, len(args), kwargs, node)
    raise lo.problem("AD0309", node, "'ad.checkpointed' stands outside of a loop's head", helps=(HEAD,))


def _check_options(lo: Lowerer, count: int, named: Collection[str | None], node: ast.AST | None) -> None:
    """Refuses calls of ``ad.checkpointed`` that raise in Python."""
    if count != 1 or any(name not in OPTIONS for name in named):
        raise lo.mistake(
            TypeError, node, "ad.checkpointed takes what the loop runs over, and options by name", code="AD0203"
        )
    if ("snapshots" in named) == ("memory" in named):
        raise lo.mistake(TypeError, node, "ad.checkpointed takes snapshots= or memory=", code="AD0203")


def head(lo: Lowerer, node: ast.For | ast.While, expression: ast.Call) -> ast.expr:
    """What is in ``ad.checkpointed(...)``, where that is the head of a loop; else the head itself."""
    if lo.evaluate(expression.func) != ir.Const(checkpointed):
        return expression
    named = {keyword.arg: keyword.value for keyword in expression.keywords}
    _check_options(lo, len(expression.args), named, expression)
    options = [ir.Const(None) if name not in named else lo.evaluate(named[name]) for name in OPTIONS]
    atoms = [materialize(lo, value, expression) for value in options]
    if isinstance(atoms[1], ir.Const) and isinstance(atoms[1].value, str):
        try:
            atoms[1] = ir.Const(bytes_of(atoms[1].value))
        except ValueError as error:
            raise lo.mistake(ValueError, expression, str(error)) from None
    lo.run_data.checkpointed[node] = tuple(atoms)
    return expression.args[0]


def mark(lo: Lowerer, node: ast.AST) -> None:
    """Puts the mark before a loop that is lowered."""
    options = lo.run_data.checkpointed.get(node)
    if options is not None:
        lo.emit(ir.Call((), _mark, options, (), lo.span(node)))


def call_checkpointed(
    lo: Lowerer, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    """A call of ``ad.checkpoint(function)``: what it does stands between two marks."""
    if isinstance(function, ir.Const) and not callable(function.value):
        kind = type(function.value).__name__
        raise lo.problem("AD0103", node, f"ad.checkpoint was given a value of type {kind!r}", name=kind)
    name = ir.Const((name_of(function), object()))
    lo.run_data.has_marks = True
    lo.emit(ir.Call((), _begin, (name,), (), lo.span(node)))
    result = lo.call(function, args, kwargs, node)
    if lo.block is not None:
        lo.emit(ir.Call((), _end, (name,), (), lo.span(node)))
    return result


def outlined(lo: Lowerer, block: ir.Block, name: str) -> ir.Block:
    """A function's body with calls of functions in place of the loops and calls that are marked."""
    if not (lo.run_data.checkpointed or lo.run_data.has_marks):
        return block
    walk = _Outlining(name, set(vars_used(block)))
    found = walk.block(block)
    return substitute(found, walk.renamed) if walk.renamed else found


class _Outlining:
    """One walk over a function whose variables in ``used`` are read somewhere."""

    def __init__(self, name: str, used: set[ir.Var]) -> None:
        self.name = name
        self.used = used
        self.renamed: dict[ir.Var, ir.Atom] = {}
        """What stands for references that loops do not change."""

    def block(self, block: ir.Block) -> ir.Block:
        found: list[ir.Statement] = []
        options: tuple[ir.Atom, ...] | None = None
        for place, statement in enumerate(block.statements):
            if isinstance(statement, ir.Call) and statement.callee is _mark:
                options = statement.args
                continue
            if isinstance(statement, ir.Call) and statement.callee is _begin:
                rest = ir.Block(block.statements[place + 1 :], block.terminator)
                return self.between(found, rest, statement)
            if options is not None and isinstance(statement, ir.Loop):
                statement, invariant = without_invariants(self.settled(statement))
                self.renamed |= invariant
            inner = map_blocks(statement, self.block)
            if options is not None and isinstance(inner, ir.Loop):
                found += self.loop(self.settled(inner), options)
                options = None
            else:
                found.append(inner)
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = ir.Branch(end.cond, self.block(end.then), self.block(end.orelse), end.span)
        return ir.Block(tuple(found), end)

    def settled(self, loop: ir.Loop) -> ir.Loop:
        """A loop that refers to memory by the names that are left."""
        found = substitute(loop, self.renamed)
        assert isinstance(found, ir.Loop)
        return found

    def loop(self, loop: ir.Loop, options: tuple[ir.Atom, ...]) -> list[ir.Statement]:
        """A call of a function whose body is the loop."""
        used = {place for place, target in enumerate(loop.targets) if target in self.used}
        before, inner, behind = with_values_carried(loop)
        results = tuple(target for place, target in enumerate(inner.targets) if place in used)
        if loop.exit is not None:
            results = (*results, loop.exit)
        calls = _call(f"{self.name}_loop", ir.Block((inner,), ir.Return(results)), options, loop.span)
        copies = [copy for copy in behind if not self.used.isdisjoint(targets_of(copy))]
        return [*before, *calls, *copies]

    def between(self, before: list[ir.Statement], block: ir.Block, begin: ir.Call) -> ir.Block:
        """A call of a function that does what stands before the mark of the end, in place of that."""
        (name,) = begin.args
        assert isinstance(name, ir.Const)
        parts = _cut(block, name)
        if parts is None:  # it never returns
            return self.block(ir.Block((*before, *block.statements), block.terminator))
        inside, rest = parts
        made = defined_in(inside)
        body = substitute(self.block(inside), self.renamed)
        asked = (self.renamed.get(var, var) for var in vars_used(rest) if var in made)
        results = tuple(dict.fromkeys(var for var in asked if isinstance(var, ir.Var) and var in made))
        body = map_leaves(body, lambda end: ir.Return(results) if end == ir.Yield() else end)
        calls = _call(name.value[0], body, (), begin.span)
        after = self.block(rest)
        return ir.Block((*before, *calls, *after.statements), after.terminator)


def _cut(block: ir.Block, name: ir.Const) -> tuple[ir.Block, ir.Block] | None:
    """What stands before the mark of an end, which ends with an empty ``Yield`` there, and what stands behind it."""
    for place, statement in enumerate(block.statements):
        if isinstance(statement, ir.Call) and statement.callee is _end and statement.args == (name,):
            return ir.Block(block.statements[:place], ir.Yield()), ir.Block(
                block.statements[place + 1 :], block.terminator
            )
    end = block.terminator
    if not isinstance(end, ir.Branch):
        return None
    then, orelse = _cut(end.then, name), _cut(end.orelse, name)
    if then is not None:  # the other side raises
        return ir.Block(block.statements, ir.Branch(end.cond, then[0], end.orelse, end.span)), then[1]
    if orelse is not None:
        return ir.Block(block.statements, ir.Branch(end.cond, end.then, orelse[0], end.span)), orelse[1]
    return None


def _call(name: str, body: ir.Block, options: tuple[ir.Atom, ...], span: Span | None) -> list[ir.Statement]:
    """A call of a function with a body, which hands out what that returns.

    An array that the body has made and written is handed out as a value; the caller has a copy of it.
    """
    results = next(leaf.values for leaf in leaves(body) if isinstance(leaf, ir.Return))
    captured = free_vars(body)
    given = {storage for var in captured for storage in ir.storages(var.type)}
    copies: dict[ir.Var, ir.Array] = {}
    for var in results:
        if isinstance(var, ir.Var) and isinstance(var.type, ir.Array) and ir.is_handle(var.type):
            home = ir.storages(var.type)
            alone = sum(not home.isdisjoint(ir.storages(type_of_atom(other))) for other in results) == 1
            if alone and home.isdisjoint(given):
                copies[var] = ir.Array(var.type.dtype, var.type.dims)
    body = with_values_handed_over(_handing_out(body, copies) if copies else body, is_called=True)
    inside: dict[ir.Var, ir.Atom] = {var: ir.Var(var.hint, var.type, var.named) for var in captured}
    params = [var for var in inside.values() if isinstance(var, ir.Var)]
    types = [atom.type if isinstance(atom, ir.Var) else ir.OPAQUE for atom in options]
    taken = [ir.Var(name, type_) for name, type_ in zip(OPTIONS, types, strict=False)]
    files = bool(options) and options[-1] != ir.Const(None)
    plan = ir.Checkpoints(tuple(range(len(params), len(params) + len(taken))), files)
    function = ir.Function(name, (*params, *taken), clone(body, inside))
    values = {var: ir.Var(var.hint, type_, var.named) for var, type_ in copies.items()}
    targets = tuple(values.get(var, var) for var in results if isinstance(var, ir.Var))
    call = ir.Call(targets, ir.Definition(name, function, plan), (*captured, *options), (), span)
    return [call, *(ir.Call((var,), np.copy, (value,), (), span) for var, value in values.items())]


def _handing_out(block: ir.Block, copies: dict[ir.Var, ir.Array]) -> ir.Block:
    """A body that returns copies of some arrays."""
    match block.terminator:
        case ir.Branch(cond=cond, then=then, orelse=orelse, span=span):
            sides = _handing_out(then, copies), _handing_out(orelse, copies)
            return ir.Block(block.statements, ir.Branch(cond, *sides, span))
        case ir.Return(values=values, span=span):
            made: dict[ir.Atom, ir.Var] = {var: ir.Var(var.hint, type_, var.named) for var, type_ in copies.items()}
            calls = tuple(ir.Call((copy,), np.copy, (var,), (), span) for var, copy in made.items())
            return ir.Block(
                (*block.statements, *calls), ir.Return(tuple(made.get(value, value) for value in values), span)
            )
        case _:
            return block
