"""Functions that are given by what their values solve: roots, fixed points, minimisers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.types.classes.annotations import signature


def implicit(solve: Callable[..., Any], residual: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose value is what a solver finds, and whose derivative is that of what it solves.

    The solver is called as it stands, and not differentiated. The derivative comes from the implicit function theorem:
    one system of linear equations with the Jacobian of the residual at the solution.

    Parameters
    ----------
    solve
        ``solve(*args)`` returns the solution, a number or an array. A function whose result is annotated as ``float``
        or ``np.ndarray`` is not read; of any other it is read what kind of result it has.
    residual
        ``residual(x, *args)`` is zero at the solution, and has its size. For a fixed point of ``g`` that is
        ``lambda x, *args: x - g(x, *args)``, for a minimiser of ``f`` it is ``ad.grad(f)``.

    Returns
    -------
    callable
        A function of ``args``, to be differentiated in any order and with respect to anything that the residual
        depends on, captured variables too.

    Raises
    ------
    numpy.linalg.LinAlgError
        When differentiated, if the Jacobian of the residual is singular at the solution.
    ValueError
        When differentiated, if what the solver returns is no solution: if a step of Newton's method from there is
        longer than a thousandth of ``1 + norm(x)``.

    Examples
    --------
    >>> import math
    >>> import adjoint as ad
    >>> def kepler_solver(mean: float, eccentricity: float) -> float:
    ...     x = mean
    ...     while abs(x - eccentricity * math.sin(x) - mean) > 1e-13:
    ...         x = mean + eccentricity * math.sin(x)
    ...     return x
    >>> kepler = ad.implicit(kepler_solver, lambda x, mean, eccentricity: x - eccentricity * math.sin(x) - mean)
    >>> anomaly = kepler(1.0, 0.3)
    >>> slope = ad.grad(kepler)(1.0, 0.3)
    >>> abs(slope - 1 / (1 - 0.3 * math.cos(anomaly))) < 1e-12
    True
    """

    def solution(*args: Any) -> Any:
        return answer(solve, residual, args)

    return solution


def answer(solve: Callable[..., Any], residual: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What a solver finds; where code is differentiated, with its derivative.

    >>> answer(lambda a: a / 2.0, lambda x, a: 2.0 * x - a, (3.0,))
    1.5
    """
    return solve(*args)


def solved(primitive: Callable[..., Any], function: Callable[..., Any], point: Any, *settings: Any) -> Any:
    """``primitive`` of a function of a point, which may capture what varies; ``point`` shows what points are like.

    >>> from adjoint.runtime.numerical_methods.implicit import root
    >>> solved(root, lambda x: x - 2.0, (1.0,), lambda f, start: start - f(start), (1.0,))
    2.0
    """
    return primitive(function, *settings, 0)


def refused(name: str, of: str = "the solution that a solver returns") -> Any:
    """Something of what a solver returns, or of another object, that a derivative does not know.

    Raises
    ------
    AttributeError
        Always; where code is differentiated, the refusal says so.
    """
    raise AttributeError(name)


def machine_code(library: str) -> Any:
    """Functions of a library of which there is machine code only.

    Raises
    ------
    NotImplementedError
        Always; where code is differentiated, the refusal says so.
    """
    raise NotImplementedError(library)


def moves(tangent: Any) -> bool:
    """Whether a tangent is more than the zero of what does not vary, as far as it is known when code is made.

    >>> moves(0.5)
    True
    """
    return True


def arity(function: Callable[..., Any]) -> int:
    """How many parameters a function has.

    >>> arity(lambda x, a: a * x)
    2
    """
    return len(signature(function).parameters)


def marks(event: Callable[..., Any]) -> Any:
    """What tells whether an event ends a solution, and in which direction it counts: the function, or both.

    >>> marks(len)
    <built-in function len>
    """
    return event
