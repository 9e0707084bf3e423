"""Functions that return a value or, on some paths, None: these raise when they run, having no derivative."""

from __future__ import annotations

import ast
import operator
import types

from adjoint import ir
from adjoint.frontend.differentiation.wrt import source_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, Union, Value


def without_none(lo: Lowerer, function: Value, name: str, value: Value, node: ast.AST | None) -> Value:
    """The result of a function as a value, where it is None on some paths.

    A function that comes to its end without a ``return`` has forgotten one: that is refused.
    """
    if not isinstance(value, Union):
        return value
    others = [place for place, option in enumerate(value.options) if not _is_none(option)]
    if len(others) != 1 or len(value.options) == 1:
        return value
    from adjoint.sources.missing_return import missing_return  # lazy

    if missing_return(source_of(function)):
        return value
    (place,) = others
    is_value = lo.open.call(operator.eq, value.tag, ir.Const(place))

    def refuse() -> Value:
        text = f"{name!r} returns None here, which has no derivative"
        lo.stop(ir.Raise(lo.open.call(TypeError, ir.Const(text)), None, lo.span(node)))
        return ir.UNDEFINED

    return lo.branch(is_value, lambda: value.options[place], refuse, node)


def _is_none(option: Value) -> bool:
    return option == NONE or (isinstance(option, ir.Var) and option.type == ir.Opaque(types.NoneType))
