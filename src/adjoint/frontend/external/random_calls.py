"""The generators of NumPy: what they are, and their draws from distributions whose parameters vary."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.calls.opaque_arguments import may_carry
from adjoint.frontend.external import random_definitions
from adjoint.frontend.external.constant_objects import made_of_constants
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Method, Value
from adjoint.ir.nodes import Attribute, Const, Load, Var
from adjoint.ir.types import Opaque

GENERATORS = (np.random.Generator, np.random.RandomState)
_OF_NUMBERS = """
    normal lognormal uniform exponential laplace logistic gumbel rayleigh weibull pareto
    multivariate_normal choice permutation
"""
_HOMES = {
    **dict.fromkeys(_OF_NUMBERS.split(), "random_definitions"),
    **dict.fromkeys(["standard_gamma", "gamma", "chisquare", "beta", "standard_t"], "random_shapes"),
}
"""Where it says what a draw does; the second asks for SciPy."""


def _making(callee: Any, cls: type) -> Handler:
    def make(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        return made_of_constants(lo, callee, args, kwargs, node, cls, "rng")

    return make


HANDLERS[np.random.default_rng] = _making(np.random.default_rng, np.random.Generator)
for _cls in GENERATORS:
    HANDLERS[_cls] = _making(_cls, _cls)


def drawing(generator: Var, name: str) -> Value | None:
    """The method of a generator that is told whether its parameters vary; None for its other attributes."""
    draw = _draw(name)
    return None if draw is None else Method(Const(draw), generator)


def _draw(name: str) -> Callable[..., Any] | None:
    if name not in _HOMES:
        return None
    try:
        home = import_module(f"adjoint.frontend.external.{_HOMES[name]}")
    except ImportError:  # without SciPy
        return None
    draw: Callable[..., Any] = getattr(home, name)
    HANDLERS.setdefault(draw, _of_constants(name))
    return draw


def _of_constants(name: str) -> Handler:
    """Handles a draw none of whose parameters varies: as the call that it is."""

    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        generator, given = args[0], args[1:]
        if any(may_carry(lo, value) for value in (*given, *kwargs.values())):
            return NotImplemented
        return _plain(lo, generator, name, given, kwargs, node)

    return call


def _plain(
    lo: Lowerer, generator: Value, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value:
    method = Var(name, Opaque())
    lo.emit(Load(method, generator, Attribute(name), lo.span(node)))  # type: ignore[arg-type]
    return lo.call(method, args, kwargs, node)


@handles(random_definitions.plain_draw)
def _plain_draw(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    generator, name, *parameters = args
    assert isinstance(name, Const)
    return _plain(lo, generator, name.value, parameters, kwargs, node)


def _of_the_module(name: str) -> Handler:
    """Handles a draw by the generator that the module itself has."""

    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        draw = _draw(name) if any(may_carry(lo, value) for value in (*args, *kwargs.values())) else None
        return NotImplemented if draw is None else lo.call(Const(draw), [Const(np.random), *args], kwargs, node)

    return call


for _name in _HOMES:
    HANDLERS[getattr(np.random, _name)] = _of_the_module(_name)
