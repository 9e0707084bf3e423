"""What derivatives of ``scipy.linalg`` are made of; the only module here that needs SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg


def triangular_solution(a: Any, b: Any, lower: bool = False, unit_diagonal: bool = False) -> Any:
    """The solution of ``a @ x = b``, looking at one triangle of ``a`` only."""
    return linalg.solve_triangular(a, b, lower=lower, unit_diagonal=unit_diagonal)


def triangle(a: Any, lower: bool = False, unit_diagonal: bool = False) -> Any:
    """One triangle of a matrix, without its diagonal if that is taken to be one."""
    away = 1 if unit_diagonal else 0
    return np.tril(a, -away) if lower else np.triu(a, away)


def row_order(pivots: Any) -> Any:
    """Which row stands in each place after the exchanges of a decomposition into triangles; of a stack, for each."""
    if np.ndim(pivots) > 1:
        return np.stack([row_order(one) for one in pivots])
    order = np.arange(np.size(pivots))
    for row, other in enumerate(pivots):
        order[[row, other]] = order[[other, row]]
    return order


def signs_of_factor(update: Any, *args: Any) -> Any:
    """The signs on the diagonal of the upper factor that an update of SciPy finds.

    >>> from scipy.linalg import qr_delete
    >>> signs_of_factor(qr_delete, np.eye(2), np.diag([1.0, -2.0]), 0, 1, "col").tolist()
    [1.0]
    """
    return np.sign(np.diagonal(update(*args)[1]))


def pivots(a: Any) -> Any:
    """Which column of a matrix stands in each place where the largest that is left goes first."""
    return linalg.qr(a, mode="r", pivoting=True)[-1]


def places_of_rows(a: Any) -> Any:
    """Where each row stands after the exchanges of a decomposition into triangles: ``a == l[places] @ u``."""
    return linalg.lu(a, p_indices=True)[0]


def triangles(a: Any) -> Any:
    """The decomposition of a matrix into triangles, in one matrix, without exchanges of rows."""
    packed, pivots = linalg.lu_factor(a)
    if np.array_equal(pivots, np.arange(len(pivots))):
        return packed
    packed = np.array(a)  # of rows that are equally good, another was taken
    for k in range(len(packed) - 1):
        packed[k + 1 :, k] /= packed[k, k]
        packed[k + 1 :, k + 1 :] -= np.outer(packed[k + 1 :, k], packed[k, k + 1 :])
    return packed


def polar_factor(a: Any) -> Any:
    """The orthonormal columns nearest to those of a matrix."""
    return linalg.polar(a)[0]


def schur_form(a: Any) -> Any:
    """The real decomposition of Schur: a triangle where all eigenvalues are real, and the basis in which it is one."""
    return linalg.schur(a)


def without_blocks(z: Any, t: Any) -> Any:
    """The basis of the form of Schur of a matrix all of whose eigenvalues are real.

    Raises
    ------
    numpy.linalg.LinAlgError
        If it has a block on its diagonal, for two that are not.

    >>> without_blocks(np.eye(2), np.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if np.any(np.diagonal(t, -1)):
        raise np.linalg.LinAlgError("derivatives of the form of Schur are known where all eigenvalues are real")
    return np.copy(z)


def turning(t: Any, m: Any) -> Any:
    """The strictly lower triangle ``x`` for which ``x @ t - t @ x`` is ``m`` there, of an upper triangle ``t``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If two eigenvalues are equal.

    >>> turning(np.array([[1.0, 5.0], [0.0, 3.0]]), np.array([[0.0, 0.0], [4.0, 0.0]])).tolist()
    [[0.0, 0.0], [-2.0, 0.0]]
    """
    n, x = len(t), np.zeros((len(t), len(t)))
    for j in range(n - 1):
        right = m[j + 1 :, j] - x[j + 1 :, :j] @ t[:j, j]
        x[j + 1 :, j] = linalg.solve_triangular(t[j, j] * np.eye(n - 1 - j) - t[j + 1 :, j + 1 :], right)
    return x


def turning_back(t: Any, m: Any) -> Any:
    """The transpose of :func:`turning`: ``x @ t.T - t.T @ x`` is ``m`` below the diagonal."""
    n, x = len(t), np.zeros((len(t), len(t)))
    for j in range(n - 2, -1, -1):
        right = m[j + 1 :, j] - x[j + 1 :, j + 1 :] @ t[j, j + 1 :]
        matrix = t[j, j] * np.eye(n - 1 - j) - t[j + 1 :, j + 1 :]
        x[j + 1 :, j] = linalg.solve_triangular(matrix, right, trans=1)
    return x


def pivoted_squares(a: Any, lower: bool = True) -> Any:
    """The unit triangle and the diagonal blocks of a symmetric matrix, whose rows are in the order given last.

    >>> l, d, order = pivoted_squares(np.array([[1.0, 2.0], [2.0, 5.0]]))
    >>> np.allclose(l @ d @ l.T, np.array([[1.0, 2.0], [2.0, 5.0]])[np.ix_(order, order)])
    True
    """
    factor, blocks, order = linalg.ldl(0.5 * (a + a.T), lower=lower)
    return factor[order], blocks, order


def in_blocks(blocks: Any) -> Any:
    """Where blocks on a diagonal have their elements, as ones.

    >>> in_blocks(np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 4.0]])).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return np.eye(len(blocks)) + (blocks - np.diag(np.diag(blocks)) != 0.0)


def eigenvalues_of_pair(a: Any, b: Any) -> Any:
    """The eigenvalues of ``a`` with respect to ``b``, in the order in which SciPy has them."""
    return linalg.eigvals(a, b)


def matching(found: Any, wanted: Any) -> Any:
    """The places at which the same numbers stand in another order.

    >>> matching(np.array([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 2.0])).tolist()
    [2, 0, 1]
    """
    places = np.zeros(len(wanted), int)
    free = np.ones(len(found), bool)
    for k, value in enumerate(wanted):
        places[k] = np.argmin(np.where(free, np.abs(found - value), np.inf))
        free[places[k]] = False
    return places


def riccati(a: Any, b: Any, q: Any, r: Any) -> Any:
    """The solution of the equation of Riccati in continuous time; of ``q`` and ``r`` the Hermitian parts count."""
    return linalg.solve_continuous_are(a, b, *[0.5 * (x + np.conj(x.T)) for x in (q, r)])


def riccati_in_steps(a: Any, b: Any, q: Any, r: Any) -> Any:
    """The same in discrete time."""
    return linalg.solve_discrete_are(a, b, *[0.5 * (x + np.conj(x.T)) for x in (q, r)])


def toeplitz_solution(c: Any, r: Any, b: Any) -> Any:
    """The solution of ``x`` in ``toeplitz(c, r) @ x = b``."""
    return linalg.solve_toeplitz((c, r), b)


def lags(u: Any, x: Any) -> Any:
    """The sums of ``u[i + k] * x[i]``, for each ``k``: of products along the diagonals of ``u @ x.T``.

    >>> lags(np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0, 100.0])).tolist()
    [321.0, 32.0, 3.0]
    """
    rows, others = np.reshape(u, (len(u), -1)).T, np.reshape(x, (len(x), -1)).T
    return sum(np.convolve(row, other[::-1])[len(u) - 1 :] for row, other in zip(rows, others, strict=True))


def balanced(a: Any, permute: bool, scale: bool) -> Any:
    """By which powers of two a matrix is balanced, and in which order."""
    return linalg.matrix_balance(a, permute=permute, scale=scale, separate=True)[1]


def banded_solution(bands: Any, b: Any, lower: Any, upper: Any) -> Any:
    """The solution of ``a @ x = b``, for the bands of ``a`` as LAPACK has them: the one furthest above first."""
    return linalg.solve_banded((lower, upper), bands, b)


def banded_product(bands: Any, x: Any, lower: Any, upper: Any) -> Any:
    """``a @ x`` for the bands of ``a``.

    >>> banded_product(np.array([[0.0, 5.0], [1.0, 2.0], [7.0, 0.0]]), np.array([1.0, 10.0]), 1, 1).tolist()
    [51.0, 27.0]
    """
    n = np.shape(x)[0]
    y = np.zeros(np.shape(x), np.result_type(bands, x))
    for offset in range(-min(lower, n - 1), min(upper, n - 1) + 1):
        low, high = max(0, -offset), min(n, n - offset)
        y[low:high] += (bands[upper - offset, low + offset : high + offset] * x[low + offset : high + offset].T).T
    return y


def turned_bands(bands: Any, lower: Any, upper: Any) -> Any:
    """The bands of the transpose; what lies outside of the matrix is zero."""
    n = np.shape(bands)[1]
    turned = np.zeros(np.shape(bands), bands.dtype)
    for offset in range(-min(lower, n - 1), min(upper, n - 1) + 1):
        low, high = max(0, -offset), min(n, n - offset)
        turned[lower + offset, low:high] = bands[upper - offset, low + offset : high + offset]
    return turned


def band_products(y: Any, x: Any, lower: Any, upper: Any) -> Any:
    """The bands of ``y @ x.T``."""
    n = np.shape(x)[0]
    columns = np.reshape(y, (n, -1)), np.reshape(x, (n, -1))
    bands = np.zeros((lower + upper + 1, n), np.result_type(y, x))
    for offset in range(-min(lower, n - 1), min(upper, n - 1) + 1):
        low, high = max(0, -offset), min(n, n - offset)
        products = columns[0][low:high] * columns[1][low + offset : high + offset]
        bands[upper - offset, low + offset : high + offset] = np.sum(products, axis=1)
    return bands
