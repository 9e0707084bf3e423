"""Rules of ``scipy.sparse.linalg``: a system of equations with a given matrix is linear in its right side."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy.sparse import csc_matrix, linalg

from adjoint.rules.declare import case, definition, linear, sample
from adjoint.runtime.numerical_methods.scipy_sparse import sparse_solution

MATRIX = csc_matrix(np.array([[2.0, 0.0, 0.5], [0.3, 1.5, 0.0], [0.0, -0.4, 1.0]]))
linear(
    sparse_solution,
    lambda ct, matrix, b, turned=False: sparse_solution(matrix, ct, not turned),
    wrt=(1,),
    cases=[case(MATRIX, sample(3)), case(MATRIX, sample(3, 2), True)],
)
definition(
    linalg.spsolve,
    lambda A, b, permc_spec=None, use_umfpack=True: sparse_solution(A, b),
    arrays=("b",),
    cases=[case(MATRIX, sample(3))],
)
