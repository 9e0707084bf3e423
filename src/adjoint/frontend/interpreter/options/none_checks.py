"""What is taken of a value that may be None: there Python raises, and what follows knows that it is not None."""

from __future__ import annotations

import ast
import operator

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.options.choices import one_of
from adjoint.frontend.interpreter.values import NONE, Union, Value


def evaluate_owner(lo: Lowerer, node: ast.expr, use: ast.expr) -> Value:
    """The value of ``node``, of which ``use`` takes or sets an attribute or an item."""
    value = lo.evaluate(node)
    if isinstance(use, ast.Attribute):
        present = not hasattr(None, use.attr)
        return without_none(lo, value, node, AttributeError, _no_attribute(use.attr)) if present else value
    return without_none(lo, value, node, TypeError, "'NoneType' object is not subscriptable")


def without_none(lo: Lowerer, value: Value, node: ast.AST, exception: type[Exception], message: str) -> Value:
    """The value where it is not None; where it is, the exception is raised."""
    if not isinstance(value, Union) or NONE not in value.options or all(option == NONE for option in value.options):
        return value
    places = [place for place, option in enumerate(value.options) if option != NONE]

    def stop() -> Value:
        lo.stop(ir.Raise(lo.open.call(exception, ir.Const(message)), None, lo.span(node)))
        return ir.UNDEFINED

    absent = lo.open.call(operator.eq, value.tag, ir.Const(value.options.index(NONE)))
    lo.branch(absent, stop, lambda: ir.UNDEFINED, node)
    present = one_of(lo, value, places)
    _remember(lo, node, value, present)
    return present


def _remember(lo: Lowerer, node: ast.AST, before: Value, present: Value) -> None:
    """From here on the variable that was read is not None."""
    if isinstance(node, ast.Name) and lo.frame is not None:
        cell = lo.cell_named(node.id)
        if cell is not None and lo.store.get(cell) is before:
            lo.store[cell] = present


def _no_attribute(name: str) -> str:
    return f"'NoneType' object has no attribute {name!r}"
