"""Mutants of a function: its syntax tree with one place changed, compiled to code that can stand in for its own."""

from __future__ import annotations

import ast
import copy
import itertools
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from adjoint.sources.definitions import find

_SWAPPED: dict[type[ast.AST], tuple[type[ast.AST], str]] = {
    ast.Add: (ast.Sub, "a sign"),
    ast.Sub: (ast.Add, "a sign"),
    ast.Mult: (ast.Div, "a factor"),
    ast.Div: (ast.Mult, "a factor"),
    ast.Lt: (ast.GtE, "a condition"),
    ast.LtE: (ast.Gt, "a condition"),
    ast.Gt: (ast.LtE, "a condition"),
    ast.GtE: (ast.Lt, "a condition"),
    ast.Eq: (ast.NotEq, "a condition"),
    ast.NotEq: (ast.Eq, "a condition"),
    ast.Is: (ast.IsNot, "a condition"),
    ast.IsNot: (ast.Is, "a condition"),
}
_SIGNED = (ast.Add, ast.Sub)
_ORDERED = (ast.Sub, ast.Div, ast.MatMult, ast.Pow)
_AXES = ("axis", "axis1", "axis2")
_numbers = itertools.count()


@dataclass(frozen=True)
class Mutant:
    """A changed function.

    Attributes
    ----------
    kind
        What was changed: a sign, a factor, an axis, a term, operands, a condition, a constant, a statement.
    line
        Where, in the file of the function.
    text
        The changed function.
    code
        What it compiles to.
    """

    kind: str
    line: int
    text: str
    code: CodeType


def mutants(function: FunctionType) -> Iterator[Mutant]:
    """All mutants of a function that compile to code with the same captured variables."""
    source = find(function)
    tree = copy.deepcopy(source.node)
    original = ast.unparse(tree)
    for place, (node, kind, change) in enumerate(_changes(tree)):
        undo = change()
        text = ast.unparse(tree)
        undo()
        if text == original:
            continue
        code = _compiled(function, text, place)
        if code is not None:
            yield Mutant(kind, getattr(node, "lineno", source.node.lineno), text, code)
    assert ast.unparse(tree) == original


def _compiled(function: FunctionType, text: str, place: int) -> CodeType | None:
    """The code of a mutant, with a text that the compiler of derivatives finds."""
    free = function.__code__.co_freevars
    lines = [f"def _outer({', '.join(free)}):"]
    body = text if text.startswith(("def ", "@")) else f"_inner = {text}"
    lines += [f"    {line}" for line in body.splitlines() if not line.startswith("@")]
    whole = "\n".join(lines) + "\n"
    name = f"<mutant {next(_numbers)} of {function.__qualname__}>"
    try:
        module = compile(whole, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    outer = next(const for const in module.co_consts if isinstance(const, CodeType))
    code = next((const for const in outer.co_consts if isinstance(const, CodeType)), None)
    if code is None or code.co_freevars != free:
        return None
    linecache.cache[name] = len(whole), None, whole.splitlines(keepends=True), name
    return code


def _changes(tree: ast.AST) -> Iterator[tuple[ast.AST, str, Any]]:
    """Each place that can be changed, what it is, and what changes it and gives what changes it back."""
    for parent in list(ast.walk(tree)):
        if isinstance(parent, ast.arguments):
            continue
        for name, value in ast.iter_fields(parent):
            if isinstance(parent, (ast.Lambda, ast.FunctionDef)) and name in ("args", "decorator_list", "returns"):
                continue
            items = value if isinstance(value, list) else [value]
            for index, node in enumerate(items):
                if not isinstance(node, ast.AST):
                    continue
                slot = index if isinstance(value, list) else None
                for kind, new in _variants(parent, name, node):
                    yield node, kind, _replacing(parent, name, slot, new)


def _replacing(parent: ast.AST, name: str, slot: int | None, new: ast.AST) -> Any:
    def change() -> Any:
        if slot is None:
            old = getattr(parent, name)
            setattr(parent, name, new)
            return lambda: setattr(parent, name, old)
        items = getattr(parent, name)
        old = items[slot]
        items[slot] = new

        def undo() -> None:
            items[slot] = old

        return undo

    return change


def _variants(parent: ast.AST, field: str, node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What may stand in place of a node."""
    swapped = _SWAPPED.get(type(node))
    if swapped is not None:
        yield swapped[1], swapped[0]()
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            if isinstance(op, _SIGNED):
                yield "a dropped term", left
                yield "a dropped term", right
            if isinstance(op, ast.Mult):
                yield "a dropped factor", left
                yield "a dropped factor", right
            if isinstance(op, _ORDERED):
                yield "swapped operands", ast.BinOp(right, op, left)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "a sign", operand
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "a condition", operand
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield "swapped branches", ast.IfExp(test, orelse, body)
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as number):
            at_axis = isinstance(parent, ast.keyword) and parent.arg in _AXES
            yield "an axis" if at_axis else "a constant", ast.Constant(number + 1)
        case ast.Call(func=func, args=[first, second, *rest], keywords=keywords) if not isinstance(first, ast.Starred):
            if not isinstance(second, ast.Starred):
                yield "swapped operands", ast.Call(func, [second, first, *rest], keywords)
        case ast.Tuple(elts=[first, second], ctx=ast.Load()) if not isinstance(parent, ast.Subscript):
            yield "swapped operands", ast.Tuple([second, first], ast.Load())
        case ast.AugAssign() | ast.Expr() if not _is_text(node):
            yield "a dropped statement", ast.Pass()
        case ast.If(test=test, body=body, orelse=orelse):
            yield "swapped branches", ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
