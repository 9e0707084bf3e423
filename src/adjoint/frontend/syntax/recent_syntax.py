"""Expressions that only later versions of Python have, by the names of their nodes.

Templates (3.14) are objects that nobody looks into; a starred element of a comprehension (3.15) is one more loop in it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, Value

Comprehension = TypeVar("Comprehension", ast.ListComp, ast.SetComp, ast.GeneratorExp)


def template(lo: Lowerer, node: Any) -> Value:
    """``t"..."``"""
    from string import templatelib  # type: ignore[attr-defined]  # lazy

    parts: list[Value] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(ir.Const(part.value))
            continue
        conversion = ir.Const(chr(part.conversion)) if part.conversion > 0 else NONE
        spec = ir.Const("") if part.format_spec is None else lo.evaluate(part.format_spec)
        given = [lo.evaluate(part.value), ir.Const(part.str), conversion, spec]
        parts.append(lo.call(ir.Const(templatelib.Interpolation), given, {}, part))
    return lo.call(ir.Const(templatelib.Template), parts, {}, node)


EXPRESSIONS: dict[type[ast.expr], Callable[[Lowerer, Any], Value]] = {
    getattr(ast, name): lower for name, lower in (("TemplateStr", template),) if hasattr(ast, name)
}

_written_out: WeakKeyDictionary[ast.expr, ast.expr] = WeakKeyDictionary()
_ITEM = ".item"


def without_star(node: Comprehension) -> Comprehension:
    """``[*row for row in rows]`` as ``[item for row in rows for item in row]``: the same node each time."""
    element = node.elt
    if not isinstance(element, ast.Starred):
        return node
    found = _written_out.get(node)
    if found is None:
        target, item = (ast.copy_location(ast.Name(_ITEM, ctx), element) for ctx in (ast.Store(), ast.Load()))
        loops = [*node.generators, ast.comprehension(target, element.value, [], 0)]
        found = _written_out[node] = ast.copy_location(type(node)(item, loops), node)
    assert isinstance(found, type(node))
    return found
