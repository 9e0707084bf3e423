"""Declarations about functions: derivatives of one's own, and values that count as constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from adjoint.diagnostics import error
from adjoint.diagnostics.entrances import entrance
from adjoint.rules import registry
from adjoint.rules.declarations import Declaration, Place, name_of
from adjoint.rules.declare import constant

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


@entrance
def derivative_of(
    fn: Any,
    wrt: Any = None,
    *,
    jvp: Callable[..., Any] | None = None,
    primal: Callable[..., Any] | None = None,
    adjoint: Callable[..., Any] | None = None,
    replace: bool = False,
) -> Callable[[F], F]:
    """Declares the derivative of ``fn``: whatever is called, whether Adjoint can see its body or not.

    From now on the body is not looked at, also in derivatives that were made before. What is declared is ordinary code
    that is read like any other: data that it captures is read at each call, and a second derivative differentiates it.

    Parameters
    ----------
    fn
        A function, of Python or not; a method as its class has it, ``Cls.method``, or of one object, ``obj.method``; a
        property; a class; an object that can be called.
    wrt
        The parameters that the derivative is with respect to: a name or a position, or several in a tuple; ``"self"``
        counts. All that are given by position where it is absent. A call where another one varies is refused.
    jvp
        Declares a differential, as :func:`differential_of` does.
    primal, adjoint
        Declare an adjoint, which takes the parameters that it names: those of ``fn``, ``checkpoints``, ``result`` and
        ``seed``, the cotangent of the result; or all of them, in this order. It returns one cotangent for each of
        ``wrt``. The primal takes the arguments of ``fn`` and returns ``(checkpoints, result)``; without one ``fn``
        gives the result, and there are no checkpoints.
    replace
        Whether this takes the place of what was declared before, which is an error otherwise.

    Returns
    -------
    callable
        A decorator for a function that takes the arguments of ``fn`` and returns ``(value, pullback)``;
        ``pullback(cotangent)`` returns one cotangent for each of ``wrt``, alone where there is one, None for a zero.
        Cotangents have the structure of their arguments. The function runs in place of ``fn``, once; what the pullback
        captures is kept for it. Forward mode takes the differential, where there is one, or else transposes the
        pullback, which has to be linear in the cotangent.

    Raises
    ------
    DifferentiationError
        If nobody calls what the derivative is declared for (AD0206), the declaration surely is no derivative of it
        (AD0205), ``wrt`` is none of its parameters (AD0209), or there is one already (AD0210).

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

    >>> def tanh(x):
    ...     return math.tanh(x)
    >>> declare = ad.derivative_of(tanh, adjoint=lambda result, seed: (1.0 - result * result) * seed)
    >>> ad.value_and_grad(tanh)(0.0)
    (0.0, 1.0)
    """
    if primal is not None and adjoint is None:
        raise error("AD0205", None, "there is a primal, but no adjoint", name=name_of(fn))
    if jvp is not None:
        _declare(fn, wrt, replace, "differential", differential=jvp)
    if adjoint is not None:
        _declare(fn, wrt, replace and jvp is None, "adjoint", primal=primal, adjoint=adjoint)
    replaces = replace and jvp is None and adjoint is None
    return _declaring(fn, wrt, replaces, "pullback")


@entrance
def differential_of(fn: Any, wrt: Any = None, *, replace: bool = False) -> Callable[[F], F]:
    """Declares the decorated function as the forward derivative of ``fn``.

    Parameters
    ----------
    fn, wrt, replace
        As of :func:`derivative_of`. Both may be declared of one function: each mode takes its own.

    Returns
    -------
    callable
        A decorator for a function that takes the arguments of ``fn`` and returns ``(value, differential)``;
        ``differential(*tangents)`` takes a tangent for each of ``wrt``, zeros for what does not move, and returns the
        tangent of the value. Tangents have the structure of what they belong to. Reverse mode transposes the
        differential where no pullback is declared; it has to be linear.

    Raises
    ------
    DifferentiationError
        As :func:`derivative_of`.

    Examples
    --------
    >>> import adjoint as ad
    >>> def cube(x):
    ...     return x ** 3
    >>> @ad.differential_of(cube)
    ... def cube_differential(x):
    ...     return x * x * x, lambda dx: 3.0 * x * x * dx
    >>> ad.jvp(cube, (2.0,), (1.0,)), ad.grad(cube)(2.0)
    ((8.0, 12.0), 12.0)
    """
    return _declaring(fn, wrt, replace, "differential")


@entrance
def transpose_of(fn: Any, wrt: Any = None, *, replace: bool = False) -> Callable[[F], F]:
    """Declares the decorated function as the transpose of ``fn``, which is linear in ``wrt``.

    Parameters
    ----------
    fn, wrt, replace
        As of :func:`derivative_of`; ``fn`` is linear in all of ``wrt`` together.

    Returns
    -------
    callable
        A decorator for a function that takes the other arguments, in their order or by their names, and last the
        cotangent of the value; it returns one cotangent for each of ``wrt``, alone where there is one. It may name
        arguments of ``wrt``, too, for their shapes. Forward mode calls ``fn`` with tangents. A declared differential
        that calls ``fn`` is linear, so that reverse mode transposes it.

    Raises
    ------
    DifferentiationError
        As :func:`derivative_of`.

    Examples
    --------
    >>> import adjoint as ad, numpy as np
    >>> def product(matrix, vector):
    ...     return np.einsum("ij,j", matrix, vector, optimize=True)
    >>> @ad.transpose_of(product, wrt="vector")
    ... def product_transpose(matrix, ct):
    ...     return matrix.T @ ct
    >>> ad.grad(lambda v: np.sum(product(np.array([[1.0, 2.0], [3.0, 4.0]]), v)))(np.ones(2))
    array([4., 6.])
    """
    return _declaring(fn, wrt, replace, "transpose")


def _declaring(fn: Any, wrt: Any, replace: bool, part: str) -> Callable[[F], F]:
    from adjoint.frontend.declared.declarations import target_of  # lazy

    target_of(fn)

    @entrance
    def declare(derivative: F) -> F:
        _declare(fn, wrt, replace, part, **{part: derivative})
        return derivative

    return declare


def _declare(fn: Any, wrt: Any, replace: bool, part: str, **parts: Any) -> None:
    """Enters one derivative beside those of other kinds."""
    from adjoint.frontend.declared.declarations import check_new, resolved, target_of  # lazy

    target = target_of(fn)
    places = resolved(target, wrt, parts[part])
    before = None if replace else registry.declaration_for(target)
    check_new(Declaration(target, places, **parts), part, before, replace)
    registry.add_declaration(_joined(target, places, part, parts, before))


def _joined(
    fn: Any, wrt: tuple[Place, ...] | None, part: str, parts: dict[str, Any], before: Declaration | None
) -> Declaration:
    if before is None or part == "transpose":
        return Declaration(fn, wrt, **parts)
    if part == "differential":
        return before.with_(wrt=wrt, **parts)
    return Declaration(fn, wrt, differential=before.differential, **parts)


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
