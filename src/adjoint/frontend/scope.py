"""Which names a function binds, as Python's compiler decides it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from adjoint.records import dataclass

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of one function: bound here, declared global, declared nonlocal."""

    local: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]


_scopes: WeakKeyDictionary[ast.AST, Scope] = WeakKeyDictionary()
_assigned: WeakKeyDictionary[ast.AST, tuple[str, ...]] = WeakKeyDictionary()


def scope_of(node: FunctionNode) -> Scope:
    scope = _scopes.get(node)
    if scope is None:
        scope = _scopes[node] = _find_scope(node)
    return scope


def _find_scope(node: FunctionNode) -> Scope:
    arguments = node.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    parameters += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    names = {parameter.arg for parameter in parameters}
    declared_global: set[str] = set()
    declared_nonlocal: set[str] = set()
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    for statement in body:
        names.update(_bound(statement))
        for part in _walk_here(statement):
            if isinstance(part, ast.Global):
                declared_global.update(part.names)
            elif isinstance(part, ast.Nonlocal):
                declared_nonlocal.update(part.names)
    local = frozenset(names - declared_global - declared_nonlocal)
    return Scope(local, frozenset(declared_global), frozenset(declared_nonlocal))


def assigned_names(statement: ast.AST) -> tuple[str, ...]:
    """The names that running ``statement`` may bind in its own function, each once, in source order."""
    names = _assigned.get(statement)
    if names is None:
        names = _assigned[statement] = tuple(dict.fromkeys(_bound(statement)))
    return names


def _bound(statement: ast.AST) -> Iterator[str]:
    for part in _walk_here(statement):
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.ExceptHandler(name=str(name)):
                yield name
            case ast.alias(name=name, asname=alias):
                yield alias or name.split(".")[0]
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name
            case ast.MatchMapping(rest=str(name)):
                yield name


def _walk_here(node: ast.AST) -> list[ast.AST]:
    """The nodes of this function: not into nested functions; of comprehensions only what leaks (walrus)."""
    found: list[ast.AST] = []
    _collect(node, found)
    return found


def _collect(node: ast.AST, found: list[ast.AST]) -> None:
    found.append(node)
    if isinstance(node, _NESTED):
        return
    for value in node.__dict__.values():
        for child in value if type(value) is list else (value,):
            if isinstance(child, _COMPREHENSIONS):
                found.extend(part.target for part in ast.walk(child) if isinstance(part, ast.NamedExpr))
            elif isinstance(child, ast.AST) and child._fields:
                _collect(child, found)
