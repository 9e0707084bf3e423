"""Rules of ``scipy.linalg``: banded systems, least squares, equations of Lyapunov, general eigenvalues."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import linalg

from adjoint import ir
from adjoint.rules.declare import bilinear, case, definition, general, linear, sample
from adjoint.rules.scipy.matrices.stacks import each_diagonal, each_system
from adjoint.runtime.arithmetic.numbers import is_real
from adjoint.runtime.array_functions.linalg import completed, hermitian, transposed
from adjoint.runtime.numerical_methods.of_scipy.linalg import (
    band_products,
    banded_product,
    banded_solution,
    turned_bands,
)

REGULAR, DEFINITE = sample(3, 3, kind="regular"), sample(3, 3, kind="definite")

# --- banded systems ---------------------------------------------------------------------------------------------------


def _banded_jvp(dots, y, bands, b, lower, upper):
    moved = 0.0 * y if dots[1] is None else dots[1]
    if dots[0] is not None:
        moved = moved - banded_product(dots[0], y, lower, upper)
    return banded_solution(bands, moved, lower, upper)


def _banded_vjp(ct, y, bands, b, lower, upper):
    b_bar = banded_solution(turned_bands(bands, lower, upper), ct, upper, lower)
    return (-band_products(b_bar, y, lower, upper), b_bar, None, None)


def _of_right_side(arguments):
    """The type of a solution; of most bands one would take as an example there is none."""
    bands, b = arguments[:2]
    if not isinstance(bands, ir.Array) or not isinstance(b, ir.Array):
        return (ir.Number(),)
    known = None if bands.dtype is None or b.dtype is None else np.result_type(bands.dtype, b.dtype)
    return (ir.Array(known if known is None or known.kind in "fc" else np.dtype(np.float64), b.dims),)


BANDS = np.array([[0.0, 0.7, -0.4, 0.3], [3.0, 2.5, 4.0, 3.3], [0.5, -0.2, 0.6, 0.0], [0.1, 0.2, 0.0, 0.0]])
general(
    banded_solution,
    _banded_jvp,
    _banded_vjp,
    typed=_of_right_side,
    cases=[case(BANDS, sample(4), 2, 1), case(BANDS[:2], sample(4, 2), 0, 1)],
)
bilinear(
    banded_product,
    lambda ct, bands, x, lower, upper: (
        band_products(ct, x, lower, upper),
        banded_product(turned_bands(bands, lower, upper), ct, upper, lower),
    ),
    cases=[case(sample(4, 5), sample(5), 2, 1), case(sample(2, 4), sample(4, 2), 0, 1)],
)
bilinear(
    band_products,
    lambda ct, y, x, lower, upper: (
        banded_product(ct, x, lower, upper),
        banded_product(turned_bands(ct, lower, upper), y, upper, lower),
    ),
    cases=[case(sample(5), sample(5), 2, 1), case(sample(4, 2), sample(4, 2), 0, 1)],
)
linear(
    turned_bands,
    lambda ct, bands, lower, upper: turned_bands(ct, upper, lower),
    cases=[case(sample(4, 5), 2, 1), case(sample(2, 4), 0, 1)],
)


def _solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    lower, upper = l_and_u
    return _each_banded_solution(ab, b, lower, upper)


_each_banded_solution = each_system(banded_solution)


def _solveh_banded(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    count = np.shape(ab)[0] - 1
    n = np.shape(ab)[1]
    if lower:
        others = [np.concatenate([np.zeros(k), np.conj(ab[k, : n - k])]) for k in range(count, 0, -1)]
        whole = np.concatenate([np.reshape(others, (count, -1)), ab]) if count > 0 else ab
    else:
        others = [np.concatenate([np.conj(ab[count - k, k:]), np.zeros(k)]) for k in range(1, count + 1)]
        whole = np.concatenate([ab, np.reshape(others, (count, -1))]) if count > 0 else ab
    return banded_solution(whole, b, count, count)


def _cho_solve_banded(cb_and_lower, b, overwrite_b=False, check_finite=True):
    cb, lower = cb_and_lower
    if not is_real(cb):
        raise NotImplementedError("complex numbers")
    width = np.shape(cb)[0] - 1
    if lower:
        return banded_solution(turned_bands(cb, width, 0), banded_solution(cb, b, width, 0), 0, width)
    return banded_solution(cb, banded_solution(turned_bands(cb, 0, width), b, width, 0), 0, width)


definition(
    linalg.cho_solve_banded,
    _cho_solve_banded,
    arrays=("b",),
    cases=[case((BANDS[:2], False), sample(4)), case((BANDS[1:], True), sample(4, 2))],
)
definition(
    linalg.solve_banded,
    _solve_banded,
    arrays=("ab", "b"),
    cases=[case((2, 1), BANDS, sample(4)), case((0, 1), BANDS[:2], sample(4, 2))],
)
definition(
    linalg.solveh_banded,
    each_system(_solveh_banded),
    cases=[case(BANDS[:2], sample(4)), case(BANDS[1:], sample(4, 2), lower=True)],
)

# --- least squares, projections ---------------------------------------------------------------------------------------


_IS_ARRAY = isinstance(linalg.lstsq(np.ones((2, 1)), np.ones(2))[1], np.ndarray)
"""Whether the sum of squares of one right side is an array without axes: since SciPy 1.18."""


def _lstsq(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None):
    eps = float(np.finfo(np.float64).eps)
    x, _, rank, values = np.linalg.lstsq(a, b, rcond=eps if cond is None else cond)
    m, n = np.shape(a)
    squares = np.sum(np.abs(b - a @ x) ** 2, axis=0) if m > n and rank == n else np.zeros(0)
    if np.ndim(b) == 2:  # the first rows of what LAPACK was handed, by columns
        below = np.zeros((max(m - n, 0), np.shape(b)[1]))
        x = np.asfortranarray(np.concatenate([x, below]))[:n]
    return x, np.asarray(squares) if _IS_ARRAY else squares, rank, values


def _orthogonal_procrustes(A, B, check_finite=True):
    turn, stretch = linalg.polar(np.conj(transposed(transposed(B) @ np.conj(A))))
    return turn, np.trace(stretch)


definition(
    linalg.lstsq,
    each_system(_lstsq),
    when=lambda given: given.get("lapack_driver") in (None, "gelsd", "gelss"),
    cases=[case(sample(5, 3), sample(5)), case(sample(5, 3), sample(5, 2)), case(sample(3, 4), sample(3, 2))],
)
definition(linalg.orthogonal_procrustes, each_system(_orthogonal_procrustes), cases=[case(sample(4, 3), sample(4, 3))])
definition(
    linalg.pinvh,
    lambda a, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True: np.linalg.pinv(
        completed(a, lower)
    ),
    when=lambda given: (
        given.get("atol") is None and given.get("rtol") is None and given.get("return_rank", False) is False
    ),
    cases=[case(DEFINITE), case(DEFINITE, lower=False)],
)

# --- eigenvalues ------------------------------------------------------------------------------------------------------


def _eig(a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False, check_finite=True):
    if b is not None or left:
        raise NotImplementedError("pairs of matrices, or vectors on the left")
    if not right:
        return np.linalg.eigvals(a) + 0j
    values, vectors = np.linalg.eig(a)
    columns = np.asfortranarray(vectors)
    if not np.iscomplexobj(a) and np.all(np.imag(values) == 0.0):
        return values + 0j, np.copy(np.real(columns), order="F")
    return values + 0j, columns


definition(
    linalg.eig,
    _eig,
    arrays=("a",),
    cases=[case(np.array([[2.0, 1.0], [0.5, -0.4]])), case(np.array([[0.0, -1.2], [1.0, 0.3]]))],
)


def _tridiagonal(d, e):
    return np.diag(d) + np.diag(e, -1)


definition(
    linalg.eigvalsh_tridiagonal,
    each_diagonal(lambda d, e: np.linalg.eigvalsh(_tridiagonal(d, e))),
    cases=[case(sample(4), sample(3))],
)
definition(
    linalg.eigh_tridiagonal,
    each_diagonal(lambda d, e, eigvals_only=False: np.linalg.eigvalsh(_tridiagonal(d, e))),
    when=lambda given: given.get("eigvals_only") is True,
    cases=[case(sample(4), sample(3), eigvals_only=True)],
)
definition(
    linalg.eigh,
    lambda a, *, lower=True, eigvals_only=False, subset_by_index=None: np.linalg.eigvalsh(a, "L" if lower else "U")[
        subset_by_index[0] : subset_by_index[1] + 1
    ],
    when=lambda given: given.get("eigvals_only") is True and given.get("subset_by_index") is not None,
    cases=[case(DEFINITE, eigvals_only=True, subset_by_index=[1, 2])],
)

# --- equations of matrices --------------------------------------------------------------------------------------------


def _lyapunov(a, q):
    return linalg.solve_sylvester(a, hermitian(a), q)


def _discrete_lyapunov(a, q, method=None):
    n = np.shape(a)[0]
    one = np.eye(n)
    if method == "direct" or (method is None and n < 10):
        found = np.linalg.solve(np.eye(n * n) - np.kron(a, np.conj(a)), np.ravel(q))
        return np.reshape(found, np.shape(q))
    inverse = np.linalg.inv(hermitian(a) + one)
    b = (hermitian(a) - one) @ inverse
    c = 2.0 * np.linalg.inv(a + one) @ q @ inverse
    return _lyapunov(hermitian(b), -c)


for _solve in (linalg.solve_continuous_lyapunov, linalg.solve_lyapunov):
    definition(_solve, _lyapunov, cases=[case(REGULAR, sample(3, 3))])
definition(
    linalg.solve_discrete_lyapunov,
    each_system(_discrete_lyapunov),
    arrays=("a", "q"),
    cases=[case(0.2 * np.eye(3) + 0.1, sample(3, 3)), case(sample(3, 3), sample(3, 3), "bilinear")],
)

# --- matrices that are made of vectors --------------------------------------------------------------------------------


def _hankel(c, r=None):
    first = np.ravel(c)
    last = np.zeros_like(first) if r is None else np.ravel(r)
    places = np.expand_dims(np.arange(np.size(first)), 1) + np.arange(np.size(last))
    return np.take(np.concatenate([first, last[1:]]), places)


definition(linalg.hankel, _hankel, cases=[case(sample(4)), case(sample(3), sample(4))])
