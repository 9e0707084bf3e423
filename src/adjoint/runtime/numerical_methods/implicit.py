"""Solutions, integrals and trajectories: functions of what a residual, an integrand or a right-hand side depends on.

Each takes a function of a point and of all else that it depends on, the leaves; the derivative says how the result
varies with these. So derivatives are functions of the same kind, and have derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Fn = Callable[..., Any]


def root(residual: Fn, solve: Fn, settings: Any, count: int, *leaves: Any) -> Any:
    """Where the residual is zero, as ``solve(function, *settings)`` finds it.

    >>> root(lambda x, a: x * x - a, lambda f, start: 1.5, (1.0,), 1, 2.25)
    1.5
    """
    return solve(lambda x: residual(x, *leaves), *settings)


def integral(integrand: Fn, solve: Fn, settings: Any, low: float, high: float, count: int, *leaves: Any) -> Any:
    """The integral from ``low`` to ``high``, as ``solve(function, low, high, *settings)`` finds it.

    >>> integral(lambda x, a: a, lambda f, low, high: f(0.0) * (high - low), (), 1.0, 3.0, 1, 0.5)
    1.0
    """
    return solve(lambda t: integrand(t, *leaves), low, high, *settings)


def trajectory(rate: Fn, solve: Fn, settings: Any, times: Any, state: Any, count: int, *leaves: Any) -> Any:
    """The states at ``times``, in columns, from ``state`` at the first of them.

    >>> trajectory(lambda t, y, a: a * y, lambda f, times, y: np.stack([y, y + f(0.0, y)], 1), (),
    ...     np.array([0.0, 1.0]), np.ones(1), 1, 2.0).tolist()
    [[1.0, 3.0]]
    """
    return solve(lambda t, y: rate(t, y, *leaves), times, state, *settings)


def root_of_part(function: Fn, place: int, solve: Fn, settings: Any, count: int, *leaves: Any) -> Any:
    """The same for one of the results of a function, the residual; others help to find it.

    >>> root_of_part(lambda x, a: (x - a, 1.0), 0, lambda f, start: start - f(start)[0], (1.0,), 1, 3.0)
    3.0
    """
    return solve(lambda x: function(x, *leaves), *settings)


def roots(residual: Fn, solve: Fn, settings: Any, count: int, *leaves: Any) -> Any:
    """Where a residual is zero of which each element depends on that element of the unknown alone.

    >>> roots(lambda x, a: x * x - a, lambda f, start: np.sqrt(f(start) * -1.0), (0.0,), 1, np.array([4.0])).tolist()
    [2.0]
    """
    return solve(lambda x: residual(x, *leaves), *settings)


def system(function: Fn, solve: Fn, settings: Any, count: int, *leaves: Any) -> Any:
    """The solution of a system of linear equations.

    Of a vector, the function gives the product of the matrix with it, the right side, which does not depend on the
    vector, and products of other matrices with it, which help to find the solution. The first of the settings solves
    the systems that derivatives ask for: it is handed the settings, a solution, and the residual there, or None twice.

    >>> twice = lambda x, a: (2.0 * x, a)
    >>> system(twice, lambda f, exactly: f(np.zeros(1))[1] / 2.0, (None,), 1, np.ones(1)).tolist()
    [0.5]
    """
    return solve(lambda x: function(x, *leaves), *settings)


def minimum(function: Fn, solve: Fn, settings: Any, count: int, *leaves: Any) -> Any:
    """Where the function is least, as ``solve(function, *settings)`` finds it.

    >>> minimum(lambda x, a: (x - a) ** 2, lambda f, start: 2.0, (1.0,), 1, 2.0)
    2.0
    """
    return solve(lambda x: function(x, *leaves), *settings)


def minimum_of_part(function: Fn, place: int, solve: Fn, settings: Any, count: int, *leaves: Any) -> Any:
    """The same for one of the results of a function; others help to find it.

    >>> minimum_of_part(lambda x, a: ((x - a) ** 2, x - a), 0, lambda f, start: start - f(start)[1], (1.0,), 1, 3.0)
    3.0
    """
    return solve(lambda x: function(x, *leaves), *settings)


def integral_error(integrand: Fn, solve: Fn, settings: Any, low: float, high: float, count: int, *leaves: Any) -> Any:
    """What ``solve`` estimates that the error of an integral is.

    >>> integral_error(lambda x, a: a, lambda f, low, high: 1e-9, (), 1.0, 3.0, 1, 0.5)
    1e-09
    """
    return solve(lambda t: integrand(t, *leaves), low, high, *settings)


def stops(rate: Fn, solve: Fn, settings: Any, span: Any, state: Any, count: int, *leaves: Any) -> Any:
    """The times at which ``solve(function, span, state, *settings)`` stops by itself.

    >>> three = lambda f, span, y: np.linspace(*span, 3)
    >>> stops(lambda t, y, a: a * y, three, (), (0.0, 1.0), np.ones(1), 1, 2.0).tolist()
    [0.0, 0.5, 1.0]
    """
    return solve(lambda t, y: rate(t, y, *leaves), span, state, *settings)


def happenings(function: Fn, solve: Fn, settings: Any, span: Any, state: Any, count: int, *leaves: Any) -> Any:
    """What ``solve`` finds out of events, of a function that gives a rate and the value of each event.

    >>> crossing = lambda f, span, y, place: np.array([y[0] / -f(0.0, y)[0]])
    >>> happenings(lambda t, y, a: (a, y), crossing, (0,), (0.0, 1.0), np.ones(1), 1, -2.0).tolist()
    [0.5]
    """
    return solve(lambda t, y: function(t, y, *leaves), span, state, *settings)


def outcome(function: Fn, solve: Fn, settings: Any, count: int, *leaves: Any) -> Any:
    """What a function gives of what it depends on.

    >>> outcome(lambda a: a + 1.0, taken, (), 1, 2.0)
    3.0
    """
    return solve(function(*leaves))


def taken(value: Any) -> Any:
    """The value itself.

    >>> taken(2.0)
    2.0
    """
    return value


def answered(residual: Fn, solve: Fn, *args: Any) -> Any:
    """What a solver finds that needs no residual, as a float or an array.

    >>> answered(lambda x: x - 1, lambda a: a + 1, 0)
    1.0
    """
    found = solve(*args)
    return float(found) if np.ndim(found) == 0 else np.asarray(found, dtype=float)


TOLERANCE = 1e-3
"""How far from a solution, relative, what a solver returns may be for its derivative to be taken there."""


def solvable(slope: Any, residual: Any, solution: Any) -> Any:
    """The Jacobian of a residual at a solution, where it tells how the solution moves.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the Jacobian is singular, to rounding.
    ValueError
        If a step of Newton's method would lead elsewhere: it is no solution.

    >>> solvable(2.0, 1e-12, 1.0)
    2.0
    """
    size = np.size(solution)
    matrix, value = np.reshape(slope, (size, size)), np.reshape(residual, size)
    found = np.copy(slope) if isinstance(slope, np.ndarray) else slope
    if not (size and np.isfinite(matrix).all()):
        return found  # NaN shows itself
    if _is_singular(matrix):
        message = "the Jacobian of the residual is singular at the solution, which has no derivative there"
        raise np.linalg.LinAlgError(message)
    if np.linalg.norm(np.linalg.solve(matrix, value)) > TOLERANCE * (1.0 + np.linalg.norm(solution)):
        raise ValueError(f"what the solver returns is no solution: the residual there is {residual}")
    return found


def solvable_each(slope: Any, residual: Any, solution: Any) -> Any:
    """The slopes of a residual by its unknowns, element by element; NaN where what was found is no solution.

    >>> solvable_each(np.array([2.0, 2.0]), np.array([1e-12, 1.0]), np.ones(2)).tolist()
    [2.0, nan]
    """
    is_found = np.abs(residual) <= TOLERANCE * (1.0 + np.abs(solution)) * np.abs(slope)
    return np.where(is_found, slope, np.nan)[()]


def _is_singular(matrix: Any) -> bool:
    """Whether a matrix has no inverse, to rounding, whatever the units of its rows and columns."""
    for axis in (1, 0):
        scale = np.max(np.abs(matrix), axis=axis, keepdims=True)
        if not scale.all():
            return True
        matrix = matrix / scale
    return len(matrix) > 1 and bool(np.linalg.cond(matrix) > 1e14)


CONVERGED = (0, 2)
"""What ``quad_vec`` says of an integral that is as precise as was asked for, or as rounding lets it be."""


def vector_quadrature(f: Fn, low: float, high: float, options: Any) -> Any:
    """The integral of an array, to the precision that is asked for of a number.

    >>> vector_quadrature(lambda t: np.array([t, 1.0]), 0.0, 2.0, {"epsabs": 1e-9, "epsrel": 1e-9}).round(9).tolist()
    [2.0, 2.0]
    """
    from scipy.integrate import quad_vec  # lazy

    allowed = {name: min(options[name], 1e-10) for name in ("epsabs", "epsrel")}
    limit, points = 10 * options.get("limit", 50), options.get("points")
    with np.errstate(invalid="ignore"):  # what is not finite is told by the status
        found, _, info = quad_vec(f, low, high, norm="max", limit=limit, points=points, full_output=True, **allowed)
        if info.status not in CONVERGED and points is None and np.isfinite(high - low):
            inside = _with_flat_ends(f, low, high)
            found, _, info = quad_vec(inside, 0.0, 1.0, norm="max", limit=limit, full_output=True, **allowed)
    if info.status not in CONVERGED:
        raise ArithmeticError(f"the integral of the derivative does not converge: {info.message}")
    return found


def _with_flat_ends(f: Fn, low: float, high: float) -> Fn:
    """The integrand after ``x = low + (high - low) * t**2 * (3 - 2*t)``: an infinite slope at an end, as that of
    a square root, is finite in ``t``."""

    def inside(t: float) -> Any:
        nearest = low + (high - low) * t * t * (3.0 - 2.0 * t) if t < 0.5 else _from_above(t)
        return f(nearest) * (6.0 * (high - low) * t * (1.0 - t))

    def _from_above(t: float) -> float:
        left = 1.0 - t
        return high - (high - low) * left * left * (3.0 - 2.0 * left)

    return inside
