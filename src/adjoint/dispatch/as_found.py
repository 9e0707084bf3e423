"""What a function captures and writes, as it was found: where several runs of a function are to be as one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adjoint.dispatch.aliasing.parts import parts_of
from adjoint.frontend.entry.captured import has_fields
from adjoint.runtime.outside import keep_before
from adjoint.types.structure import fields_of


def keep_as_found(value: Any) -> None:
    """Takes down all that lies in memory that a function is about to write."""
    keep_before((id(value), "contents"), lambda: _put_back(value))


def _put_back(value: Any) -> Callable[[], None]:
    found: list[Callable[[], None]] = []
    _collect(value, found, set())

    def put_back(held: Any = value) -> None:
        del held  # it is told by its identity, as long as it is there
        for each in found:
            each()

    return put_back


def _collect(value: Any, found: list[Callable[[], None]], seen: set[int]) -> None:
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        if value.flags.writeable:
            found.append(partial(np.copyto, value, value.copy()))
        return
    if isinstance(value, list):
        found.append(partial(value.__setitem__, slice(None), list(value)))
    elif isinstance(value, dict):
        found.append(partial(_fill, value, dict(value)))
    elif has_fields(value):
        found.append(partial(_give_attributes, value, dict(fields_of(value))))
    for _, part in parts_of(value):
        _collect(part, found, seen)


def _fill(table: dict[Any, Any], items: dict[Any, Any]) -> None:
    table.clear()
    table.update(items)


def _give_attributes(instance: Any, attributes: dict[str, Any]) -> None:
    for name in fields_of(instance).keys() - attributes.keys():
        object.__delattr__(instance, name)
    for name, value in attributes.items():
        object.__setattr__(instance, name, value)
