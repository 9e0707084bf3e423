"""What programs of other systems need: their arrays as arguments, constants, pullbacks as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.api.jvp_vjp import vjp
from adjoint.declarations.custom_derivatives import stop_gradient


def as_argument(array: np.ndarray[Any, Any]) -> Any:
    """An array that must not be written; a number, where it has no dimension."""
    if array.ndim == 0:
        number = array[()]
        return number.item() if array.dtype in (np.float64, np.int64, np.bool_, np.complex128) else number
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def with_constants(f: Callable[..., Any], is_constant: tuple[bool, ...]) -> Callable[..., Any]:
    """The function of which some arguments do not vary: nothing is computed for their cotangents."""
    if not any(is_constant):
        return f
    marks = tuple([stop_gradient if fixed else _itself for fixed in is_constant])
    return lambda *args: f(*[mark(x) for mark, x in zip(marks, args, strict=True)])


def _itself(x: Any) -> Any:
    return x


def pulled(f: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    """The pullback of a function, as a function of the cotangent of the result and of the arguments."""
    return lambda cotangent, *args: vjp(f, *args)[1](cotangent)
