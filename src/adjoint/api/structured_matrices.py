"""Matrices of derivatives of structures: one block for each pair of leaves, in the structure of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.api.tools.float_leaves import children, is_float_leaf, leaves, read_tangent, tangent_of
from adjoint.diagnostics import error
from adjoint.runtime.boundary import check_class
from adjoint.types import memberwise, tangent_class
from adjoint.types.structure import is_container
from adjoint.types.vectors import TangentVector, shadow_class

Matrix = np.ndarray[Any, Any]


def has_structure(x: Any) -> bool:
    """Whether a value is made of parts, unlike a number or an array."""
    return not isinstance(x, (np.ndarray, np.generic)) and is_container(x)


def numbers_in(x: Any, what: str) -> int:
    """How many numbers of a structure vary; refuses one of none, and complex numbers, which blocks are not made of."""
    try:
        refuse_complex(x, what)
    except RecursionError:
        raise error("AD0404", None, f"{what} contains itself, or is nested too deeply") from None
    count = sum(int(np.size(leaf)) for _, leaf in leaves(x))
    if count == 0 and not leaves(x):
        kind = type(x).__name__
        raise error("AD0404", None, f"{what} is of class {kind!r}, and holds no floats", helps=("give it floats",))
    return count


def refuse_complex(x: Any, what: str) -> None:
    """Refuses complex numbers, and what looks like a container and is not looked into, anywhere in a structure."""
    check_class(x, what)
    if isinstance(x, (complex, np.complexfloating)) or (isinstance(x, np.ndarray) and x.dtype.kind == "c"):
        helps = ("take real and imaginary parts for arguments of their own",)
        raise error("AD0404", None, f"{what} holds complex numbers", helps=helps)
    if not isinstance(x, (np.ndarray, np.generic, str)):
        for _, part in children(x):
            refuse_complex(part, what)


def unit_tangents(x: Any) -> list[Any]:
    """The tangents of a structure with a one at one place each."""
    return [tangent_of(x, row) for row in np.eye(sum(int(np.size(leaf)) for _, leaf in leaves(x)))]


def component_vector(x: Any, tangent: Any) -> Matrix:
    """The numbers of a tangent of a structure."""
    return read_tangent(x, tangent, "the derivative")


def blocks(value: Any, x: Any, matrix: Matrix) -> Any:
    """A matrix with a row for each number of the value and a column for each of the argument, in their structure."""
    row = 0

    def of_value(of: Any) -> Any:
        nonlocal row
        first, row = row, row + int(np.size(of))
        last, column = row, 0

        def of_argument(by: Any) -> Any:
            nonlocal column
            start, column = column, column + int(np.size(by))
            block = matrix[first:last, start:column].reshape(np.shape(of) + np.shape(by))
            plain = not isinstance(of, np.ndarray) and not isinstance(by, np.ndarray)
            return block.item() if plain else block

        return _mapped(x, of_argument)

    return _mapped(value, of_value)


def _mapped(like: Any, leaf: Callable[[Any], Any]) -> Any:
    """The structure of a tangent, with something else at its leaves."""
    if is_float_leaf(like):
        return leaf(like)
    if isinstance(like, (np.ndarray, np.generic, str)):
        return None
    parts = {key: _mapped(item, leaf) for (_, key), item in children(like)}
    if isinstance(like, list):
        return list(parts.values())
    if isinstance(like, tuple):
        return type(like)(*parts.values()) if hasattr(like, "_fields") else tuple(parts.values())
    if isinstance(like, dict):
        return parts
    fields = {name: part for name, part in parts.items() if part is not None}
    if not fields:
        return None
    cls = tangent_class(type(like))
    return memberwise(cls if issubclass(cls, TangentVector) else shadow_class(type(like)), **fields)
