"""What is done to one parameter, taken from the source of a function."""

from __future__ import annotations

import ast
import builtins
import copy
import dataclasses
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.diagnostics import error
from adjoint.sources.definitions import FunctionSource, find

_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.If, ast.Expr, ast.Pass)


@dataclass(frozen=True, slots=True)
class Formula:
    """The statements of an update of one parameter.

    Attributes
    ----------
    name
        The function's name.
    values
        The names of its positional parameters: one for each structure.
    constants
        The names of its keyword-only parameters, which are the same for all parameters of a structure.
    written
        Those of ``values`` that it assigns to.
    replaced
        Those that it binds to new values, rather than only writes in place.
    augmented
        Those that it writes in place.
    body
        The statements.
    globals
        What the other names in it refer to.
    """

    name: str
    values: tuple[str, ...]
    constants: tuple[str, ...]
    written: tuple[str, ...]
    replaced: frozenset[str]
    augmented: frozenset[str]
    body: tuple[ast.stmt, ...]
    globals: dict[str, Any]

    def specialized(self, flags: dict[str, bool]) -> Formula:
        """The formula where some constants are known to be True or False."""
        if not flags:
            return self
        fold = _Fold(flags)
        body = [statement for part in self.body for statement in fold.block(copy.deepcopy(part))]
        return dataclasses.replace(self, body=tuple(body))

    @property
    def is_elementwise(self) -> bool:
        """Whether each element of the results depends on the same element of the arguments only."""
        return all(_is_elementwise(statement, self.globals) for statement in self.body)

    @property
    def takes_steps(self) -> bool:
        """Whether it only adds to the first of its values, and does not read it."""
        name = self.values[0]
        steps = sum(
            isinstance(node, ast.AugAssign) and isinstance(node.op, (ast.Add, ast.Sub)) and _names(node.target, name)
            for part in self.body
            for node in ast.walk(part)
        )
        return steps == sum(_names(node, name) for part in self.body for node in ast.walk(part))

    @property
    def is_exact(self) -> bool:
        """Whether it is elementwise, of functions whose results do not depend on how many elements there are."""
        return self.is_elementwise and all(_is_exact(statement, self.globals) for statement in self.body)


def formula_of(function: Callable[..., Any]) -> Formula:
    """Reads a function that assigns to its positional parameters.

    Raises
    ------
    DifferentiationError
        AD0701 where it does anything else.
    """
    source = find(function)
    node = source.node
    if isinstance(node, ast.Lambda):
        raise _refused(source, node, "a lambda cannot assign to its parameters")
    arguments = node.args
    if arguments.vararg or arguments.kwarg or arguments.defaults or any(arguments.kw_defaults):
        raise _refused(source, node, "its parameters are plain names: no defaults, no '*args', no '**kwargs'")
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    for part in _statements(body):
        if not isinstance(part, _SIMPLE):
            raise _refused(source, part, "only assignments to names and 'if' can be unrolled")
        for target in _targets(part):
            if not isinstance(target, ast.Name):
                raise _refused(source, target, "only names can be assigned to")
    values = tuple(argument.arg for argument in (*arguments.posonlyargs, *arguments.args))
    constants = tuple(argument.arg for argument in arguments.kwonlyargs)
    bound = {target.id: part for part in _statements(body) for target in _targets(part) if isinstance(target, ast.Name)}
    for name, part in bound.items():
        if name in constants:
            raise _refused(source, part, f"'{name}' is the same for all parameters: it cannot be assigned to")
    written = tuple(name for name in values if name in bound)
    if not written:
        raise _refused(source, node, "it assigns to none of its parameters, so it changes nothing")
    return Formula(
        node.name,
        values,
        constants,
        written,
        frozenset(_replaced(body)) & set(values),
        frozenset(_augmented(body)) & set(values),
        tuple(_without_sharing(body)),
        _free_names(function, body, {*values, *constants, *bound}, source),
    )


def _refused(source: FunctionSource, node: ast.AST, label: str) -> Exception:
    span = source.heading if node is source.node else source.span(node)
    return error("AD0701", span, label, name=source.name)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for part in body:
        yield part
        if isinstance(part, ast.If):
            yield from _statements(part.body)
            yield from _statements(part.orelse)


def _targets(part: ast.stmt) -> list[ast.expr]:
    if isinstance(part, ast.Assign):
        return part.targets
    return [part.target] if isinstance(part, (ast.AugAssign, ast.AnnAssign)) else []


def _replaced(body: list[ast.stmt]) -> Iterator[str]:
    for part in _statements(body):
        if not isinstance(part, ast.AugAssign):
            yield from (target.id for target in _targets(part) if isinstance(target, ast.Name))


def _augmented(body: list[ast.stmt]) -> Iterator[str]:
    for part in _statements(body):
        if isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            yield part.target.id


def _free_names(
    function: Callable[..., Any], body: list[ast.stmt], bound: set[str], source: FunctionSource
) -> dict[str, Any]:
    """What the names refer to that the function does not bind: modules, functions and classes only.

    The text is made once; data that changes afterwards would be left out of it.
    """
    found = inspect.getclosurevars(inspect.unwrap(function))
    known = {**vars(builtins), **found.globals, **found.nonlocals}
    names: dict[str, Any] = {}
    for part in body:
        for node in ast.walk(part):
            if not isinstance(node, ast.Name) or node.id in bound or node.id in names:
                continue
            value = known.get(node.id)
            if not isinstance(value, types.ModuleType) and not callable(value):
                raise _refused(source, node, f"'{node.id}' is no parameter: hand it over as a keyword-only one")
            names[node.id] = value
    return names


def _without_sharing(body: list[ast.stmt]) -> list[ast.stmt]:
    """Copies where a name is bound to an array that is written under one of its names: numbers share nothing."""
    unshare = _Unshare({*_augmented(body)})
    return [unshare.visit(copy.deepcopy(part)) for part in body]


class _Unshare(ast.NodeTransformer):
    def __init__(self, augmented: set[str]) -> None:
        self.augmented = augmented

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        node.value = self._copied(node.value, bool(names & self.augmented))
        return node

    def _copied(self, value: ast.expr, is_written: bool) -> ast.expr:
        if isinstance(value, ast.IfExp):
            value.body, value.orelse = self._copied(value.body, is_written), self._copied(value.orelse, is_written)
            return value
        if isinstance(value, ast.Name) and (is_written or value.id in self.augmented):
            return ast.UnaryOp(ast.UAdd(), value)
        return value


class _Fold(ast.NodeTransformer):
    """Decides conditions that are known."""

    def __init__(self, flags: dict[str, bool]) -> None:
        self.flags = flags

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        visited = self.visit(statement)
        return visited if isinstance(visited, list) else [] if visited is None else [visited]

    def visit_If(self, node: ast.If) -> Any:
        known = self._known(node.test)
        if known is None:
            return self.generic_visit(node)
        return [statement for part in (node.body if known else node.orelse) for statement in self.block(part)]

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        known = self._known(node.test)
        if known is None:
            return self.generic_visit(node)
        return self.visit(node.body if known else node.orelse)

    def _known(self, test: ast.expr) -> bool | None:
        if isinstance(test, ast.Name):
            return self.flags.get(test.id)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            known = self._known(test.operand)
            return None if known is None else not known
        return None


_OPERATORS = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name, ast.operator, ast.unaryop, ast.expr_context)
_ELEMENTWISE = (np.where,)


def _is_elementwise(statement: ast.stmt, names: dict[str, Any]) -> bool:
    nodes = list(ast.walk(statement))
    for node in nodes:
        if isinstance(node, ast.Call):
            called = resolved(node.func, names)
            if node.keywords or not (isinstance(called, np.ufunc) or called in _ELEMENTWISE):
                return False
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            return False
        elif isinstance(node, (ast.Attribute, ast.Compare, ast.cmpop)):
            continue
        elif not isinstance(node, (*_OPERATORS, ast.Assign, ast.AugAssign)):
            return False
    return True


_EXACT = (
    np.where,
    np.sqrt,
    np.abs,
    np.sign,
    np.square,
    np.maximum,
    np.minimum,
    np.copysign,
)


def _names(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_exact(statement: ast.stmt, names: dict[str, Any]) -> bool:
    for node in ast.walk(statement):
        if isinstance(node, ast.Call) and resolved(node.func, names) not in _EXACT:
            return False
        if isinstance(node, (ast.Pow, ast.Mod, ast.FloorDiv)):
            return False
    return True


def resolved(node: ast.expr, names: dict[str, Any]) -> Any:
    """What a name, or an attribute of a module, refers to; None where it is something else."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        module = resolved(node.value, names)
        return getattr(module, node.attr, None) if isinstance(module, types.ModuleType) else None
    return None
