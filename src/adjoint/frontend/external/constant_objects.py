"""Objects of other libraries that are made of what does not vary: constants of a known class."""

from __future__ import annotations

import ast
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.opaque.arguments import any_carries
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import Value


def made_of_constants(
    lo: Lowerer,
    callee: Any,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
    cls: type,
    hint: str,
) -> Any:
    """A call that gives an object of a class, of arguments that do not vary; else NotImplemented."""
    if any_carries(lo, args, kwargs):
        return NotImplemented
    target = ir.Var(hint, ir.Opaque(cls))
    pairs = tuple([(name, materialize(lo, value, node)) for name, value in kwargs.items()])
    atoms = tuple([materialize(lo, value, node) for value in args])
    lo.emit(ir.Call((target,), callee, atoms, pairs, lo.span(node)))
    return target
