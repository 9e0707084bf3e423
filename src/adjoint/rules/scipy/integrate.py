"""Definitions of ``scipy.integrate``: integrals, and trajectories of differential equations."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import integrate, optimize

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import marks, solved
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
from adjoint.runtime.numerical_methods.scipy_solvers import (
    event_times,
    initial_values,
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


def _nquad(func, ranges, args=None, opts=None, full_output=False):
    """Two variables, as many as most have; the first is the innermost."""
    if opts is not None or full_output or len(ranges) != 2:
        raise NotImplementedError("options, or another number of variables than two")
    if callable(ranges[0]) or callable(ranges[1]):
        raise NotImplementedError("limits that are functions")
    further = () if args is None else tupled(args)
    low, high = ranges[0]

    def inner(x):
        return integrate.quad(lambda y: func(y, x, *further), low, high)[0]

    return integrate.quad(inner, ranges[1][0], ranges[1][1])


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
    cases=[case(lambda y, x: x * y * y, [[0.0, 2.0], [0.0, 1.0]])],
)


class OdeResult(Solution):
    """Stands for what ``solve_ivp`` returns."""

    __adjoint_stands_for__ = optimize.OptimizeResult

    def __init__(self, t, y, t_events=None, y_events=None, status=0):
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
    for name, value in (("dense_output", dense_output), ("vectorized", vectorized)):
        if value:
            raise NotImplementedError(name)
    if jac is not None:
        raise NotImplementedError("jac")
    further = () if args is None else tupled(args)
    state = np.ravel(np.asarray(y0) + 0.0)
    rate = lambda t, y: np.reshape(np.asarray(fun(t, y, *further)), np.shape(y))
    options = {"method": method, "rtol": rtol, "atol": atol, "max_step": max_step, "first_step": first_step}
    first, last = float(t_span[0]), float(t_span[1])
    if events is not None:
        several = events if isinstance(events, (list, tuple)) else (events,)
        reached = [_with_further(event, further) for event in several]
        return _with_events(rate, reached, [marks(event) for event in several], first, last, t_eval, state, options)
    if t_eval is None:
        span = (stop_gradient(first), stop_gradient(last))
        own = stop_gradient(solved(stops, rate, (0.5, state), steps, (options,), span, stop_gradient(state)))
        times = np.concatenate([np.array([first]), own[1:-1], np.array([last])])
        y = solved(trajectory, rate, (0.5, state), initial_values, (None, options), times, state)
        return OdeResult(times, y)
    times = np.concatenate([np.array([first]), np.asarray(t_eval) + 0.0])
    y = solved(trajectory, rate, (0.5, state), initial_values, (stop_gradient(last), options), times, state)
    return OdeResult(times[1:], y[:, 1:])


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


def _unknown(*args, **kwargs):
    raise NotImplementedError("any argument")


for _solver in (integrate.quad_vec, integrate.solve_bvp, integrate.tplquad):
    definition(_solver, _unknown, functional=True, arrays=())
