"""Derivatives of solutions, integrals and trajectories (:mod:`adjoint.runtime.numerical_methods.implicit`).

* A root moves as the implicit function theorem says: one system of linear equations with the Jacobian of the residual,
  or one division for each element.
* The solution of a system that is known by its products moves by another one with the same products; backwards, with
  those of the transpose, which are pullbacks. The solver that found the solution solves these, too.
* An integral moves as Leibniz' rule says: the integral of the derivative, and the integrand at limits that move.
* A trajectory moves, forwards, with its variational equation; backwards, with its continuous adjoint: from each time
  to the one before, the state, its cotangent and the cotangents of all else are integrated together.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np

from adjoint.api.gradients import grad, jacobian
from adjoint.api.jvp_vjp import jvp, vjp
from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import moves, solved
from adjoint.rules.declare import case, general, no_derivative, sample
from adjoint.runtime.numerical_methods.implicit import (
    happenings,
    integral,
    integral_error,
    minimum,
    minimum_of_part,
    outcome,
    root,
    root_of_part,
    roots,
    solvable,
    solvable_each,
    stops,
    system,
    trajectory,
    vector_quadrature,
)

INFINITE = (float("-inf"), float("inf"))


# --- roots and minima -------------------------------------------------------------------------------------------------

general(
    solvable,
    lambda dots, y, slope, residual, solution: dots[0],
    lambda ct, y, slope, residual, solution: (ct, None, None),
    fixed=(1, 2),
    cases=[case(2.0, 0.0, 1.0), case(sample(3, 3, kind="regular"), np.zeros(3), np.ones(3))],
)


def _slope(residual, y, leaves):
    """The Jacobian of the residual at its root, if it tells how the root moves."""
    slope = jacobian(residual)(y, *leaves)
    if not isinstance(y, float):
        slope = np.reshape(slope, (y.size, y.size))
    return solvable(slope, stop_gradient(residual(y, *leaves)), stop_gradient(y))


def _moved_root(dots, y, residual, count, leaves):
    given = (None, *dots[:count], *[None] * (len(leaves) - count))
    change = jvp(residual, (y, *leaves), given)[1]
    slope = _slope(residual, y, leaves)
    if isinstance(y, float):
        return -change / slope
    return -np.reshape(np.linalg.solve(slope, np.reshape(change, y.size)), y.shape)


def _pulled_back(ct, y, residual, leaves):
    slope = _slope(residual, y, leaves)
    if isinstance(y, float):
        seed = -ct / slope
    else:
        seed = -np.reshape(np.linalg.solve(slope.T, np.reshape(ct, y.size)), y.shape)
    return vjp(residual, y, *leaves)[1](seed)[1:]


def _part(function, place):
    return lambda *args: function(*args)[place]


general(
    root,
    lambda dots, y, residual, solve, settings, count, *leaves: _moved_root(dots[4:], y, residual, count, leaves),
    lambda ct, y, residual, solve, settings, count, *leaves: (
        *(None, None, None, None),
        *_pulled_back(ct, y, residual, leaves),
    ),
    functional=True,
)
general(
    root_of_part,
    lambda dots, y, function, place, solve, settings, count, *leaves: _moved_root(
        dots[5:], y, _part(function, place), count, leaves
    ),
    lambda ct, y, function, place, solve, settings, count, *leaves: (
        *(None, None, None, None, None),
        *_pulled_back(ct, y, _part(function, place), leaves),
    ),
    functional=True,
)
general(
    minimum,
    lambda dots, y, function, solve, settings, count, *leaves: _moved_root(dots[4:], y, grad(function), count, leaves),
    lambda ct, y, function, solve, settings, count, *leaves: (
        *(None, None, None, None),
        *_pulled_back(ct, y, grad(function), leaves),
    ),
    functional=True,
)
general(
    minimum_of_part,
    lambda dots, y, function, place, solve, settings, count, *leaves: _moved_root(
        dots[5:], y, grad(_part(function, place)), count, leaves
    ),
    lambda ct, y, function, place, solve, settings, count, *leaves: (
        *(None, None, None, None, None),
        *_pulled_back(ct, y, grad(_part(function, place)), leaves),
    ),
    functional=True,
)


# --- roots, one for each element --------------------------------------------------------------------------------------

general(
    solvable_each,
    lambda dots, y, slope, residual, solution: dots[0],
    lambda ct, y, slope, residual, solution: (ct, None, None),
    fixed=(1, 2),
    cases=[case(2.0, 0.0, 1.0), case(sample(3), np.zeros(3), np.ones(3))],
)


def _slope_of_each(residual, y, leaves):
    one = 1.0 if isinstance(y, float) else np.ones_like(y)
    slope = jvp(residual, (y, *leaves), (one, *[None] * len(leaves)))[1]
    return solvable_each(slope, stop_gradient(residual(y, *leaves)), stop_gradient(y))


def _moved_roots(dots, y, residual, count, leaves):
    given = (None, *dots[:count], *[None] * (len(leaves) - count))
    return -jvp(residual, (y, *leaves), given)[1] / _slope_of_each(residual, y, leaves)


general(
    roots,
    lambda dots, y, residual, solve, settings, count, *leaves: _moved_roots(dots[4:], y, residual, count, leaves),
    lambda ct, y, residual, solve, settings, count, *leaves: (
        *(None, None, None, None),
        *vjp(residual, y, *leaves)[1](-ct / _slope_of_each(residual, y, leaves))[1:],
    ),
    functional=True,
)


# --- systems of linear equations --------------------------------------------------------------------------------------


def _residual(function):
    def residual(x, *leaves):
        told = function(x, *leaves)
        return told[0] - told[1]

    return residual


def _exactly(told, y, residual, settings, leaves):
    """The solution of a system that a derivative asks for; of the first one it is asked whether there is one."""
    exactly, rest = settings[0], settings[:4]
    if len(settings) > 4:
        return solved(system, told, (y,), exactly, (*rest, None, None))
    found, missed = stop_gradient(y), stop_gradient(residual(y, *leaves))
    return solved(system, told, (y,), exactly, (*rest, found, missed))


def _system_jvp(dots, y, function, solve, settings, count, *leaves):
    residual = _residual(function)
    given = (None, *dots[4 : 4 + count], *[None] * (len(leaves) - count))
    change = jvp(residual, (y, *leaves), given)[1]

    def told(v):
        products = function(v, *leaves)
        return (products[0], -change, *products[2:])

    return _exactly(told, y, residual, settings, leaves)


def _system_vjp(ct, y, function, solve, settings, count, *leaves):
    residual = _residual(function)

    def turned(v, place):
        return vjp(lambda x: function(x, *leaves)[place], y)[1](v)[0]

    def told(v):
        helping = [turned(v, place) for place in range(2, len(function(v, *leaves)))]
        return (turned(v, 0), ct, *helping)

    seed = _exactly(told, y, residual, settings, leaves)
    return (None, None, None, None, *vjp(residual, y, *leaves)[1](-seed)[1:])


general(system, _system_jvp, _system_vjp, functional=True)


# --- integrals --------------------------------------------------------------------------------------------------------


def _integral_jvp(dots, y, integrand, solve, settings, low, high, count, *leaves):
    moving = dots[6 : 6 + count]
    rest = [None] * (len(leaves) - count)
    found = 0.0
    if count > 0:
        inside = lambda t: jvp(integrand, (t, *leaves), (None, *moving, *rest))[1]
        found = solved(integral, inside, (0.5,), solve, settings, low, high)
    if moves(dots[4]) and high not in INFINITE:  # at an end that stays the integrand may be infinite
        found = found + dots[4] * integrand(high, *leaves)
    if moves(dots[3]) and low not in INFINITE:
        found = found - dots[3] * integrand(low, *leaves)
    return found


def _integral_vjp(ct, y, integrand, solve, settings, low, high, count, *leaves):
    at_high = 0.0 if high in INFINITE else np.sum(ct * integrand(high, *leaves))
    at_low = 0.0 if low in INFINITE else -np.sum(ct * integrand(low, *leaves))
    rest = [None] * (len(leaves) - count)
    if count == 0:
        return (None, None, None, at_low, at_high, None, *rest)

    def inside(t):
        cotangents = vjp(integrand, t, *leaves)[1](ct)
        return np.concatenate([np.ravel(cotangents[1 + k]) for k in range(count)])

    flat = solved(integral, inside, (0.5,), vector_quadrature, settings, low, high)
    return (None, None, None, at_low, at_high, None, *_parts(flat, leaves[:count]), *rest)


def _parts(flat, leaves):
    """The parts of an array that belong to numbers and arrays."""
    parts, start = [], 0
    for leaf in leaves:
        if isinstance(leaf, float):
            parts.append(flat[start])
            start = start + 1
        else:
            parts.append(np.reshape(flat[start : start + leaf.size], leaf.shape))
            start = start + leaf.size
    return tuple(parts)


general(integral, _integral_jvp, _integral_vjp, functional=True)
no_derivative(integral_error, outcome, stops, happenings)


# --- trajectories -----------------------------------------------------------------------------------------------------


def _rates(rate, times, y, leaves):
    return np.stack([rate(times[i], y[:, i], *leaves) for i in range(len(times))], axis=1)


def _trajectory_jvp(dots, y, rate, solve, settings, times, state, count, *leaves):
    moving, n = dots[6 : 6 + count], state.size
    rest = [None] * (len(leaves) - count)

    def both(t, z):
        x = z[:n]
        return np.concatenate(jvp(rate, (t, x, *leaves), (None, z[n:], *moving, *rest)))

    start = dots[4] - dots[3][0] * rate(times[0], state, *leaves)
    found = solved(trajectory, both, (0.5, state), solve, settings, times, np.concatenate([state, start]))
    return found[n:] + dots[3] * _rates(rate, times, y, leaves)


def _trajectory_vjp(ct, y, rate, solve, settings, times, state, count, *leaves):
    n, last = state.size, len(times) - 1

    def back(t, z):
        value, pullback = vjp(rate, t, z[:n], *leaves)
        cotangents = pullback(-z[n : 2 * n])
        return np.concatenate([value, *[np.ravel(cotangents[1 + k]) for k in range(1 + count)]])

    sizes = [1 if isinstance(leaf, float) else leaf.size for leaf in leaves[:count]]
    adjoint = np.zeros(n + sum(sizes))
    for i in range(last, 0, -1):
        adjoint = np.concatenate([adjoint[:n] + ct[:, i], adjoint[n:]])
        z = solved(
            trajectory,
            back,
            (0.5, state),
            solve,
            (None, settings[1]),
            np.array([times[i], times[i - 1]]),
            np.concatenate([y[:, i], adjoint]),
        )
        adjoint = z[n:, 1]
    of_times = np.sum(ct * _rates(rate, times, y, leaves), axis=0)
    of_state = adjoint[:n] + ct[:, 0]
    of_start = np.zeros(len(times))
    of_start[0] = np.sum(of_state * rate(times[0], state, *leaves))
    rest = [None] * (len(leaves) - count)
    return (None, None, None, of_times - of_start, of_state, None, *_parts(adjoint[n:], leaves[:count]), *rest)


general(trajectory, _trajectory_jvp, _trajectory_vjp, functional=True)
