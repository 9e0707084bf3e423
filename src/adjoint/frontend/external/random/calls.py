"""The generators of NumPy and of Python: what they are, what they give, and draws whose parameters vary."""

from __future__ import annotations

import ast
import functools
import random
from collections.abc import Callable
from importlib import import_module
from types import MethodType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.calls.opaque.arguments import any_carries
from adjoint.frontend.external.constant_objects import made_of_constants
from adjoint.frontend.external.random import definitions as random_definitions
from adjoint.frontend.external.random import types as random_types
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import Method, Value
from adjoint.runtime import display

GENERATORS = (np.random.Generator, np.random.RandomState)
_OF_NUMBERS = """
    normal lognormal uniform exponential laplace logistic gumbel rayleigh weibull pareto power triangular
    multivariate_normal choice permutation
"""
_HOMES = {
    **dict.fromkeys(_OF_NUMBERS.split(), "definitions"),
    **dict.fromkeys(["standard_gamma", "gamma", "chisquare", "beta", "standard_t", "f", "dirichlet"], "shapes"),
}
"""Where it says what a draw does; the second asks for SciPy."""


def _making(callee: Any, cls: type) -> Handler:
    def make(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        return made_of_constants(lo, callee, args, kwargs, node, cls, "rng")

    return make


HANDLERS[np.random.default_rng] = _making(np.random.default_rng, np.random.Generator)
for _cls in (*GENERATORS, random.Random):
    HANDLERS[_cls] = _making(_cls, _cls)


def drawing(generator: ir.Var, name: str) -> Value | None:
    """A method of a generator that draws numbers; None for its other attributes."""
    if _is_pythons(generator):
        return Method(ir.Const(_as_it_is(name)), generator) if name in random_types.OF_PYTHON else None
    draw = _draw(name)
    if draw is None and name in random_types.KNOWN:
        draw = _as_it_is(name)
    return None if draw is None else Method(ir.Const(draw), generator)


def _draw(name: str) -> Callable[..., Any] | None:
    """What says how a draw depends on its parameters."""
    if name not in _HOMES:
        return None
    try:
        home = import_module(f"adjoint.frontend.external.random.{_HOMES[name]}")
    except ImportError:  # without SciPy
        return None
    draw: Callable[..., Any] = getattr(home, name)
    HANDLERS.setdefault(draw, _of_constants(name))
    return draw


@functools.cache
def _as_it_is(name: str) -> Callable[..., Any]:
    """What stands for a draw whose parameters do not vary."""

    def draw(generator: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(generator, name)(*args, **kwargs)

    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        found = None
        if isinstance(args[0], ir.Var) and _is_pythons(args[0]) and any_carries(lo, args[1:], kwargs):
            found = _moved_and_scaled(lo, name, args, kwargs, node)
        return _plain(lo, args[0], name, args[1:], kwargs, node) if found is None else found

    HANDLERS[draw] = call
    return draw


def _moved_and_scaled(
    lo: Lowerer, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """A draw of Python whose parameters vary, by what does not depend on them; None where that is not said."""
    draw = getattr(random_definitions, f"python_{name}", None)
    return None if draw is None else lo.call(ir.Const(draw), args, kwargs, node)


def _of_constants(name: str) -> Handler:
    """Handles a draw none of whose parameters varies: as the call that it is."""

    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        generator, given = args[0], args[1:]
        if any_carries(lo, given, kwargs):
            return NotImplemented
        return _plain(lo, generator, name, given, kwargs, node)

    return call


def _plain(
    lo: Lowerer,
    generator: Value,
    name: str,
    args: list[Value],
    kwargs: dict[str, Value],
    node: ast.AST | None,
    *,
    of_constants: bool = False,
) -> Value:
    """The call of a method as it is; one whose parameters may vary is a call of an opaque function."""
    method = ir.Var(name, ir.Opaque(MethodType))
    lo.emit(ir.Load(method, generator, ir.Attribute(name), lo.span(node)))  # type: ignore[arg-type]
    type_ = None
    if of_constants or not any_carries(lo, args, kwargs):
        is_of_python = isinstance(generator, ir.Var) and _is_pythons(generator)
        given_by = random_types.given_by_python if is_of_python else random_types.given_by_numpy
        type_ = given_by(name, args, kwargs)
    if type_ is None:
        return lo.call(method, args, kwargs, node)
    return _drawn(lo, type_, method, args, kwargs, node)


def _is_pythons(generator: ir.Var) -> bool:
    return isinstance(generator.type, ir.Opaque) and generator.type.cls is random.Random


def _drawn(
    lo: Lowerer, type_: ir.Type, method: ir.Atom, args: list[Any], kwargs: dict[str, Value], node: ast.AST | None
) -> ir.Var:
    target = ir.Var("t", type_)
    atoms = tuple([materialize(lo, value, node) for value in args])
    pairs = tuple([(key, materialize(lo, value, node)) for key, value in kwargs.items()])
    lo.emit(ir.Call((target,), display.draw, (method, *atoms), pairs, lo.span(node)))
    return target


@handles(random_definitions.plain_draw)
def _plain_draw(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    generator, name, *parameters = args
    assert isinstance(name, ir.Const)
    return _plain(lo, generator, name.value, parameters, kwargs, node, of_constants=True)


def _of_the_module(name: str, function: Any) -> Handler:
    """Handles a draw by the generator that NumPy's module itself has."""

    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if any_carries(lo, args, kwargs):
            draw = _draw(name)
            return (
                NotImplemented if draw is None else lo.call(ir.Const(draw), [ir.Const(np.random), *args], kwargs, node)
            )
        type_ = random_types.given_by_numpy(name, args, kwargs)
        return NotImplemented if type_ is None else _drawn(lo, type_, ir.Const(function), args, kwargs, node)

    return call


for _name in {**_HOMES, **dict.fromkeys(random_types.KNOWN)}:
    if hasattr(np.random, _name):
        HANDLERS[getattr(np.random, _name)] = _of_the_module(_name, getattr(np.random, _name))


def _of_pythons_module(name: str, function: Any) -> Handler:
    """The same for Python's module."""

    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if any_carries(lo, args, kwargs):
            found = _moved_and_scaled(lo, name, [ir.Const(random), *args], kwargs, node)
            return NotImplemented if found is None else found
        type_ = random_types.given_by_python(name, args, kwargs)
        return NotImplemented if type_ is None else _drawn(lo, type_, ir.Const(function), args, kwargs, node)

    return call


for _name in random_types.OF_PYTHON:
    HANDLERS[getattr(random, _name)] = _of_pythons_module(_name, getattr(random, _name))
