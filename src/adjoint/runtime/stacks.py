"""Lists of objects as arrays, one for each field: what compiled code computes with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.diagnostics import error
from adjoint.runtime.tangents import shadow

__all__ = ["field_of_all", "put_field_of_all", "shadow_of_all"]


def field_of_all(objects: Sequence[Any], name: str, dtype: Any, written: bool) -> np.ndarray:
    """One field of all objects of a list.

    Parameters
    ----------
    objects
        The objects, of one class.
    name
        The field: a number.
    dtype
        That of the array.
    written
        Whether the field is to be written: then no object may be in the list twice.

    Examples
    --------
    >>> from types import SimpleNamespace as Point
    >>> field_of_all([Point(x=1.0), Point(x=2.0)], "x", float, False)
    array([1., 2.])
    """
    if written and len(set(map(id, objects))) < len(objects):
        label = f"an object is in the list twice, and its {name!r} is written"
        raise error("AD0303", None, label, helps=("leave out native=True",))
    return np.array([getattr(item, name) for item in objects], dtype)


def put_field_of_all(objects: Sequence[Any], name: str, values: np.ndarray, kind: type) -> None:
    """Writes one field of all objects of a list, as numbers of a class.

    >>> from types import SimpleNamespace as Point
    >>> points = [Point(x=1.0), Point(x=2.0)]
    >>> put_field_of_all(points, "x", np.array([3.0, 4.0]), float)
    >>> points[1].x
    4.0
    """
    for item, value in zip(objects, values, strict=True):
        object.__setattr__(item, name, kind(value))


def shadow_of_all(objects: Sequence[Any], names: tuple[str, ...], *cotangents: np.ndarray) -> list[Any]:
    """The shadow of a list of objects, from the cotangents of some of their fields.

    An object that is in the list twice has one shadow, with what both places have.
    """
    shadows: list[Any] = shadow(objects)
    for name, values in zip(names, cotangents, strict=True):
        for item, value in zip(shadows, values.tolist(), strict=True):
            setattr(item, name, getattr(item, name) + value)
    return shadows
