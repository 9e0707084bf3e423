"""How control flow is laid out: no branch without statements, no ``else`` after a jump, no jump at a natural end.

Works on Python syntax in which every leaf of a loop's body ends in an explicit ``continue``, ``break``, ``return`` or
``raise``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from adjoint.codegen.expressions import negated

_JUMPS = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_SHORT = 3


def leaves_block(statements: list[ast.stmt]) -> bool:
    """Whether control never reaches the end of the statements."""
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, ast.If):
        return leaves_block(last.body) and leaves_block(last.orelse)
    return isinstance(last, _JUMPS)


def arrange_block(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Lays out the choices among some statements, whose insides are laid out already."""
    out: list[ast.stmt] = []
    for statement in statements:
        out += _arranged_if(statement) if isinstance(statement, ast.If) else [statement]
    return out


def _arranged_if(choice: ast.If) -> list[ast.stmt]:
    then, orelse = choice.body, choice.orelse
    if not then:
        claim = _assertion(choice.test, orelse)
        return [claim] if claim is not None else [ast.If(negated(choice.test), orelse, [])]
    if not orelse:
        return [choice]
    if leaves_block(then) and not (_ends_in_continue(then) and not _ends_in_continue(orelse) and _guard(orelse)):
        return [ast.If(choice.test, then, []), *orelse]
    if leaves_block(orelse) and _guard(orelse):
        claim = _assertion(choice.test, orelse)
        first = claim if claim is not None else ast.If(negated(choice.test), orelse, [])
        return [first, *then]
    return [choice]


def _guard(statements: list[ast.stmt]) -> bool:
    """Whether the statements are a short way out."""
    simple = (ast.Assign, ast.AugAssign, ast.Expr, *_JUMPS)
    return len(statements) <= _SHORT and all(isinstance(statement, simple) for statement in statements)


def _ends_in_continue(statements: list[ast.stmt]) -> bool:
    return bool(statements) and isinstance(statements[-1], ast.Continue)


def _assertion(cond: ast.expr, otherwise: list[ast.stmt]) -> ast.stmt | None:
    """``assert cond, message`` for ``if not cond: raise AssertionError(message)``."""
    match otherwise:
        case [ast.Raise(exc=ast.Name(id=name), cause=None)] if name.startswith("AssertionError$"):
            return ast.Assert(cond, None)
        case [ast.Raise(exc=ast.Call(func=ast.Name(id=name), args=args, keywords=[]), cause=None)] if (
            name.startswith("AssertionError$") and len(args) <= 1
        ):
            return ast.Assert(cond, args[0] if args else None)
        case _:
            return None


def arrange_function(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Lays out a function's body: without a ``return`` of nothing at its end."""
    out = arrange_block(statements)
    if out and isinstance(out[-1], ast.Return) and out[-1].value is None:
        out.pop()
    return out or [ast.Pass()]


# Loops


def arrange_loop(
    index: ast.expr | None, over: ast.expr | None, body: list[ast.stmt], orelse: list[ast.stmt]
) -> list[ast.stmt]:
    """A ``for`` loop, or without ``over`` a ``while`` loop, and what follows it."""
    if over is not None:
        assert index is not None
        body = without_last_continue(arrange_block(body)) or [ast.Pass()]
        if not has_break(body):
            return [ast.For(index, over, body, []), *arrange_block(orelse)]
        return [ast.For(index, over, body, arrange_block(orelse))]
    return _while(body)


def _while(body: list[ast.stmt]) -> list[ast.stmt]:
    """``while cond`` where the body begins with a way out, else ``while True``."""
    match body:
        case [ast.If(test=test, body=then, orelse=orelse)]:
            for cond, stays, way_out in ((test, then, orelse), (negated(test), orelse, then)):
                found = _conditional(cond, stays, way_out)
                if found is not None:
                    return found
    inside = without_last_continue(arrange_block(body)) or [ast.Pass()]
    return [ast.While(ast.Constant(True), inside, [])]


def _conditional(cond: ast.expr, stays: list[ast.stmt], way_out: list[ast.stmt]) -> list[ast.stmt] | None:
    if not way_out or not isinstance(way_out[-1], (ast.Break, ast.Return, ast.Raise)):
        return None
    if has_break(way_out[:-1]) or not _may_continue(stays):
        return None
    after = way_out[:-1] if isinstance(way_out[-1], ast.Break) else way_out
    if any(_jumps_out(statement) for statement in after):
        return None
    inside = without_last_continue(arrange_block(stays)) or [ast.Pass()]
    if has_break(stays):
        return [ast.While(cond, inside, after)]
    return [ast.While(cond, inside, []), *after]


def _may_continue(statements: list[ast.stmt]) -> bool:
    """Whether a loop with this body can go round; otherwise a condition would promise too much."""
    return not leaves_block(statements) or any(isinstance(jump, ast.Continue) for jump in _own_jumps(statements))


def _jumps_out(statement: ast.stmt) -> bool:
    return any(True for _ in _own_jumps([statement]))


def without_last_continue(statements: list[ast.stmt]) -> list[ast.stmt]:
    """The body of a loop without the ``continue`` that its end means anyway."""
    if not statements:
        return statements
    *rest, last = statements
    match last:
        case ast.Continue():
            return without_last_continue(rest)
        case ast.If(test=test, body=then, orelse=orelse):
            then, orelse = without_last_continue(then), without_last_continue(orelse)
            if not then and not orelse:
                return [*rest, ast.Expr(test)]
            return [*rest, *_arranged_if(ast.If(test, then, orelse))]
        case _:
            return statements


def has_break(statements: list[ast.stmt]) -> bool:
    """Whether the loop that has these statements as its body is left by a ``break`` of its own."""
    return any(isinstance(jump, ast.Break) for jump in _own_jumps(statements))


def _own_jumps(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in statements:
        match statement:
            case ast.Break() | ast.Continue():
                yield statement
            case ast.For() | ast.While():
                yield from _own_jumps(statement.orelse)
            case ast.If():
                yield from _own_jumps(statement.body)
                yield from _own_jumps(statement.orelse)
            case ast.With():
                yield from _own_jumps(statement.body)
            case ast.Try():
                for part in (statement.body, statement.orelse, statement.finalbody):
                    yield from _own_jumps(part)
                for handler in statement.handlers:
                    yield from _own_jumps(handler.body)
