"""Assignments to variables that outlive the call: globals, attributes of functions and classes, captured variables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import CellType
from typing import Any

import numpy as np

from adjoint.diagnostics import error

Before = dict[Hashable, Callable[[], None]]
"""What puts back what variables held before they were assigned, and objects before they were written."""
_latest: ContextVar[Before | None] = ContextVar("_latest", default=None)


IMMUTABLE = (bool, int, float, complex, str, bytes, type(None))
"""Classes of values that nobody can change."""


def check_immutable(value: Any, name: str) -> None:
    """Refuses what is assigned to a variable that outlives the call and is no number, array or text.

    Raises
    ------
    DifferentiationError
        AD0301.

    >>> check_immutable("a text", "mode")
    """
    if type(value) not in IMMUTABLE and not isinstance(value, (np.generic, np.ndarray)):
        raise error("AD0301", None, label_of_outside(name), helps=(help_for_outside(name),))


def label_of_outside(name: str) -> str:
    """What is said of a variable that outlives the call and is given what may be changed."""
    return f"the variable {name!r}, which outlives the call, holds or is given what is no number, array or text"


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
    keep_before((id(table), name), lambda: partial(table.__setitem__, name, table[name]))
    table[name] = value


def assign_attribute(owner: Any, name: str, value: Any) -> None:
    """Assigns an attribute of a function or a class.

    >>> class Model:
    ...     calls = 1
    >>> assign_attribute(Model, "calls", 2)
    >>> Model.calls
    2
    """
    keep_before((id(owner), name), lambda: _attribute_put_back(owner, name))
    setattr(owner, name, value)


def _attribute_put_back(owner: Any, name: str) -> Callable[[], None]:
    if name in vars(owner):
        return partial(setattr, owner, name, vars(owner)[name])
    return lambda: delattr(owner, name) if name in vars(owner) else None


def assign_captured(cell: CellType, value: Any) -> None:
    """Assigns a variable that a function captures.

    >>> cell = CellType(1)
    >>> assign_captured(cell, 2)
    >>> cell.cell_contents
    2
    """
    keep_before((id(cell), ""), lambda: partial(setattr, cell, "cell_contents", cell.cell_contents))
    cell.cell_contents = value


def keep_before(place: Hashable, keep: Callable[[], Callable[[], None]]) -> None:
    """Takes down what is at a place that is about to be written, where several runs of a function are to be as one.

    ``keep`` looks at it, and gives what puts it back.
    """
    before = _latest.get()
    if before is not None and place not in before:
        before[place] = keep()


def is_one_of_several() -> bool:
    """Whether a function runs now as one of several runs that are to be as one."""
    return _latest.get() is not None


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
    for put_back in before.values():
        put_back()
    around = _latest.get()
    token = _latest.set(before)
    try:
        yield
    finally:
        _latest.reset(token)
        if around is not None:
            for key, found in before.items():
                around.setdefault(key, found)


@contextmanager
def undone() -> Iterator[None]:
    """Runs that find something out about a function: nothing of them is left outside.

    >>> table = {"count": 1}
    >>> with undone():
    ...     assign_global(table, "count", table["count"] + 1)
    >>> table
    {'count': 1}
    """
    before: Before = {}
    try:
        with as_once(before):
            yield
    finally:
        for put_back in before.values():
            put_back()
