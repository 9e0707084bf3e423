"""Numba's types of arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.native.compile.written_units import declare_runtime
from adjoint.records import dataclass


@dataclass(frozen=True)
class Untyped:
    """A kind of arguments for which Numba has no type, in words."""

    kind: str


def signature_of(args: Sequence[Any]) -> tuple[Any, ...]:
    """Numba's types of arguments; what one is for which it has none. Passes may ask Numba of them then."""
    declare_runtime()
    return types_of(args)


def types_of(args: Sequence[Any]) -> tuple[Any, ...]:
    """Numba's types of arguments, while it knows nothing of the runtime yet."""
    return tuple(map(_type_of, args))


def _type_of(value: Any) -> Any:
    from numba import typeof  # lazy

    try:
        found = typeof(value)  # type: ignore[no-untyped-call]
    except Exception:  # of various kinds
        return Untyped(_kind_of(value))
    if isinstance(value, list):
        if any(isinstance(item, list) for item in value):
            return Untyped("a list of lists")
        if any(_type_of(item) != found.dtype for item in value):  # Numba looks at the first item only
            return Untyped("a list of items of several types")
    return found


def _kind_of(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
