"""What a derivative is made for: some choices are good for machine code only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_machine = ContextVar("machine", default=False)


@contextmanager
def target(*, machine: bool) -> Iterator[None]:
    """While this lasts, derivatives are made for machine code, or for Python."""
    token = _machine.set(machine)
    try:
        yield
    finally:
        _machine.reset(token)


def for_machine() -> bool:
    """Whether derivatives are made for machine code."""
    return _machine.get()
