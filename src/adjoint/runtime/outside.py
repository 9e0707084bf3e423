"""Assignments to variables that outlive the call: globals, attributes of functions and classes, captured variables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CellType
from typing import Any

import numpy as np

from adjoint.diagnostics import error

Before = dict[tuple[int, str], tuple[Any, str, Any]]
"""What variables held before they were assigned: where each lives, its name, and the value."""
_latest: ContextVar[Before | None] = ContextVar("_latest", default=None)


_NOTHING = object()
"""What stands for the value of an attribute that is not there."""


IMMUTABLE = (bool, int, float, complex, str, bytes, type(None))
"""Classes of values that nobody can change."""


def check_immutable(value: Any, name: str) -> None:
    """Refuses what is assigned to a variable that outlives the call and may be changed there.

    Raises
    ------
    DifferentiationError
        AD0301.

    >>> check_immutable("a text", "mode")
    """
    if type(value) not in IMMUTABLE and not isinstance(value, np.generic):
        raise error("AD0301", None, label_of_outside(name), helps=(help_for_outside(name),))


def label_of_outside(name: str) -> str:
    """What is said of a variable that outlives the call and is given what may be changed."""
    return f"the variable {name!r}, which outlives the call, holds or is given another object than a number or a text"


def help_for_outside(name: str) -> str:
    """What to do instead."""
    return f"return the new value of {name!r} and assign it outside"


def assign_global(module: Any, name: str, value: Any) -> None:
    """Assigns a global variable of a module, or of what was executed with a dict of its own.

    >>> table = {"count": 1}
    >>> assign_global(table, "count", 2)
    >>> table
    {'count': 2}
    """
    table = module if isinstance(module, dict) else vars(module)
    before = _latest.get()
    if before is not None:
        before.setdefault((id(table), name), (table, name, table[name]))
    table[name] = value


def assign_attribute(owner: Any, name: str, value: Any) -> None:
    """Assigns an attribute of a function or a class.

    >>> class Model:
    ...     calls = 1
    >>> assign_attribute(Model, "calls", 2)
    >>> Model.calls
    2
    """
    before = _latest.get()
    if before is not None:
        before.setdefault((id(owner), name), (owner, name, vars(owner).get(name, _NOTHING)))
    setattr(owner, name, value)


def assign_captured(cell: CellType, value: Any) -> None:
    """Assigns a variable that a function captures.

    >>> cell = CellType(1)
    >>> assign_captured(cell, 2)
    >>> cell.cell_contents
    2
    """
    before = _latest.get()
    if before is not None:
        before.setdefault((id(cell), ""), (cell, "", cell.cell_contents))
    cell.cell_contents = value


@contextmanager
def as_once(before: Before) -> Iterator[None]:
    """One of several runs of a function that are to be as one: each starts with what the first one found outside.

    >>> table = {"count": 1}
    >>> before = {}
    >>> for _ in range(3):
    ...     with as_once(before):
    ...         assign_global(table, "count", table["count"] + 1)
    >>> table
    {'count': 2}
    """
    for place, name, value in before.values():
        if isinstance(place, dict):
            place[name] = value
        elif isinstance(place, CellType):
            place.cell_contents = value
        elif value is not _NOTHING:
            setattr(place, name, value)
        elif name in vars(place):
            delattr(place, name)
    around = _latest.get()
    token = _latest.set(before)
    try:
        yield
    finally:
        _latest.reset(token)
        if around is not None:
            for key, found in before.items():
                around.setdefault(key, found)
