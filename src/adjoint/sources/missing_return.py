"""Where a function returns something, and where it comes to its end without a ``return``."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from adjoint.diagnostics import Span
from adjoint.records import replace
from adjoint.sources.definitions import FunctionSource


def missing_return(source: FunctionSource | None) -> tuple[tuple[Span, str], ...]:
    """The place after which no ``return`` comes, with what is to be said there; empty where there is none."""
    if source is None or isinstance(source.node, ast.Lambda):
        return ()
    last = _last_reached(source.node.body)
    if last is None:
        return ()
    span = source.span(last)
    if span.end_line > span.line:  # of a statement with a body, where it begins
        span = replace(span, end_line=span.line, end_column=span.column + len(type(last).__name__))
    return ((span, "after this no 'return' follows"),)


def sole_return(source: FunctionSource | None) -> tuple[tuple[Span, str], ...]:
    """The expression that a function returns, with what is to be said there; empty where there are several."""
    if source is None:
        return ()
    if isinstance(source.node, ast.Lambda):
        return ((source.span(source.node.body), "this is what it returns"),)
    inner = {
        each
        for outer in ast.walk(source.node)
        if outer is not source.node and isinstance(outer, (ast.FunctionDef, ast.Lambda, ast.ClassDef))
        for each in ast.walk(outer)
    }
    found = [each for each in ast.walk(source.node) if isinstance(each, ast.Return) and each not in inner]
    if len(found) != 1 or found[0].value is None:
        return ()
    return ((source.span(found[0].value), "this is what it returns"),)


def _last_reached(body: Sequence[ast.stmt]) -> ast.stmt | None:
    """The last statement of a block after which its end is reached."""
    last = body[-1]
    match last:
        case ast.Return() | ast.Raise():
            return None
        case ast.If(body=then, orelse=orelse):
            return _last_reached(then) or (_last_reached(orelse) if orelse else last)
        case ast.With(body=inner):
            return _last_reached(inner)
        case ast.Try(body=tried, handlers=handlers, orelse=orelse, finalbody=final):
            if final and _last_reached(final) is None:
                return None
            blocks = (orelse or tried, *(handler.body for handler in handlers))
            return next((found for block in blocks if (found := _last_reached(block)) is not None), None)
        case ast.Match(cases=cases):
            found = next((found for case in cases if (found := _last_reached(case.body)) is not None), None)
            return found or (None if _matches_all(cases[-1]) else last)
        case ast.While(test=ast.Constant(value=True)) if not any(
            isinstance(each, ast.Break) for each in ast.walk(last)
        ):
            return None
        case _:
            return last


def _matches_all(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
