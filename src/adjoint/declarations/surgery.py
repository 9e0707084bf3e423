"""Derivative surgery: cotangents looked at, changed and replaced where they pass a value."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar, overload

from adjoint.declarations.custom_derivatives import stop_gradient

T = TypeVar("T")
R = TypeVar("R")


def with_derivative(x: T, fn: Callable[[Any], Any]) -> T:
    """The value itself; in a derivative, its cotangent is what ``fn`` makes of it.

    Parameters
    ----------
    x
        A number, an array, or a tuple, list, dict or object of such.
    fn
        Takes the cotangent of ``x``, which has the structure of ``x`` (of an object: its tangent), and returns what
        takes its place; None leaves it as it is then, so that ``fn`` may also look at it, or write into it. It runs
        in the reverse sweep, once each time that this place was passed, in reverse order. It sees the values that
        its variables had there.

    Returns
    -------
    T
        ``x``. What is computed from the result gives the cotangent; other uses of ``x`` do not pass ``fn``.

    Raises
    ------
    DifferentiationError
        In a derivative: if ``fn`` gives what is no cotangent of ``x`` (AD0230); in forward mode, where there is no
        cotangent, if ``fn`` is not linear (AD0208).

    Notes
    -----
    Where nothing that is differentiated reaches ``x``, or ``x`` does not reach the result, there is no cotangent, and
    ``fn`` does not run: AD0507 warns of it. Called without a derivative, ``fn`` does not run either. A second
    derivative differentiates ``fn`` as it stands.

    Examples
    --------
    >>> import adjoint as ad
    >>> def clip(ct):
    ...     return max(min(ct, 1.0), -1.0)
    >>> def power(x):
    ...     for _ in range(6):
    ...         x = 3.0 * ad.with_derivative(x, clip)
    ...     return x
    >>> power(2.0), ad.grad(power)(2.0)
    (1458.0, 1.0)
    """
    if not callable(fn):
        raise TypeError(f"ad.with_derivative takes a function of the cotangent, not {type(fn).__name__!r}")
    return x


replace_gradient = with_derivative
"""The name that the design documents give it."""


@overload
def without_derivative(x: T) -> T: ...
@overload
def without_derivative(x: T, fn: Callable[[T], R]) -> R: ...
def without_derivative(x: Any, fn: Callable[[Any], Any] | None = None) -> Any:
    """The value, or what ``fn`` makes of it, as a constant: nothing flows back through it.

    Parameters
    ----------
    x
        Any value.
    fn
        Called with ``x`` as a constant; it may be a function that cannot be differentiated.

    Returns
    -------
    T or R
        ``x`` as by :func:`stop_gradient`; with ``fn``, ``fn(x)`` in the same way.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x):
    ...     return x * ad.without_derivative(x, lambda v: round(v, 1))
    >>> ad.grad(f)(3.14)
    3.1
    """
    return stop_gradient(x) if fn is None else stop_gradient(fn(stop_gradient(x)))


class backward:
    """A block that runs in the reverse sweep: ``with ad.backward(x) as x_bar: ...``.

    Parameters
    ----------
    x
        A variable of the function, or a tuple of such; a number, an array or a structure of such.

    Notes
    -----
    In a derivative the block runs where the cotangent of ``x`` passes this place, once each time that the place was
    passed, in reverse order. The name behind ``as`` is the cotangent; what it is bound to, or has been written into
    it, at the end of the block goes on. Other variables are what they were at this place, and the block assigns only
    variables of its own. Called without a derivative, and in forward mode, the function leaves the block out.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x):
    ...     for i in range(3):
    ...         x = x * x
    ...         with ad.backward(x) as x_bar:
    ...             print(i, x_bar)
    ...     return x
    >>> f(2.0)
    256.0
    >>> ad.grad(f)(2.0)
    2 1.0
    1 32.0
    0 256.0
    1024.0
    """

    __slots__ = ("frame", "tracing")

    def __init__(self, x: Any) -> None:
        del x

    def __enter__(self) -> Any:
        """Has the block left before its first instruction: only the interpreter's tracing can do that."""
        frame = self.frame = sys._getframe(1)
        self.tracing = sys.gettrace(), frame.f_trace, frame.f_trace_opcodes
        frame.f_trace_opcodes = True
        frame.f_trace = _leave
        sys.settrace(_ignore)

    def __exit__(self, kind: Any, exception: BaseException | None, traceback: Any) -> bool:
        tracing, self.frame.f_trace, self.frame.f_trace_opcodes = self.tracing
        sys.settrace(tracing)
        return isinstance(exception, _Left)


class _Left(BaseException):
    """The block of a reverse sweep is left out."""


def _leave(frame: Any, event: str, arg: Any) -> Any:
    raise _Left


def _ignore(frame: Any, event: str, arg: Any) -> None:
    """Traces no other function."""
