"""Rules of ``scipy.linalg``: most of its functions are defined by what NumPy has.

Permissions (``overwrite_a``) and checks (``check_finite``) say nothing about results.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import linalg

from adjoint.rules.declare import case, definition, general, linear, no_derivative, sample
from adjoint.rules.numpy.linalg.eigenvalues import eigh_jvp, eigh_vjp
from adjoint.rules.scipy.matrices.layout import ORDER, SAMPLE
from adjoint.rules.scipy.matrices.stacks import each_matrix
from adjoint.runtime.array_functions.arrays import unbroadcast
from adjoint.runtime.array_functions.linalg import (
    as_columns,
    completed,
    conjugated,
    from_columns,
    hermitian,
    transposed,
)
from adjoint.runtime.numerical_methods.of_scipy.linalg import (
    places_of_rows,
    row_order,
    triangle,
    triangles,
    triangular_solution,
)

REGULAR, DEFINITE = sample(3, 3, kind="regular"), sample(3, 3, kind="definite")

# --- triangular systems -----------------------------------------------------------------------------------------------


def _triangular_jvp(dots, y, a, b, lower=False, unit_diagonal=False):
    moved = as_columns(dots[1], b) - triangle(dots[0], lower, unit_diagonal) @ as_columns(y, b)
    return from_columns(triangular_solution(a, moved, lower, unit_diagonal), b)


def _triangular_vjp(ct, y, a, b, lower=False, unit_diagonal=False):
    b_bar = triangular_solution(transposed(a), as_columns(ct, b), not lower, unit_diagonal)
    return (triangle(-b_bar @ transposed(as_columns(y, b)), lower, unit_diagonal), from_columns(b_bar, b))


general(
    triangular_solution,
    _triangular_jvp,
    _triangular_vjp,
    cases=[
        case(REGULAR, sample(3)),
        case(REGULAR, sample(3, 2), True),
        case(REGULAR, sample(3), False, True),
        case(REGULAR, sample(3, 2), True, True),
        case(sample(3, 3, kind="complex"), sample(3)),
    ],
)
linear(
    triangle,
    lambda ct, a, lower=False, unit_diagonal=False: triangle(ct, lower, unit_diagonal),
    cases=[case(REGULAR), case(REGULAR, True), case(REGULAR, False, True), case(REGULAR, True, True)],
)


def _solve_triangular(a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=True):
    if trans == 0 or trans == "N":
        return triangular_solution(a, b, lower, unit_diagonal)
    if trans == 1 or trans == "T":
        return triangular_solution(transposed(a), b, not lower, unit_diagonal)
    if trans == 2 or trans == "C":
        return triangular_solution(hermitian(a), b, not lower, unit_diagonal)
    raise ValueError("trans must be one of 0, 1, 2, 'N', 'T' and 'C'")


definition(
    linalg.solve_triangular,
    _solve_triangular,
    cases=[
        case(REGULAR, sample(3)),
        *[case(REGULAR, sample(3, 2), trans, lower=lower) for trans in (0, 1, 2, "T", "C") for lower in (True, False)],
        case(REGULAR, sample(3), lower=True, unit_diagonal=True, check_finite=False),
    ],
)

# --- systems of equations ---------------------------------------------------------------------------------------------


def _solve(a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True, assume_a=None, transposed=False):
    if assume_a is None or assume_a == "gen" or assume_a == "general":
        whole = a
    elif assume_a == "pos" or assume_a == "positive definite" or assume_a == "her" or assume_a == "hermitian":
        whole = completed(a, lower)
    elif assume_a == "sym" or assume_a == "symmetric":
        half = np.tril(a, -1) if lower else np.triu(a, 1)
        whole = half + np.swapaxes(half, -1, -2) + a * np.eye(np.shape(a)[-1])
    else:
        raise NotImplementedError("the derivative of scipy.linalg.solve with this assumption")
    return np.linalg.solve(np.swapaxes(whole, -1, -2) if transposed else whole, b)


definition(
    linalg.solve,
    _solve,
    cases=[
        case(REGULAR, sample(3)),
        case(REGULAR, sample(3, 2), transposed=True),
        *[case(DEFINITE, sample(3), assume_a=kind, lower=lower) for kind in ("pos", "sym") for lower in (True, False)],
        case(DEFINITE, sample(3), assume_a="her", check_finite=False),
    ],
)
definition(linalg.inv, lambda a, overwrite_a=False, check_finite=True: np.linalg.inv(a), cases=[case(REGULAR)])
definition(
    linalg.det,
    lambda a, overwrite_a=False, check_finite=True: np.linalg.det(a * np.float64(1.0)),
    cases=[case(REGULAR)],
)

# --- the decomposition of Cholesky ------------------------------------------------------------------------------------


def _cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    whole = completed(a, lower)
    factor = np.linalg.cholesky(whole) if lower else np.linalg.cholesky(whole, upper=True)
    return factor.copy(ORDER)


_KEEPS_THE_REST = bool(SAMPLE[1, 0])
"""Whether the matrix itself stands in the other triangle, as it does until SciPy 1.17."""


def _cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    if np.ndim(a) < 2:
        a = np.atleast_2d(a)
    whole = _cholesky(a, lower)
    if _KEEPS_THE_REST:
        whole = whole + (np.triu(a, 1) if lower else np.tril(a, -1))
    return (whole.copy(ORDER), lower)


def _cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    if lower:
        return triangular_solution(hermitian(c), triangular_solution(c, b, True), False)
    return triangular_solution(c, triangular_solution(hermitian(c), b, True), False)


FACTOR = np.array([[2.0, 0.3, -0.2], [0.4, 1.5, 0.6], [-0.7, 0.1, 1.1]])
definition(linalg.cholesky, _cholesky, cases=[case(DEFINITE), case(DEFINITE, True)])
definition(linalg.cho_factor, _cho_factor, cases=[case(DEFINITE), case(DEFINITE, lower=True)])
definition(
    linalg.cho_solve, _cho_solve, arrays=("b",), cases=[case((FACTOR, lower), sample(3, 2)) for lower in (True, False)]
)

# --- the decomposition into triangles ---------------------------------------------------------------------------------


def _triangles_jvp(dot, lu):
    moved = triangular_solution(lu, dot, True, True)
    inner = transposed(triangular_solution(transposed(lu), transposed(moved), True))
    unit = np.tril(lu, -1) + np.eye(np.shape(lu)[-1])
    return unit @ np.tril(inner, -1) + np.triu(inner) @ np.triu(lu)


def _triangles_vjp(ct, lu):
    unit = np.tril(lu, -1) + np.eye(np.shape(lu)[-1])
    inner = np.tril(transposed(unit) @ np.tril(ct, -1), -1) + np.triu(np.triu(ct) @ transposed(np.triu(lu)))
    inner = transposed(triangular_solution(lu, transposed(inner)))
    return triangular_solution(transposed(lu), inner, False, True)


def _in_order(rows, order):
    """The rows of a matrix in another order, or those of each matrix of a stack."""
    if np.ndim(order) == 1:
        return np.take(rows, order, axis=0)
    return np.take_along_axis(rows, np.expand_dims(order, -1), -2)


def _lu_factor_jvp(dots, y, a):
    lu, pivots = y
    return (_triangles_jvp(_in_order(dots[0], row_order(pivots)), lu), None)


def _lu_factor_vjp(ct, y, a):
    lu, pivots = y
    return (_in_order(_triangles_vjp(ct[0], lu), np.argsort(row_order(pivots))),)


def _lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    places = places_of_rows(a)
    rows, columns = np.shape(a)
    size = min(rows, columns)
    ordered = np.take(a, np.argsort(places), axis=0)
    packed = triangles(ordered[:size, :size])
    lower, upper = np.tril(packed, -1) + np.eye(size), np.triu(packed)
    if rows > columns:
        below = transposed(triangular_solution(transposed(upper), transposed(ordered[size:]), True))
        lower = np.concatenate([lower, below])
    elif rows < columns:
        upper = np.concatenate([upper, triangular_solution(lower, ordered[:, size:], True, True)], axis=1)
    if permute_l:
        return np.take(lower, places, axis=0), upper
    return (places if p_indices else np.take(np.eye(rows), places, axis=0)), lower, upper


def _lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    lu, pivots = lu_and_piv
    if np.ndim(lu) == 2 and np.ndim(b) <= 2:
        return _solved(lu, row_order(pivots), b, trans).copy("F")
    lead = np.broadcast_shapes(np.shape(lu)[:-2], np.shape(b)[:-2])
    columns = np.expand_dims(b, -1) if np.ndim(b) == 1 else b
    sides = np.broadcast_to(columns, lead + np.shape(columns)[-2:])
    order = np.broadcast_to(row_order(pivots), lead + np.shape(lu)[-1:])
    found = _solved(np.broadcast_to(lu, lead + np.shape(lu)[-2:]), order, sides, trans)
    return found[..., 0] if np.ndim(b) == 1 else found


def _solved(lu, order, b, trans):
    if trans == 0:
        return triangular_solution(lu, triangular_solution(lu, _in_order(b, order), True, True))
    turned = transposed(lu) if trans == 1 else hermitian(lu)
    solved = triangular_solution(turned, triangular_solution(turned, b, True), False, True)
    return _in_order(solved, np.argsort(order))


general(
    linalg.lu_factor,
    _lu_factor_jvp,
    _lu_factor_vjp,
    results=2,
    cases=[case(sample(3, 3)), case(REGULAR), case(sample(3, 3, kind="complex"))],
)
definition(
    linalg.lu_solve,
    _lu_solve,
    arrays=("b",),
    cases=[
        case((FACTOR, np.array([2, 1, 2])), sample(3)),
        *[case((FACTOR + 0.5j, np.array([0, 2, 2])), sample(3, 2), trans=trans) for trans in (0, 1, 2)],
    ],
)
general(
    triangles,
    lambda dots, y, a: _triangles_jvp(dots[0], y),
    lambda ct, y, a: (_triangles_vjp(ct, y),),
    cases=[case(REGULAR), case(sample(3, 3, kind="complex"))],
)
no_derivative(row_order, places_of_rows)
definition(
    linalg.lu,
    each_matrix(_lu),
    cases=[
        *[case(sample(*shape), p_indices=True) for shape in ((3, 3), (4, 3), (3, 4))],
        case(sample(3, 3), permute_l=True),
        case(sample(3, 3)),
    ],
)

# --- eigenvalues, singular values, norms ------------------------------------------------------------------------------


def _norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    return np.linalg.norm(a, ord, axis, keepdims)


definition(
    linalg.norm,
    _norm,
    cases=[case(sample(4, 3)), case(sample(4), 1), case(sample(4, 3), 2), case(sample(4, 3), axis=0)],
)
definition(
    linalg.svdvals, lambda a, overwrite_a=False, check_finite=True: np.linalg.svdvals(a), cases=[case(sample(4, 3))]
)


def _side(lower):
    return "L" if lower else "U"


general(
    linalg.eigh,
    lambda dots, y, a, *, lower=True, check_finite=True: eigh_jvp(dots, y, a, _side(lower)),
    lambda ct, y, a, *, lower=True, check_finite=True: eigh_vjp(ct, y, a, _side(lower)),
    results=2,
    cases=[case(DEFINITE), case(DEFINITE, lower=False)],
)
definition(
    linalg.eigh,
    lambda a, *, lower=True, eigvals_only=False, check_finite=True: np.linalg.eigvalsh(a, _side(lower)),
    when=lambda given: given.get("eigvals_only") is True,
    cases=[case(DEFINITE, eigvals_only=True), case(DEFINITE, lower=False, eigvals_only=True)],
)
definition(
    linalg.eigvalsh,
    lambda a, *, lower=True, check_finite=True: np.linalg.eigvalsh(a, _side(lower)),
    cases=[case(DEFINITE), case(DEFINITE, lower=False)],
)
definition(
    linalg.eigvals,
    lambda a, *, overwrite_a=False, check_finite=True: np.linalg.eigvals(a) + 0j,
    cases=[case(np.array([[1.0, 2.0], [-0.5, 0.4]]))],
)
definition(linalg.pinv, lambda a, *, check_finite=True: np.linalg.pinv(a).copy(ORDER), cases=[case(sample(4, 3))])


# --- functions of matrices --------------------------------------------------------------------------------------------


def _directional(a, e):
    """The derivative of the exponential of ``a`` in the direction ``e``."""
    n = np.shape(a)[-1]
    above = np.concatenate([a, e], axis=-1)
    below = np.concatenate([np.zeros_like(a), a], axis=-1)
    return linalg.expm(np.concatenate([above, below], axis=-2))[..., :n, n:]


general(
    linalg.expm,
    lambda dots, y, A: _directional(A, dots[0]),
    lambda ct, y, A: (transposed(_directional(A, transposed(ct))),),
    cases=[case(sample(3, 3)), case(sample(2, 3, 3)), case(sample(3, 3, kind="complex"))],
)


def _sylvester_vjp(ct, y, a, b, q):
    q_bar = linalg.solve_sylvester(transposed(a), transposed(b), ct)
    return (-q_bar @ transposed(y), -transposed(y) @ q_bar, q_bar)


general(
    linalg.solve_sylvester,
    lambda dots, y, a, b, q: linalg.solve_sylvester(a, b, dots[2] - dots[0] @ y - y @ dots[1]),
    _sylvester_vjp,
    cases=[
        case(REGULAR, sample(2, 2, kind="regular"), sample(3, 2)),
        case(sample(3, 3, kind="complex"), sample(2, 2, kind="complex"), sample(3, 2)),
    ],
)
general(
    linalg.sqrtm,
    lambda dots, y, A: unbroadcast(linalg.solve_sylvester(y, y, dots[0]), y),
    lambda ct, y, A: (unbroadcast(linalg.solve_sylvester(transposed(y), transposed(y), ct), A),),
    dtype="unknown",
    cases=[case(DEFINITE), case(np.array([[1.0, 0.4], [0.3, -2.0]])), case(sample(3, 3, kind="complex"))],
)

# --- matrices that are made of vectors and blocks ---------------------------------------------------------------------


def _block_diag(*arrs):
    blocks = [np.reshape(block, (1, -1)) if np.ndim(block) < 2 else block for block in arrs]
    if any(np.ndim(block) > 2 for block in blocks):
        raise NotImplementedError("stacks of matrices")
    width = sum([np.shape(block)[1] for block in blocks])
    rows = []
    before = 0
    for block in blocks:
        height, extent = np.shape(block)
        after = width - before - extent
        before_and_after = [np.zeros((height, extent), np.result_type(block)) for extent in (before, after)]
        rows.append(np.concatenate([before_and_after[0], block, before_and_after[1]], axis=1))
        before += extent
    return np.concatenate(rows, axis=0)


TAKES_STACKS = np.ndim(linalg.circulant(np.ones((2, 1)))) > 2
"""Whether a matrix is a stack of vectors for what makes matrices of vectors, and not a vector of all its elements."""


def _vectors(c):
    return c if TAKES_STACKS and np.ndim(c) > 1 else np.ravel(c)


def _toeplitz(c, r=None):
    first = _vectors(c)
    row = conjugated(first) if r is None else _vectors(r)
    rows, columns = np.shape(first)[-1], np.shape(row)[-1]
    if np.ndim(first) > 1 or np.ndim(row) > 1:
        lead = np.broadcast_shapes(np.shape(first)[:-1], np.shape(row)[:-1])
        first, row = np.broadcast_to(first, (*lead, rows)), np.broadcast_to(row, (*lead, columns))
    values = np.concatenate([np.flip(first, -1), row[..., 1:]], axis=-1)
    places = rows - 1 - np.expand_dims(np.arange(rows), 1) + np.arange(columns)
    return np.take(values, places, axis=-1)


def _circulant(c):
    vectors = _vectors(c)
    n = np.shape(vectors)[-1]
    return np.take(vectors, (np.expand_dims(np.arange(n), 1) - np.arange(n)) % n, axis=-1)


def _fiedler(a):
    a = np.atleast_1d(a)
    return np.abs(a[..., :, np.newaxis] - a[..., np.newaxis, :])


definition(
    linalg.block_diag, _block_diag, only=True, cases=[case(sample(2, 3), sample(1, 1), sample(2)), case(sample(2, 2))]
)
definition(
    linalg.toeplitz,
    _toeplitz,
    cases=[case(sample(4)), case(sample(3), sample(4)), case(sample(3, kind="complex"))],
)
definition(linalg.fiedler, _fiedler, cases=[case(sample(4))])
definition(linalg.circulant, _circulant, cases=[case(sample(4))])
