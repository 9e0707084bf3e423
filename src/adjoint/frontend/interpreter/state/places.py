"""Where a problem is: the place to mark, and the calls that led there."""

from __future__ import annotations

import ast
import linecache
import os
from typing import TYPE_CHECKING

from adjoint import records
from adjoint.diagnostics import Span

if TYPE_CHECKING:
    from adjoint.frontend.interpreter.state.frames import Frame

_PACKAGE = os.path.dirname(records.__file__)
_OWN_CODE = tuple(os.path.join(_PACKAGE, name) for name in ("frontend", "runtime", "rules"))
"""Functions of ours that are lowered like a user's; a problem in one belongs where the user called it."""


def users_frame(frame: Frame) -> tuple[Frame, Span | None]:
    """The innermost activation of a function of the user's, and the call in it that led into ours, if one did."""
    span = None
    while frame.caller is not None and frame.source.file.startswith(_OWN_CODE):
        frame, span = frame.caller, frame.call_span
    return frame, span


def headline(frame: Frame, node: ast.AST) -> Span:
    """The span of a node; of a statement with a body, only what stands before the body."""
    span = frame.source.span(node, frame.call_span)
    match node:
        case ast.For(iter=last) | ast.AsyncFor(iter=last) | ast.While(test=last) | ast.If(test=last):
            end = frame.source.span(last)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            end = frame.source.span(items[-1].optional_vars or items[-1].context_expr)
        case ast.Match(subject=subject):
            end = frame.source.span(subject)
        case ast.Try() | ast.TryStar():
            return records.replace(span, end_line=span.line, end_column=span.column + len("try"))
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            line = linecache.getline(span.file, span.line)
            end_column = line.find(name, span.column) + len(name)
            return records.replace(span, end_line=span.line, end_column=end_column)
        case _:
            return span
    return records.replace(span, end_line=end.end_line, end_column=end.end_column)
