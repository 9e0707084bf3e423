"""Special methods: those of operators, comparisons and truth that a user's class defines."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator
from typing import Any

from adjoint import ir
from adjoint.frontend.entry import inputs
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import TupleValue, Value
from adjoint.frontend.objects.attributes import attribute, bind
from adjoint.frontend.objects.classes import class_of, has_source, is_object
from adjoint.frontend.syntax.operators import compares, inplace_name, method_name, reflected_name
from adjoint.types.classes.dataclass_fields import dataclass_fields
from adjoint.types.structure import is_namedtuple_class


def special_method(lo: Lowerer, receiver: Value, name: str) -> Value | None:
    """The bound special method of an object's class, where the class defines one."""
    if not is_object(lo, receiver) and not is_named(lo, receiver):
        return None
    cls = class_of(lo, receiver)
    assert cls is not None
    for base in cls.__mro__:
        if base in (object, tuple):
            return None
        if name in base.__dict__:
            found = base.__dict__[name]
            if name in _COMPARISONS and _is_generated(base, found):
                return None
            inputs.guard_lookup(lo, cls, name, found)
            return None if found is None else bind(lo, receiver, cls, name, found, None)
    return None


def is_named(lo: Lowerer, value: Value) -> bool:
    """Whether a value is a named tuple, whose class may have operators of its own."""
    is_tuple = isinstance(value, TupleValue) or (isinstance(value, ir.Var) and isinstance(value.type, ir.Tuple))
    return is_tuple and is_namedtuple_class(class_of(lo, value))


_COMPARISONS = ("__eq__", "__lt__", "__le__", "__gt__", "__ge__")


def _is_generated(cls: type, found: Any) -> bool:
    """Whether a method of a class was written by `dataclasses.dataclass`."""
    return "__dataclass_params__" in cls.__dict__ and isinstance(found, types.FunctionType) and not has_source(found)


def compared_fields(
    lo: Lowerer, name: str | None, values: list[Value], node: ast.AST | None
) -> list[TupleValue] | None:
    """The tuples of fields that dataclasses compare by a method; None where nothing is compared in this way."""
    if name not in _COMPARISONS or not all(is_object(lo, value) for value in values):
        return None
    classes = {class_of(lo, value) for value in values}
    cls = classes.pop()
    owner = next((base for base in cls.__mro__ if name in base.__dict__), object) if cls and not classes else object
    if not _is_generated(owner, owner.__dict__[name]):
        return None
    names = [field.name for field in dataclass_fields(owner) if field.compare]
    return [TupleValue(tuple([attribute(lo, value, part, node) for part in names])) for value in values]


def truth_of_object(lo: Lowerer, value: Value, node: ast.AST | None) -> Any:
    from adjoint.frontend.syntax.conditions import truth_of  # lazy

    for name in ("__bool__", "__len__"):
        method = special_method(lo, value, name)
        if method is not None:
            return truth_of(lo, lo.call(method, [], {}, node), node)
    return ir.Const(True)


_OWN_PROTOCOLS = ("__array_ufunc__", "__array_function__")


def said_array(lo: Lowerer, value: Value, own: tuple[str, ...], node: ast.AST | None) -> Value | None:
    """The array that NumPy makes of an object whose class says it; None where the class takes over, by ``own`` too."""
    method = special_method(lo, value, "__array__")
    if method is None or any(hasattr(class_of(lo, value), name) for name in (*_OWN_PROTOCOLS, *own)):
        return None
    return lo.call(method, [], {}, node)


# Which methods of its operands an operator asks, and in which order


Asked = tuple[Value, str | None, list[Value]]
"""An operand, the name of its method, and the arguments of the method."""


def methods_asked(
    lo: Lowerer, op: Callable[..., Any], operands: list[Value], *, inplace: bool = False
) -> Iterator[Asked]:
    """The methods that are asked until one has an answer, in Python's order."""
    own: Asked = operands[0], method_name(op), operands[1:]
    if inplace:
        yield operands[0], inplace_name(op), operands[1:]
    if len(operands) != 2:
        yield own
        return
    reflected: Asked = operands[1], reflected_name(op), operands[:1]
    left, right = (class_of(lo, operand) for operand in operands)
    if _is_asked_first(op, left, right):
        yield from (reflected, own)
        return
    yield own
    if compares(op) or left is None or left is not right:  # arithmetic of one class is in its hands
        yield reflected


def _is_asked_first(op: Callable[..., Any], left: type | None, right: type | None) -> bool:
    """Whether the right operand's class comes first: it inherits from the other's, and has its own to say."""
    if left is None or right is None or left is right or not issubclass(right, left):
        return False
    name = reflected_name(op)
    if name is None or compares(op):
        return name is not None
    method = getattr(right, name, None)
    return method is not None and method is not getattr(left, name, None)
