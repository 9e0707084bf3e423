"""Rules of ``scipy.sparse``: products and systems of equations, of matrices that are given, and by their entries."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy.sparse import csc_matrix, linalg

from adjoint import ir
from adjoint.rules.declare import bilinear, case, definition, general, linear, no_derivative, sample
from adjoint.runtime.numerical_methods.of_scipy.krylov import (
    exact_iterated_solution,
    incomplete_solution,
    iterated_solution,
)
from adjoint.runtime.numerical_methods.of_scipy.sparse import (
    entries_product,
    entries_solution,
    exponential_product,
    factored_solution,
    meetings,
    merged_order,
    merged_places,
    outer_entries,
    picked_entries,
    picked_shape,
    sparse_solution,
)

MATRIX = csc_matrix(np.array([[2.0, 0.0, 0.5], [0.3, 1.5, 0.0], [0.0, -0.4, 1.0]]))
linear(
    sparse_solution,
    lambda ct, matrix, b, turned=False, ordering=None: sparse_solution(matrix, ct, not turned, ordering),
    wrt=(1,),
    cases=[case(MATRIX, sample(3)), case(MATRIX, sample(3, 2), True)],
)
linear(
    exponential_product,
    lambda ct, matrix, b, turned=False: exponential_product(matrix, ct, not turned),
    wrt=(1,),
    cases=[case(MATRIX, sample(3)), case(MATRIX, sample(3, 2), True)],
)
definition(
    linalg.spsolve,
    lambda A, b, permc_spec=None, use_umfpack=True: sparse_solution(A, b, False, permc_spec),
    arrays=("b",),
    cases=[case(MATRIX, sample(3))],
)
linear(
    factored_solution,
    lambda ct, factors, b, turned=False: factored_solution(factors, ct, not turned),
    wrt=(1,),
    cases=[case(linalg.splu(MATRIX), sample(3)), case(linalg.splu(MATRIX), sample(3, 2), True)],
)

no_derivative(
    *(meetings, merged_places, picked_entries), typed=lambda arguments: (ir.Array(np.dtype(np.int64), ("any", "any")),)
)
no_derivative(*(merged_order, picked_shape), typed=lambda arguments: (ir.Array(np.dtype(np.int64), ("any",)),))

# --- by entries: their values, rows and columns, and the shape -------------------------------------------------------

ROWS, COLS = np.array([0, 1, 2, 0, 2]), np.array([0, 1, 2, 2, 0])
ENTRIES = np.array([2.0, 1.5, 3.0, 0.4, -0.3])


def _solution_jvp(dots, y, data, rows, cols, shape, b, turned=False, ordering=None, raises=True):
    moved = dots[4] - entries_product(dots[0], y, rows, cols, shape, turned)
    return entries_solution(data, rows, cols, shape, moved, turned, ordering, raises)


def _solution_vjp(ct, y, data, rows, cols, shape, b, turned=False, ordering=None, raises=True):
    b_bar = entries_solution(data, rows, cols, shape, ct, not turned, ordering, raises)
    return (-_outer(b_bar, y, rows, cols, turned), None, None, None, b_bar)


def _outer(left, right, rows, cols, turned):
    return outer_entries(right, left, rows, cols) if turned else outer_entries(left, right, rows, cols)


general(
    entries_solution,
    _solution_jvp,
    _solution_vjp,
    cases=[case(ENTRIES, ROWS, COLS, (3, 3), sample(3)), case(ENTRIES, ROWS, COLS, (3, 3), sample(3, 2), True)],
)


def _iterated_jvp(dots, y, data, rows, cols, shape, b, solver, options, turned=False):
    moved = dots[4] - entries_product(dots[0], y, rows, cols, shape, turned)
    return exact_iterated_solution(data, rows, cols, shape, moved, solver, options, turned)


def _iterated_vjp(ct, y, data, rows, cols, shape, b, solver, options, turned=False):
    b_bar = exact_iterated_solution(data, rows, cols, shape, ct, solver, options, not turned)
    return (-_outer(b_bar, y, rows, cols, turned), None, None, None, b_bar, None, None)


for _solution in (iterated_solution, exact_iterated_solution):
    _given = (ENTRIES, ROWS, COLS, (3, 3), sample(3), linalg.gmres, {"rtol": 1e-13})
    general(_solution, _iterated_jvp, _iterated_vjp, cases=[case(*_given), case(*_given, True)])


linear(
    incomplete_solution,
    lambda ct, data, rows, cols, shape, b, options, turned=False: incomplete_solution(
        data, rows, cols, shape, ct, options, not turned
    ),
    wrt=(4,),
    cases=[case(ENTRIES, ROWS, COLS, (3, 3), sample(3), {}), case(ENTRIES, ROWS, COLS, (3, 3), sample(3), {}, True)],
)


def _product_transpose(ct, data, x, rows, cols, shape, turned=False):
    return _outer(ct, x, rows, cols, turned), entries_product(data, ct, rows, cols, shape, not turned)


def _outer_transpose(ct, left, right, rows, cols):
    shape = (np.shape(left)[0], np.shape(right)[0])
    return entries_product(ct, right, rows, cols, shape), entries_product(ct, left, rows, cols, shape, True)


bilinear(
    entries_product,
    _product_transpose,
    cases=[case(ENTRIES, sample(3), ROWS, COLS, (3, 3)), case(ENTRIES, sample(3, 2), ROWS, COLS, (3, 3), True)],
)
bilinear(
    outer_entries,
    _outer_transpose,
    cases=[case(sample(3), sample(3), ROWS, COLS), case(sample(3, 2), sample(3, 2), ROWS, COLS)],
)
