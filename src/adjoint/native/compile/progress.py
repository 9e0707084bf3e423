"""A word on the terminal where compiling takes its time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0
"""Seconds before anything is said."""


@contextmanager
def told_when_slow(name: str) -> Iterator[None]:
    """Says on a terminal, and only there, that a derivative is being compiled if that takes longer than a second."""
    if not sys.stderr.isatty():
        yield
        return
    text = f"adjoint: compiling {name} ..."
    said = threading.Event()

    def say() -> None:
        said.set()
        print(text, end="", file=sys.stderr, flush=True)

    timer = threading.Timer(PATIENCE, say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        if said.is_set():
            print(f"\r{' ' * len(text)}\r", end="", file=sys.stderr, flush=True)
