"""Solvers of ``scipy.optimize`` that choose: assignments, unknowns that may not be below zero."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import optimize

from adjoint import ir
from adjoint.rules.declare import case, definition, no_derivative, sample
from adjoint.runtime.numerical_methods.of_scipy.choices import assignment_columns, assignment_rows, columns_above_zero

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


def _nnls(A, b, *, maxiter=None, atol=None):
    """Which unknowns are above zero counts as given: these solve a problem without bounds."""
    places = columns_above_zero(A, b)
    found = np.zeros(np.shape(A)[1])
    found[places] = np.linalg.lstsq(np.asarray(A)[:, places], b)[0]
    return found, np.linalg.norm(A @ found - b)


definition(
    optimize.nnls,
    _nnls,
    when=lambda given: given.get("maxiter") is None and given.get("atol") is None,
    arrays=("A", "b"),
    cases=[case(sample(4, 3, kind="positive"), sample(4, kind="positive")), case(sample(5, 3), sample(5))],
)
