"""Classes of tangents that users write: whether they are what the tangents of a class have to be."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from typing import Any

from adjoint.diagnostics import Span, error, span_of
from adjoint.types.classes.annotations import field_types
from adjoint.types.classes.conforming import write_members
from adjoint.types.classes.constant_types import never_varies
from adjoint.types.marks import no_derivative_fields
from adjoint.types.registry import registration
from adjoint.types.vectors import own_tangent_vector


def check_tangent_vector(cls: type, scope: Mapping[str, Any] | None = None) -> None:
    """Refuses a ``TangentVector`` in a class that is not the class of its tangents.

    It has a field for each field that varies, and ``+``, and is its own ``TangentVector``; where it has no ``zero`` it
    gets one. Points of a curved space, whose class says itself how they move, may have any.

    Raises
    ------
    DifferentiationError
        AD0426.
    """
    own = own_tangent_vector(cls)
    if own is None or own is cls or registration(cls) is not None:
        return
    field_types(own, scope)
    problem = tangent_problem(cls, own)
    if problem is not None:
        label, fix = problem
        raise error("AD0426", declaration(cls, "TangentVector")[1], label, helps=(fix,), name=f"{cls.__qualname__}")
    if not hasattr(own, "zero"):
        write_members(own, ["zero"])


def tangent_problem(cls: type, own: type) -> tuple[str, str] | None:
    """Why a class is not that of the tangents of another, and what would help."""
    name = own.__qualname__
    wanted = [field for field in field_types(cls) if field not in no_derivative_fields(cls)]
    given = field_types(own)
    without = "leave TangentVector out: then it is written for you"
    for field in wanted:
        if isinstance(inspect.getattr_static(own, field, None), property):
            return f"{name}.{field} is a property, not a field", f"declare it: {field}: float"
    if wanted and not given:
        return f"{name!r} declares no fields", without
    for field in wanted:
        if field not in given:
            return (
                f"{name!r} has no field {field!r}",
                f"declare one, or mark the other with ad.NoDerivative; or {without}",
            )
        if never_varies(given[field]):
            kind = getattr(given[field], "__name__", given[field])
            return f"{name}.{field} is declared as {kind}, whose values do not vary", without
    extra = [field for field in given if field not in wanted]
    if extra:
        return f"{name}.{extra[0]} belongs to no field of {cls.__qualname__!r} that varies", "leave it out"
    if list(given) != wanted:
        return f"the fields of {name!r} have another order", f"declare {', '.join(wanted)} in this order"
    if not hasattr(own, "__add__"):
        return f"values of {name!r} cannot be added", "derive it from ad.VectorNumeric and decorate it; or " + without
    further = getattr(own, "TangentVector", own)
    if further is not own:
        return f"the tangents of {name!r} are of the class {further.__qualname__!r}", "tangents are their own tangents"
    return None


def declaration(cls: type, name: str) -> tuple[ast.AnnAssign | None, Span | None]:
    """Where a field, or a class inside of it, is declared; the node of a field."""
    try:
        lines, start = inspect.getsourcelines(cls)
        file = inspect.getsourcefile(cls) or "<unknown>"
        text = "".join(lines)
        tree = ast.parse(textwrap.dedent(text))
    except (OSError, TypeError, SyntaxError):
        return None, None
    indent = len(lines[0]) - len(lines[0].lstrip())
    body = tree.body[0].body if tree.body and isinstance(tree.body[0], ast.ClassDef) else []
    for node in body:
        if name in _declared_by(node):
            place = span_of(node, file, lambda number: text.splitlines()[number - 1][indent:])
            first, last = place.line + start - 1, place.end_line + start - 1
            end = place.end_column + indent
            if isinstance(node, ast.ClassDef):
                last, end = first, len(lines[place.line - 1].rstrip())
            return node if isinstance(node, ast.AnnAssign) else None, Span(
                file, first, place.column + indent, last, end
            )
    return None, None


def _declared_by(node: ast.stmt) -> list[str]:
    """The names that a statement in a class declares."""
    match node:
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [target.id for target in targets if isinstance(target, ast.Name)]
        case _:
            return []


__all__ = ["check_tangent_vector", "declaration", "tangent_problem"]
