"""Containers that hold what stands for something else, where others would see that."""

from __future__ import annotations

import ast

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer


def handed_on(lo: Lowerer, container: ir.Var, node: ast.AST | None) -> Exception:
    """The refusal of what hands such a container on as a whole."""
    if ir.holds_made_functions(container.type):
        label = "a container of functions that are made here is handed on as a whole"
        return lo.problem("AD0202", node, label, helps=("hand on what the functions give: [f(x) for f in functions]",))
    return lo.problem("AD0402", node, "a container whose items have different structures is handed on as a whole")
