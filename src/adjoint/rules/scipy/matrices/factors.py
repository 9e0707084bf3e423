"""Factors of matrices in ``scipy.linalg`` that are unique but for signs: those of Schur, Hessenberg, RQ and LDL.

The basis of Schur turns so that what stands below the diagonal stays zero (Giles 2008 has the like of eigenvectors);
symmetric factors move as those of Cholesky do (Murray 2016), block by block.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import linalg

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import machine_code
from adjoint.rules.declare import case, constant, definition, general, linear, no_derivative, sample
from adjoint.rules.helpers.solvers import unknown
from adjoint.rules.numpy.linalg.eigenvalues import eigh_jvp, eigh_vjp
from adjoint.rules.scipy.matrices.stacks import each_matrix
from adjoint.runtime.arithmetic.numbers import is_real
from adjoint.runtime.array_functions.linalg import transposed
from adjoint.runtime.numerical_methods.of_scipy.linalg import (
    balanced,
    eigenvalues_of_pair,
    in_blocks,
    matching,
    pivoted_squares,
    schur_form,
    turning,
    turning_back,
    without_blocks,
)

REGULAR, DEFINITE = sample(3, 3, kind="regular"), sample(3, 3, kind="definite")
TRIANGLE = np.array([[2.0, 0.3, -0.2], [0.0, 1.5, 0.6], [0.0, 0.0, -1.1]])
REAL = np.array([[2.0, 0.3, -0.2], [0.1, -1.5, 0.6], [0.4, 0.2, 0.3]])

# --- the form of Schur ------------------------------------------------------------------------------------------------


def _below(x):
    return np.tril(x, -1)


def _turning_jvp(dots, y, t, m):
    moved = np.triu(dots[0])
    return turning(t, dots[1] - y @ moved + moved @ y)


def _turning_vjp(ct, y, t, m):
    w = turning_back(t, _below(ct))
    return (np.triu(w @ transposed(y) - transposed(y) @ w), w)


def _turning_back_jvp(dots, y, t, m):
    moved = transposed(np.triu(dots[0]))
    return turning_back(t, dots[1] - y @ moved + moved @ y)


def _turning_back_vjp(ct, y, t, m):
    w = turning(t, _below(ct))
    return (np.triu(y @ transposed(w) - transposed(w) @ y), w)


linear(without_blocks, lambda ct, z, t: ct, cases=[case(sample(3, 3), TRIANGLE)])
general(turning, _turning_jvp, _turning_vjp, cases=[case(TRIANGLE, sample(3, 3))])
general(turning_back, _turning_back_jvp, _turning_back_vjp, cases=[case(TRIANGLE, sample(3, 3))])


def _schur_jvp(dots, y, a):
    t, z = y[0], without_blocks(y[1], y[0])
    m = transposed(z) @ dots[0] @ z
    x = turning(t, m)
    turn = x - transposed(x)
    return (np.triu(m + t @ turn - turn @ t), z @ turn)


def _schur_vjp(ct, y, a):
    t, z = y[0], without_blocks(y[1], y[0])
    upper = np.triu(ct[0])
    turn = transposed(t) @ upper - upper @ transposed(t) + transposed(z) @ ct[1]
    m = upper + turning_back(t, _below(turn - transposed(turn)))
    return (z @ m @ transposed(z),)


general(schur_form, _schur_jvp, _schur_vjp, results=2, cases=[case(REAL)])


def _schur(a, output="real", lwork=None, overwrite_a=False, sort=None, check_finite=True):
    if not is_real(a) or output not in ("real", "r"):
        raise NotImplementedError("complex numbers: the phases of the basis are arbitrary")
    if sort is not None:
        raise NotImplementedError("sort")
    return schur_form(a)


definition(linalg.schur, each_matrix(_schur), only=True, arrays=("a",), cases=[case(REAL), case(DEFINITE, "real")])

# --- triangles from the right -----------------------------------------------------------------------------------------


def _rq(a, overwrite_a=False, lwork=None, mode="full", check_finite=True):
    """The other way round: rows from the last one up, from right to left, which ``qr`` takes for columns."""
    rows, columns = np.shape(a)
    if mode == "full" and columns > rows:
        raise np.linalg.LinAlgError("rows of 'q' beyond those of the matrix have no derivative: mode='economic'")
    q, r = np.linalg.qr(np.transpose(a[::-1, ::-1]))
    triangle, basis = np.transpose(r)[::-1, ::-1], np.transpose(q)[::-1, ::-1]
    if mode == "r":
        return np.concatenate([np.zeros((rows, max(columns - rows, 0))), triangle], axis=1)
    return triangle.copy("C"), basis.copy("F")


definition(
    linalg.rq,
    each_matrix(_rq),
    when=lambda given: given.get("mode", "full") in ("full", "economic", "r"),
    only=True,
    cases=[
        case(REGULAR),
        case(sample(2, 4), mode="economic"),
        case(sample(2, 4), mode="r"),
        case(sample(4, 2), mode="r"),
    ],
)

# --- symmetric matrices -----------------------------------------------------------------------------------------------


def _reordered(x, order):
    """Rows and columns in an order."""
    return np.take(np.take(x, order, axis=0), order, axis=1)


def _squares_jvp(dots, y, a, lower=True):
    factor, blocks, order = y
    inside = in_blocks(blocks)
    moved = _reordered(0.5 * (dots[0] + transposed(dots[0])), order)
    inner = linalg.solve(factor, transposed(linalg.solve(factor, moved)))
    outside = (np.tril(inner) if lower else np.triu(inner)) * (1.0 - inside)
    return (factor @ outside @ np.linalg.inv(blocks), inner * inside, None)


def _squares_vjp(ct, y, a, lower=True):
    factor, blocks, order = y
    inside = in_blocks(blocks)
    outside = transposed(factor) @ ct[0] @ np.linalg.inv(blocks)
    outside = (np.tril(outside) if lower else np.triu(outside)) * (1.0 - inside)
    inner = outside + 0.5 * (ct[1] + transposed(ct[1])) * inside
    turned = transposed(factor)
    moved = linalg.solve(turned, transposed(linalg.solve(turned, transposed(inner))))
    moved = _reordered(moved, np.argsort(order))
    return (0.5 * (moved + transposed(moved)),)


INDEFINITE = np.array([[0.0, 2.0, 0.3, 0.1], [2.0, 0.1, 0.4, -0.2], [0.3, 0.4, 1.0, 0.5], [0.1, -0.2, 0.5, -2.0]])
constant(in_blocks)
general(
    pivoted_squares,
    _squares_jvp,
    _squares_vjp,
    results=3,
    cases=[case(DEFINITE), case(DEFINITE, False), case(INDEFINITE)],
)


def _ldl(A, lower=True, hermitian=True, overwrite_a=False, check_finite=True):
    if not is_real(A):
        raise NotImplementedError("complex numbers")
    half = np.tril(A, -1) if lower else np.triu(A, 1)
    factor, blocks, order = pivoted_squares(half + np.transpose(half) + A * np.eye(np.shape(A)[0]), lower)
    return np.take(factor, np.argsort(order), axis=0), blocks, order


definition(linalg.ldl, each_matrix(_ldl), only=True, cases=[case(DEFINITE), case(DEFINITE, False), case(INDEFINITE)])

# --- one diagonal below -----------------------------------------------------------------------------------------------


def _hessenberg(a, calc_q=False, overwrite_a=False, check_finite=True):
    """As LAPACK does it, by the reflections of Householder."""
    if not is_real(a):
        raise NotImplementedError("complex numbers")
    n = np.shape(a)[0]
    if n <= 2:
        return (a, np.eye(n)) if calc_q else a
    h, q = a * 1.0, np.eye(n)
    for k in range(n - 2):
        first, below = h[k + 1, k], h[k + 2 :, k]
        if not np.any(below):
            raise np.linalg.LinAlgError("where a column has its form already, that of Hessenberg has no derivative")
        length = -np.copysign(np.sqrt(first * first + np.sum(below * below)), first)
        v = np.concatenate([np.zeros(k + 1), np.ones(1), below / (first - length)])
        twice = (length - first) / length
        h = h - twice * np.outer(v, v @ h)
        h = h - twice * np.outer(h @ v, v)
        if calc_q:
            q = q - twice * np.outer(q @ v, v)
    h = np.triu(h, -1)
    if not calc_q:
        return h
    return h, q.copy("F")


definition(
    linalg.hessenberg,
    each_matrix(_hessenberg),
    only=True,
    arrays=("a",),
    cases=[case(sample(4, 4)), case(REGULAR, True), case(sample(2, 2), True)],
)

# --- what a matrix takes to zero --------------------------------------------------------------------------------------


def _null_space(A, rcond=None, overwrite_a=False, check_finite=True, lapack_driver="gesdd"):
    """The vector that is found, seen from the null space: any vector near it, projected, is one of that direction."""
    _, sizes, rows = linalg.svd(stop_gradient(A), lapack_driver=lapack_driver, check_finite=check_finite)
    least = np.finfo(sizes.dtype).eps * max(np.shape(A)) if rcond is None else rcond
    rank = np.sum(sizes > np.max(sizes) * least)
    found = np.conj(rows[rank:])
    if found.shape[0] == 0:
        return np.transpose(found)
    if rank < min(np.shape(A)):
        raise ValueError("the matrix is singular: matrices nearby take fewer vectors to zero")
    if found.shape[0] > 1:
        raise ValueError("a basis of several vectors may turn freely: use np.eye(n) - np.linalg.pinv(A) @ A instead")
    projected = found - (found @ np.transpose(A)) @ np.transpose(np.linalg.pinv(A))
    laid_out = np.copy(rows)  # as SciPy's result lies: a part of the matrix of all vectors
    laid_out[rank:] = projected / np.sqrt(np.sum(np.abs(projected) ** 2))
    return np.transpose(laid_out[rank:])


definition(
    linalg.null_space,
    each_matrix(_null_space),
    only=True,
    arrays=("A",),
    cases=[case(sample(3, 4)), case(sample(1, 2)), case(sample(4, 5), rcond=1e-12)],
)

# --- scales -----------------------------------------------------------------------------------------------------------


def _matrix_balance(A, permute=True, scale=True, separate=False, overwrite_a=False):
    """The powers of two are the same nearby."""
    scales, order = balanced(stop_gradient(A), permute, scale)
    ordered = _reordered(A, order) if permute else A
    powers = scales.astype(np.result_type(A, np.float32))
    found = (ordered * powers / powers[:, None]).copy("F")
    if separate:
        return found, (scales, order)
    return found, np.take(np.diag(scales), np.argsort(order), axis=0)


no_derivative(balanced)
definition(
    linalg.matrix_balance,
    each_matrix(_matrix_balance),
    only=True,
    arrays=("A",),
    cases=[case(np.array([[1.0, 100.0, 0.0], [0.01, 2.0, 30.0], [0.2, 0.001, -1.0]])), case(REGULAR, separate=True)],
)

# --- bands ------------------------------------------------------------------------------------------------------------


def _cholesky_banded(ab, overwrite_ab=False, lower=False, check_finite=True):
    """Column by column; what lies outside of the matrix stays as it is."""
    if not is_real(ab):
        raise NotImplementedError("complex numbers")
    rows, n = np.shape(ab)
    c = np.zeros((rows, n))
    for k in range(rows):
        c[k, : n - k] = ab[k, : n - k] if lower else ab[rows - 1 - k, k:]
    for j in range(n):
        if not c[0, j] > 0.0:
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        column = c[:, j] / np.sqrt(c[0, j])
        c[:, j] = column
        for k in range(1, min(rows, n - j)):
            c[: rows - k, j + k] -= column[k] * column[k:]
    if lower:
        found = [np.concatenate([c[k, : n - k], ab[k, n - k :]]) for k in range(rows)]
    else:
        found = [np.concatenate([ab[rows - 1 - k, :k], c[k, : n - k]]) for k in range(rows - 1, -1, -1)]
    return np.stack(found).copy("F")


BANDS = np.array([[0.0, 1.0, 1.0, 1.0], [4.0, 4.0, 4.0, 4.0]])
definition(
    linalg.cholesky_banded,
    each_matrix(_cholesky_banded),
    only=True,
    arrays=("ab",),
    cases=[case(BANDS), case(BANDS[::-1].copy(), lower=True)],
)


def _eigh_tridiagonal_jvp(dots, y, d, e):
    moved = np.diag(dots[0]) + np.diag(dots[1], -1)
    return eigh_jvp(dots=(moved,), y=y, a=moved)


def _eigh_tridiagonal_vjp(ct, y, d, e):
    (moved,) = eigh_vjp(ct, y, y[1])
    return (np.diagonal(moved), np.diagonal(moved, -1))


general(
    linalg.eigh_tridiagonal, _eigh_tridiagonal_jvp, _eigh_tridiagonal_vjp, results=2, cases=[case(sample(4), sample(3))]
)


def _unbanded(a_band, lower):
    """The lower half of a symmetric matrix whose diagonals lie in rows, as SciPy reads one of them."""
    a = np.asarray(a_band)
    n, rows = np.shape(a)[1], np.shape(a)[0]
    whole = np.zeros((n, n), np.result_type(a))
    for k in range(rows):
        line = a[k, : n - k] if lower else a[rows - 1 - k, k:]
        whole = whole + np.diag(line, -k)
    return whole if lower else np.conj(whole)


def _eigvals_banded(a_band, lower=False, *, check_finite=True):
    return np.linalg.eigvalsh(_unbanded(a_band, lower))


BANDED = np.array([[0.0, 0.3, 0.4, 0.2], [2.0, 3.0, 1.0, 0.5]])
definition(
    linalg.eigvals_banded,
    each_matrix(_eigvals_banded),
    arrays=("a_band",),
    cases=[case(BANDED), case(np.roll(BANDED, -1, axis=1)[::-1].copy(), lower=True)],
)

# --- pairs of matrices ------------------------------------------------------------------------------------------------


def _eigvals(a, b, *, overwrite_a=False, check_finite=True):
    """Those of one matrix, in the order in which SciPy has those of two."""
    values = np.linalg.eigvals(np.linalg.solve(b, a)) + 0j
    return values[matching(values, stop_gradient(eigenvalues_of_pair(a, b)))]


no_derivative(matching, eigenvalues_of_pair)
definition(linalg.eigvals, _eigvals, arity=2, arrays=("a", "b"), cases=[case(REGULAR, DEFINITE)])

# --- pairs of complex eigenvalues as blocks of real numbers -----------------------------------------------------------


def _cdf2rdf(w, v):
    """Which eigenvalues make a pair counts as given: the rest is linear."""
    is_complex = np.not_equal(np.imag(w), 0.0)
    count = np.cumsum(is_complex, axis=-1)
    if np.any(count[..., -1] % 2 == 1):
        raise ValueError("expected complex-conjugate pairs of eigenvalues")
    first = np.logical_and(is_complex, count % 2 == 1)
    second = np.logical_and(is_complex, count % 2 == 0)
    in_pair = np.logical_and(first[..., :, None], second[..., None, :])
    above = np.where(np.logical_and(in_pair, count[..., :, None] + 1 == count[..., None, :]), 1.0, 0.0)
    below = np.swapaxes(above, -1, -2)
    whole = np.eye(np.shape(w)[-1])
    blocks = whole * np.real(w)[..., None] + (above + below) * np.imag(w)[..., None]
    weights = np.where(first, 0.5j, np.where(second, 0.5, 1.0))
    return blocks, np.real(v @ (whole * weights[..., None] + 0.5 * above - 0.5j * below))


_PAIR = np.array([0.3 + 1.2j, 0.3 - 1.2j, 1.5 + 0.4j, 1.5 - 0.4j])
definition(
    linalg.cdf2rdf,
    _cdf2rdf,
    only=True,
    arrays=("w", "v"),
    cases=[case(_PAIR, sample(4, 4, kind="complex")), case(sample(3), sample(3, 3, kind="complex"))],
)

# --- what is refused by name: its source would be read ----------------------------------------------------------------


def _of_lapack(*args, **kwargs):
    return machine_code("LAPACK")


def _of_blas(*args, **kwargs):
    return machine_code("BLAS")


definition(linalg.get_lapack_funcs, _of_lapack, arrays=())
definition(linalg.get_blas_funcs, _of_blas, arrays=())


for _name in ("qz", "ordqz", "cossin"):
    definition(getattr(linalg, _name), unknown, only=True, arrays=())
