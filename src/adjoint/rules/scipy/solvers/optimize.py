"""Definitions of ``scipy.optimize``: solvers, by what their results solve; its test function."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import optimize

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import solved
from adjoint.rules.declare import case, definition, no_derivative, sample
from adjoint.rules.helpers.solvers import Solution, tupled, unknown
from adjoint.runtime.numerical_methods.implicit import answered, minimum, minimum_of_part, root, root_of_part, taken
from adjoint.runtime.numerical_methods.of_scipy.solvers import (
    at_end,
    image_fixed,
    least,
    least_number,
    least_with_gradient,
    least_within,
    newton,
    reported_system,
    scalar_root,
    system,
    vector_root,
    vector_root_by_squares,
    with_slope,
)


def _rosen(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


definition(optimize.rosen, _rosen, cases=[case(sample(5)), case(sample(3, 4))])

FOUR_ULPS = 8.881784197001252e-16


class OptimizeResult(Solution):
    """Stands for what solvers return, without what tells how they went, which a derivative does not know."""

    __adjoint_stands_for__ = optimize.OptimizeResult

    def __init__(self, x, fun):
        self.x = x
        self.fun = fun
        self.success = True


class RootResults(Solution):
    """The same of ``root_scalar``."""

    __adjoint_stands_for__ = optimize.RootResults

    def __init__(self, x):
        self.root = x
        self.converged = True
        self.flag = "converged"


# --- roots of functions of a number -----------------------------------------------------------------------------------


def _reported(found, full_output):
    """A root, with what SciPy tells of it if that is asked for: it converged, or has raised, whatever ``disp`` says."""
    return (found, RootResults(found)) if full_output else found


def _bracketing(solver):
    def find(f, a, b, args=(), xtol=2e-12, rtol=FOUR_ULPS, maxiter=100, full_output=False, disp=True):
        args = tupled(args)
        settings = (stop_gradient(a), stop_gradient(b), (), xtol, rtol, maxiter)
        return _reported(solved(root, lambda x: f(x, *args), (0.5,), solver, settings), full_output)

    return find


def _toms748(f, a, b, args=(), k=1, xtol=2e-12, rtol=FOUR_ULPS, maxiter=100, full_output=False, disp=True):
    args = tupled(args)
    settings = (stop_gradient(a), stop_gradient(b), (), k, xtol, rtol, maxiter)
    return _reported(solved(root, lambda x: f(x, *args), (0.5,), optimize.toms748, settings), full_output)


BRACKETS = [
    case(lambda x: x * x - 2.0, 0.0, 2.0),
    case(lambda x, a: x * x - a, 0.0, 2.0, args=(3.0,)),
    case(lambda x: x * x - 2.0, 0.0, 2.0, disp=False),
]
for _solver in (optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder):
    definition(_solver, _bracketing(_solver), functional=True, arrays=(), cases=BRACKETS)
definition(optimize.toms748, _toms748, functional=True, arrays=(), cases=BRACKETS)


def _newton(
    func,
    x0,
    fprime=None,
    args=(),
    tol=1.48e-08,
    maxiter=50,
    fprime2=None,
    x1=None,
    rtol=0.0,
    full_output=False,
    disp=True,
):
    if full_output and np.ndim(x0) > 0:
        raise NotImplementedError("full_output=True")
    if fprime2 is not None:
        raise NotImplementedError("fprime2")
    start = _start(x0)
    options = {"x0": start, "tol": tol, "maxiter": maxiter, "x1": stop_gradient(x1), "rtol": rtol}
    if fprime is None:
        return _reported(solved(root, lambda x: func(x, *args), (start,), newton, (options,)), full_output)
    both = lambda x: (func(x, *args), fprime(x, *args))
    return _reported(solved(root_of_part, both, (start,), 0, with_slope, (newton, options)), full_output)


def _start(x0):
    """The point to start from, as a float or an array of them."""
    start = stop_gradient(x0)
    if isinstance(start, (int, float)):
        return float(start)
    return np.asarray(start) + 0.0


definition(
    optimize.newton,
    _newton,
    functional=True,
    arrays=(),
    cases=[
        case(lambda x: x * x - 2.0, 1.0),
        case(lambda x, a: x * x - a, 1, lambda x, a: 2 * x, (3.0,)),
        case(lambda x: x * x - np.array([2.0, 3.0]), np.ones(2)),
    ],
)


def _root_scalar(
    f,
    args=(),
    method=None,
    bracket=None,
    fprime=None,
    fprime2=None,
    x0=None,
    x1=None,
    xtol=None,
    rtol=None,
    maxiter=None,
    options=None,
):
    if fprime2 is not None or options is not None:
        raise NotImplementedError("options" if fprime2 is None else "fprime2")
    args = tupled(args)
    settings = {
        "method": method,
        "bracket": stop_gradient(bracket),
        "x0": stop_gradient(x0),
        "x1": stop_gradient(x1),
        "xtol": xtol,
        "rtol": rtol,
        "maxiter": maxiter,
    }
    if fprime is None:
        return RootResults(solved(root, lambda x: f(x, *args), (0.5,), scalar_root, (settings,)))
    if fprime is True:
        both = lambda x: f(x, *args)
    else:
        both = lambda x: (f(x, *args), fprime(x, *args))
    return RootResults(solved(root_of_part, both, (0.5,), 0, with_slope, (scalar_root, settings)))


definition(
    optimize.root_scalar,
    _root_scalar,
    functional=True,
    arrays=(),
    cases=[
        case(lambda x: x * x - 2.0, bracket=(0.0, 2.0)),
        case(lambda x, a: x * x - a, (3.0,), "newton", fprime=lambda x, a: 2.0 * x, x0=1.0),
    ],
)


# --- roots of functions of several ------------------------------------------------------------------------------------


def vector_of(value):
    return np.ravel(np.asarray(value))


def _fsolve(
    func,
    x0,
    args=(),
    fprime=None,
    full_output=0,
    col_deriv=0,
    xtol=1.49012e-08,
    maxfev=0,
    band=None,
    epsfcn=None,
    factor=100,
    diag=None,
):
    if col_deriv:
        raise NotImplementedError("col_deriv")
    args = tupled(args)
    start = np.ravel(np.asarray(stop_gradient(x0)) + 0.0)
    options = {
        "x0": start,
        "xtol": xtol,
        "maxfev": maxfev,
        "band": band,
        "epsfcn": epsfcn,
        "factor": factor,
        "diag": diag,
    }
    solve = reported_system if full_output else system
    if fprime is None:
        found = solved(root, lambda x: vector_of(func(x, *args)), (start,), solve, (options,))
    else:
        both = lambda x: (vector_of(func(x, *args)), np.asarray(fprime(x, *args)))
        found = solved(root_of_part, both, (start,), 0, with_slope, (solve, options))
    return (found, {"fvec": vector_of(func(found, *args))}, 1, "The solution converged.") if full_output else found


SYSTEMS = [
    case(lambda x: [x[0] + 2.0 * x[1] - 2.0, x[0] ** 2 + x[1] - 2.0], [1.0, 1.0]),
    case(lambda x, a: x * x - a, np.ones(2), (2.0,)),
]
definition(optimize.fsolve, _fsolve, functional=True, arrays=(), cases=SYSTEMS)

SHAPELESS = ("hybr",)


def _root(fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None):
    if callback is not None:
        raise NotImplementedError("callback")
    args = tupled(args)
    start = np.atleast_1d(np.asarray(stop_gradient(x0)) + 0.0)
    if method in SHAPELESS:
        start = np.ravel(start)
    settings = {"x0": start, "method": method, "tol": tol, "options": options}
    if method == "lm":
        return _least_root(fun, args, jac, np.ravel(start), settings)
    function = lambda x: np.reshape(np.asarray(fun(x, *args)), np.shape(x))
    if jac is None or jac is False:
        x = solved(root, function, (start,), vector_root, (settings,))
        return OptimizeResult(x, function(x))
    if jac is True:
        function = lambda x: np.reshape(np.asarray(fun(x, *args)[0]), np.shape(x))
        both = lambda x: (function(x), np.asarray(fun(x, *args)[1]))
    else:
        both = lambda x: (function(x), np.asarray(jac(x, *args)))
    x = solved(root_of_part, both, (start,), 0, with_slope, (vector_root, settings))
    return OptimizeResult(x, function(x))


def _least_root(fun, args, jac, start, settings):
    """What ``root`` finds with ``method="lm"``, of more equations than unknowns, too: the least sum of squares."""
    if jac is True:
        both = lambda x: fun(x, *args)
    elif jac is None or jac is False:
        both = lambda x: (fun(x, *args), 0.0)
    else:
        both = lambda x: (fun(x, *args), jac(x, *args))

    def parts(x):
        r, slope = both(x)
        r = vector_of(r)
        return 0.5 * np.sum(r * r), r, np.asarray(slope)

    has_slope = jac is not None and jac is not False
    x = solved(minimum_of_part, parts, (start,), 0, vector_root_by_squares, (has_slope, {**settings, "x0": start}))
    return OptimizeResult(x, parts(x)[1])


definition(
    optimize.root,
    _root,
    functional=True,
    arrays=(),
    cases=[
        *SYSTEMS,
        case(lambda x: x * x - 2.0, [1.0], method="krylov"),
        case(np.sin, [3.0], jac=lambda x: [np.cos(x)]),
        case(lambda x: (np.sin(x), [np.cos(x)]), [3.0], jac=True),
        case(lambda x: [x[0] - 1.0, x[0] - 2.0], [3.0], method="lm"),
    ],
)


def _fixed_point(func, x0, args=(), xtol=1e-08, maxiter=500, method="del2"):
    args = tupled(args)
    start = _start(x0)

    def both(x):
        image = func(x, *args)
        return x - image, image

    options = {"x0": start, "xtol": xtol, "maxiter": maxiter, "method": method}
    return np.asarray(solved(root_of_part, both, (start,), 0, image_fixed, (options,)))  # of a number, too


definition(
    optimize.fixed_point,
    _fixed_point,
    functional=True,
    arrays=(),
    cases=[case(lambda x: np.cos(x), 0.5), case(lambda x, a: np.sqrt(a + x), np.ones(2), (2.0,))],
)


# --- minima -----------------------------------------------------------------------------------------------------------


def ends_of(bounds, count):
    """The least and the greatest values of unknowns, as arrays."""
    if isinstance(bounds, optimize.Bounds):
        return [np.asarray(end, dtype=float) * np.ones(count) for end in (bounds.lb, bounds.ub)]
    low = [-np.inf if pair[0] is None else pair[0] for pair in bounds]
    high = [np.inf if pair[1] is None else pair[1] for pair in bounds]
    return [np.array(low), np.array(high)]


def _minimize_within(function, start, bounds, settings):
    low, high = ends_of(bounds, np.size(start))
    x = held_or_solved(function, start, low, high, least_within, settings)
    return OptimizeResult(x, function(x))


def held_or_solved(function, start, low, high, find, settings):
    """Unknowns that a bound holds move with it; the others have a minimum without bounds."""
    given = (stop_gradient(low), stop_gradient(high), settings)
    found = stop_gradient(solved(minimum, function, (start,), find, given))
    at_low, at_high = at_end(found, given[0]), at_end(found, given[1])
    held = np.where(at_low, low, np.where(at_high, high, 0.0))
    free = np.flatnonzero(np.logical_not(np.logical_or(at_low, at_high)))
    x = held + 0.0
    if np.size(free) > 0:

        def inner(z):
            whole = held + 0.0
            whole[free] = z
            return function(whole)

        first = found[free]
        x[free] = solved(minimum, inner, (first,), answered, (taken, first))
    return x


no_derivative(at_end)


def _minimize(
    fun,
    x0,
    args=(),
    method=None,
    jac=None,
    hess=None,
    hessp=None,
    bounds=None,
    constraints=(),
    tol=None,
    callback=None,
    options=None,
):
    for name, value in (("hess", hess), ("hessp", hessp), ("callback", callback)):
        if value is not None:
            raise NotImplementedError(name)
    if not (isinstance(constraints, tuple) and len(constraints) == 0):
        raise NotImplementedError("constraints")
    args = tupled(args)
    start = np.ravel(np.asarray(stop_gradient(x0)) + 0.0)
    settings = {"x0": start, "method": method, "tol": tol, "options": options}
    if bounds is not None:
        if jac is not None and jac is not False:
            raise NotImplementedError("bounds and jac")
        return _minimize_within(lambda x: fun(x, *args), start, bounds, settings)
    if jac is None or jac is False:
        function = lambda x: fun(x, *args)
        x = solved(minimum, function, (start,), least, (settings,))
    elif jac is True:
        function = lambda x: fun(x, *args)[0]
        both = lambda x: (fun(x, *args)[0], vector_of(fun(x, *args)[1]))
        x = solved(root_of_part, both, (start,), 1, least_with_gradient, (settings,))
    else:
        function = lambda x: fun(x, *args)
        both = lambda x: (fun(x, *args), vector_of(jac(x, *args)))
        x = solved(root_of_part, both, (start,), 1, least_with_gradient, (settings,))
    return OptimizeResult(x, function(x))


QUADRATIC = lambda x, a: (x[0] - a) ** 2 + 2.0 * x[1] ** 2
definition(
    optimize.minimize,
    _minimize,
    functional=True,
    arrays=(),
    cases=[
        case(QUADRATIC, [0.5, 1.0], (2.0,)),
        case(QUADRATIC, [0.5, 1.0], 2.0, "BFGS", lambda x, a: [2.0 * (x[0] - a), 4.0 * x[1]]),
        case(lambda x: (x[0] ** 2, 2.0 * x), np.ones(1), jac=True, tol=1e-9),
        case(QUADRATIC, [0.5, 1.0], (2.0,), bounds=[(0.0, 1.0), (None, None)]),
    ],
)


def _held_by(function, x, bounds):
    """By which of two bounds a minimiser is held: the function decreases beyond it."""
    held = np.zeros(2, bool)
    for k in range(2):
        step = bounds[k] - x
        values = np.zeros(3)
        for place in range(3):
            values[place] = stop_gradient(function(x + step * (1.0 - place)))
        beyond, here, before = values
        is_near = np.abs(step) <= 1e-2 * (1.0 + np.abs(x))  # a minimum beyond is none that derivatives are taken at
        held[k] = is_near and not beyond + before - 2.0 * here > before - beyond
    return held


def _least_number(function, bounds, settings):
    """A minimiser that a bound holds moves with it."""
    if bounds is None:
        return solved(minimum, function, (0.5,), least_number, (settings,))
    ends = np.array([bounds[0], bounds[1]], dtype=float)
    found = stop_gradient(solved(minimum, function, (0.5,), least_number, (settings,)))
    held = _held_by(function, found, stop_gradient(ends))
    if held[0]:
        return found + (ends[0] - stop_gradient(ends[0]))
    if held[1]:
        return found + (ends[1] - stop_gradient(ends[1]))
    return solved(minimum, function, (found,), answered, (taken, found))


def _settings_of_number(bracket, bounds, method, tol, options):
    constant = {"bracket": stop_gradient(bracket), "bounds": stop_gradient(bounds)}
    return {**constant, "method": method, "tol": tol, "options": options}


def _minimize_scalar(fun, bracket=None, bounds=None, args=(), method=None, tol=None, options=None):
    args = tupled(args)
    function = lambda x: fun(x, *args)
    x = _least_number(function, bounds, _settings_of_number(bracket, bounds, method, tol, options))
    return OptimizeResult(x, function(x))


def _fminbound(func, x1, x2, args=(), xtol=1e-05, maxfun=500, full_output=0, disp=1):
    if full_output:
        raise NotImplementedError("full_output")
    args = tupled(args)
    options = {"xatol": xtol, "maxiter": maxfun, "disp": disp}
    settings = _settings_of_number(None, (x1, x2), "bounded", None, options)
    return _least_number(lambda x: func(x, *args), (x1, x2), settings)


definition(
    optimize.minimize_scalar,
    _minimize_scalar,
    functional=True,
    arrays=(),
    cases=[case(lambda x: (x - 2.0) ** 2), case(lambda x, a: (x - a) ** 2, args=(1.0,), bounds=(0.0, 3.0))],
)
definition(
    optimize.fminbound,
    _fminbound,
    functional=True,
    arrays=(),
    cases=[case(lambda x: (x - 2.0) ** 2, 0.0, 3.0), case(lambda x, a: (x - a) ** 2, 0.0, 3.0, (1.0,), xtol=1e-9)],
)


# --- the function that solvers are tried with -------------------------------------------------------------------------


def _rosen_hess(x):
    if np.ndim(x) > 1:
        raise NotImplementedError("several points at once")
    first, last, zero = x[:-1], x[1:], np.zeros(1)
    slopes = np.append(1200.0 * first * first - 400.0 * last, zero) + np.append(zero, 200.0 + 0.0 * last)
    whole = slopes + np.append(2.0 + 0.0 * first, zero)
    return np.diag(whole) - 400.0 * (np.diag(first, 1) + np.diag(first, -1))


definition(optimize.rosen_hess, _rosen_hess, arrays=("x",), cases=[case(sample(4)), case(sample(2))])


# --- what is refused by name: its source would be read ----------------------------------------------------------------


_SEARCHES = "bracket check_grad direct fmin_cobyla fmin_slsqp line_search"
for _name in _SEARCHES.split():
    if hasattr(optimize, _name):
        definition(getattr(optimize, _name), unknown, functional=True, arrays=())
