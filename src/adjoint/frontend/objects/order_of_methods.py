"""Which methods of its operands an operator asks, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Value
from adjoint.frontend.objects.classes import class_of
from adjoint.frontend.syntax.operators import compares, inplace_name, method_name, reflected_name

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
