"""Solvers of SciPy as derivatives call them: what does not converge raises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate, optimize

from adjoint.runtime.numerical_methods.implicit import CONVERGED

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


def reported_system(f: Fn, options: Any) -> Any:
    """The same, where the program is told that ``fsolve`` says that it has converged."""
    found, _, flag, message = optimize.fsolve(f, full_output=True, **options)
    if flag != 1:
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


def vector_root_by_squares(f: Fn, has_slope: bool, options: Any) -> Any:
    """What ``root`` finds by Levenberg-Marquardt of the second part of ``f``, of which the third is the Jacobian."""
    found = optimize.root(lambda x: f(x)[1], jac=(lambda x: f(x)[2]) if has_slope else None, **options)
    if not found.success:
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


def at_end(x: Any, end: Any, tolerance: float = 1e-9) -> Any:
    """Which unknowns lie at an end of what they may be.

    >>> at_end(np.array([1.0, 2.0]), np.array([1.0, np.inf])).tolist()
    [True, False]
    """
    return np.abs(x - end) <= tolerance * (1.0 + np.abs(x))


def least_within(f: Fn, low: Any, high: Any, options: Any) -> Any:
    """The minimiser that ``scipy.optimize.minimize`` finds within bounds, where these hold what lies at them."""
    return _really_held(f, least(f, {**options, "bounds": optimize.Bounds(low, high)}), low, high, "minimize")


def least_of_all_within(f: Fn, low: Any, high: Any, find_and_options: Any) -> Any:
    """The same of a search for the least minimum."""
    find, options = find_and_options
    found = find(f, list(zip(low, high, strict=True)), **options)
    if not found.success:
        raise RuntimeError(f"{find.__name__} did not converge: {found.message}")
    return _really_held(f, np.asarray(found.x, dtype=float), low, high, find.__name__)


def least_of_all(f: Fn, find: Fn, options: Any) -> Any:
    """The minimiser that a search finds that knows no bounds."""
    found = find(f, **options)
    return np.atleast_1d(np.asarray(getattr(found, "x", found), dtype=float))


def _really_held(f: Fn, x: Any, low: Any, high: Any, name: str) -> Any:
    """A minimiser, if the function decreases beyond each bound that it lies at."""
    near_high = at_end(x, high, 1e-5)
    for place in np.flatnonzero(at_end(x, low, 1e-5) | near_high):
        step = np.zeros(x.size)
        step[place] = (1.0 if near_high[place] else -1.0) * 1e-4 * (1.0 + np.abs(x[place]))
        beyond, here, before = f(x + step), f(x), f(x - step)
        if beyond + before - 2.0 * here > before - beyond:
            raise ValueError(f"{name} finds a minimum at a bound that does not hold it, which has no derivative")
    return x


def least_number(f: Fn, options: Any) -> float:
    """The minimiser that ``scipy.optimize.minimize_scalar`` finds."""
    found = optimize.minimize_scalar(f, **options)
    if not found.success:
        raise RuntimeError(f"minimize_scalar did not converge: {found.message}")
    return float(found.x)


def least_by(f: Fn, find: Fn, start: Any, options: Any) -> Any:
    """The minimiser that one of SciPy's older functions finds, ``fmin`` and its like."""
    found, *_, flag = find(f, start, full_output=True, **options)
    lost_precision = 2
    if flag not in (0, lost_precision):
        raise RuntimeError(f"{find.__name__} did not converge: it says {flag}")
    return np.atleast_1d(np.asarray(found, dtype=float))


def least_number_by(f: Fn, find: Fn, brack: Any, options: Any) -> float:
    """The same of functions of a number, ``brent`` and ``golden``."""
    return float(find(f, brack=brack, **options))


def root_by(f: Fn, find: Fn, start: Any, options: Any) -> Any:
    """The root that an iteration finds, which raises where it does not converge."""
    return np.asarray(find(f, start, **options), dtype=float)


def fitted(f: Fn, options: Any) -> Any:
    """The minimiser that ``least_squares`` finds, of a function that gives a cost, residuals and perhaps a Jacobian."""
    given = {name: value for name, value in options.items() if value is not None}
    found = optimize.least_squares(lambda x: f(x)[1], **{"jac": lambda x: f(x)[2], **given})
    if not found.success:
        raise RuntimeError(f"least_squares did not converge: {found.message}")
    return np.asarray(found.x, dtype=float)


def fitted_by_minpack(f: Fn, options: Any) -> Any:
    """The same of ``scipy.optimize.leastsq``."""
    slope = (lambda x: f(x)[2]) if options["has_slope"] else None
    given = {name: value for name, value in options.items() if name != "has_slope"}
    found, _, _, message, flag = optimize.leastsq(lambda x: f(x)[1], Dfun=slope, full_output=True, **given)
    if flag not in (1, 2, 3, 4):
        raise RuntimeError(f"leastsq did not converge: {message}")
    return np.asarray(found, dtype=float)


def quadrature(f: Fn, low: float, high: float, options: Any) -> float:
    """The integral that ``scipy.integrate.quad`` finds."""
    found = integrate.quad(f, low, high, full_output=1, **options)
    if len(found) > 3:
        raise ArithmeticError(f"quad did not converge: {found[3]}")
    return float(found[0])


def quadrature_error(f: Fn, low: float, high: float, options: Any) -> float:
    """What ``scipy.integrate.quad`` estimates that its error is."""
    return float(integrate.quad(f, low, high, full_output=1, **options)[1])


def levels_of_quadrature(f: Fn, low: float, high: float, options: Any) -> float:
    """The integral that ``scipy.integrate.tanhsinh`` finds, of a function of one number at a time."""
    found = _levels(f, low, high, options)
    if not found.success:
        raise ArithmeticError(f"tanhsinh did not converge: status {int(found.status)}")
    return float(found.integral)


def levels_of_quadrature_error(f: Fn, low: float, high: float, options: Any) -> float:
    """What ``scipy.integrate.tanhsinh`` estimates that its error is."""
    return float(_levels(f, low, high, options).error)


def _levels(f: Fn, low: float, high: float, options: Any) -> Any:
    several = np.vectorize(lambda x: f(float(x)), otypes=[float])
    return integrate.tanhsinh(several, low, high, **options["tanhsinh"])


def array_quadrature(f: Fn, low: float, high: float, options: Any) -> Any:
    """The integral that ``scipy.integrate.quad_vec`` finds."""
    found, _, info = integrate.quad_vec(f, low, high, full_output=True, **options)
    if info.status not in CONVERGED:
        raise ArithmeticError(f"quad_vec did not converge: {info.message}")
    return found


def array_quadrature_error(f: Fn, low: float, high: float, options: Any) -> float:
    """What ``scipy.integrate.quad_vec`` estimates that its error is."""
    return float(integrate.quad_vec(f, low, high, **options)[1])


def boundary_values(f: Fn, x: Any, y: Any, n: int, options: Any) -> Any:
    """Nodes, values and parameters that ``scipy.integrate.solve_bvp`` finds, in rows of one array.

    ``f`` gives the right side and the boundary conditions, at nodes and of rows of which the first ``n`` are values
    and the others parameters.
    """
    count = len(y) - n

    def rows(y: Any, p: Any = ()) -> Any:
        return np.concatenate([y, *[np.full((1, y.shape[1]), each) for each in p]])

    def rate(x: Any, y: Any, *p: Any) -> Any:
        return f(x, rows(y, *p))[0]

    def conditions(first: Any, last: Any, *p: Any) -> Any:
        return f(x[[0, -1]], rows(np.stack([first, last], axis=1), *p))[1]

    found = integrate.solve_bvp(rate, conditions, x, y[:n], p=y[n:, 0] if count else None, **options)
    if found.status != 0:
        raise RuntimeError(f"solve_bvp did not converge: {found.message}")
    return np.concatenate([found.x, np.ravel(rows(found.y, found.p if count else ()))])


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


def up_to_last(f: Fn, times: Any, state: Any, end: Any, options: Any) -> Any:
    """The same by the steps that lead to ``end``, as far as the last time: nothing is known beyond."""
    if end is None or times[0] == times[-1]:
        return initial_values(f, times, state, None, options)
    beyond = times[-1] + 1e-12 * (end - times[0])

    def passed(t: float, y: Any) -> Any:
        return t - beyond

    passed.terminal = True  # type: ignore[attr-defined]
    is_new = np.append(True, np.diff(times) != 0)
    found = integrate.solve_ivp(f, (times[0], end), state, t_eval=times[is_new], events=passed, **options)
    if not found.success:
        raise RuntimeError(f"solve_ivp failed: {found.message}")
    return found.y[:, np.cumsum(is_new) - 1]


def event_times(f: Fn, span: Any, state: Any, place: int, marks: Any, t_eval: Any, options: Any) -> Any:
    """When the event at a place happens; at place -1 where the solver stops, at place -2 the event that ends it.

    ``f`` gives the rate and the values of all events. A mark is the function of an event, which has attributes that
    tell how it counts, or these.
    """
    events = [_event(f, 1 + k, mark) for k, mark in enumerate(marks)]
    found = integrate.solve_ivp(lambda t, y: f(t, y)[0], span, state, t_eval=t_eval, events=events, **options)
    if not found.success:
        raise RuntimeError(f"solve_ivp failed: {found.message}")
    if place >= 0:
        return found.t_events[place]
    if place == -1:
        return found.t
    ends = [k for k, event in enumerate(events) if found.status == 1 and event.terminal and len(found.t_events[k])]
    return np.array([float(max(ends, key=lambda k: abs(found.t_events[k][-1] - span[0]), default=-1))])


def _event(f: Fn, place: int, mark: Any) -> Any:
    def event(t: float, y: Any) -> Any:
        return f(t, y)[place]

    terminal, direction = (
        mark
        if isinstance(mark, tuple)
        else (
            getattr(mark, "terminal", False),
            getattr(mark, "direction", 0),
        )
    )
    event.terminal, event.direction = terminal, direction  # type: ignore[attr-defined]
    return event


def odeint(f: Fn, times: Any, state: Any, end: Any, options: Any) -> Any:
    """The states that ``scipy.integrate.odeint`` finds, in columns."""
    found, info = integrate.odeint(f, state, times, tfirst=True, full_output=True, **options)
    if info["message"] != "Integration successful.":
        raise RuntimeError(f"odeint failed: {info['message']}")
    return found.T


def fitted_parameters(fit: Any, free: tuple[int, ...], data: Any, starts: Any, kwds: Any) -> Any:
    """The parameters of a distribution that are free, as ``fit`` of SciPy finds them."""
    found = fit(data, *starts, **kwds)  # what is held comes back as it was given, a list perhaps
    return np.array([found[place] for place in free], dtype=float)


def power_by(find: Any, options: Any, x: Any) -> float:
    """The power that makes a sample most normal, as a function of SciPy finds it."""
    return float(find(x, **options))
