"""Definitions of ``scipy.integrate``: integrals, and trajectories of differential equations."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import integrate, optimize

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import marks, solved
from adjoint.rules.conversions import as_result
from adjoint.rules.declare import case, definition
from adjoint.rules.helpers.solvers import Solution, tupled
from adjoint.runtime.numerical_methods.implicit import (
    answered,
    happenings,
    integral,
    integral_error,
    root,
    stops,
    taken,
    trajectory,
)
from adjoint.runtime.numerical_methods.of_scipy.solvers import (
    array_quadrature,
    array_quadrature_error,
    event_times,
    initial_values,
    levels_of_quadrature,
    levels_of_quadrature_error,
    odeint,
    quadrature,
    quadrature_error,
    steps,
    up_to_last,
)


def _quad(
    func,
    a,
    b,
    args=(),
    full_output=0,
    epsabs=1.49e-08,
    epsrel=1.49e-08,
    limit=50,
    points=None,
    weight=None,
    wvar=None,
    wopts=None,
    maxp1=50,
    limlst=50,
    complex_func=False,
):
    if full_output or complex_func:
        raise NotImplementedError("full_output" if full_output else "complex_func")
    if weight is not None:
        raise NotImplementedError("weight")
    args = tupled(args)
    function = lambda t: func(t, *args)
    options = {"epsabs": epsabs, "epsrel": epsrel, "limit": limit, "points": stop_gradient(points)}
    low, high = float(a), float(b)
    area = solved(integral, function, (0.5,), quadrature, (options,), low, high)
    error = stop_gradient(solved(integral_error, function, (0.5,), quadrature_error, (options,), low, high))
    return area, error


definition(
    integrate.quad,
    _quad,
    functional=True,
    arrays=(),
    cases=[case(lambda x: x * x, 0.0, 2.0), case(lambda x, a: np.exp(-a * x), 0.0, float("inf"), (2.0,))],
)


def _dblquad(func, a, b, gfun, hfun, args=(), epsabs=1.49e-08, epsrel=1.49e-08):
    further = tupled(args)

    def inner(x):
        low = gfun(x) if callable(gfun) else gfun
        high = hfun(x) if callable(hfun) else hfun
        return integrate.quad(lambda y: func(y, x, *further), low, high, epsabs=epsabs, epsrel=epsrel)[0]

    return integrate.quad(inner, a, b, epsabs=epsabs, epsrel=epsrel)


def _iterated(func, ranges, further):
    """The last variable is the outermost; limits of one are functions of those outside of it."""
    limits = ranges[-1]
    low, high = limits(*further) if callable(limits) else limits
    if len(ranges) == 1:
        return integrate.quad(lambda x: func(x, *further), low, high)
    return integrate.quad(lambda x: _iterated(func, ranges[:-1], (x, *further))[0], low, high)


def _nquad(func, ranges, args=None, opts=None, full_output=False):
    if opts is not None or full_output:
        raise NotImplementedError("options")
    return _iterated(func, tuple(ranges), () if args is None else tupled(args))


def _tplquad(func, a, b, gfun, hfun, qfun, rfun, args=(), epsabs=1.49e-08, epsrel=1.49e-08):
    further = tupled(args)

    def inner(x):
        low = gfun(x) if callable(gfun) else gfun
        high = hfun(x) if callable(hfun) else hfun
        return integrate.quad(lambda y: innermost(y, x), low, high, epsabs=epsabs, epsrel=epsrel)[0]

    def innermost(y, x):
        low = qfun(x, y) if callable(qfun) else qfun
        high = rfun(x, y) if callable(rfun) else rfun
        return integrate.quad(lambda z: func(z, y, x, *further), low, high, epsabs=epsabs, epsrel=epsrel)[0]

    return integrate.quad(inner, a, b, epsabs=epsabs, epsrel=epsrel)


def _quad_vec(
    f,
    a,
    b,
    epsabs=1e-200,
    epsrel=1e-08,
    norm="2",
    cache_size=100000000.0,
    limit=10000,
    workers=1,
    points=None,
    quadrature=None,
    full_output=False,
    *,
    args=(),
):
    if full_output or workers != 1:
        raise NotImplementedError("full_output" if full_output else "workers")
    further = tupled(args)
    function = lambda t: f(t, *further)
    options = {"epsabs": epsabs, "epsrel": epsrel, "norm": norm, "limit": limit, "quadrature": quadrature}
    options["points"] = stop_gradient(points)
    low, high = float(a), float(b)
    area = solved(integral, function, (0.5,), array_quadrature, (options,), low, high)
    error = stop_gradient(solved(integral_error, function, (0.5,), array_quadrature_error, (options,), low, high))
    return area, error


class Quadrature(Solution):
    """Stands for what ``tanhsinh`` returns; errors cost the integrals once more where they are asked for."""

    __adjoint_stands_for__ = type(integrate.tanhsinh(lambda x: x, 0.0, 1.0))

    def __init__(self, integrals, shape, errors):
        self._shape, self._errors = shape, errors
        self.integral = as_result(np.reshape(np.array(integrals), shape))
        self.success = as_result(np.ones(shape, dtype=bool))

    @property
    def error(self):
        return as_result(np.reshape(self._errors(), self._shape))


def _tanhsinh(
    f,
    a,
    b,
    *,
    args=(),
    log=False,
    maxlevel=None,
    minlevel=2,
    atol=None,
    rtol=None,
    preserve_shape=False,
    callback=None,
):
    """One integral after the other: the function is asked for one number at a time."""
    if log or preserve_shape or callback is not None:
        raise NotImplementedError("log, preserve_shape, or callback")
    levels = {"maxlevel": maxlevel, "minlevel": minlevel, "atol": atol, "rtol": rtol}
    options = {"epsabs": 1e-10, "epsrel": 1e-10, "tanhsinh": levels}
    further = tupled(args)
    shape = np.broadcast_shapes(np.shape(a), np.shape(b), *[np.shape(each) for each in further])
    lows, highs = np.ravel(np.broadcast_to(a, shape)), np.ravel(np.broadcast_to(b, shape))
    rows = [np.ravel(np.broadcast_to(each, shape)) for each in further]

    def one(k, primitive, solve):
        inputs = [row[k] for row in rows]
        function = lambda t: f(t, *inputs)
        return solved(primitive, function, (0.5,), solve, (options,), float(lows[k]), float(highs[k]))

    def errors():
        found = [one(k, integral_error, levels_of_quadrature_error) for k in range(np.size(lows))]
        return stop_gradient(np.array(found))

    return Quadrature([one(k, integral, levels_of_quadrature) for k in range(np.size(lows))], shape, errors)


definition(integrate.tanhsinh, _tanhsinh, functional=True, arrays=())
definition(
    integrate.dblquad,
    _dblquad,
    functional=True,
    arrays=(),
    cases=[
        case(lambda y, x: x * y * y, 0.0, 2.0, 0.0, lambda x: x),
        case(lambda y, x, c: c * y, 0.0, 1.0, 0.0, 2.0, (3.0,)),
    ],
)
definition(
    integrate.nquad,
    _nquad,
    functional=True,
    arrays=(),
    cases=[
        case(lambda y, x: x * y * y, [[0.0, 2.0], [0.0, 1.0]]),
        case(lambda z, y, x, c: c * z * x * y * y, [lambda y, x, c: (0.0, x), [0.0, 2.0], [0.0, 1.0]], (2.0,)),
    ],
)
definition(
    integrate.tplquad,
    _tplquad,
    functional=True,
    arrays=(),
    cases=[case(lambda z, y, x: x * y * z, 0.0, 1.0, 0.0, lambda x: x, lambda x, y: y, 2.0)],
)
definition(
    integrate.quad_vec,
    _quad_vec,
    functional=True,
    arrays=(),
    cases=[
        case(lambda x: np.array([x, x * x]), 0.0, 2.0),
        case(lambda x, c: c * np.exp(-x * np.array([1.0, 2.0])), 0.0, float("inf"), norm="max", args=(2.0,)),
    ],
)


class Dense(Solution):
    """Stands for a continuous solution: a trajectory to the times that are asked for."""

    __adjoint_stands_for__ = integrate.OdeSolution

    def __init__(self, rate, first, last, state, options):
        self._rate, self._state, self._options = rate, state, options
        self._first, self._last = first, last
        self.t_min, self.t_max = min(first, last), max(first, last)

    def __call__(self, t):
        asked = np.ravel(t) + 0.0
        if np.any(np.logical_or(asked < self.t_min, asked > self.t_max)):
            raise ValueError("derivatives of a continuous solution are known inside of its interval")
        order = np.argsort(asked if self._first <= self._last else -asked, kind="stable")
        times = np.concatenate([np.array([self._first]), asked[order]])
        settings = (stop_gradient(self._last), self._options)
        rate, state = self._rate, self._state
        y = solved(trajectory, rate, (0.5, state), initial_values, settings, times, state)[:, 1:]
        found = y[:, np.argsort(order, kind="stable")]
        return found[:, 0] if np.ndim(t) == 0 else found


class OdeResult(Solution):
    """Stands for what ``solve_ivp`` returns."""

    __adjoint_stands_for__ = optimize.OptimizeResult

    def __init__(self, t, y, t_events=None, y_events=None, status=0, sol=None):
        self.sol = sol
        self.t = t
        self.y = y
        self.t_events = t_events
        self.y_events = y_events
        self.success = True
        self.status = status


def _solve_ivp(
    fun,
    t_span,
    y0,
    method="RK45",
    t_eval=None,
    dense_output=False,
    events=None,
    vectorized=False,
    args=None,
    rtol=1e-3,
    atol=1e-6,
    first_step=None,
    max_step=float("inf"),
    jac=None,
):
    if vectorized:
        raise NotImplementedError("vectorized")
    if jac is not None:
        raise NotImplementedError("jac")
    further = () if args is None else tupled(args)
    state = np.ravel(np.asarray(y0) + 0.0)
    rate = lambda t, y: np.reshape(np.asarray(fun(t, y, *further)), np.shape(y))
    options = {"method": method, "rtol": rtol, "atol": atol, "max_step": max_step, "first_step": first_step}
    first, last = float(t_span[0]), float(t_span[1])
    if dense_output and events is not None:
        raise NotImplementedError("dense_output and events")
    sol = Dense(rate, first, last, state, options) if dense_output else None
    if events is not None:
        several = events if isinstance(events, (list, tuple)) else (events,)
        reached = [_with_further(event, further) for event in several]
        return _with_events(rate, reached, [marks(event) for event in several], first, last, t_eval, state, options)
    if t_eval is None:
        span = (stop_gradient(first), stop_gradient(last))
        own = stop_gradient(solved(stops, rate, (0.5, state), steps, (options,), span, stop_gradient(state)))
        times = np.concatenate([np.array([first]), own[1:-1], np.array([last])])
        y = solved(trajectory, rate, (0.5, state), initial_values, (None, options), times, state)
        return OdeResult(times, y, sol=sol)
    times = np.concatenate([np.array([first]), np.asarray(t_eval) + 0.0])
    y = solved(trajectory, rate, (0.5, state), initial_values, (stop_gradient(last), options), times, state)
    return OdeResult(times[1:], y[:, 1:], sol=sol)


def _with_further(event, further):
    return lambda t, y: np.sum(event(t, y, *further))


def _with_events(rate, events, marks_of_events, first, last, t_eval, state, options):
    """A solution with events: each happens where its function is zero along the trajectory."""
    span = (stop_gradient(first), stop_gradient(last))
    parts = lambda t, y: (rate(t, y), *[event(t, y) for event in events])
    asked = None if t_eval is None else stop_gradient(np.asarray(t_eval) + 0.0)
    settings = (tuple(marks_of_events), asked, options)

    def found(place):
        start = stop_gradient(state)
        return stop_gradient(solved(happenings, parts, (0.5, state), event_times, (place, *settings), span, start))

    def states(times):
        all_times = np.concatenate([np.array([first]), times])
        settings = (stop_gradient(last), stop_gradient(options))
        return solved(trajectory, rate, (0.5, state), up_to_last, settings, all_times, state)

    def moments(place):
        times = found(place)
        if times.size == 0:
            return times

        def missing(times):
            y = states(times)
            return np.array([events[place](times[k], y[:, k + 1]) for k in range(len(times))])

        return solved(root, missing, (times,), answered, (taken, times))

    t_events = [moments(place) for place in range(len(events))]
    y_events = [states(times)[:, 1:].T for times in t_events]
    which = int(found(-2)[0])
    own = found(-1)
    if t_eval is not None:
        times = (np.asarray(t_eval) + 0.0)[: own.size]
        return OdeResult(times, states(times)[:, 1:], t_events, y_events, 1 if which >= 0 else 0)
    stop = last
    for place in range(len(events)):
        if which == place:
            stop = float(t_events[place][-1])
    times = np.concatenate([own[1:-1], np.array([stop])])
    all_times = np.concatenate([np.array([first]), times])
    return OdeResult(all_times, states(times), t_events, y_events, 1 if which >= 0 else 0)


definition(
    integrate.solve_ivp,
    _solve_ivp,
    functional=True,
    arrays=(),
    cases=[
        case(lambda t, y: [y[1], -y[0]], (0.0, 2.0), [1.0, 0.0]),
        case(lambda t, y, k: -k * y, (0.0, 2.0), [1.0], "DOP853", [0.5, 1.5], args=(2.0,), rtol=1e-6),
    ],
)


def _odeint(
    func,
    y0,
    t,
    args=(),
    Dfun=None,
    col_deriv=0,
    full_output=0,
    ml=None,
    mu=None,
    rtol=None,
    atol=None,
    tcrit=None,
    h0=0.0,
    hmax=0.0,
    hmin=0.0,
    ixpr=0,
    mxstep=0,
    mxhnil=0,
    mxordn=12,
    mxords=5,
    printmessg=0,
    tfirst=False,
):
    if full_output:
        raise NotImplementedError("full_output")
    for name, value in (("Dfun", Dfun), ("ml", ml), ("mu", mu), ("tcrit", tcrit)):
        if value is not None:
            raise NotImplementedError(name)
    further = tupled(args)
    state = np.ravel(np.asarray(y0) + 0.0)
    if tfirst:
        rate = lambda t, y: np.reshape(np.asarray(func(t, y, *further)), np.shape(y))
    else:
        rate = lambda t, y: np.reshape(np.asarray(func(y, t, *further)), np.shape(y))
    options = {"rtol": rtol, "atol": atol, "h0": h0, "hmax": hmax, "hmin": hmin, "mxstep": mxstep}
    times = np.asarray(t) + 0.0
    return solved(trajectory, rate, (0.5, state), odeint, (None, options), times, state).T


definition(
    integrate.odeint,
    _odeint,
    functional=True,
    arrays=(),
    cases=[
        case(lambda y, t: -y, [1.0, 2.0], np.array([0.0, 0.5, 1.0])),
        case(lambda t, y, k: -k * y, 1.0, np.array([0.0, 0.5, 1.0]), (2.0,), tfirst=True),
    ],
)
