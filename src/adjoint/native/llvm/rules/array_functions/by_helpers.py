"""Functions of NumPy that are helpers, for the arguments that these are for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.native.helpers import array_functions
from adjoint.native.llvm.rules import arrays
from adjoint.native.llvm.rules.helpers import helper
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import Array, Known, Number, Unsupported, Value
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime import objects
from adjoint.runtime.array_functions import cholesky, linalg


def _declare(callee: Any, *functions: tuple[Callable[..., Any], Callable[..., bool]]) -> None:
    """Declares helpers for a function, each with which arguments it is for."""
    helpers = [(helper(function), fits) for function, fits in functions]

    @rule(callee)
    def write(e: Emission, *args: Value, **named: Value) -> Value:
        for made, fits in helpers:
            try:
                is_fit = fits(*args, **named)
            except TypeError:  # it knows no such options
                continue
            if is_fit:
                return made(e, *args, **named)  # type: ignore[no-any-return]
        raise Unsupported(f"a call of {callee.__name__} with these options")


def _is_usual(x: Value, ord: Value | None = None, axis: Value | None = None, keepdims: Value | None = None) -> bool:
    is_plain = ord is None or arrays.is_none(ord)
    return (
        is_plain and isinstance(x, Array) and x.kind.element == "f8" and (axis is None or not isinstance(axis, Array))
    )


def _are_floats_of(
    a: Value, axis: Value | None = None, ddof: Value | None = None, keepdims: Value | None = None
) -> bool:
    return isinstance(a, Array) and a.kind.element == "f8"


def _is_vector(x: Value, *options: Value) -> bool:
    return isinstance(x, Array) and x.kind.rank == 1 and not options


def _is_matrix(x: Value, *options: Value) -> bool:
    return isinstance(x, Array) and x.kind.rank == 2 and x.kind.element == "f8" and not options


def _are_matrices(*values: Value) -> bool:
    return all(map(_is_matrix, values))


def _is_repeated(a: Value, repeats: Value) -> bool:
    return _is_vector(a) and isinstance(repeats, Number)


def _are_floats(start: Value, stop: Value, num: Value | None = None) -> bool:
    return all(isinstance(each, Number) for each in (start, stop)) and (num is None or isinstance(num, Number))


def _is_float_vector(*values: Value) -> bool:
    return all(isinstance(x, Array) and x.kind.rank == 1 and x.kind.element == "f8" for x in values)


def _are_float_vectors(a: Value, b: Value) -> bool:
    return _is_float_vector(a, b)


def _are_convolved(a: Value, v: Value, mode: Value | None = None) -> bool:
    return _is_float_vector(a, v) and (mode is None or isinstance(mode, Known))


def _is_float(x: Value) -> bool:
    return isinstance(x, Number) and x.kind == "f8"


def _is_sought(a: Value, v: Value, side: Value | None = None) -> bool:
    return _is_float_vector(a) and _is_float(v) and (side is None or isinstance(side, Known))


def _are_sought(a: Value, v: Value, side: Value | None = None) -> bool:
    return _is_float_vector(a, v) and (side is None or isinstance(side, Known))


def _is_place(x: Value, xp: Value, fp: Value) -> bool:
    return _is_float(x) and _is_float_vector(xp, fp)


def _are_places(x: Value, xp: Value, fp: Value) -> bool:
    return _is_float_vector(x, xp, fp)


helper(array_functions.distinct, linalg.distinct)
helper(array_functions.slice_bounds, objects.slice_bounds)
_declare(np.linalg.norm, (array_functions.norm, _is_usual))
_declare(np.std, (array_functions.std, _are_floats_of))
_declare(cholesky.cholesky_pullback, (cholesky.of_matrix, _are_matrices))
_declare(np.trace, (array_functions.trace, _is_matrix))
_declare(np.diff, (array_functions.diff, _is_vector))
_declare(np.linspace, (array_functions.linspace, _are_floats))
_declare(np.repeat, (array_functions.repeat, _is_repeated))
_declare(np.outer, (array_functions.outer, _are_float_vectors))
_declare(np.kron, (array_functions.kron, _are_float_vectors))
_declare(
    np.cross,
    (array_functions.cross_with_planes if array_functions.KNOWS_PLANES else array_functions.cross, _are_float_vectors),
)
_declare(np.convolve, (array_functions.convolve, _are_convolved))
_declare(np.searchsorted, (array_functions.place_of, _is_sought), (array_functions.places_of, _are_sought))
_declare(np.interp, (array_functions.interpolated, _is_place), (array_functions.interpolated_at, _are_places))
