"""Which names a function binds, as Python's compiler decides it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from weakref import WeakKeyDictionary

from adjoint.records import dataclass
from adjoint.sources.trees import children, nodes

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of one function: bound here, declared global, declared nonlocal."""

    local: frozenset[str]
    globals: frozenset[str]
    nonlocals: frozenset[str]


_scopes: WeakKeyDictionary[ast.AST, Scope] = WeakKeyDictionary()
_yields: WeakKeyDictionary[ast.AST, tuple[ast.Yield | ast.YieldFrom, ...]] = WeakKeyDictionary()
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
    for statement in [node.body] if isinstance(node, ast.Lambda) else node.body:
        for part in _binding_parts(statement):
            if isinstance(part, ast.Global):
                declared_global.update(part.names)
            elif isinstance(part, ast.Nonlocal):
                declared_nonlocal.update(part.names)
            else:
                names.add(_name_bound(part))
    local = frozenset(names - declared_global - declared_nonlocal)
    return Scope(local, frozenset(declared_global), frozenset(declared_nonlocal))


def own_yields(node: ast.AST) -> tuple[ast.Yield | ast.YieldFrom, ...]:
    """The expressions in a function, or in a part of one, that yield: not those of functions inside it."""
    found = _yields.get(node)
    if found is None:
        found = _yields[node] = tuple(_find_yields(node))
    return found


def _find_yields(node: ast.AST) -> Iterator[ast.Yield | ast.YieldFrom]:
    body = node.body if isinstance(node, NESTED) else [node]
    waiting: list[ast.AST] = [*body] if isinstance(body, list) else [body]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (ast.Yield, ast.YieldFrom)):
            yield part
        if not isinstance(part, NESTED):
            waiting += children(part)


def assigned_names(statement: ast.AST) -> tuple[str, ...]:
    """The names that running ``statement`` may bind in its own function, each once, in source order."""
    names = _assigned.get(statement)
    if names is None:
        parts = [part for part in _binding_parts(statement) if not isinstance(part, (ast.Global, ast.Nonlocal))]
        names = _assigned[statement] = tuple(dict.fromkeys(map(_name_bound, parts)))
    return names


def _name_bound(part: ast.AST) -> str:
    match part:
        case ast.Name(id=name):
            return name
        case ast.alias(name=name, asname=alias):
            return alias or name.split(".")[0]
        case ast.MatchMapping(rest=str(name)):
            return name
        case _:
            name = part.__dict__["name"]
            assert isinstance(name, str)
            return name


def _binding_parts(node: ast.AST) -> list[ast.AST]:
    """What binds or declares names in this function: not in nested functions; of comprehensions only a walrus."""
    found: list[ast.AST] = []
    _collect(node, found)
    return found


_NAMED = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_BINDING = {*NESTED, *_NAMED, ast.alias, ast.MatchMapping, ast.Global, ast.Nonlocal} - {ast.Lambda}


def _collect(node: ast.AST, found: list[ast.AST]) -> None:
    kind = type(node)
    if kind is ast.Name:
        if type(node.ctx) is not ast.Load:  # type: ignore[attr-defined]
            found.append(node)
        return
    if kind in _BINDING and _binds(node):
        found.append(node)
    if kind in NESTED:
        return
    for child in children(node):
        if isinstance(child, COMPREHENSIONS):
            found.extend(part.target for part in nodes(child) if isinstance(part, ast.NamedExpr))
        else:
            _collect(child, found)


def _binds(node: ast.AST) -> bool:
    """Whether a handler or a pattern gives what it has caught a name."""
    if isinstance(node, ast.MatchMapping):
        return node.rest is not None
    return not isinstance(node, _NAMED) or node.name is not None


_LOOPS = (ast.For, ast.AsyncFor, ast.While, *COMPREHENSIONS)


def bindings_of(function: FunctionNode, name: str) -> int:
    """How often a function, or what is inside of it, binds a variable: 2 stands for more than once, and for loops."""
    spec = function.args
    own = [*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg]
    places = (again for child in ast.iter_child_nodes(function) for again in _bound_again(child, name, False))
    found = sum(2 if again else 1 for again in places)
    return min(2, found + sum(parameter is not None and parameter.arg == name for parameter in own))


def _bound_again(node: ast.AST, name: str, again: bool) -> Iterator[bool]:
    """For each place that binds a variable, whether a program comes there more than once, or it unbinds it."""
    match node:
        case ast.Name(id=found, ctx=ast.Store()) | ast.alias(asname=str() as found) if found == name:
            yield again
        case ast.alias(name=found, asname=None) if found.split(".")[0] == name:
            yield again
        case ast.Name(id=found, ctx=ast.Del()) | ast.ExceptHandler(name=found) if found == name:
            yield True
        case ast.MatchAs(name=found) | ast.MatchStar(name=found) | ast.MatchMapping(rest=found) if found == name:
            yield True
        case ast.Nonlocal(names=names) | ast.Global(names=names) if name in names:
            yield True
        case ast.AugAssign(target=ast.Name(id=found)) if found == name:
            yield True
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and node.name == name:
        yield again
    for child in ast.iter_child_nodes(node):
        yield from _bound_again(child, name, again or isinstance(node, _LOOPS))
