"""Calls of autograd's functions: each means one of NumPy's or SciPy's, an operator, or what is declared with it.

A function that was wrapped by `primitive` is the function inside, unless a derivative was declared for it: that counts.
Those of autograd itself for functions of NumPy and SciPy do not, for which there are rules.
"""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache, lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.calls.rule_calls import call_by_declaration
from adjoint.frontend.entry.captured import Guard, reader
from adjoint.frontend.entry.inputs import captured
from adjoint.frontend.external.autograd import definitions
from adjoint.frontend.external.autograd.primitives import PRIMITIVE, captured_in, cells_of, declaration_of
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import Operator, Record, Ref, TupleValue, Value
from adjoint.rules.declarations import value_of
from adjoint.sources.library_folders import package_of
from adjoint.types.structure import CONTAINERS

_UNTRACED = "notrace_primitive.<locals>.f_wrapped"
"""The wrapper of functions that are handed values without what follows them: they have no derivative."""


def called(lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """The result of a call of a function of autograd's, or of one that it wrapped; None for what means itself."""
    name = getattr(constant, "__qualname__", "")
    if name == PRIMITIVE and isinstance(constant, FunctionType):
        declaration = declaration_of(lo, constant, args)
        if declaration is not None:
            return call_by_declaration(lo, declaration, None, args, kwargs, node)
        return lo.call(ir.Const(constant.fun), args, kwargs, node)  # type: ignore[attr-defined]
    if name == _UNTRACED:
        inside = captured_in(constant)["f_raw"]
        if not isinstance(inside, np.ufunc) and not (getattr(inside, "__module__", "") or "").startswith("numpy"):
            args = [lo.call(ir.Const(stop_gradient), [value], {}, node) for value in args]
        return lo.call(ir.Const(inside), args, kwargs, node)
    if name == RECORDED and len(args) == 1:
        return unflattened(lo, constant, args[0], node)
    if name == _MADE:
        return _called_made(lo, constant, args, kwargs, node)
    meant = _of_numpy(constant)
    if meant is not None:
        return lo.call(ir.Const(meant), args, kwargs, node)
    meaning = _table().get(id(constant))
    return None if meaning is None else meaning(lo, args, kwargs, node)


_IN_PYTHON = "autograd.numpy.numpy_wrapper"
"""Where functions of NumPy are written anew, which take lists of what autograd follows."""


def _of_numpy(constant: Any) -> Any:
    """The function of NumPy that one of `autograd.numpy` in Python means."""
    return _written_anew().get(id(constant)) if getattr(constant, "__module__", None) == _IN_PYTHON else None


@cache
def _written_anew() -> dict[int, Any]:
    there = vars(sys.modules[_IN_PYTHON])
    written = [name for name, value in there.items() if isinstance(value, FunctionType) and hasattr(np, name)]
    return {id(there[name]): getattr(np, name) for name in reversed(written)}


# Operators

_Meaning = Callable[[Lowerer, list[Value], dict[str, Value], ast.AST | None], Any]


@cache
def _table() -> dict[int, _Meaning]:
    """What functions of autograd's mean, by identity."""
    found: dict[int, _Meaning] = {}
    for home, meanings in _MEANINGS.items():
        there = vars(sys.modules[home]) if home in sys.modules else {}
        found.update({id(there[name]): meanings[name] for name in meanings if name in there})
    return found


_MADE = "unary_to_nary.<locals>.nary_operator.<locals>.nary_f"
"""What an operator makes of a function."""


def _called_made(
    lo: Lowerer, constant: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None
) -> Value | None:
    """A call of a derivative that was made outside of the program."""
    held = captured_in(constant)
    operator, place = held["unary_operator"], held["argnum"]
    meaning = _MEANINGS["autograd.differential_operators"].get(getattr(operator, "__name__", ""))
    if meaning is None or package_of(operator) != "autograd":
        return None
    function = captured(lo, held["fun"], ("cell", cells_of(constant)["fun"]), "f", node)
    derivative = meaning(lo, [function, ir.Const(place)], {}, node)
    return lo.call(derivative, args, kwargs, node)


def _operator(kind: str, of: Any = None, **further: Any) -> _Meaning:
    """A differential operator of ours; ``of`` says what is differentiated."""

    def meaning(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        function, place = _given(lo, args, kwargs, node)
        if of is not None:
            function = lo.call(ir.Const(of), [function], {}, node)
        return Operator(kind, function, tuple(sorted({"wrt": place, **further}.items())))

    return meaning


def _map(of: Any, *, of_gradient: bool = False) -> _Meaning:
    """A linear map, or what a linear map gives, of a function or of its gradient."""

    def meaning(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        function, place = _given(lo, args, kwargs, node)
        if of_gradient:
            function = Operator("grad", function, (("wrt", place),))
        return lo.call(ir.Const(of), [function, ir.Const(place)], {}, node)

    return meaning


def _itself(function: Any) -> _Meaning:
    return lambda lo, args, kwargs, node: lo.call(ir.Const(function), args, kwargs, node)


def _getval(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """A value that counts as a constant; in what is declared of a primitive, one of which a derivative is not known."""
    value = (args or [*kwargs.values()])[0]
    if not lo.run_data.declared or not isinstance(value, ir.Var):
        return lo.call(ir.Const(stop_gradient), [value], {}, node)
    return _without_derivative(lo, value, ir.fresh(value.type), node)


def _without_derivative(lo: Lowerer, value: ir.Atom, type_: ir.Type, node: ast.AST | None) -> ir.Var:
    """The same value in a declared derivative: where another derivative would flow through it, that is refused."""
    target = ir.Var("t", type_)
    lo.emit(ir.Call((target,), value_of(lo.run_data.declared[-1]), (value,), (), lo.span(node)))
    return target


@handles(definitions.handed)
def _handed(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """An argument as what is declared sees it: what an object kept when the function ran may depend on the others."""
    (value,) = args
    record = lo.store.get(value) if isinstance(value, Ref) else None
    is_object = isinstance(record, Record) and record.cls not in CONTAINERS and not is_dataclass(record.cls)
    if not is_object or not lo.run_data.declared:
        return value
    return _without_derivative(lo, materialize(lo, value, node, observer=True), ir.OPAQUE, node)


def _decorator(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """What only gives a function the name and the text of another one."""
    return ir.Const(definitions.same)


def _checkpoint(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    return Operator("checkpoint", args[0] if args else kwargs["fun"], ())


def _given(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> tuple[Value, Any]:
    """The function that an operator is handed, and the arguments that it differentiates with respect to."""
    given = dict(zip(("fun", "argnum"), args, strict=False)) | kwargs
    place = materialize(lo, given.get("argnum", given.get("argname", ir.Const(0))), node)
    if not isinstance(place, ir.Const) or "fun" not in given:
        raise lo.problem("AD0301", node, "which argument this differentiates with respect to is not known here")
    return given["fun"], tuple(place.value) if isinstance(place.value, list) else place.value


_MEANINGS: dict[str, dict[str, _Meaning]] = {
    "autograd.differential_operators": {
        "grad": _operator("grad"),
        "grad_named": _operator("grad"),
        "value_and_grad": _operator("value_and_grad"),
        "grad_and_aux": _operator("grad", has_aux=True),
        "elementwise_grad": _operator("grad", definitions.summed),
        "holomorphic_grad": _operator("grad", definitions.real_part),
        "jacobian": _operator("jacobian"),
        "hessian": _operator("hessian"),
        "deriv": _map(definitions.deriv),
        "hessian_tensor_product": _map(definitions.hessian_product, of_gradient=True),
        "tensor_jacobian_product": _map(definitions.jacobian_product),
        "make_vjp": _map(definitions.make_vjp),
        "make_jvp": _map(definitions.make_jvp),
        "make_jvp_reversemode": _map(definitions.make_jvp),
        "make_hvp": _map(definitions.make_vjp, of_gradient=True),
        "checkpoint": _checkpoint,
    },
    "autograd.core": {
        "make_vjp": _itself(definitions.vjp_at),
        "make_jvp": _itself(definitions.jvp_at),
    },
    "autograd.tracer": {"getval": _getval},
    "autograd.numpy.numpy_vjps": {
        "unbroadcast": _itself(definitions.unbroadcast),
        "unbroadcast_f": _itself(definitions.unbroadcast_f),
    },
    "autograd.wrap_util": {"wraps": _decorator, "wrap_nary_f": _decorator},
    "autograd.builtins": {"tuple": _itself(tuple), "list": _itself(list), "dict": _itself(dict)},
}
"""By the module where a function is made, and its name there."""


# The function that puts a flat vector back into a structure, which `autograd.misc.flatten` gave: a recorded pullback.
#
# What it does is found by handing it the numbers of the elements: each part of the structure tells where it comes from.


RECORDED = "make_vjp.<locals>.vjp"
"""The pullback that autograd makes of what it recorded."""


def unflattened(lo: Lowerer, pullback: Any, flat: Value, node: ast.AST | None) -> Value | None:
    """The structure made of a flat vector; None where the pullback is of anything else."""
    places = _places(pullback)
    if places is None:
        return None
    path = ("object", pullback)  # what it recorded has no name by which another process would know it
    lo.run_data.guards.append(Guard(path, reader(path), pullback))
    return _built(lo, flat, places[0], node)


def _built(lo: Lowerer, flat: Value, places: Any, node: ast.AST | None) -> Value:
    match places:
        case dict():
            keys = TupleValue(tuple(map(ir.Const, places)))
            parts = TupleValue(tuple([_built(lo, flat, part, node) for part in places.values()]))
            return lo.call(ir.Const(definitions.table), [keys, parts], {}, node)
        case list() | tuple():
            parts = TupleValue(tuple([_built(lo, flat, part, node) for part in places]))
            return parts if isinstance(places, tuple) else lo.call(ir.Const(list), [parts], {}, node)
    if places.ndim == 0:
        return lo.call(ir.Const(definitions.element), [flat, ir.Const(int(places))], {}, node)
    start = int(places.flat[0]) if places.size else 0
    given = [flat, ir.Const(start), ir.Const(start + places.size), ir.Const(places.shape)]
    return lo.call(ir.Const(definitions.stretch), given, {}, node)


@lru_cache(maxsize=256)
def _places(pullback: Any) -> tuple[Any] | None:
    """Where the parts of the structure lie in the vector; None where they are no stretches of it."""
    length = _length(pullback)
    if length is None:
        return None
    numbers = np.arange(length, dtype=float)
    try:
        places, others = pullback(numbers), pullback(np.sin(numbers))
    except Exception:  # it takes something else
        return None
    pairs = list(zip(_leaves(places), _leaves(others), strict=True))
    if not all(_is_stretch(place, other) for place, other in pairs):
        return None
    return (places,)


def _length(pullback: Any) -> int | None:
    """The length of the vector, which the last operation that was recorded tells: a concatenation or `ravel`."""
    last = captured_in(pullback).get("end_node")
    maps = [each for _, each in _functions(getattr(last, "vjp", None))]
    captured = [captured_in(each) for each in maps]
    stops = [each["idxs"][0].stop for each in captured if "idxs" in each and isinstance(each["idxs"][0], slice)]
    if stops and None not in stops:
        return int(max(stops))
    sizes = [np.size(each["x"]) for each in captured if "x" in each and isinstance(each["x"], (np.ndarray, float))]
    return sizes[0] if sizes else None


def _functions(vjp: Any) -> list[tuple[str, Any]]:
    captured = captured_in(vjp)
    found = [(name, value) for name, value in captured.items() if isinstance(value, FunctionType)]
    several = itertools.chain.from_iterable(value for value in captured.values() if isinstance(value, list))
    return [*found, *[("vjps", each) for each in several if isinstance(each, FunctionType)]]


def _leaves(structure: Any) -> list[Any]:
    match structure:
        case dict():
            return [leaf for part in structure.values() for leaf in _leaves(part)]
        case list() | tuple():
            return [leaf for part in structure for leaf in _leaves(part)]
    return [structure]


def _is_stretch(place: Any, other: Any) -> bool:
    """Whether a part consists of elements in a row, and of nothing else."""
    if not isinstance(place, np.ndarray) or place.dtype != float:
        return False
    row = place.ravel()
    return bool(np.array_equal(row, row[:1] + np.arange(row.size)) and np.array_equal(other, np.sin(place)))
