"""A word on terminals and in notebooks where differentiating or compiling takes its time."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any

PATIENCE = 2.0
"""Seconds before anything is said."""
STEP = 1.0
"""Seconds from one word to the next."""


class Progress:
    """What is being done, since when, and what will run as Python.

    Parameters
    ----------
    doing
        What is done: ``"differentiating f"``.
    """

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._left = ""
        self._start = time.monotonic()

    def leaves(self, lines: Iterable[int]) -> None:
        """Takes down lines of the user's that machine code leaves to Python."""
        found = [str(line) for line in sorted(set(lines))]
        if found:
            self._left = f" (line{'s' * (len(found) > 1)} {', '.join(found)} will run as Python)"

    def __str__(self) -> str:
        seconds = time.monotonic() - self._start
        return f"adjoint: {self._doing}{self._left}, {seconds:.0f} s ..."


_is_told: ContextVar[bool] = ContextVar("_is_told", default=False)


@contextmanager
def told_when_slow(doing: str) -> Iterator[Progress]:
    """Says on a terminal or in a notebook what is being done, if that takes more than two seconds.

    What is done inside of something else is not told.
    """
    progress = Progress(doing)
    show = None if _is_told.get() else _place_to_show()
    if show is None:
        yield progress
        return
    token = _is_told.set(True)
    done = threading.Event()
    teller = threading.Thread(target=_tell, args=(progress, show, done), daemon=True)
    teller.start()
    try:
        yield progress
    finally:
        _is_told.reset(token)
        done.set()
        teller.join()


def differentiating(function: Any) -> AbstractContextManager[Progress]:
    """The same, of the derivative of a function."""
    return told_when_slow(f"differentiating {getattr(function, '__name__', type(function).__name__)}")


def _tell(progress: Progress, show: Callable[[str], None], done: threading.Event) -> None:
    if done.wait(PATIENCE):
        return
    show(str(progress))
    while not done.wait(STEP):
        show(str(progress))
    show("")


def _place_to_show() -> Callable[[str], None] | None:
    """What shows a line in place of the one before; None where nobody looks."""
    if type(sys.stderr).__module__.partition(".")[0] == "ipykernel":
        return _Cell().show
    try:
        return _Line().show if sys.stderr.isatty() else None
    except (AttributeError, ValueError):  # there is none, or it is closed
        return None


class _Line:
    """The last line of a terminal."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._width = 0

    def show(self, text: str) -> None:
        """Writes over the line before."""
        blank = f"\r{' ' * self._width}\r" if self._width else ""
        self._width = len(text)
        with suppress(OSError, ValueError):  # it was closed
            print(f"{blank}{text}", end="", file=self._stream, flush=True)


class _Cell:
    """A display below a cell of a notebook."""

    def __init__(self) -> None:
        self._display: Any = None

    def show(self, text: str) -> None:
        """Changes what is displayed."""
        import IPython.display  # lazy

        display: Any = IPython.display.display
        data = {"text/plain": text}
        if self._display is None:
            self._display = display(data, raw=True, display_id=True)
        else:
            self._display.update(data, raw=True)
