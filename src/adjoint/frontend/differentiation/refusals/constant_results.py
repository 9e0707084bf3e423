"""Functions that return numbers or, on some paths, what has no derivative: these raise when they run."""

from __future__ import annotations

import ast
import operator

from adjoint import ir
from adjoint.frontend.data.tagged_items import may_hold_none
from adjoint.frontend.differentiation.components import describe
from adjoint.frontend.differentiation.wrt import source_of
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, TupleValue, Union, Value
from adjoint.frontend.library import python_functions
from adjoint.frontend.library.in_python import filled_lists
from adjoint.records import replace

_WITHOUT_DERIVATIVE = (type(None), int, str, bytes, type)
"""Classes of what functions return where they have no number to return."""


def without_constants(lo: Lowerer, function: Value, name: str, value: Value, node: ast.AST | None) -> Value:
    """The result of a function, where that is None, a text or another constant on some paths.

    A function that comes to its end without a ``return`` has forgotten one: that is refused.
    """
    if not isinstance(value, Union):
        return _without_none(lo, name, value, node)
    others = [place for place, option in enumerate(value.options) if not _is_constant(option)]
    if len(others) != 1 or len(value.options) == 1:
        return value
    if any(_is_none(option) for option in value.options):
        from adjoint.sources.missing_return import missing_return  # lazy

        if missing_return(source_of(function)):
            return value
    (place,) = others
    is_value = lo.open.call(operator.eq, value.tag, ir.Const(place))
    rest = [joins.shape_of(option, lo.store) for i, option in enumerate(value.options) if i != place]

    def refuse() -> Value:
        text = f"{name!r} returns {' or '.join(dict.fromkeys(map(describe, rest)))} here, which has no derivative"
        lo.stop(ir.Raise(lo.open.call(TypeError, ir.Const(text)), None, lo.span(node)))
        return ir.UNDEFINED

    return lo.branch(is_value, lambda: value.options[place], refuse, node)


def _without_none(lo: Lowerer, name: str, value: Value, node: ast.AST | None) -> Value:
    """Lists that were made of None, and have been filled: as lists of what they were filled with."""
    if isinstance(value, TupleValue):
        return replace(value, items=tuple([_without_none(lo, name, item, node) for item in value.items]))
    if not (isinstance(value, ir.Var) and may_hold_none(value)):
        return value
    said = ir.Const(f"None lies in what {name!r} returns, which has no derivative")
    return python_functions.call(lo, filled_lists.all_there, [value, said], node)


def _is_constant(option: Value) -> bool:
    """Whether nothing of a value carries a derivative."""
    if isinstance(option, TupleValue):
        return all(map(_is_constant, option.items))
    if isinstance(option, ir.Const):
        return isinstance(option.value, _WITHOUT_DERIVATIVE)
    cls = option.type.cls if isinstance(option, ir.Var) and isinstance(option.type, ir.Opaque) else None
    return cls is not None and issubclass(cls, _WITHOUT_DERIVATIVE)


def _is_none(option: Value) -> bool:
    return option == NONE or (isinstance(option, ir.Var) and option.type == ir.Opaque(type(None)))
