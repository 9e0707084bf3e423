"""Functions that take series, and the order in which these are computed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from adjoint.runtime.taylor.series import RECURRENCES, SHARED, Series, apply, holds_series

ORDER: ContextVar[int] = ContextVar("order of the series that are computed")


@contextmanager
def running(order: int) -> Iterator[None]:
    """Series of this order are computed, each at once: what is computed may be memory that is written later."""
    of_order, of_recurrences = ORDER.set(order), SHARED.set(None)
    try:
        yield
    finally:
        SHARED.reset(of_recurrences)
        ORDER.reset(of_order)


class Lifted:
    """A function for whose arguments series may stand."""

    def __init__(self, callee: Any, made: bool = False) -> None:
        self.callee = callee
        self.made = made
        self.__name__ = f"{getattr(callee, '__name__', 'function')}_series"
        self.__module__ = __name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        varied = any(map(holds_series, args)) or (kwargs and any(map(holds_series, kwargs.values())))
        result = apply(self.callee, args, kwargs) if varied else self.callee(*args, **kwargs)
        if self.made and isinstance(result, np.ndarray) and result.dtype.kind in "fc":
            return Series(ORDER.get(), [result, *(np.zeros_like(result) for _ in range(ORDER.get()))])
        return result


class Told:
    """A function that tells somebody of its arguments: of numbers, where series stand for these."""

    def __init__(self, callee: Any) -> None:
        self.callee = callee
        self.__name__ = f"{getattr(callee, '__name__', 'function')}_told"
        self.__module__ = __name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        told = RECURRENCES["told"]
        return self.callee(*map(told, args), **{name: told(value) for name, value in kwargs.items()})
