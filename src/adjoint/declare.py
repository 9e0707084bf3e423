"""Declarations about functions: derivatives of one's own, and values that count as constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from adjoint.rules import registry
from adjoint.rules.declare import constant

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def derivative_of(fn: Callable[..., Any]) -> Callable[[F], F]:
    """Declares the decorated function as the reverse derivative of ``fn``.

    Parameters
    ----------
    fn
        The function, with a body that Adjoint can see or not: from now on its body is not looked at. A method is
        given as its class has it, ``Cls.method``.

    Returns
    -------
    callable
        A decorator for a function that takes the arguments of ``fn`` and returns ``(value, pullback)``;
        ``pullback(cotangent)`` returns one cotangent per positional argument (alone where there is one argument),
        None for an argument that has no derivative. Cotangents have the structure of their arguments. Both are
        ordinary code that is read like any other: data that they capture is read at each call. The function runs in
        place of ``fn``, once; what the pullback captures is kept for it. A second derivative differentiates this
        code. Forward mode transposes the pullback, which has to be linear.

    Raises
    ------
    DifferentiationError
        If the declaration would not be found (AD0206), or surely is no derivative of ``fn`` (AD0205).

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
    from adjoint.frontend.declarations import check_declaration, check_target  # seldom needed

    check_target(fn)

    def declare(derivative: F) -> F:
        declaration = registry.Declaration(fn, derivative)
        check_declaration(declaration, registry.declaration_for(fn))
        registry.add_declaration(declaration)
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
