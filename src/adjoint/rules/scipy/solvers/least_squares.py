"""Definitions of ``scipy.optimize``: fits, which are minima of sums of squares.

Their derivative is that of the minimum: the Hessian has the second derivatives of the residuals, which solvers leave
out.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import optimize

from adjoint.api.gradients import jacobian
from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import arity, solved
from adjoint.rules.declare import case, definition
from adjoint.rules.helpers.solvers import Solution, tupled
from adjoint.runtime.numerical_methods.implicit import minimum_of_part
from adjoint.runtime.numerical_methods.of_scipy.solvers import fitted, fitted_by_minpack


class FitResult(Solution):
    """Stands for what ``least_squares`` returns, without what tells how it went."""

    __adjoint_stands_for__ = optimize.OptimizeResult

    def __init__(self, x, cost, fun):
        self.x = x
        self.cost = cost
        self.fun = fun
        self.success = True


def _of_loss(loss, z):
    """What a loss makes of squares."""
    if loss == "soft_l1":
        return 2.0 * (np.sqrt(1.0 + z) - 1.0)
    if loss == "huber":
        return np.where(z <= 1.0, z, 2.0 * np.sqrt(np.maximum(z, 1.0)) - 1.0)
    if loss == "cauchy":
        return np.log1p(z)
    return np.arctan(z)


LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")
UNBOUNDED = (float("-inf"), float("inf"))


def _without_bounds(bounds):
    if not isinstance(bounds, tuple):
        return False
    low, high = bounds
    return isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == UNBOUNDED


def _cost(r, loss, f_scale):
    """Half the sum of what a loss makes of squared residuals."""
    if loss == "linear":
        return 0.5 * np.sum(r * r)
    return 0.5 * f_scale * f_scale * np.sum(_of_loss(loss, (r / f_scale) ** 2))


def _fit(residuals, slope, start, solve, settings, loss="linear", f_scale=1.0):
    """Where the cost is least."""
    if slope is None:

        def parts(x):
            r = residuals(x)
            return _cost(r, loss, f_scale), r

    else:

        def parts(x):
            r = residuals(x)
            return _cost(r, loss, f_scale), r, np.asarray(slope(x))

    return solved(minimum_of_part, parts, (start,), 0, solve, (settings,))


def _least_squares(
    fun,
    x0,
    jac="2-point",
    bounds=UNBOUNDED,
    method="trf",
    ftol=1e-8,
    xtol=1e-8,
    gtol=1e-8,
    x_scale=None,
    loss="linear",
    f_scale=1.0,
    diff_step=None,
    tr_solver=None,
    tr_options=None,
    jac_sparsity=None,
    max_nfev=None,
    verbose=0,
    args=(),
    kwargs=None,
    callback=None,
    workers=None,
):
    if not _without_bounds(bounds):
        raise NotImplementedError("bounds")
    for name, value in (("callback", callback), ("workers", workers), ("jac_sparsity", jac_sparsity)):
        if value is not None:
            raise NotImplementedError(name)
    if not isinstance(loss, str) or loss not in LOSSES:
        raise NotImplementedError("a loss of one's own")
    if isinstance(jac, str) and jac == "cs":
        raise NotImplementedError("jac='cs'")
    args = tupled(args)
    named = {} if kwargs is None else kwargs
    start = np.atleast_1d(np.asarray(stop_gradient(x0)) + 0.0)
    settings = {
        "x0": start,
        "method": method,
        "ftol": ftol,
        "xtol": xtol,
        "gtol": gtol,
        "x_scale": stop_gradient(x_scale),
        "loss": loss,
        "f_scale": stop_gradient(f_scale),
        "diff_step": diff_step,
        "tr_solver": tr_solver,
        "tr_options": tr_options,
        "max_nfev": max_nfev,
        "verbose": verbose,
    }
    residuals = lambda x: np.atleast_1d(np.asarray(fun(x, *args, **named)))
    if isinstance(jac, str):
        x = _fit(residuals, None, start, fitted, {**settings, "jac": jac}, loss, f_scale)
    else:
        x = _fit(residuals, lambda x: jac(x, *args, **named), start, fitted, settings, loss, f_scale)
    fun = residuals(x)
    return FitResult(x, _cost(fun, loss, f_scale), fun)


EXPONENTIAL = lambda x, t, y: x[0] * np.exp(-x[1] * t) - y
TIMES, VALUES = np.array([0.0, 1.0, 2.0, 3.0]), np.array([2.0, 1.1, 0.6, 0.4])
definition(
    optimize.least_squares,
    _least_squares,
    functional=True,
    arrays=(),
    cases=[
        case(lambda x: x - 2.0, 1.0),
        case(EXPONENTIAL, [1.0, 0.5], args=(TIMES, VALUES)),
        case(EXPONENTIAL, [1.0, 0.5], loss="soft_l1", f_scale=0.1, kwargs={"t": TIMES, "y": VALUES}),
        case(lambda x: x * x - 2.0, [1.0], lambda x: np.array([[2.0 * x[0]]]), method="lm"),
    ],
)


def _leastsq(
    func,
    x0,
    args=(),
    Dfun=None,
    full_output=False,
    col_deriv=False,
    ftol=1.49012e-08,
    xtol=1.49012e-08,
    gtol=0.0,
    maxfev=0,
    epsfcn=None,
    factor=100,
    diag=None,
):
    if full_output or col_deriv:
        raise NotImplementedError("full_output" if full_output else "col_deriv")
    args = tupled(args)
    start = np.ravel(np.asarray(stop_gradient(x0)) + 0.0)
    settings = {"x0": start, "ftol": ftol, "xtol": xtol, "gtol": gtol, "maxfev": maxfev}
    settings = {**settings, "epsfcn": epsfcn, "factor": factor, "diag": diag, "has_slope": Dfun is not None}
    slope = None if Dfun is None else lambda x: Dfun(x, *args)
    converged = 1
    residuals = lambda x: np.ravel(np.asarray(func(x, *args)))
    return _fit(residuals, slope, start, fitted_by_minpack, settings), converged


definition(
    optimize.leastsq,
    _leastsq,
    functional=True,
    arrays=(),
    cases=[case(lambda x: x - 2.0, 1.0), case(EXPONENTIAL, [1.0, 0.5], (TIMES, VALUES))],
)


_OF_LEASTSQ = ("ftol", "xtol", "gtol", "maxfev", "epsfcn", "factor", "diag")
_OF_LEAST_SQUARES = ("ftol", "xtol", "gtol", "max_nfev", "x_scale", "diff_step", "tr_solver", "tr_options", "verbose")


def _weighted(sigma):
    """What residuals are multiplied with."""
    if sigma is None:
        return lambda r: r
    scale = np.asarray(sigma)
    if scale.size == 1 or scale.ndim == 1:
        return lambda r: r / scale
    factor = np.linalg.cholesky(scale)
    return lambda r: np.linalg.solve(factor, r)


def _curve_fit(
    f,
    xdata,
    ydata,
    p0=None,
    sigma=None,
    absolute_sigma=False,
    check_finite=None,
    bounds=UNBOUNDED,
    method=None,
    jac=None,
    full_output=False,
    nan_policy=None,
    **kwargs,
):
    if not _without_bounds(bounds):
        raise NotImplementedError("bounds")
    if full_output:
        raise NotImplementedError("full_output")
    if nan_policy is not None:
        raise NotImplementedError("nan_policy")
    if jac is not None and not isinstance(jac, str):
        raise NotImplementedError("a jac of one's own")
    by_minpack = method is None or method == "lm"
    for name in kwargs:
        if name not in (_OF_LEASTSQ if by_minpack else _OF_LEAST_SQUARES):
            raise NotImplementedError(name)
    x = np.asarray(xdata) if isinstance(xdata, (list, tuple)) else xdata
    y = np.asarray(ydata) + 0.0
    start = np.ones(arity(f) - 1) if p0 is None else np.atleast_1d(np.asarray(stop_gradient(p0)) + 0.0)
    weighted = _weighted(sigma)
    residuals = lambda p: weighted(f(x, *p) - y)
    if by_minpack:
        found = _leastsq(residuals, start, **kwargs)[0]
    else:
        found = _least_squares(residuals, start, "2-point" if jac is None else jac, method=method, **kwargs).x
    slope = jacobian(residuals)(found)
    covariance = np.linalg.inv(slope.T @ slope)
    if absolute_sigma:
        return found, covariance
    if y.size <= found.size:
        return found, np.full((found.size, found.size), float("inf"))
    return found, covariance * (np.sum(residuals(found) ** 2) / (y.size - found.size))


definition(
    optimize.curve_fit,
    _curve_fit,
    functional=True,
    arrays=(),
    cases=[
        case(lambda t, a, b: a * np.exp(-b * t), TIMES, VALUES),
        case(lambda t, a, b: a * np.exp(-b * t), TIMES, VALUES, [1.0, 0.5], np.ones(4), method="trf"),
    ],
)
