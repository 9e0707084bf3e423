"""Checkpoints: derivatives that compute again what others keep."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any, TypeVar

from adjoint.diagnostics import error

T = TypeVar("T")


def checkpointed(
    iterable: T, *, snapshots: int | None = None, memory: int | str | None = None, disk: int | str | None = None
) -> T:
    """Loops over it keep few of their states for the reverse sweep, and compute the others again.

    It stands in the head of a loop: ``for i in ad.checkpointed(range(n), snapshots=10)``, or
    ``while ad.checkpointed(error > 1e-6, snapshots=10)``. The derivative keeps so many states of the loop (what its
    variables are before an iteration, and the arrays that it writes) and runs iterations again from there, in the
    binomial schedule of Griewank and Walther: for loops over a known number of iterations nothing needs fewer. The
    gradient is the same to the bit.

    Parameters
    ----------
    iterable
        What the loop runs over; of a ``while`` loop the condition. It is returned as it is.
    snapshots
        How many states may be kept in memory.
    memory
        In place of it, the memory for them: bytes, or a text such as ``"100 MB"``.
    disk
        How many states more may lie in files.

    Raises
    ------
    TypeError
        If neither ``snapshots`` nor ``memory`` is given, or both are.
    DifferentiationError
        When a derivative is made: AD0309 if the loop cannot be run again.

    Examples
    --------
    >>> import adjoint as ad
    >>> def logistic(x: float) -> float:
    ...     for _ in ad.checkpointed(range(100), snapshots=5):
    ...         x = 3.2 * x * (1.0 - x)
    ...     return x
    >>> logistic(0.3) == 0.7994554904673701
    True
    >>> abs(ad.grad(logistic)(0.3)) < 1e-12
    True
    """
    if (snapshots is None) == (memory is None):
        raise TypeError("ad.checkpointed takes snapshots= or memory=")
    return iterable


class Checkpoint:
    """A function whose call is computed again in the reverse sweep; it is called as the function is."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.function = function
        self.__adjoint_operator__ = ("checkpoint", function, ())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"checkpoint({getattr(self.function, '__name__', repr(self.function))})"


def checkpoint(f: Callable[..., Any]) -> Checkpoint:
    """The function, of which a derivative keeps the arguments alone: the reverse sweep runs its body again.

    Parameters
    ----------
    f
        A function whose body is seen.

    Returns
    -------
    Checkpoint
        To be called as ``f`` is.

    Examples
    --------
    >>> import math
    >>> import adjoint as ad
    >>> def layer(x: float) -> float:
    ...     for _ in range(3):
    ...         x = math.sin(x)
    ...     return x
    >>> def loss(x: float) -> float:
    ...     return ad.checkpoint(layer)(x) ** 2
    >>> ad.grad(loss)(0.5) == ad.grad(lambda x: layer(x) ** 2)(0.5)
    True
    """
    if not callable(f):
        kind = type(f).__name__
        raise error("AD0103", None, f"ad.checkpoint was given a value of type '{kind}'", name=kind)
    return Checkpoint(f)


setattr(checkpoint, "__adjoint_operator__", "checkpoint")  # noqa: B010

__all__ = ["Checkpoint", "checkpoint", "checkpointed"]
