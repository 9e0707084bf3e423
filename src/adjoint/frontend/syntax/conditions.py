"""Truth of values and expressions, and what the outcome of a condition tells of variables."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import on_each_option
from adjoint.frontend.interpreter.options.refine import Fact, fact_of, refine
from adjoint.frontend.interpreter.state.signals import Unreached
from adjoint.frontend.interpreter.values import (
    NONE,
    Closure,
    GeneratorObject,
    GeneratorValue,
    Method,
    Operator,
    Partial,
    RangeValue,
    Record,
    Ref,
    TupleValue,
    Union,
    Value,
)
from adjoint.frontend.objects.classes import class_of
from adjoint.frontend.objects.linked import identity, is_reference
from adjoint.frontend.objects.special_methods import truth_of_object
from adjoint.types.structure import CONTAINERS


def truth(lo: Lowerer, node: ast.expr) -> tuple[ir.Atom, tuple[Fact, ...]]:
    """A condition, and what its outcome tells of variables."""
    match node:
        case ast.Compare(
            left=ast.NamedExpr() as assigned, ops=[(ast.Is() | ast.IsNot()) as op], comparators=[ast.Constant(None)]
        ):
            value = lo.evaluate(assigned)
            fact = fact_of(lo, node)
            if fact is None:
                return _is_none(lo, value, isinstance(op, ast.Is), node), ()
        case _:
            fact = fact_of(lo, node)
    if fact is not None:
        return fact.cond, (fact,)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        cond, facts = truth(lo, node.operand)
        flipped = ir.Const(not cond.value) if isinstance(cond, ir.Const) else lo.open.call(operator.not_, cond)
        lo.run_data.conditions.note_made(flipped, cond)
        return flipped, tuple(f.flipped() for f in facts)
    if isinstance(node, ast.BoolOp):
        return _truth_of_operation(lo, node)
    return truth_of(lo, lo.evaluate(node), node), ()


def _is_none(lo: Lowerer, value: Value, wanted: bool, node: ast.expr) -> ir.Atom:
    """Whether a value is None, or is not."""
    if isinstance(value, Union):
        return _of_options(lo, value, lambda option: _is_none(lo, option, wanted, node), node)
    op = operator.is_ if wanted else operator.is_not
    if is_reference(value):
        found = identity(lo, op, value, NONE)
        assert isinstance(found, (ir.Var, ir.Const))
        return found
    return lo.open.call(op, value, NONE) if isinstance(value, ir.Var) else ir.Const((value == NONE) is wanted)


def _truth_of_operation(lo: Lowerer, node: ast.BoolOp) -> tuple[ir.Atom, tuple[Fact, ...]]:
    """``and`` and ``or`` where only the truth of the result counts."""
    is_and = isinstance(node.op, ast.And)
    known: list[Fact] = []

    def chain(parts: list[ast.expr]) -> Value:
        cond, facts = truth(lo, parts[0])
        known.extend(fact.part_of(is_and) for fact in facts)
        if len(parts) == 1:
            if isinstance(cond, ir.Var) and not isinstance(cond.type, ir.Scalar):
                target = ir.Var("t", ir.BOOL)
                lo.emit(ir.Call((target,), bool, (cond,), (), lo.span(node)))
                return target
            return cond

        given: list[Value] = []

        def rest() -> Value:
            refine(lo, facts, is_and)
            given.append(chain(parts[1:]))
            return given[-1]

        def done() -> Value:
            return ir.Const(not is_and)

        found = lo.branch(cond, rest, done, node) if is_and else lo.branch(cond, done, rest, node)
        last = given[-1] if given else found
        if found is not last and isinstance(found, ir.Var) and isinstance(last, (ir.Var, ir.Const)):
            lo.run_data.conditions.note_made(found, cond, last, is_and=is_and)
        return found

    found = chain(list(node.values))
    if lo.block is None:
        raise Unreached  # every way through it raises
    assert isinstance(found, (ir.Var, ir.Const))
    return found, tuple(known)


def truth_of(lo: Lowerer, value: Value, node: ast.AST | None) -> ir.Atom:
    """``bool(value)`` where it is known, else a value that ``if`` can test."""
    match value:
        case ir.Const():
            try:
                return ir.Const(bool(value.value))
            except Exception:
                return value
        case ir.Var(type=ir.List() | ir.Dict() | ir.Tuple()):
            return lo.open.call(len, value)
        case ir.Var(type=ir.Reference()):
            return _truth_of_linked(lo, value, node)
        case ir.Var(type=ir.Scalar() | ir.Number()):
            return value
        case ir.Var():  # may be written before the condition is looked at again, as the reverse does
            return bool_of(lo, value, node)
        case TupleValue(items=items):
            return ir.Const(bool(items))
        case Ref():
            record = lo.store[value]
            assert isinstance(record, Record)
            if record.cls in CONTAINERS:
                return ir.Const(bool(record.parts))
            found: ir.Atom = truth_of_object(lo, value, node)
            return found
        case Union():
            return _of_options(lo, value, lambda option: truth_of(lo, option, node), node)
        case Closure() | Method() | Partial() | Operator() | GeneratorValue() | GeneratorObject():
            return ir.Const(True)
        case RangeValue():
            return materialize(lo, value, node)
        case _:
            raise lo.problem("AD0301", node, "the truth of this value is not known")


def _of_options(lo: Lowerer, value: Union, test: Callable[[Value], ir.Atom], node: ast.AST | None) -> ir.Atom:
    """What a test gives of the structure that a value has."""
    outcome = on_each_option(lo, value, test, node)
    if isinstance(outcome, Union):  # truths of several types
        outcome = on_each_option(lo, outcome, lambda option: bool_of(lo, option, node), node)
    assert isinstance(outcome, (ir.Var, ir.Const))
    return outcome


def _truth_of_linked(lo: Lowerer, value: ir.Var, node: ast.AST | None) -> ir.Atom:
    """Whether there is an object, and what its class says of it."""
    is_there = identity(lo, operator.is_not, value, NONE)
    assert isinstance(is_there, (ir.Var, ir.Const))
    if not any(hasattr(class_of(lo, value), name) for name in ("__bool__", "__len__")):
        return is_there

    def truth_there() -> Value:
        found: ir.Atom = truth_of_object(lo, value, node)
        return found

    found = lo.branch(is_there, truth_there, lambda: ir.Const(False), node)
    assert isinstance(found, (ir.Var, ir.Const))
    return found


def bool_of(lo: Lowerer, truth: Value, node: ast.AST | None) -> ir.Atom:
    """``True`` or ``False`` for what an ``if`` can test, such as the length of a container."""
    if isinstance(truth, ir.Const) or (isinstance(truth, ir.Var) and truth.type == ir.BOOL):
        return truth
    assert isinstance(truth, (ir.Var, ir.Const))
    found = ir.Var("t", ir.BOOL)
    lo.emit(ir.Call((found,), bool, (truth,), (), lo.span(node)))
    return found
