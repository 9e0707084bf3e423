"""Functions of NumPy that are helpers, for the arguments that these are for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.native.helpers import array_functions
from adjoint.native.llvm.rules import arrays
from adjoint.native.llvm.rules.helpers import helper
from adjoint.native.llvm.rules.table import rule
from adjoint.native.llvm.values import Array, Number, Unsupported, Value
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.array_functions import linalg


def _declare(callee: Any, function: Callable[..., Any], fits: Callable[..., bool]) -> None:
    made = helper(function)

    @rule(callee)
    def write(e: Emission, *args: Value, **named: Value) -> Value:
        try:
            is_fit = fits(*args, **named)
        except TypeError:  # it knows no such options
            is_fit = False
        if not is_fit:
            raise Unsupported(f"a call of {callee.__name__} with these options")
        return made(e, *args, **named)  # type: ignore[no-any-return]


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


def _is_repeated(a: Value, repeats: Value) -> bool:
    return _is_vector(a) and isinstance(repeats, Number)


def _are_floats(start: Value, stop: Value, num: Value | None = None) -> bool:
    return all(isinstance(each, Number) for each in (start, stop)) and (num is None or isinstance(num, Number))


helper(array_functions.distinct, linalg.distinct)
_declare(np.linalg.norm, array_functions.norm, _is_usual)
_declare(np.std, array_functions.std, _are_floats_of)
_declare(np.trace, array_functions.trace, _is_matrix)
_declare(np.flip, array_functions.flip, _is_vector)
_declare(np.diff, array_functions.diff, _is_vector)
_declare(np.linspace, array_functions.linspace, _are_floats)
_declare(np.repeat, array_functions.repeat, _is_repeated)
