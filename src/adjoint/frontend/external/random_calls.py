"""The generators of NumPy and of Python: what they are, what they give, and draws whose parameters vary."""

from __future__ import annotations

import ast
import functools
import random
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.calls.opaque_arguments import may_carry
from adjoint.frontend.external import random_definitions
from adjoint.frontend.external.constant_objects import made_of_constants
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import NONE, Method, TupleValue, Value
from adjoint.ir.nodes import Attribute, Call, Const, Load, Var
from adjoint.ir.types import FLOAT, INT, Array, Dim, Opaque, Scalar, Type
from adjoint.runtime import display

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
_PARAMETERS = {
    **dict.fromkeys(["random", "random_sample", "rand", "randn"], 0),
    **dict.fromkeys(["standard_normal", "standard_exponential", "standard_cauchy"], 0),
    **dict.fromkeys(["exponential", "rayleigh", "standard_gamma", "chisquare", "standard_t"], 1),
    **dict.fromkeys(["weibull", "pareto", "power"], 1),
    **dict.fromkeys(["normal", "uniform", "lognormal", "laplace", "logistic", "gumbel", "vonmises", "wald"], 2),
    **dict.fromkeys(["gamma", "beta", "f", "noncentral_chisquare"], 2),
    **dict.fromkeys(["triangular", "noncentral_f"], 3),
}
_WHOLE = {
    **dict.fromkeys(["poisson", "geometric", "logseries", "zipf"], 1),
    **dict.fromkeys(["binomial", "negative_binomial", "integers", "randint"], 2),
    "hypergeometric": 3,
}
"""How many parameters the draws of NumPy have before the size: without one, they give a number of Python."""
_OF_PYTHON = """
    random uniform triangular betavariate expovariate gammavariate gauss lognormvariate normalvariate vonmisesvariate
    paretovariate weibullvariate
"""
_WHOLE_OF_PYTHON = "randint randrange getrandbits"
"""The draws of Python that give a float, and those that give a whole number."""


def _making(callee: Any, cls: type) -> Handler:
    def make(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        return made_of_constants(lo, callee, args, kwargs, node, cls, "rng")

    return make


HANDLERS[np.random.default_rng] = _making(np.random.default_rng, np.random.Generator)
for _cls in (*GENERATORS, random.Random):
    HANDLERS[_cls] = _making(_cls, _cls)


def drawing(generator: Var, name: str) -> Value | None:
    """A method of a generator that draws numbers; None for its other attributes."""
    if _is_pythons(generator):
        return Method(Const(_as_it_is(name)), generator) if _type_of_pythons(name) is not None else None
    draw = _draw(name)
    if draw is None and (name in _PARAMETERS or name in _WHOLE):
        draw = _as_it_is(name)
    return None if draw is None else Method(Const(draw), generator)


def _draw(name: str) -> Callable[..., Any] | None:
    """What says how a draw depends on its parameters."""
    if name not in _HOMES:
        return None
    try:
        home = import_module(f"adjoint.frontend.external.{_HOMES[name]}")
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
        if isinstance(args[0], Var) and _is_pythons(args[0]):
            found = _moved_and_scaled(lo, name, args, kwargs, node)
        return _plain(lo, args[0], name, args[1:], kwargs, node) if found is None else found

    HANDLERS[draw] = call
    return draw


def _moved_and_scaled(
    lo: Lowerer, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """A draw of Python whose parameters vary, by what does not depend on them; None where that is not said."""
    draw = getattr(random_definitions, f"python_{name}", None)
    if draw is None or not any(may_carry(lo, value) for value in (*args[1:], *kwargs.values())):
        return None
    return lo.call(Const(draw), args, kwargs, node)


def _of_constants(name: str) -> Handler:
    """Handles a draw none of whose parameters varies: as the call that it is."""

    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        generator, given = args[0], args[1:]
        if any(may_carry(lo, value) for value in (*given, *kwargs.values())):
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
    method = Var(name, Opaque())
    lo.emit(Load(method, generator, Attribute(name), lo.span(node)))  # type: ignore[arg-type]
    type_ = None
    if of_constants or not any(may_carry(lo, value) for value in (*args, *kwargs.values())):
        is_of_python = isinstance(generator, Var) and _is_pythons(generator)
        type_ = _number_of_python(name, args, kwargs) if is_of_python else _given_by_numpy(name, args, kwargs)
    if type_ is None:
        return lo.call(method, args, kwargs, node)
    return _drawn(lo, type_, display.call, [method, *args], kwargs, node)


def _given_by_numpy(name: str, args: list[Value], kwargs: dict[str, Value]) -> Type | None:
    """The type of what a draw gives, where numbers are its parameters and the rank is known; else None."""
    if name in ("permutation", "choice"):
        return _chosen(name, args, kwargs)
    count = _WHOLE.get(name, _PARAMETERS.get(name))
    if count is None or {"out", "dtype"} & kwargs.keys():
        return None
    given = [*args[:count], *[value for key, value in kwargs.items() if key != "size"]]
    if not all(value == NONE or _is_number(value) for value in given):
        return None
    number = FLOAT if name in _PARAMETERS else Scalar("int", np.dtype(np.int64)) if name == "integers" else INT
    if name in ("rand", "randn"):
        return _array_of(number, len(args)) if all(map(_is_whole, args)) else None
    rank = _rank([*args[count:], *[value for key, value in kwargs.items() if key == "size"]])
    return None if rank is None else _array_of(number, rank)


def _chosen(name: str, args: list[Value], kwargs: dict[str, Value]) -> Type | None:
    """The same of ``permutation(n)`` and ``choice(n, size)``."""
    if not args or not _is_whole(args[0]):
        return None
    sizes = [*args[1:2], *[value for key, value in kwargs.items() if key == "size"]]
    rank = 1 if name == "permutation" else _rank(sizes)
    return None if rank is None else _array_of(INT, rank)


def _rank(sizes: list[Value]) -> int | None:
    """How many axes a draw has; None if it is not known."""
    match sizes:
        case []:
            return 0
        case [Const(value=None)]:
            return 0
        case [TupleValue(items=items)] | [Const(value=tuple() as items)]:
            return len(items) or None  # an array of no axes is none of these
        case [size] if _is_whole(size):
            return 1
        case _:
            return None


def _array_of(number: Scalar, rank: int) -> Type:
    dtype = np.dtype(np.int64) if number.kind == "int" else np.dtype(np.float64)
    extent: Dim = "any"
    return number if rank == 0 else Array(dtype, (extent,) * rank)


def _is_whole(value: Value) -> bool:
    if isinstance(value, Const):
        return isinstance(value.value, (int, np.integer)) and not isinstance(value.value, bool)
    return isinstance(value, Var) and isinstance(value.type, Scalar) and value.type.kind == "int"


def _number_of_python(name: str, args: list[Value], kwargs: dict[str, Value]) -> Type | None:
    """The same for Python's draws, which compute with the numbers that they are given."""
    is_plain = all(_is_number(value, of_python=True) for value in (*args, *kwargs.values()))
    return _type_of_pythons(name) if is_plain else None


def _type_of_pythons(name: str) -> Type | None:
    return FLOAT if name in _OF_PYTHON.split() else INT if name in _WHOLE_OF_PYTHON.split() else None


def _is_pythons(generator: Var) -> bool:
    return isinstance(generator.type, Opaque) and generator.type.cls is random.Random


def _is_number(value: Value, *, of_python: bool = False) -> bool:
    if isinstance(value, Const):
        kinds = (int, float, np.number)
        return isinstance(value.value, kinds) and not (of_python and isinstance(value.value, np.generic))
    if not isinstance(value, Var) or not isinstance(value.type, Scalar):
        return False
    return value.type.dtype is None or not of_python


def _drawn(
    lo: Lowerer, type_: Type, callee: Any, args: list[Any], kwargs: dict[str, Value], node: ast.AST | None
) -> Var:
    target = Var("t", type_)
    atoms = tuple([materialize(lo, value, node) for value in args])
    pairs = tuple([(key, materialize(lo, value, node)) for key, value in kwargs.items()])
    lo.emit(Call((target,), callee, atoms, pairs, lo.span(node)))
    return target


@handles(random_definitions.plain_draw)
def _plain_draw(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    generator, name, *parameters = args
    assert isinstance(name, Const)
    return _plain(lo, generator, name.value, parameters, kwargs, node, of_constants=True)


def _of_the_module(name: str, function: Any) -> Handler:
    """Handles a draw by the generator that NumPy's module itself has."""

    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if any(may_carry(lo, value) for value in (*args, *kwargs.values())):
            draw = _draw(name)
            return NotImplemented if draw is None else lo.call(Const(draw), [Const(np.random), *args], kwargs, node)
        type_ = _given_by_numpy(name, args, kwargs)
        return NotImplemented if type_ is None else _drawn(lo, type_, function, args, kwargs, node)

    return call


for _name in {**_HOMES, **_PARAMETERS, **_WHOLE}:
    if hasattr(np.random, _name):
        HANDLERS[getattr(np.random, _name)] = _of_the_module(_name, getattr(np.random, _name))


def _of_pythons_module(name: str, function: Any) -> Handler:
    """The same for Python's module."""

    def call(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if any(may_carry(lo, value) for value in (*args, *kwargs.values())):
            found = _moved_and_scaled(lo, name, [Const(random), *args], kwargs, node)
            return NotImplemented if found is None else found
        type_ = _number_of_python(name, args, kwargs)
        return NotImplemented if type_ is None else _drawn(lo, type_, function, args, kwargs, node)

    return call


for _name in (*_OF_PYTHON.split(), *_WHOLE_OF_PYTHON.split()):
    HANDLERS[getattr(random, _name)] = _of_pythons_module(_name, getattr(random, _name))
