"""The function that puts a flat vector back into a structure, which `autograd.misc.flatten` gave: a recorded pullback.

What it does is found by handing it the numbers of the elements: each part of the structure tells where it comes from.
"""

from __future__ import annotations

import ast
import itertools
from functools import lru_cache
from types import FunctionType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.entry.captured import Guard, reader
from adjoint.frontend.external.autograd import definitions
from adjoint.frontend.external.autograd.primitives import captured_in
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import TupleValue, Value

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
