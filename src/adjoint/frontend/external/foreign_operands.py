"""Operands that bring an arithmetic of their own: a masked array, a matrix, a series meets what varies.

Rules know what NumPy's arrays do. What a subclass, or a class that takes over NumPy's functions, makes of an operation
they do not: it is refused where it is known, else the operand is asked when the derivative runs.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence, Set
from typing import TypeGuard

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.may_vary import varying
from adjoint.diagnostics import Diagnostic, DifferentiationError, diagnostic
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks
from adjoint.ir.walk import operands, statements_in
from adjoint.records import replace
from adjoint.rules.kinds import Bilinear, Elementwise, General, Linear
from adjoint.rules.registry import exchanges, rule_for
from adjoint.runtime.arithmetic.checks import (
    PLAIN,
    brings_arithmetic,
    check_operand,
    plain_operand,
    unmasked_operand,
    ways_out,
)

_DIFFERENTIATED = (Elementwise, Linear, Bilinear, General)
_OF_SPARSE_MATRICES = (
    "adjoint.runtime.array_functions.sparse",
    "adjoint.runtime.numerical_methods.of_scipy.sparse",
)
"""Modules of functions that are made for matrices with an arithmetic of their own."""
_WITHOUT_MASKS = frozenset(
    {operator.add, operator.sub, operator.mul, operator.matmul, np.add, np.subtract, np.multiply, np.matmul, np.dot}
)
"""Operations of which nothing is masked where nothing of an operand is."""


def with_operands_checked(function: ir.Function, params: Sequence[ir.Var]) -> ir.Function:
    """The function with a question before each operation of what varies and of something whose class is not known.

    Raises
    ------
    DifferentiationError
        AD0207, where the class is known and brings an arithmetic of its own.
    """
    if not any(_unsure(statement) for statement in statements_in(function.body)):
        return function
    varied = varying(function.body, params)
    found: list[Diagnostic] = []
    body = _checked(function.body, varied, frozenset(), found)
    if found:
        raise DifferentiationError(found)
    return ir.Function(function.name, function.params, body, function.doc)


def _unsure(statement: ir.Statement) -> list[ir.Var]:
    """The operands of a differentiated operation of which it is not known that they are numbers or plain arrays."""
    if not isinstance(statement, ir.Call) or not isinstance(rule_for(statement.callee), _DIFFERENTIATED):
        return []
    if exchanges(statement.callee) or getattr(statement.callee, "__module__", None) in _OF_SPARSE_MATRICES:
        return []
    return [
        atom
        for atom in operands(statement)
        if isinstance(atom, ir.Var)
        and isinstance(atom.type, ir.Opaque)
        and (atom.type.cls is None or brings_arithmetic(atom.type.cls) or not issubclass(atom.type.cls, PLAIN))
    ]


def _checked(block: ir.Block, varied: Set[ir.Atom], asked: Set[ir.Var], found: list[Diagnostic]) -> ir.Block:
    statements: list[ir.Statement] = []
    for statement in block.statements:
        unsure = _unsure(statement)
        if unsure and _is_functional(statement):
            statement = _with_function_checked(statement)
        elif unsure and any(isinstance(atom, ir.Var) and _varies(atom, varied) for atom in operands(statement)):
            assert isinstance(statement, ir.Call)
            for operand in dict.fromkeys(unsure):
                cls = operand.type.cls if isinstance(operand.type, ir.Opaque) else None
                if cls is not None and brings_arithmetic(cls):
                    found.append(_problem(statement, operand, cls))
                elif cls in (None, list, tuple) and operand not in varied:
                    statement = _with_plain_operand(statement, operand, statements)
                elif operand not in asked:
                    name = ir.Const(operand.hint if operand.named else None)
                    statements.append(ir.Call((), check_operand, (operand, name), (), statement.span))
            asked = asked | set(unsure)
        statements.append(map_blocks(statement, lambda inner: _checked(inner, varied, asked, found)))  # noqa: B023
    end = block.terminator
    if isinstance(end, ir.Branch):
        end = ir.Branch(
            end.cond, _checked(end.then, varied, asked, found), _checked(end.orelse, varied, asked, found), end.span
        )
    return ir.Block(tuple(statements), end)


def _with_plain_operand(call: ir.Call, operand: ir.Var, before: list[ir.Statement]) -> ir.Call:
    """The call of an operand as NumPy takes it, which may be a list; what is given as a setting stays what it is."""
    rule = rule_for(call.callee)
    assert rule is not None
    settings = {place for place, _ in rule.settings(len(call.args))}
    if isinstance(rule, Linear) and rule.wrt is not None:
        settings |= set(range(len(call.args))) - set(rule.wrt)
    is_operator = getattr(call.callee, "__module__", None) == "_operator"
    classes = []
    for other in (
        call.args if is_operator and not any(isinstance(type_of_atom(atom), ir.Array) for atom in call.args) else ()
    ):
        if other is not operand:
            classes.append(ir.Var("cls", ir.Opaque(type)))
            before.append(ir.Call((classes[-1],), type, (other,), (), call.span))
    target, name = ir.Var(operand.hint, operand.type), ir.Const(operand.hint if operand.named else None)
    check = unmasked_operand if call.callee in _WITHOUT_MASKS else plain_operand
    before.append(ir.Call((target,), check, (operand, name, *classes), (), call.span))
    args = [target if arg is operand and place not in settings else arg for place, arg in enumerate(call.args)]
    return replace(call, args=tuple(args))


def _is_functional(statement: ir.Statement) -> TypeGuard[ir.Call]:
    """Whether a call is that of a solver, which hands its operands on to a function of the IR."""
    return isinstance(statement, ir.Call) and getattr(rule_for(statement.callee), "functional", False)


def _with_function_checked(call: ir.Call) -> ir.Call:
    """The call, with the questions where the function that it is handed computes with the operands."""
    args = tuple(
        ir.Const(with_operands_checked(arg.value, arg.value.params))
        if isinstance(arg, ir.Const) and isinstance(arg.value, ir.Function)
        else arg
        for arg in call.args
    )
    return replace(call, args=args)


def _varies(atom: ir.Var, varied: Set[ir.Atom]) -> bool:
    return atom in varied and ir.carries_derivative(atom.type)


def _problem(call: ir.Call, operand: ir.Var, cls: type) -> Diagnostic:
    which = f"{operand.hint!r}" if operand.named else "an operand"
    label = f"{which} is an object of class {cls.__name__!r}"
    return diagnostic("AD0207", call.span, label, helps=ways_out(cls), name=cls.__name__)
