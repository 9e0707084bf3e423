"""Solvers of ``scipy.optimize`` that choose: assignments, unknowns that may not be below zero."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import optimize

from adjoint import ir
from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.rules.declare import case, definition, no_derivative, sample
from adjoint.rules.scipy.solvers.least_squares import FitResult
from adjoint.runtime.numerical_methods.of_scipy.choices import (
    assignment_columns,
    assignment_rows,
    bounded_least_squares,
    columns_above_zero,
)

no_derivative(
    assignment_rows,
    assignment_columns,
    columns_above_zero,
    typed=lambda arguments: (ir.Array(np.dtype(np.int64), ("any",)),),
)
definition(
    optimize.linear_sum_assignment,
    lambda cost_matrix, maximize=False: (
        assignment_rows(cost_matrix, maximize),
        assignment_columns(cost_matrix, maximize),
    ),
    arrays=(),
    cases=[case(sample(3, 4))],
)


def _nnls(A, b, *, maxiter=None):
    """Which unknowns are above zero counts as given: these solve a problem without bounds."""
    places = columns_above_zero(A, b)
    found = np.zeros(np.shape(A)[1])
    found[places] = np.linalg.lstsq(np.asarray(A)[:, places], b)[0]
    return found, np.linalg.norm(A @ found - b)


definition(
    optimize.nnls,
    _nnls,
    when=lambda given: given.get("maxiter") is None and "atol" not in given,
    arrays=("A", "b"),
    cases=[case(sample(4, 3, kind="positive"), sample(4, kind="positive")), case(sample(5, 3), sample(5))],
)


no_derivative(bounded_least_squares, typed=lambda arguments: (ir.Array(np.dtype(np.float64), ("any", "any")),))


def _lsq_linear(
    A,
    b,
    bounds=(-np.inf, np.inf),
    method="trf",
    tol=1e-10,
    lsq_solver=None,
    lsmr_tol=None,
    max_iter=None,
    verbose=0,
    *,
    lsmr_maxiter=None,
):
    """Unknowns that an end holds move with it; the others solve a problem without bounds."""
    if not isinstance(A, (np.ndarray, list, tuple)) or verbose != 0:
        raise NotImplementedError("a matrix that is no array" if verbose == 0 else "verbose")
    a, wanted = np.atleast_2d(np.asarray(A)), np.atleast_1d(np.asarray(b))
    low, high = (bounds.lb, bounds.ub) if isinstance(bounds, optimize.Bounds) else bounds
    low, high = [np.asarray(end, dtype=float) * np.ones(np.shape(a)[1]) for end in (low, high)]
    options = {"method": method, "tol": tol, "lsq_solver": lsq_solver, "lsmr_tol": lsmr_tol}
    options |= {"max_iter": max_iter, "lsmr_maxiter": lsmr_maxiter}
    system, limits = (stop_gradient(a), stop_gradient(wanted)), (stop_gradient(low), stop_gradient(high))
    found, held = bounded_least_squares(*system, *limits, options)
    x = np.where(held < 0.0, low, np.where(held > 0.0, high, 0.0))
    free = np.flatnonzero(held == 0.0)
    if np.size(free) > 0:
        x[free] = np.linalg.lstsq(a[:, free], wanted - a @ x)[0]
    x = x + (found - stop_gradient(x))  # as near as SciPy comes to it
    r = a @ x - wanted
    return FitResult(x, 0.5 * np.sum(r * r), r)


definition(optimize.lsq_linear, _lsq_linear, only=True, arrays=())
