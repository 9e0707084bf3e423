"""Data that rules of users capture: it is a constant of the derivatives into which they are spliced, as it is then.

So a derivative fits only while that data is what it was. It is compared part by part: a rule that captures an array is
paid for with a comparison of its numbers at each call.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from adjoint.frontend.entry.captured import Guard, Path, has_fields, reader
from adjoint.types.structure import fields_of

_noted: ContextVar[dict[Any, Guard] | None] = ContextVar("noted", default=None)
_LIBRARIES = ("adjoint", "numpy", "scipy", "math", "cmath", "operator", "builtins")


class Contents(Guard):
    """Captured data that a derivative was compiled for."""

    def holds(self, function: Any) -> bool:
        """Whether all parts of it are what they were."""
        try:
            now = self.read(function)
        except (KeyError, AttributeError, ValueError):
            return False
        return bool(described(now, {}) == self.value)


@contextmanager
def noting() -> Iterator[dict[Any, Guard]]:
    """Collects what rules capture that are spliced meanwhile."""
    found: dict[Any, Guard] = {}
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


def note_captured(value: Any, path: Path) -> None:
    """Takes down what a rule captures, unless it is one of the library's own."""
    found = _noted.get()
    if found is None or _is_of_a_library(path):
        return
    identity = tuple([part if isinstance(part, (str, int)) else id(part) for part in path])
    if identity not in found:
        read: Callable[[Any], Any] = reader(path)
        found[identity] = Contents(path, read, described(value, {}))


def _is_of_a_library(path: Path) -> bool:
    match path:
        case ("global", dict() as table, str()):
            home = table.get("__name__", "")
        case (_, types.ModuleType() as module, *_):
            home = module.__name__
        case (_, owner, *_):
            home = getattr(owner, "__module__", None) or ""
        case _:
            return True
    return isinstance(home, str) and home.partition(".")[0] in _LIBRARIES


def described(value: Any, seen: dict[int, int]) -> Any:
    """What tells data from other data: equal for equal numbers, and for the same functions."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return type(value), repr(value)
    if isinstance(value, np.generic):
        return type(value), value.tobytes()
    if id(value) in seen:
        return "same", seen[id(value)]
    seen[id(value)] = len(seen)
    if isinstance(value, np.ndarray):
        return type(value), value.dtype, value.shape, value.strides, value.tobytes()
    if isinstance(value, (list, tuple)):
        return type(value), tuple([described(item, seen) for item in value])
    if isinstance(value, dict):
        return type(value), tuple([(described(key, seen), described(item, seen)) for key, item in value.items()])
    if has_fields(value) and not callable(value):
        return id(value), tuple([(name, described(item, seen)) for name, item in fields_of(value).items()])
    return id(value)
