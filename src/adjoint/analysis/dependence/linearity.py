"""Whether results of a function are linear in some of its parameters, as far as its text shows."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from enum import Enum
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.joins import joins
from adjoint.ir.walk import blocks_of, leaves, operands, statements_in
from adjoint.rules.declarations import declaration_for
from adjoint.rules.kinds import Bilinear, Linear
from adjoint.rules.registry import rule_for
from adjoint.runtime import display


class Degree(Enum):
    """How a value depends on the parameters; zero is both constant and linear."""

    ZERO = 0
    CONSTANT = 1
    LINEAR = 2
    OTHER = 3


_SUMS = (operator.add, operator.sub, operator.iadd, operator.isub, np.add, np.subtract)
_ALIKE = (operator.neg, operator.pos, np.negative, np.positive, float, np.float64, np.copy, np.real, np.conjugate)
_PRODUCTS = (operator.mul, operator.imul, operator.matmul, np.multiply, np.matmul, np.dot, np.outer, np.inner, np.vdot)
_QUOTIENTS = (operator.truediv, operator.itruediv, np.divide, np.true_divide)
_ZEROS = (np.zeros, np.zeros_like)
_IN_ONE = {np.linalg.solve: 1}
_IN_ONE_OF_SCIPY = {"solve": 1, "solve_triangular": 1, "cho_solve": 1, "lu_solve": 1}
"""Functions that are linear in the argument at a place, which their rules do not say."""
_DISPLAYS = (display.make_list, display.make_tuple)


def is_linear(function: ir.Function, places: Iterable[int]) -> bool:
    """Whether every result is linear in the parameters at ``places`` together, and nothing else depends on them."""
    return first_other(function, places) is None


def first_other(function: ir.Function, places: Iterable[int]) -> ir.Statement | ir.Function | None:
    """What is not seen to be linear in the parameters at ``places`` together; None where everything is.

    It is the function itself where the results are affine, or where its end is chosen by the parameters.
    """
    wanted = set(places)
    degrees: dict[Hashable, Degree] = {
        _place(param): Degree.LINEAR if place in wanted else Degree.CONSTANT
        for place, param in enumerate(function.params)
    }
    statements = list(statements_in(function.body))
    before: dict[Hashable, Degree] = {}
    while before != degrees:
        before = dict(degrees)
        for statement in statements:
            if not _statement(statement, degrees):
                return statement
        if _chooses_by(function.body, degrees):
            return function
    results = [value for leaf in leaves(function.body) if isinstance(leaf, ir.Return) for value in leaf.values]
    is_so = all(_degree(value, degrees) in (Degree.ZERO, Degree.LINEAR) for value in results)
    return None if is_so else function


def _degree(atom: ir.Atom, degrees: dict[Hashable, Degree]) -> Degree:
    if isinstance(atom, ir.Const):
        is_zero = atom.value is None or (isinstance(atom.value, (int, float)) and atom.value == 0)
        return Degree.ZERO if is_zero else Degree.CONSTANT
    return degrees.get(_place(atom), Degree.ZERO)  # what is not known yet restricts nothing


def _joined(found: Iterable[Degree]) -> Degree:
    kinds = set(found) - {Degree.ZERO}
    return Degree.ZERO if not kinds else kinds.pop() if len(kinds) == 1 else Degree.OTHER


def _place(atom: ir.Atom) -> Hashable:
    """What is of one degree: an atom, or all that shares memory that is written."""
    storage = ir.storage_of(atom.type) if isinstance(atom, ir.Var) else None
    return storage if storage is not None and storage.written else atom


def _note(var: ir.Atom, degree: Degree, degrees: dict[Hashable, Degree]) -> None:
    degrees[_place(var)] = _joined((degree, degrees.get(_place(var), Degree.ZERO)))


def _statement(statement: ir.Statement, degrees: dict[Hashable, Degree]) -> bool:
    """Takes down of what degree a statement's results are; whether it chooses and raises without the parameters."""
    match statement:
        case ir.Call(callee=ir.Derived()):
            return _derived(statement, degrees)
        case ir.Call(callee=ir.Declared()):
            return _declared(statement, degrees)
        case ir.Call():
            degree = _of_call(statement, degrees)
            for target in statement.targets:
                _note(target, degree, degrees)
            for place in effects_of(statement).writes:
                _note(statement.args[place], degree, degrees)
            return degree is not Degree.OTHER and (bool(statement.targets) or degree is not Degree.LINEAR)
        case ir.Load(target=target, base=base):
            depends = any(_varies(atom, degrees) for atom in operands(statement) if atom is not base)
            _note(target, _degree(base, degrees), degrees)
            return not depends
        case ir.Store(base=base, value=value):
            depends = any(_varies(atom, degrees) for atom in operands(statement) if atom not in (base, value))
            _note(base, _degree(value, degrees), degrees)
            return not depends and _degree(base, degrees) is not Degree.OTHER
        case ir.If(cond=cond):
            chosen = not _varies(cond, degrees)
        case ir.Loop():
            chosen = not any(_varies(atom, degrees) for atom in operands(statement) if atom not in statement.inits)
        case _:
            return False
    for source, target in joins(statement):
        _note(target, _degree(source, degrees), degrees)
    return chosen and not any(_chooses_by(block, degrees) for block in blocks_of(statement))


def _chooses_by(block: ir.Block, degrees: dict[Hashable, Degree]) -> bool:
    """Whether how a block ends depends on the parameters."""
    end = block.terminator
    if not isinstance(end, ir.Branch):
        return False
    return _varies(end.cond, degrees) or _chooses_by(end.then, degrees) or _chooses_by(end.orelse, degrees)


def _varies(atom: ir.Atom, degrees: dict[Hashable, Degree]) -> bool:
    return isinstance(atom, ir.Var) and _degree(atom, degrees) in (Degree.LINEAR, Degree.OTHER)


def _derived(call: ir.Call, degrees: dict[Hashable, Degree]) -> bool:
    """A reverse derivative is linear in its seeds: its last arguments, of which its last results are made."""
    derived = call.callee
    count = len(derived.function.params)
    if any(_varies(arg, degrees) for arg in call.args[:count]):
        return False
    degree = _joined(_degree(arg, degrees) for arg in call.args[count:])
    for target in call.targets[: -len(derived.wrt)]:
        _note(target, Degree.CONSTANT, degrees)
    for target in call.targets[-len(derived.wrt) :]:
        _note(target, degree, degrees)
    return degree is not Degree.OTHER


def _declared(call: ir.Call, degrees: dict[Hashable, Degree]) -> bool:
    """Values of a function that is linear by declaration; of others nothing is known."""
    declared: ir.Declared = call.callee
    values = zip(call.targets, declared.values_of(call), strict=True)
    if declared.linear and not any(_varies(arg, degrees) for arg in declared.excluded_of(call)):
        degree = _joined(_degree(arg, degrees) for arg in declared.arguments_of(call))
        for target in call.targets:
            _note(target, degree, degrees)
        return degree is not Degree.OTHER
    if any(_varies(arg, degrees) for arg in call.args):
        return False
    for target, value in values:
        _note(target, _degree(value, degrees), degrees)
    return True


def _of_call(call: ir.Call, degrees: dict[Hashable, Degree]) -> Degree:
    callee: Any = call.callee
    args = [_degree(arg, degrees) for arg in call.args]
    named = [_degree(value, degrees) for _, value in call.kwargs]
    if callee in _ZEROS:
        return Degree.ZERO if Degree.OTHER not in args else Degree.OTHER
    if callee in _PRODUCTS and Degree.ZERO in args[:2]:
        return Degree.ZERO
    if not any(degree in (Degree.LINEAR, Degree.OTHER) for degree in (*args, *named)):
        return Degree.CONSTANT
    if Degree.OTHER in args or any(_varies(value, degrees) for _, value in call.kwargs):
        return Degree.OTHER
    if isinstance(callee, (ir.Function, ir.Definition, ir.Derived)):
        return Degree.OTHER
    if callee in _SUMS or callee in _DISPLAYS:
        return _joined(args)
    if callee in _ALIKE:
        return args[0]
    if callee in _PRODUCTS:
        return _product(args[:2])
    if callee in _QUOTIENTS:
        return args[0] if args[1] is Degree.CONSTANT else Degree.OTHER
    place = _place_of_linear(callee)
    if place is not None and place < len(args):
        others = [degree for at, degree in enumerate(args) if at != place]
        return args[place] if Degree.LINEAR not in others else Degree.OTHER
    return _by_rule(call, args)


def _place_of_linear(callee: Any) -> int | None:
    if (getattr(callee, "__module__", None) or "").startswith("scipy.linalg"):
        return _IN_ONE_OF_SCIPY.get(callee.__name__)
    return _IN_ONE.get(callee)


def _product(args: list[Degree]) -> Degree:
    if Degree.ZERO in args:
        return Degree.ZERO
    return Degree.LINEAR if set(args) == {Degree.LINEAR, Degree.CONSTANT} else Degree.OTHER


def _by_rule(call: ir.Call, args: list[Degree]) -> Degree:
    declaration = declaration_for(call.callee)
    if declaration is not None:
        linear = [place for place in range(len(args)) if declaration.wrt is None or place in declaration.wrt]
        others = [degree for place, degree in enumerate(args) if place not in linear]
        is_linear = declaration.transpose is not None and Degree.LINEAR not in others
        return _joined(args[place] for place in linear) if is_linear else Degree.OTHER
    rule = rule_for(call.callee)
    if isinstance(rule, Bilinear):
        return _product(args[:2]) if Degree.LINEAR not in args[2:] else Degree.OTHER
    if not isinstance(rule, Linear):
        return Degree.OTHER
    wrt = range(len(args)) if rule.wrt is None else rule.wrt
    others = [degree for place, degree in enumerate(args) if place not in wrt]
    return _joined(args[place] for place in wrt if place < len(args)) if Degree.LINEAR not in others else Degree.OTHER
