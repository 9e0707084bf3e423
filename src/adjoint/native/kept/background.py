"""Machine code that a child process makes, and keeps in the cache, while derivatives run as Python.

A thread would starve beside the calls that run meanwhile. The child is a copy of the process: it needs no way to find
the function, and what it does stays in it.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

from adjoint.records import dataclass


@dataclass(slots=True)
class Child:
    """A child process at work."""

    process: int
    is_over: bool = False

    def is_done(self) -> bool:
        """Whether it has ended; what it made is in the cache then."""
        if not self.is_over:
            try:
                self.is_over = os.waitpid(self.process, os.WNOHANG)[0] != 0
            except ChildProcessError:  # somebody else waited for it, or it is a child of another process
                self.is_over = True
        return self.is_over


def started(task: Callable[[], object]) -> Child | None:
    """A child process that does a task; None where processes have no copies of themselves."""
    if not hasattr(os, "fork"):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads, on which a compiler does not rely
        process = os.fork()
    if process:
        return Child(process)
    _end_with(task)
    return None


def _end_with(task: Callable[[], object]) -> None:
    """Does a task in the child without a word, and ends it: what the parent does at its end is not for the child."""
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)
        task()
    finally:
        os._exit(0)
