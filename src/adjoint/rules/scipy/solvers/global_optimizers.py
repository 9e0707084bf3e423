"""Searches for the least of all minima, and older forms of minimisers with bounds or with a gradient."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import optimize

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import solved
from adjoint.rules.declare import case, definition
from adjoint.rules.helpers.solvers import Solution, tupled
from adjoint.rules.scipy.solvers.optimize import (
    QUADRATIC,
    OptimizeResult,
    ends_of,
    held_or_solved,
    vector_of,
)
from adjoint.runtime.numerical_methods.implicit import minimum, root_of_part
from adjoint.runtime.numerical_methods.of_scipy.solvers import (
    least,
    least_of_all,
    least_of_all_within,
    least_with_gradient,
    least_within,
)

_UNKNOWN = ("constraints", "callback", "integrality", "minimizer_kwargs", "take_step", "accept_test", "full_output")


def _constant(options):
    """Options of a search; those that change what it solves are refused by their names."""
    for name in _UNKNOWN:
        if options.get(name):
            raise NotImplementedError(name)
    return {name: stop_gradient(value) for name, value in options.items()}


# --- searches ---------------------------------------------------------------------------------------------------------


def _search_within(find):
    def means(func, bounds, args=(), **options):
        args = tupled(args)
        settings = (find, _constant(options))
        low, high = ends_of(bounds, np.size(bounds.lb) if isinstance(bounds, optimize.Bounds) else len(bounds))
        start = stop_gradient(0.5 * (low + high))
        function = lambda x: func(x, *args)
        x = held_or_solved(function, start, low, high, least_of_all_within, settings)
        return OptimizeResult(x, function(x))

    return means


WAVES = lambda x, a: (x[0] - a) ** 2 + 2.0 * x[1] ** 2 + 1.0 - np.cos(3.0 * (x[0] - a))
BOX = [(-1.0, 3.0), (-2.0, 2.0)]
for _find, _options in (
    (optimize.differential_evolution, {"rng": 0, "tol": 1e-8}),
    (optimize.dual_annealing, {"rng": 0, "maxiter": 50}),
    (optimize.shgo, {}),
):
    _example = case(WAVES, BOX, (1.2,), **_options)
    definition(_find, _search_within(_find), functional=True, arrays=(), cases=[_example])


def _basinhopping(func, x0, niter=100, T=1.0, stepsize=0.5, minimizer_kwargs=None, **options):
    inner = {} if minimizer_kwargs is None else minimizer_kwargs
    for name in ("bounds", "constraints", "jac", "hess", "callback"):
        if inner.get(name) is not None:
            raise NotImplementedError(name)
    args = tupled(inner.get("args", ()))
    function = lambda x: func(x, *args)
    start = np.ravel(np.asarray(stop_gradient(x0)) + 0.0)
    settings = {
        **_constant(options),
        "x0": start,
        "niter": niter,
        "T": stop_gradient(T),
        "stepsize": stop_gradient(stepsize),
        "minimizer_kwargs": {name: stop_gradient(inner[name]) for name in inner if name != "args"},
    }
    x = solved(minimum, function, (start,), least_of_all, (optimize.basinhopping, settings))
    return OptimizeResult(x, function(x))


definition(
    optimize.basinhopping,
    _basinhopping,
    functional=True,
    arrays=(),
    cases=[case(WAVES, [0.5, 0.5], 20, minimizer_kwargs={"args": (1.2,)}, rng=0)],
)


def _brute(func, ranges, args=(), Ns=20, full_output=0, finish=optimize.fmin, disp=False, workers=1):
    if full_output:
        raise NotImplementedError("full_output")
    if finish is not optimize.fmin:
        raise NotImplementedError("finish")  # without one it finds a point of the grid, which does not move
    args = tupled(args)
    settings = {"ranges": stop_gradient(ranges), "Ns": Ns, "disp": disp}
    start = np.zeros(len(ranges))
    return solved(minimum, lambda x: func(x, *args), (start,), least_of_all, (optimize.brute, settings))


definition(optimize.brute, _brute, functional=True, arrays=(), cases=[case(WAVES, BOX, (1.2,))])

# --- older forms ------------------------------------------------------------------------------------------------------


def _fmin_ncg(f, x0, fprime, fhess_p=None, fhess=None, args=(), avextol=1e-5, **options):
    args = tupled(args)
    if fhess_p is not None or fhess is not None:
        raise NotImplementedError("a Hessian")
    start = np.ravel(np.asarray(stop_gradient(x0)) + 0.0)
    both = lambda x: (f(x, *args), vector_of(fprime(x, *args)))
    given = {"xtol": avextol, **{name: value for name, value in _constant(options).items() if name != "retall"}}
    settings = {"x0": start, "method": "Newton-CG", "options": given}
    return solved(root_of_part, both, (start,), 1, least_with_gradient, (settings,))


definition(
    optimize.fmin_ncg,
    _fmin_ncg,
    functional=True,
    arrays=(),
    cases=[case(QUADRATIC, [0.5, 1.0], lambda x, a: np.array([2.0 * (x[0] - a), 4.0 * x[1]]), args=(2.0,), disp=0)],
)


def _fmin_l_bfgs_b(
    func,
    x0,
    fprime=None,
    args=(),
    approx_grad=0,
    bounds=None,
    m=10,
    factr=1e7,
    pgtol=1e-5,
    epsilon=1e-8,
    *,  # releases of SciPy have the rest in different places
    iprint=None,
    maxfun=15000,
    maxiter=15000,
    disp=None,
    callback=None,
    maxls=20,
):
    if callback is not None:
        raise NotImplementedError("callback")
    if bounds is not None and not approx_grad:
        raise NotImplementedError("bounds and a gradient")
    args = tupled(args)
    start = np.ravel(np.asarray(stop_gradient(x0)) + 0.0)
    options = {"maxcor": m, "ftol": factr * 2.220446049250313e-16, "gtol": pgtol, "eps": epsilon}
    options = {**options, "maxfun": maxfun, "maxiter": maxiter, "maxls": maxls}
    settings = {"x0": start, "method": "L-BFGS-B", "options": options}
    if approx_grad:
        function = lambda x: func(x, *args)
        if bounds is None:
            x = solved(minimum, function, (start,), least, (settings,))
        else:
            low, high = ends_of(bounds, np.size(start))
            x = held_or_solved(function, start, low, high, least_within, settings)
        return x, function(x), Solution()
    if fprime is None:
        both = lambda x: (func(x, *args)[0], vector_of(func(x, *args)[1]))
    else:
        both = lambda x: (func(x, *args), vector_of(fprime(x, *args)))
    x = solved(root_of_part, both, (start,), 1, least_with_gradient, (settings,))
    return x, both(x)[0], Solution()


definition(
    optimize.fmin_l_bfgs_b,
    _fmin_l_bfgs_b,
    functional=True,
    arrays=(),
    cases=[case(QUADRATIC, [0.5, 1.0], args=(2.0,), approx_grad=1)],
)


def _least_by(method, options, func, x0, args, fprime, bounds):
    """The minimiser that a method of ``minimize`` finds, of a function that may have its gradient beside it."""
    args = tupled(args)
    start = np.ravel(np.asarray(stop_gradient(x0)) + 0.0)
    settings = {"x0": start, "method": method, "options": options}
    is_bounded = bounds is not None and len(bounds) > 0
    function = lambda x: func(x, *args)
    if fprime is not None:
        if is_bounded:
            raise NotImplementedError("bounds and a gradient")
        both = lambda x: (func(x, *args), vector_of(fprime(x, *args)))
        return solved(root_of_part, both, (start,), 1, least_with_gradient, (settings,))
    if is_bounded:
        low, high = ends_of(bounds, np.size(start))
        return held_or_solved(function, start, low, high, least_within, settings)
    return solved(minimum, function, (start,), least, (settings,))


def _fmin_slsqp(
    func,
    x0,
    eqcons=(),
    f_eqcons=None,
    ieqcons=(),
    f_ieqcons=None,
    bounds=(),
    fprime=None,
    fprime_eqcons=None,
    fprime_ieqcons=None,
    args=(),
    iter=100,
    acc=1.0e-6,
    iprint=1,
    disp=None,
    full_output=0,
    epsilon=1.4901161193847656e-08,
    callback=None,
):
    if len(eqcons) > 0 or len(ieqcons) > 0 or f_eqcons is not None or f_ieqcons is not None:
        raise NotImplementedError("constraints")
    if full_output or callback is not None:
        raise NotImplementedError("full_output or callback")
    said = iprint if disp is None else disp
    options = {"maxiter": iter, "ftol": acc, "iprint": said, "disp": said != 0, "eps": epsilon}
    return _least_by("SLSQP", options, func, x0, args, fprime, bounds)


definition(
    optimize.fmin_slsqp,
    _fmin_slsqp,
    functional=True,
    arrays=(),
    cases=[
        case(QUADRATIC, [0.5, 1.0], args=(2.0,), iprint=0, acc=1e-12),
        case(QUADRATIC, [0.5, 1.0], bounds=[(0.0, 1.0), (-1.0, 1.0)], args=(2.0,), iprint=0, acc=1e-12),
    ],
)


def _fmin_tnc(
    func,
    x0,
    fprime=None,
    args=(),
    approx_grad=0,
    bounds=None,
    epsilon=1e-8,
    scale=None,
    offset=None,
    messages=15,
    maxCGit=-1,
    maxfun=None,
    eta=-1,
    stepmx=0,
    accuracy=0,
    fmin=0,
    ftol=-1,
    xtol=-1,
    pgtol=-1,
    rescale=-1,
    disp=None,
    callback=None,
):
    if callback is not None:
        raise NotImplementedError("callback")
    options = {"eps": epsilon, "scale": scale, "offset": offset, "maxCGit": maxCGit, "maxfun": maxfun, "eta": eta}
    options = {**options, "mesg_num": messages if disp is None else disp, "stepmx": stepmx, "accuracy": accuracy}
    options = {**options, "minfev": fmin, "ftol": ftol, "xtol": xtol, "gtol": pgtol, "rescale": rescale}
    if fprime is None and not approx_grad:
        values, slopes = lambda x, *rest: func(x, *rest)[0], lambda x, *rest: func(x, *rest)[1]
    else:
        values, slopes = func, fprime
    return _least_by("TNC", options, values, x0, args, slopes, bounds), Solution(), Solution()


definition(
    optimize.fmin_tnc,
    _fmin_tnc,
    functional=True,
    arrays=(),
    cases=[case(QUADRATIC, [0.5, 1.0], args=(2.0,), approx_grad=1, messages=0)],
)
