"""Declarations inside the function that is differentiated: when it runs, it is too late for them."""

from __future__ import annotations

import ast

from adjoint.declarations.custom_derivatives import derivative_of, differential_of, transpose_of
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Value

_EARLIER = (
    "declare it before: where the function is defined that is differentiated",
    "or make a function that carries its derivative: ad.differentiable_function(lambda x: (value, pullback))",
)


@handles(derivative_of, differential_of, transpose_of)
def declared_inside(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value:
    """``ad.derivative_of(fn)`` in a function that is differentiated."""
    del args, kwargs
    raise lo.problem("AD0206", node, "it is declared inside the function that is differentiated", helps=_EARLIER)
