"""Context managers in generated code."""

from __future__ import annotations

from types import TracebackType
from typing import Any


class letting_through:
    """A context manager that must let exceptions through.

    If the one inside handles an exception, the derivative does not know how far the block came: better no result than
    a wrong one.

    >>> from contextlib import nullcontext
    >>> with letting_through(nullcontext(1.0)) as x:
    ...     print(x)
    1.0
    """

    def __init__(self, context: Any) -> None:
        self.context = context

    def __enter__(self) -> Any:
        return self.context.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.context.__exit__(kind, problem, traceback) and problem is not None:
            name = type(self.context).__name__
            raise RuntimeError(f"the context manager {name!r} handles exceptions, and is differentiated") from problem
