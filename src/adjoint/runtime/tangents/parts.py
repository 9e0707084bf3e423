"""The parts of values, of their tangents and of their shadows, whatever holds them."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.runtime.array_functions.arrays import empty_as, zeros_as
from adjoint.types.array_libraries import is_array, is_foreign, is_immutable
from adjoint.types.structure import field_names, is_number
from adjoint.types.vectors import TangentVector

Memo = dict[int, Any]


def of_foreign_arrays() -> Any:
    """What makes arrays of other libraries; loaded by who has some."""
    from adjoint.runtime.array_libraries import values  # lazy

    return values


def slots(x: Any) -> list[tuple[Any, Any]]:
    if isinstance(x, (tuple, list)):
        return list(enumerate(x))
    if isinstance(x, dict):
        return list(x.items())
    return [(name, getattr(x, name)) for name in field_names(x)]


def slots_of_shadow(shadow: Any) -> list[tuple[Any, Any]]:
    return list(vars(shadow).items()) if isinstance(shadow, TangentVector) else slots(shadow)


def part_of(structure: Any, name: Any, like: Any) -> Any:
    if isinstance(like, (tuple, list)):
        return structure[name]
    if isinstance(like, dict):
        return structure.get(name)
    return getattr(structure, name, None)


def put(structure: Any, name: Any, like: Any, value: Any) -> None:
    if isinstance(like, (tuple, list, dict)):
        structure[name] = value
    else:
        setattr(structure, name, value)


def leaf_like(part: Any, like: Any) -> Any:
    """A tangent of a number or array with the type of ``like``, in memory of its own."""
    if is_foreign(like):
        return of_foreign_arrays().tangent_like(part, like)
    if isinstance(like, np.ndarray):
        if np.iscomplexobj(part) and like.dtype.kind == "f":
            part = np.real(part)
        result = empty_as(like)
        result[...] = part
        return result
    if is_array(part):
        part = part.item() if part.ndim == 0 else part.reshape(()).item()
    if isinstance(like, np.generic):
        return like.dtype.type(part.real if like.dtype.kind == "f" else part)
    return complex(part) if isinstance(like, complex) else float(part.real)


def own(part: Any) -> Any:
    if is_foreign(part):
        return of_foreign_arrays().copy_of(part)
    return np.copy(part) if isinstance(part, np.ndarray) else part


def refuse_immutable(x: Any) -> None:
    """What would be added to an array that cannot be written would be lost."""
    if is_immutable(x):
        raise TypeError("an array that cannot be written stands for memory")


def is_integer(x: Any) -> bool:
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def counts_integers(items: list[Any]) -> bool:
    """Whether the integers of a list stand for floats: beside floats they do."""
    return any(map(is_number, items))


KEEP = object()
"""Under its identity a memo holds what must live as long as the memo does."""


class Walk:
    """A walk over a structure that gives one result for one object, as earlier walks with the same memo did."""

    def __init__(self, memo: Memo | None) -> None:
        self.memo: Memo = {} if memo is None else memo
        self.keep: list[Any] = self.memo.setdefault(id(KEEP), [])  # an id is good only as long as its object lives

    def remember(self, x: Any, result: Any) -> Any:
        if id(x) in self.memo:
            return self.memo[id(x)]
        self.memo[id(x)] = result
        self.keep.append(x)
        return result


def new_zeros(x: Any) -> Any:
    """Zeros for an array, laid out as it is."""
    return of_foreign_arrays().zeros_like(x) if is_foreign(x) else zeros_as(x)
