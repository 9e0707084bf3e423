"""What counts as a constant: ``stop_gradient``, and fields that carry no derivative by declaration."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from adjoint import ir
from adjoint.analysis.dependence.may_vary import varying
from adjoint.analysis.effects import written_args
from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.diagnostics import Diagnostic, diagnostic
from adjoint.frontend.calls.emitted_calls import refuse_linked
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import original_sites
from adjoint.frontend.interpreter.state.signals import Problem
from adjoint.frontend.interpreter.values import Record, Ref, Site, TupleValue, Value
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import blocks_of, leaves, statements_in
from adjoint.types.marks import no_derivative_fields


def as_stored(lo: Lowerer, cls: type | None, name: Any, value: Value) -> Value:
    """The value as a field of an object of class ``cls`` holds it."""
    if cls is None or name not in no_derivative_fields(cls):
        return value
    constant = _number(lo, value)
    if isinstance(value, ir.Var) and isinstance(constant, ir.Var) and constant is not value:
        lo.run_data.stored_constants.append((value, constant, f"{cls.__qualname__}.{name}", lo.open.span))
    return constant


def lost_in_fields(lo: Lowerer, function: ir.Function, count: int, output: int) -> Iterator[Diagnostic]:
    """A warning for each store of what varies in a field without derivative, if it is read on the way to the result."""
    if not lo.run_data.stored_constants:
        return
    from adjoint.differentiation.reachability import Dependence  # lazy

    found = Dependence(function, range(count), (output,))
    returned = [leaf.values[output] for leaf in leaves(function.body) if isinstance(leaf, ir.Return)]
    for value, constant, name, span in dict.fromkeys(lo.run_data.stored_constants):
        if found.varies(value) and not varying(function.body, [constant]).isdisjoint(returned):
            yield diagnostic("AD0508", span, "this varies, and counts as a constant when it is read there", name=name)


def _number(lo: Lowerer, value: Value) -> Value:
    match value:
        case ir.Var(type=ir.Scalar() | ir.Number() | ir.Array() as type_) if ir.carries_derivative(type_):
            return lo.open.call(stop_gradient, value)
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple(_number(lo, item) for item in items), cls)
        case _:
            return value


@handles(stop_gradient)
def _stop_gradient(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if len(args) != 1 or kwargs:
        return NotImplemented
    if isinstance(args[0], ir.Const) and type(args[0].value) is float:
        return lo.open.call(stop_gradient, args[0])  # says that it is meant to be constant
    return as_constant(lo, args[0], node)


def as_constant(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """The value, through which nothing flows back."""
    return _constant(lo, value, node, {})


def _constant(lo: Lowerer, value: Value, node: ast.AST | None, known: dict[Ref, Ref]) -> Value:
    """The value with everything in it a constant."""
    match value:
        case ir.Var(type=ir.List() | ir.Dict() | ir.Tuple() | ir.Instance() as type_) if ir.carries_derivative(type_):
            target = ir.Var("t", ir.fresh(type_))
            lo.emit(ir.Call((target,), stop_gradient, (value,), (), lo.span(node)))
            return target
        case ir.Var(type=ir.Reference()):
            refuse_linked(lo, [value], node)
            return value
        case TupleValue(items=items, cls=cls):
            return TupleValue(tuple(_constant(lo, item, node, known) for item in items), cls)
        case Ref():
            return known[value] if value in known else _constant_object(lo, value, node, known)
        case _:
            return _number(lo, value)


def _constant_object(lo: Lowerer, value: Ref, node: ast.AST | None, known: dict[Ref, Ref]) -> Ref:
    """A list, dict or object of constants. It is the same object: where either is written both exist at run time."""
    record = lo.store[value]
    assert isinstance(record, Record)
    copy = known[value] = Ref(Site(("joined", *original_sites((value.site,)))))
    parts = tuple((name, _constant(lo, part, node, known)) for name, part in record.parts)
    lo.store[copy] = Record(record.cls, parts)
    value.joins.append(True)
    return copy


# -- one object, a variable and a constant -----------------------------------------------------------------------------


def refuse_written_constants(block: ir.Block) -> None:
    """Raises where memory that also counts as a constant is written later."""
    if not any(map(_makes_constant, statements_in(block))):
        return
    order: list[tuple[ir.Statement, tuple[ir.Loop, ...]]] = list(_in_order(block, ()))
    for place, (statement, loops) in enumerate(order):
        if not _makes_constant(statement):
            continue
        assert isinstance(statement, ir.Call)
        shared = _reached(statement.args[0]) | _reached(statement.targets[0])
        for at, (other, around) in enumerate(order):
            later = at > place or any(loop in around for loop in loops)
            if later and other is not statement and not shared.isdisjoint(_written(other)):
                raise _refusal(other)


def _refusal(statement: ir.Statement) -> Problem:
    label = "what is written here counts as a constant under another name"
    return Problem(diagnostic("AD0303", statement.span, label, helps=("take the constant of a copy",)))


def _makes_constant(statement: ir.Statement) -> bool:
    return (
        isinstance(statement, ir.Call)
        and statement.callee is stop_gradient
        and isinstance(type_of_atom(statement.args[0]), (ir.List, ir.Dict, ir.Tuple, ir.Instance))
    )


def _in_order(block: ir.Block, loops: tuple[ir.Loop, ...]) -> Iterator[tuple[ir.Statement, tuple[ir.Loop, ...]]]:
    for statement in block.statements:
        yield statement, loops
        inner = (*loops, statement) if isinstance(statement, ir.Loop) else loops
        for below in blocks_of(statement):
            yield from _in_order(below, inner)
    for below in blocks_of(block.terminator):
        yield from _in_order(below, loops)


def _reached(atom: Any) -> set[ir.Storage]:
    return {storage.find() for storage in ir.storages(type_of_atom(atom))}


def _written(statement: ir.Statement) -> set[ir.Storage]:
    """The memory that a statement may write."""
    if isinstance(statement, ir.Store):
        storage = ir.storage_of(type_of_atom(statement.base))
        return set() if storage is None else {storage.find()}
    if not isinstance(statement, ir.Call):
        return set()
    return set[ir.Storage]().union(*map(_reached, written_args(statement)))
