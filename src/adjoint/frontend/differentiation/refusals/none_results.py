"""Functions that return a value or, on some paths, None: these raise when they run, having no derivative."""

from __future__ import annotations

import ast
import operator

from adjoint import ir
from adjoint.frontend.differentiation.wrt import source_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, Union, Value


def without_none(lo: Lowerer, function: Value, name: str, value: Value, node: ast.AST | None) -> Value:
    """The result of a function as a value, where it is None on some paths.

    A function that comes to its end without a ``return`` has forgotten one: that is refused.
    """
    if not isinstance(value, Union) or len(value.options) != 2 or NONE not in value.options:
        return value
    from adjoint.sources.missing_return import missing_return  # lazy

    if missing_return(source_of(function)):
        return value
    place = value.options.index(NONE)
    is_none = lo.open.call(operator.eq, value.tag, ir.Const(place))

    def refuse() -> Value:
        text = f"{name!r} returns None here, which has no derivative"
        lo.stop(ir.Raise(lo.open.call(TypeError, ir.Const(text)), None, lo.span(node)))
        return ir.UNDEFINED

    return lo.branch(is_none, refuse, lambda: value.options[1 - place], node)
