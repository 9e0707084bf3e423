"""Sparse systems of equations, products, and places of entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix, linalg

from adjoint.diagnostics import error


def sparse_solution(matrix: Any, b: Any, turned: bool = False, ordering: Any = None) -> Any:
    """The solution of a sparse system, or of that of the transpose; ``ordering``: how SciPy permutes the columns.

    >>> from scipy.sparse import csc_matrix
    >>> sparse_solution(csc_matrix([[2.0, 0.0], [2.0, 1.0]]), np.array([2.0, 3.0])).tolist()
    [1.0, 1.0]
    """
    found = np.array(linalg.spsolve((matrix.T if turned else matrix).tocsc(), b, permc_spec=ordering))
    if found.ndim < np.ndim(b):
        label = "in this call of 'spsolve' the right side has one column, and SciPy gives a vector"
        raise error("AD0204", None, label, helps=("hand over a vector: b[:, 0]",), name="spsolve")
    return found


def exponential_product(matrix: Any, b: Any, turned: bool = False) -> Any:
    """The exponential of a sparse matrix, or that of the transpose, times a vector or a matrix.

    >>> from scipy.sparse import csc_matrix
    >>> exponential_product(csc_matrix([[0.0, 2.0], [0.0, 0.0]]), np.array([2.0, 3.0])).tolist()
    [8.0, 3.0]
    """
    return np.array(linalg.expm_multiply(matrix.T if turned else matrix, b))


def factored_solution(factors: Any, b: Any, turned: bool = False) -> Any:
    """The solution of a system of which the factors are given, or of that of the transpose."""
    right, trans = np.asarray(b), "T" if turned else "N"
    if not np.iscomplexobj(right):
        return factors.solve(right.astype(float), trans)
    try:
        return factors.solve(right, trans)
    except TypeError:  # the factors are real
        return factors.solve(right.real.copy(), trans) + 1j * factors.solve(right.imag.copy(), trans)


def entries_solution(
    data: Any, rows: Any, cols: Any, shape: Any, b: Any, turned: bool = False, ordering: Any = None, raises: bool = True
) -> Any:
    """The solution of the sparse system with these entries, or of that of the transpose.

    Where the matrix is singular this ``raises``, as ``splu``, or warns and gives NaN, as ``spsolve``.

    >>> entries_solution(np.array([2.0, 4.0]), [0, 1], [0, 1], (2, 2), np.array([2.0, 2.0])).tolist()
    [1.0, 0.5]
    """
    matrix = csc_matrix((data, (rows, cols)), shape=shape)
    if not raises:
        return sparse_solution(matrix, b, turned, ordering)
    return factored_solution(linalg.splu(matrix, ordering), b, turned)


def eigenpair(told: Any, place: int, count: int, has_mass: bool, options: Any) -> Any:
    """One of the eigenvectors that SciPy finds, and its eigenvalue behind it.

    Of a vector and a number, ``told`` gives the product of a symmetric operator with the vector, less the number times
    the vector, or times its product with another one.

    >>> told = lambda pair: np.append(np.arange(1.0, 5.0) * pair[:4] - pair[4] * pair[:4], 0.0)
    >>> np.abs(eigenpair(told, 0, 4, False, {"k": 1, "v0": np.ones(4)}).round(6)).tolist()
    [0.0, 0.0, 0.0, 1.0, 4.0]
    """
    operator = _product(told, count, options.get("sigma") is not None or has_mass)
    if "X" in options:
        values, vectors = linalg.lobpcg(operator, **options)
    else:
        mass = _whole(lambda x: told(np.append(x, -1.0))[:count] - told(np.append(x, 0.0))[:count], count)
        values, vectors = linalg.eigsh(operator, M=mass if has_mass else None, **_started(options, count))
    return np.append(vectors[:, place], values[place])


def _product(told: Any, count: int, is_factored: bool) -> Any:
    """The operator; where it is to be factored, as a matrix."""
    product = lambda x: told(np.append(x, 0.0))[:count]
    return _whole(product, count) if is_factored else linalg.LinearOperator((count, count), product, dtype=float)


def _whole(product: Any, count: int) -> Any:
    return csc_matrix(np.stack([product(unit) for unit in np.eye(count)], axis=1))


def complex_eigenpair(told: Any, place: int, count: int, options: Any) -> Any:
    """The real and the imaginary part of an eigenvector that SciPy finds, and those of the eigenvalue.

    Of such, ``told`` gives the two parts of the product with the vector, less the number times the vector.

    >>> told = lambda x: np.concatenate([np.arange(1.0, 5.0) * x[:4], np.arange(1.0, 5.0) * x[4:8], [0.0, 0.0]])
    >>> np.abs(complex_eigenpair(told, 0, 4, {"k": 1}).round(6)).tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0]
    """
    real = lambda x: told(np.concatenate([x[:count], np.zeros(count + 1), x[count:]]))
    values, vectors = _general(real, count, options)
    value, vector = values[place], vectors[:, place]
    vector = vector * np.exp(-1j * np.angle(direction(count) @ vector))
    return np.concatenate([vector.real, vector.imag, [value.real, value.imag]])


def real_eigenpair(told: Any, place: int, count: int, options: Any) -> Any:
    """An eigenvector that SciPy finds, and its eigenvalue behind it, where that is real.

    Raises
    ------
    ValueError
        If it is not: then the vector times any number of absolute value one is as good.

    >>> told = lambda pair: np.append(np.arange(1.0, 5.0) * pair[:4] - pair[4] * pair[:4], 0.0)
    >>> np.abs(real_eigenpair(told, 0, 4, {"k": 1}).round(6)).tolist()
    [0.0, 0.0, 0.0, 1.0, 4.0]
    """
    values, vectors = _general(told, count, options)
    if values[place].imag != 0.0:
        message = "derivatives of eigs are known of complex eigenvalues, and of eigenvectors of real ones"
        raise ValueError(f"{message}: np.linalg.eig(A.toarray()) has those of all vectors")
    return np.append(vectors[:, place].real, values[place].real)


def _general(told: Any, count: int, options: Any) -> Any:
    operator = _product(told, count, options.get("sigma") is not None)
    return linalg.eigs(operator, **_started(options, count))


def direction(count: int) -> Any:
    """A vector that hardly any other is orthogonal to.

    >>> direction(2).shape
    (2,)
    """
    return np.random.default_rng(1).uniform(0.5, 1.5, count)


def singular_triplet(told: Any, rows: int, columns: int, place: int, options: Any) -> Any:
    """One of the pairs of singular vectors that SciPy finds, one behind the other, and the singular value.

    Of such a triplet, ``told`` gives the products with an operator and its transpose, less the value times the vectors.

    >>> told = lambda x: np.concatenate([np.arange(1.0, 5.0) * x[4:8], np.arange(1.0, 5.0) * x[:4], [0.0]])
    >>> np.abs(singular_triplet(told, 4, 4, 0, {"k": 1}).round(6)).tolist()
    [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 4.0]
    """
    none = np.zeros(rows), np.zeros(columns)
    operator = linalg.LinearOperator(
        (rows, columns),
        lambda v: told(np.concatenate([none[0], np.ravel(v), [0.0]]))[:rows],
        lambda u: told(np.concatenate([np.ravel(u), none[1], [0.0]]))[rows : rows + columns],
        dtype=float,
    )
    left, values, right = linalg.svds(operator, **_started(options, min(rows, columns)))
    return np.concatenate([left[:, place], right[place], [values[place]]])


def _started(options: Any, count: int) -> Any:
    """Options of a search that begins at the same vector each time, where none is given."""
    if options.get("v0") is not None:
        return options
    return {**options, "v0": np.random.default_rng(0).uniform(-1.0, 1.0, count)}


def entries_product(data: Any, x: Any, rows: Any, cols: Any, shape: Any, turned: bool = False) -> Any:
    """The product of the sparse matrix with these entries, or of its transpose, with a vector or a matrix."""
    matrix = csc_matrix((data, (rows, cols)), shape=shape)
    return np.asarray((matrix.T if turned else matrix) @ x)


def outer_entries(left: Any, right: Any, rows: Any, cols: Any) -> Any:
    """The entries at some places of the product of a column with a row, or of several, added up."""
    products = left[rows] * right[cols]
    return products if products.ndim == 1 else products.sum(axis=-1)


def merged_places(rows: Any, cols: Any, shape: Any) -> Any:
    """The rows and columns of entries, each place once, in the order of rows.

    >>> merged_places(np.array([1, 0, 1]), np.array([0, 2, 0]), (2, 3)).tolist()
    [[0, 1], [2, 0]]
    """
    keys = np.unique(np.asarray(rows, dtype=np.int64) * shape[1] + cols)
    return np.array(np.divmod(keys, shape[1]))


def merged_order(rows: Any, cols: Any, shape: Any) -> Any:
    """Which of those places each entry is in.

    >>> merged_order(np.array([1, 0, 1]), np.array([0, 2, 0]), (2, 3)).tolist()
    [1, 0, 1]
    """
    return np.unique(np.asarray(rows, dtype=np.int64) * shape[1] + cols, return_inverse=True)[1]


def meetings(left: Any, right: Any) -> Any:
    """All pairs of places at which two arrays have the same number.

    >>> meetings(np.array([3, 1]), np.array([1, 3, 3])).tolist()
    [[0, 0, 1], [1, 2, 0]]
    """
    order = np.argsort(right, kind="stable")
    first, last = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
    count = last - first
    behind = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.array([np.repeat(np.arange(len(left)), count), order[np.repeat(first, count) + behind]], dtype=np.int64)


def picked_entries(key: Any, rows: Any, cols: Any, shape: Any) -> Any:
    """Which entries ``matrix[key]`` has, and their rows and columns there; no two may be in one place.

    >>> picked_entries((slice(1, 2), slice(None)), np.array([0, 1]), np.array([2, 1]), (2, 3)).tolist()
    [[1], [0], [1]]
    """
    numbered = csr_matrix((np.arange(1, len(rows) + 1), (rows, cols)), shape=shape)
    found = coo_matrix(numbered[key])
    return np.array([found.data - 1, found.row, found.col], dtype=np.int64)


def picked_shape(key: Any, shape: Any) -> Any:
    """The shape of ``matrix[key]``.

    >>> picked_shape((slice(1, 2), slice(None)), (2, 3)).tolist()
    [1, 3]
    """
    return np.array(csr_matrix(shape)[key].shape)
