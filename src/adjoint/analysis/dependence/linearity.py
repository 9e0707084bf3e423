"""Whether results of a function are linear in some of its parameters, as far as its text shows."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable
from contextvars import ContextVar
from enum import Enum
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.joins import joins
from adjoint.analysis.shapes.shape_arguments import EXTENTS
from adjoint.ir.walk import blocks_of, leaves, operands, statements_in, targets_of
from adjoint.rules.declarations import declaration_for
from adjoint.rules.kinds import Bilinear, Linear
from adjoint.rules.registry import rule_for
from adjoint.runtime import display
from adjoint.runtime.array_functions.triangular import SOLVERS
from adjoint.runtime.cotangents import as_number, check_cotangent


class Degree(Enum):
    """How a value depends on the parameters; zero is both constant and linear."""

    ZERO = 0
    CONSTANT = 1
    LINEAR = 2
    OTHER = 3


_SUMS = (operator.add, operator.sub, operator.iadd, operator.isub, np.add, np.subtract)
_ALIKE = (
    operator.neg,
    operator.pos,
    np.negative,
    np.positive,
    float,
    np.float64,
    np.copy,
    np.asarray,
    np.real,
    np.conjugate,
)
_PRODUCTS = (operator.mul, operator.imul, operator.matmul, np.multiply, np.matmul, np.dot, np.outer, np.inner, np.vdot)
_QUOTIENTS = (operator.truediv, operator.itruediv, np.divide, np.true_divide)
_ZEROS = (np.zeros, np.zeros_like)
_IN_ONE = dict.fromkeys(SOLVERS, 1)
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
    followed = _followed(function)
    statements = statements_in(function.body)
    before: dict[Hashable, Degree] = {}
    while before != degrees:
        before = dict(degrees)
        for statement in statements:
            if _gives_value(statement, followed):
                _note_value(statement, degrees)
            elif not _statement(statement, degrees):
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
        degree = _affine(call, degrees)
        for target in call.targets:
            _note(target, degree, degrees)
        return degree is not Degree.OTHER
    for target, value in values:
        _note(target, _degree(value, degrees), degrees)
    return True


# Functions whose declared derivative does not depend on what they are given


def _followed(function: ir.Function) -> set[ir.Atom]:
    """The values of declared functions, which the functions as they stand gave."""
    found: set[ir.Atom] = set()
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Declared):
            found.update(statement.callee.values_of(statement))
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Call) and statement.callee is as_number and not found.isdisjoint(statement.targets):
            found.add(statement.args[0])
    return found


def _gives_value(statement: ir.Statement, followed: set[ir.Atom]) -> bool:
    """Whether a statement only gives a value whose derivative is declared behind it."""
    if not isinstance(statement, ir.Call) or not statement.targets or not followed.issuperset(statement.targets):
        return False
    return statement.callee is as_number or declaration_for(statement.callee) is not None


def _note_value(statement: ir.Statement, degrees: dict[Hashable, Degree]) -> None:
    """Of a value that varies nothing is known: what its derivative is, is said behind it."""
    varies = any(_varies(atom, degrees) for atom in operands(statement))
    for target in targets_of(statement):
        _note(target, Degree.OTHER if varies else Degree.CONSTANT, degrees)


def _affine(call: ir.Call, degrees: dict[Hashable, Degree]) -> Degree:
    """How the values of a declared function depend on the parameters, if its pullback does not depend on them.

    Then it is affine in what varies of its arguments. A pullback made of such functions is affine in its cotangent, and
    zero for a cotangent of zero, as that of any function is.
    """
    declared: ir.Declared = call.callee
    args, pullback = declared.arguments_of(call), declared.pullback
    moving = [place for place, arg in enumerate(args) if _varies(arg, degrees)]
    if pullback is None or not moving or any(_varies(arg, degrees) for arg in declared.excluded_of(call)):
        return Degree.OTHER
    varied = {
        param
        for param, atom in zip(pullback.params[len(declared.seeds) :], declared.of_pullback(call), strict=True)
        if _varies(atom, degrees)
    }
    tainted = _tainted(pullback, varied)
    results = [leaf.values for leaf in leaves(pullback.body) if isinstance(leaf, ir.Return)]
    if any(values[place] in tainted for values in results for place in moving):
        return Degree.OTHER
    return _joined(_degree(args[place], degrees) for place in moving)


def _tainted(function: ir.Function, varied: set[ir.Var]) -> set[ir.Atom]:
    """What depends on some parameters of a function, other than on their shapes."""
    found: set[ir.Atom] = set(varied)
    memory = {storage for param in varied for storage in _memory(param)}
    before = -1
    while before != len(found) + len(memory):
        before = len(found) + len(memory)
        for statement in statements_in(function.body):
            if isinstance(statement, ir.Call) and statement.callee in EXTENTS:
                continue
            given = [*operands(statement)]
            if isinstance(statement, ir.Call) and statement.callee is check_cotangent:
                given = given[:1]  # of the others it asks for their shapes
            given += [atom for inner in blocks_of(statement) for leaf in leaves(inner) for atom in operands(leaf)]
            if not any(atom in found or not memory.isdisjoint(_memory(atom)) for atom in given):
                continue
            inside = [each for inner in blocks_of(statement) for each in statements_in(inner)]
            for each in (statement, *inside):
                found.update(targets_of(each))
                memory.update(storage for atom in _written(each) for storage in _memory(atom))
            if isinstance(statement, ir.Loop):
                found.update(statement.params)
    return found


def _written(statement: ir.Statement) -> tuple[ir.Atom, ...]:
    """What a statement may write to."""
    if isinstance(statement, ir.Store):
        return (statement.base,)
    if not isinstance(statement, ir.Call):
        return ()
    effects, values = effects_of(statement), operands(statement)
    return tuple(effects.written(values)) if effects.known else values


def _memory(atom: ir.Atom) -> set[ir.Storage]:
    return ir.storages(atom.type) if isinstance(atom, ir.Var) else set()


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
    if isinstance(callee, ir.Definition):
        return _of_definition(call, args)
    if isinstance(callee, (ir.Function, ir.Derived)):
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


def _of_definition(call: ir.Call, args: list[Degree]) -> Degree:
    """A function that stays one: by its own text. Nobody knows of one that calls itself."""
    function, places = call.callee.function, [place for place, degree in enumerate(args) if degree is Degree.LINEAR]
    if function in _under_way.get() or call.kwargs or effects_of(call).writes:
        return Degree.OTHER
    token = _under_way.set((*_under_way.get(), function))
    try:
        return Degree.LINEAR if is_linear(function, places) else Degree.OTHER
    finally:
        _under_way.reset(token)


_under_way: ContextVar[tuple[ir.Function, ...]] = ContextVar("under_way", default=())


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
