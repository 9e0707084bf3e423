"""The variables of a function and of its module as dicts: ``locals()`` and ``globals()``."""

from __future__ import annotations

import ast
import itertools
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.data import making
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.values import Value
from adjoint.frontend.library import attribute_tables
from adjoint.frontend.objects.construction import construct
from adjoint.frontend.syntax.names import lookup
from adjoint.sources.scope import assigned_names
from adjoint.sources.trees import nodes

_BY_NAME = ("write the name where it is used, or take a dict for what has names at run time",)
_AT_ONCE = (
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.ClassDef,
    ast.Expr,
)
"""Statements that bind their names whenever they are run, and to which nothing leads back."""


# -- of the module ----------------------------------------------------------------------------------------------------


@handles(globals)
def _globals(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    table = None if lo.frame is None else lo.frame.closure.globals
    module = None if table is None else sys.modules.get(table.get("__name__", ""))
    if module is None or vars(module) is not table:
        raise lo.problem("AD0301", node, "the module of this function is not known", helps=_BY_NAME)
    return construct(lo, attribute_tables.ModuleTable, [ir.Const(module)], {}, node)


@handles(attribute_tables.has_global)
def _has_global(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    match args:
        case [ir.Const(value=types.ModuleType() as module), ir.Const(value=str() as name)]:
            pass
        case _:
            raise lo.problem("AD0301", node, "the name of the variable is not known", helps=_BY_NAME)
    if name not in vars(module) and (hasattr(types.ModuleType, name) or "__getattr__" in vars(module)):
        return ir.Const(False)
    return lo.call(ir.Const(hasattr), args, {}, node)


@handles(attribute_tables.refuse_whole)
def _refuse_whole(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    label = "the variables of the module are taken as a whole, or written by names that are not in the source"
    raise lo.problem("AD0301", node, label, helps=_BY_NAME)


# -- of the function --------------------------------------------------------------------------------------------------


@handles(locals)
def _locals(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """A dict of the variables as they are: of those that are bound on every path, where the others are not on any."""
    frame = lo.frame
    code = getattr(None if frame is None else frame.closure.function, "__code__", None)
    body = getattr(None if frame is None else frame.source.node, "body", None)
    if frame is None or frame.is_class or not isinstance(code, types.CodeType) or not isinstance(body, list):
        raise lo.problem("AD0301", node, "'locals' is called where not all variables are known", helps=_BY_NAME)
    before = list(itertools.takewhile(lambda each: node not in set(nodes(each)), body))
    at = body[len(before)] if len(before) < len(body) else None
    if not isinstance(at, (*_AT_ONCE, ast.Return)) or _is_in_comprehension(at, node) or _is_called_twice(frame):
        label = "'locals' is called on some paths, in a comprehension or more than once"
        raise lo.problem("AD0301", node, label, helps=_BY_NAME)
    bound = set(_parameters(frame)).union(*(assigned_names(each) for each in before if _binds(each)))
    unsure = set().union(*(assigned_names(each) for each in before if not isinstance(each, _AT_ONCE))) - bound
    unsure.update(name for each in (*before, at) for name in _bound_in_passing(each))
    if unsure:
        label = f"whether {min(unsure)!r} is assigned where 'locals' is called is not known"
        raise lo.problem("AD0301", node, label, helps=_BY_NAME)
    names = dict.fromkeys((*code.co_varnames, *code.co_cellvars))
    held = [*filter(bound.__contains__, names), *code.co_freevars]
    return making.new_dict(lo, [(ir.Const(name), lookup(lo, name, node)) for name in held], node)


def _binds(statement: ast.stmt) -> bool:
    return isinstance(statement, _AT_ONCE) and getattr(statement, "value", statement) is not None


def _bound_in_passing(statement: ast.stmt) -> Iterator[str]:
    """The names that are bound inside of expressions, which may not be run, or that are deleted."""
    for node in nodes(statement):
        if isinstance(node, ast.NamedExpr):
            yield node.target.id
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            yield node.id


def _is_in_comprehension(statement: ast.stmt, node: ast.AST | None) -> bool:
    kinds = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
    return any(isinstance(each, kinds) and node in set(nodes(each)) for each in nodes(statement))


def _is_called_twice(frame: Frame) -> bool:
    """Whether a function may ask again: it gets the same dict, with other values then."""
    named = [node for node in nodes(frame.source.node) if isinstance(node, ast.Name) and node.id == "locals"]
    return len(named) != 1 or "__class__" in frame.closure.function.__code__.co_freevars


def _parameters(frame: Frame) -> Iterator[str]:
    given = frame.source.node.args
    every: Iterable[ast.arg | None] = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
    yield from (each.arg for each in every if each is not None)
