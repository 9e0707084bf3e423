"""Solvers of SciPy as derivatives call them: what does not converge raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, optimize

Fn = Callable[..., Any]


def scalar_root(f: Fn, options: Any) -> float:
    """The root that ``scipy.optimize.root_scalar`` finds."""
    found = optimize.root_scalar(f, **options)
    if not found.converged:
        raise RuntimeError(f"root_scalar did not converge: {found.flag}")
    return float(found.root)


def with_slope(f: Fn, solve: Fn, options: Any) -> Any:
    """What ``solve`` finds of a function that gives a residual and its derivative."""
    return solve(lambda x: f(x)[0], {**options, "fprime": lambda x: f(x)[1]})


def newton(f: Fn, options: Any) -> Any:
    """The root that ``scipy.optimize.newton`` finds, which raises itself."""
    found = optimize.newton(f, **options)
    if np.iscomplexobj(found):
        raise TypeError("newton finds a complex root, and derivatives are known of real ones")
    return float(found) if np.ndim(found) == 0 else found


def _vanishes(residual: Any, x: Any) -> bool:
    """Whether a residual is zero but for rounding: where more is asked for than that, solvers complain."""
    return bool(np.max(np.abs(residual), initial=0.0) <= 1e-12 * (1.0 + np.max(np.abs(x), initial=0.0)))


def system(f: Fn, options: Any) -> Any:
    """The root that ``scipy.optimize.fsolve`` finds."""
    found, info, flag, message = optimize.fsolve(f, full_output=True, **options)
    if flag != 1 and not _vanishes(info["fvec"], found):
        raise RuntimeError(f"fsolve did not converge: {message}")
    return found


def vector_root(f: Fn, options: Any) -> Any:
    """The root that ``scipy.optimize.root`` finds."""
    options = dict(options)
    if "fprime" in options:
        options["jac"] = options.pop("fprime")
    found = optimize.root(f, **options)
    if not found.success and not _vanishes(found.fun, found.x):
        raise RuntimeError(f"root did not converge: {found.message}")
    return np.asarray(found.x, dtype=float)


def image_fixed(f: Fn, options: Any) -> Any:
    """The fixed point that ``scipy.optimize.fixed_point`` finds of the second result of a function."""
    found = optimize.fixed_point(lambda x: f(x)[1], **options)
    return float(found) if np.ndim(found) == 0 else np.asarray(found, dtype=float)


def least(f: Fn, options: Any) -> Any:
    """The minimiser that ``scipy.optimize.minimize`` finds."""
    found = optimize.minimize(f, **options)
    lost_precision = 2  # whether that matters is seen from a step of Newton's method
    if not found.success and found.status != lost_precision:
        raise RuntimeError(f"minimize did not converge: {found.message}")
    return np.asarray(found.x, dtype=float)


def least_with_gradient(f: Fn, options: Any) -> Any:
    """The same for a function that gives its gradient besides."""
    return least(lambda x: f(x)[0], {**options, "jac": lambda x: f(x)[1]})


def least_number(f: Fn, options: Any) -> float:
    """The minimiser that ``scipy.optimize.minimize_scalar`` finds."""
    found = optimize.minimize_scalar(f, **options)
    if not found.success:
        raise RuntimeError(f"minimize_scalar did not converge: {found.message}")
    return float(found.x)


def quadrature(f: Fn, low: float, high: float, options: Any) -> float:
    """The integral that ``scipy.integrate.quad`` finds."""
    found = integrate.quad(f, low, high, full_output=1, **options)
    if len(found) > 3:
        raise ArithmeticError(f"quad did not converge: {found[3]}")
    return float(found[0])


def quadrature_error(f: Fn, low: float, high: float, options: Any) -> float:
    """What ``scipy.integrate.quad`` estimates that its error is."""
    return float(integrate.quad(f, low, high, full_output=1, **options)[1])


def initial_values(f: Fn, times: Any, state: Any, end: Any, options: Any) -> Any:
    """The states that ``scipy.integrate.solve_ivp`` finds; to an ``end`` beyond the last time where that is given."""
    last = times[-1] if end is None else end
    if times[0] == last:
        return np.repeat(state[:, None], len(times), axis=1)
    is_new = np.append(True, np.diff(times) != 0)  # one time is asked for once
    found = integrate.solve_ivp(f, (times[0], last), state, t_eval=times[is_new], **options)
    if not found.success:
        raise RuntimeError(f"solve_ivp failed: {found.message}")
    return found.y[:, np.cumsum(is_new) - 1]


def steps(f: Fn, span: Any, state: Any, options: Any) -> Any:
    """The times at which ``scipy.integrate.solve_ivp`` stops by itself."""
    found = integrate.solve_ivp(f, span, state, **options)
    if not found.success:
        raise RuntimeError(f"solve_ivp failed: {found.message}")
    return found.t


def odeint(f: Fn, times: Any, state: Any, end: Any, options: Any) -> Any:
    """The states that ``scipy.integrate.odeint`` finds, in columns."""
    found, info = integrate.odeint(f, state, times, tfirst=True, full_output=True, **options)
    if info["message"] != "Integration successful.":
        raise RuntimeError(f"odeint failed: {info['message']}")
    return found.T
