"""Operands of rules are arrays: of a list, a tuple or a range an array is made before a rule sees it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.opaque.arguments import any_carries, may_carry
from adjoint.frontend.data import making
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.state.signals import Unreached
from adjoint.frontend.interpreter.values import RangeValue, TupleValue, Value


def with_arrays(
    lo: Lowerer, callee: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call, with arrays for the sequences that the callee makes arrays of.

    Where no derivative flows through any of them, the call stays as it is written.
    """
    if not any(is_sequence(lo, value) for value in (*args, *kwargs.values())):
        return args, kwargs
    if not any_carries(lo, args, kwargs):
        return args, kwargs
    from adjoint.rules.operands import operands_of  # lazy

    operands = operands_of(callee)
    given: Iterable[tuple[int | str, Value]] = (*enumerate(args), *kwargs.items())
    lifted: Mapping[int | str, Value] = {
        key: array(lo, value, node) if operands.has(key) else value for key, value in given
    }
    return [lifted[place] for place in range(len(args))], {name: lifted[name] for name in kwargs}


def arrays(lo: Lowerer, values: Sequence[Value], node: ast.AST | None) -> list[Value]:
    """Values of which NumPy makes arrays: as they are, unless one of them is a sequence and one may vary."""
    if not any(may_carry(lo, value) for value in values):
        return list(values)
    return [array(lo, value, node) for value in values]


def array(lo: Lowerer, value: Value, node: ast.AST | None) -> Value:
    """The array of a sequence; any other value as it is."""
    match value:
        case RangeValue(start=start, stop=stop, step=step):
            return lo.call(ir.Const(np.arange), [start, stop, step], {}, node)
        case ir.Const(value=range() as numbers):
            bounds = [ir.Const(bound) for bound in (numbers.start, numbers.stop, numbers.step)]
            return lo.call(ir.Const(np.arange), list(bounds), {}, node)
    return lo.call(ir.Const(np.array), [value], {}, node) if is_sequence(lo, value) else value


def array_operand(lo: Lowerer, value: Value, node: ast.AST | None, *, always: bool = False) -> ir.Atom:
    """The atom of what an array is written with: of a sequence its array, if that varies or if it is computed with."""
    return materialize(lo, array(lo, value, node) if always or may_carry(lo, value) else value, node)


def is_sequence(lo: Lowerer, value: Value) -> bool:
    """Whether a value is a list, a tuple or a range, of which NumPy makes an array."""
    match value:
        case TupleValue() | RangeValue():
            return True
        case ir.Const(value=list() | tuple() | range()):
            return True
        case ir.Var(type=ir.List() | ir.Tuple() | ir.Opaque(cls=builtins.range)):
            return True
        case _:
            return making.list_items(lo, value) is not None


def stop_at_alien(lo: Lowerer, error: Exception, node: ast.AST | None) -> NoReturn:
    """Ends a path on which an operand is certain to be what this is raised for."""
    label = str(error)
    cls = TypeError if isinstance(error, TypeError) else ValueError  # NumPy's own take other arguments
    lo.run_data.reasons.append(lo.problem("AD0213", node, label, name=cls.__name__).diagnostic)
    lo.stop(ir.Raise(lo.open.call(cls, ir.Const(label)), None, lo.span(node)))
    raise Unreached


def class_of_alien(value: Value) -> type | None:
    """The class of what is no number, None or a text."""
    type_ = joins.type_of(value)
    return type_.cls if isinstance(type_, ir.Opaque) and type_.cls in (type(None), str) else None


def is_inexact(value: Value) -> bool:
    """Whether a value is a number or an array of numbers that are no whole ones."""
    match joins.type_of(value):
        case ir.Scalar(kind=kind):
            return kind in ("float", "complex")
        case ir.Array(dtype=dtype):
            return ir.is_float_dtype(dtype)
        case _:
            return False


def are_never_equal(operands: Sequence[Value]) -> bool:
    """Whether a tuple is compared with what no tuple is equal to, or with one of another length."""
    return _is_tuple_beside_another(operands) or _are_of_other_lengths(operands)


def _is_tuple_beside_another(operands: Sequence[Value]) -> bool:
    """Whether a tuple is compared with a number or a text, such as ``x.shape == 1``: these are never equal."""
    tuples = [making.is_tuple(each) or (isinstance(each, TupleValue) and each.cls is tuple) for each in operands]
    others = [isinstance(each, ir.Const) and type(each.value) in _NO_TUPLES for each in operands]
    return any(tuples) and any(others)


_NO_TUPLES = (bool, int, float, complex, str, bytes)


def _are_of_other_lengths(operands: Sequence[Value]) -> bool:
    """Whether two tuples are compared of which it is known that one has more items: ``x.shape == (n, 1)``."""
    counts = [_count_of_tuple(operand) for operand in operands]
    return None not in counts and counts[0] != counts[1]


def _count_of_tuple(value: Value) -> int | None:
    match value:
        case TupleValue(items=items):
            return len(items)
        case ir.Const(value=tuple() as items) if type(items) is tuple:
            return len(items)
        case ir.Var(type=ir.Tuple(items=types_, cls=cls)) if cls is tuple:
            return len(types_)
        case _:
            return None
