"""Declarations about functions: derivatives of one's own, and values that count as constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from adjoint.rules.declare import constant, general

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def derivative_of(fn: Callable[..., Any]) -> Callable[[F], F]:
    """Declares the decorated function as the reverse derivative of ``fn``.

    Parameters
    ----------
    fn
        The function, with a body that Adjoint can see or not. From now on its body is not looked at.

    Returns
    -------
    callable
        A decorator for a function that takes the arguments of ``fn`` and returns ``(value, pullback)``;
        ``pullback(cotangent)`` returns one cotangent per positional argument (alone where there is one argument),
        None for an argument that has no derivative. Both are ordinary code that is read like any other. Forward
        mode through ``fn`` is refused; :func:`adjoint.rules.elementwise` and its kin declare both modes at once.

    Examples
    --------
    >>> import math
    >>> import adjoint as ad
    >>> def softplus(x):
    ...     return math.log1p(math.exp(-abs(x))) + max(x, 0.0)
    >>> @ad.derivative_of(softplus)
    ... def softplus_derivative(x):
    ...     def pullback(ct):
    ...         return ct / (1.0 + math.exp(-x))
    ...     return softplus(x), pullback
    >>> ad.grad(softplus)(0.0)
    0.5
    """

    def declare(derivative: F) -> F:
        general(fn, None, lambda ct, y, *args, **kwargs: derivative(*args, **kwargs)[1](ct))
        return derivative

    return declare


def stop_gradient(x: T) -> T:
    """The value itself, as a constant: nothing flows back through it.

    Examples
    --------
    >>> import adjoint as ad
    >>> def f(x):
    ...     return x * ad.stop_gradient(x)
    >>> ad.grad(f)(3.0)
    3.0
    """
    return x


constant(stop_gradient, view_of=0)
