"""Products of constant sparse matrices with what varies: right, also of their transposes; the rest is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import linalg

import adjoint as ad
from regressions.differences import refused, right, second

DENSE = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
MATRICES = [
    getattr(sp, f"{kind}_{form}")(DENSE) for kind in ("csr", "csc", "coo", "dia") for form in ("array", "matrix")
]
CSR = MATRICES[0]
X = np.array([0.6, -0.4, 1.3])
Y = np.array([0.3, -0.7])
B = np.arange(6.0).reshape(3, 2) / 3


SQUARE = sp.csc_matrix(np.array([[3.0, 0.0, 0.4], [0.2, 2.0, 0.0], [0.0, -0.5, 4.0]]))
FACTORS = linalg.splu(SQUARE)


def least_squares(x):
    residual = CSR @ x - Y
    return np.sum(residual * (CSR @ (CSR.T @ residual)))


def made_inside(x):
    matrix = sp.csr_matrix(DENSE)
    return np.sum((matrix @ x) ** 2)


def in_a_loop(x):
    for _ in range(3):
        x = np.tanh(CSR.T @ (CSR @ x))
    return np.sum(x)


@pytest.mark.parametrize("matrix", MATRICES, ids=lambda matrix: type(matrix).__name__)
def test_products_with_vectors_and_matrices(matrix: Any) -> None:
    right(lambda x: np.sum((matrix @ x) ** 2), X)
    right(lambda x, m: np.sum((x @ m.T) ** 2), X, matrix)
    right(lambda y: np.sum((matrix.T @ y) ** 3), Y)
    right(lambda b: np.sum((matrix @ b) ** 2), B)


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (least_squares, X),
        (made_inside, X),
        (in_a_loop, X),
        (lambda y: np.sum((y @ CSR) ** 2), Y),
        (lambda b: np.sum((b.T @ CSR.T) ** 2), B),
        (lambda x: np.sum(CSR.dot(x) ** 2), X),
        (lambda x: np.sum((CSR.toarray() @ x) ** 2), X),
        (lambda x: np.sum((sp.diags([1.0, 2.0, 3.0]) @ x) ** 2), X),
        (lambda x: np.sum(((2 * SQUARE + sp.eye(3)).T @ x) ** 2) + np.sum((SQUARE @ SQUARE / 3.0) @ x), X),
    ],
)
def test_programs(f: Callable[[Any], Any], x: np.ndarray) -> None:
    right(f, x)
    if x.ndim == 1:
        second(f, x)


def test_in_structures() -> None:
    assert np.allclose(
        ad.grad(lambda x, table: np.sum(table["m"] @ x))(X, {"m": CSR}), ad.grad(lambda x: np.sum(DENSE @ x))(X)
    )


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
def test_machine_code_leaves_it_to_scipy() -> None:
    np.testing.assert_allclose(ad.grad(least_squares, native=True)(X), ad.grad(least_squares)(X))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.sum(CSR * x),
        lambda x: np.sum(CSR.multiply(x)),
        lambda x: np.sum((CSR + DENSE * x) ** 2),
    ],
)
def test_what_is_refused(f: Callable[[Any], Any]) -> None:
    refused(lambda: ad.grad(f)(X))
    refused(lambda: ad.jvp(f, (X,), (X,)))


def of_data(d):
    return sp.csc_matrix((d, SQUARE.indices, SQUARE.indptr), shape=SQUARE.shape)


def products(d, x):
    matrix = of_data(d)
    both = (matrix @ x) * (matrix.T @ x) + x @ matrix + matrix.dot(x)
    return np.sum(both**2) + np.sum(matrix.toarray() ** 3) + np.sum(matrix.diagonal() ** 2)


def sums(d, x):
    places = (np.array([0, 1, 2]), np.array([1, 0, 2]))
    matrix = sp.csr_matrix((d[:3], places), shape=(3, 3))
    return np.sum((((matrix + 2 * SQUARE) @ x) * ((SQUARE - matrix * 3.0) @ x) + (-matrix / x[0]) @ x) ** 2)


def solutions(d, x):
    factors = linalg.splu(of_data(d))
    solve = linalg.factorized(of_data(d))
    return np.sum((factors.solve(x, "T") + solve(x**2)) ** 2) + np.sum(linalg.spsolve(of_data(d), x) ** 3)


def diagonals(d, x):
    matrix = sp.diags([d[:2], 2 + d[1:4], 2 * d[:2]], [-1, 0, 1])
    return np.sum(linalg.spsolve(matrix.tocsc(), x) ** 2) + np.sum((sp.diags(d[:3]) @ x) ** 2)


def diagonals_in_rows(d, x):
    rows = np.vstack((d[:3], d[1:4] ** 2))
    wide = sp.diags(rows, [0, 1], shape=(3, 4), format="csr")
    banded = sp.diags_array(rows, offsets=np.array([-1, 2]), shape=(4, 5))
    return np.sum(((wide @ wide.T) @ x) ** 2) + np.sum(banded @ np.arange(5.0)) * x[0]


def scaled(d, x):
    return np.sum(((d[0] * SQUARE) @ x + (SQUARE / d[1]) @ x) ** 2)


def summed(d, x):
    matrix = of_data(d) * x[0]
    weights = np.arange(9.0).reshape(3, 3)
    return matrix.sum() * matrix.mean() + matrix.multiply(weights).sum() + matrix.multiply(x[1]).trace() ** 2


def entries_in_order(d, x):
    weights = np.arange(len(d)) + 1.0
    places = (np.array([2, 0, 1]), np.array([1, 0, 2]))
    loose = sp.coo_matrix((d[:3], places), shape=(3, 3))
    return (of_data(d) * x[0]).T.data @ weights + (-(SQUARE * d[0])).data @ weights + loose.data @ x


@pytest.mark.parametrize(
    "f", [products, sums, solutions, diagonals, diagonals_in_rows, scaled, summed, entries_in_order]
)
def test_entries_that_vary(f: Callable[..., Any]) -> None:
    right(f, SQUARE.data, X)
    right(f, SQUARE.data, X, wrt=1)
    second(lambda d: f(d, X), SQUARE.data)


def entries_of_diagonals(x):
    return np.sum(sp.diags([x, x[:2]], [0, 1]).data)


def over_a_matrix(x):
    return ((SQUARE * x[0]) / SQUARE).sum()


def plus_an_array(x):
    return np.sum((SQUARE * x[0]) + np.eye(3))


def row_of_an_array(x):
    return sp.csr_array(np.diag(x))[0].sum()


def entries_one_by_one(x):
    return np.sum(sp.csr_matrix(np.diag(x))[[0, 1], [0, 1]])


def a_mask(x):
    return np.sum(sp.csr_matrix(np.diag(x))[np.eye(3) > 0.0])


def written_where_others_may_see_it(x):
    matrix = SQUARE * x[0]
    turned = matrix.T
    matrix.setdiag(x)
    return turned.sum()


def multiplied_in_place(x):
    matrix = SQUARE * x[0]
    same = matrix
    matrix *= 2.0
    return same.sum()


def compared(x):
    matrix = sp.diags(x)
    return matrix.sum() * (1.0 if matrix != matrix.T else 2.0)


def an_entry_that_is_written(x):
    matrix = sp.csr_matrix(np.diag(x))
    matrix[0, 0] = 3.0
    return matrix.sum()


def a_determinant(x):
    return np.sum(linalg.splu(sp.diags(x).tocsc()).U.diagonal())


@pytest.mark.parametrize(
    "f",
    [
        *(entries_of_diagonals, over_a_matrix, plus_an_array),
        *(row_of_an_array, entries_one_by_one, a_mask, written_where_others_may_see_it),
        *(multiplied_in_place, compared, an_entry_that_is_written, a_determinant),
    ],
)
def test_what_scipy_does_otherwise_is_refused(f: Callable[[Any], Any]) -> None:
    refused(lambda: ad.grad(f)(X))
    refused(lambda: ad.jvp(f, (X,), (X,)))


def trend(x):
    """The filter of Hodrick and Prescott."""
    size = len(x)
    differences = sp.dia_array((np.repeat([[1.0], [-2.0], [1.0]], size, axis=1), [0, 1, 2]), shape=(size - 2, size))
    smooth = (sp.eye_array(size, size) + 10.0 * differences.T.dot(differences)).tocsc()
    return np.sum((x - linalg.spsolve(smooth, x)) ** 2)


def test_factors_of_constant_matrices() -> None:
    right(trend, np.array([0.6, -0.4, 1.3, 0.2, 0.9]))
    for f in (
        lambda x: np.sum(FACTORS.solve(x * x) ** 2) + np.sum(FACTORS.solve(x, "T") ** 3),
        lambda x: np.sum(linalg.splu(SQUARE).solve(x) ** 2),
        lambda x: np.sum(linalg.factorized(SQUARE)(x) ** 2),
    ):
        right(f, X)
        second(f, X)
    right(lambda b: np.sum(FACTORS.solve(b) ** 2), B)


# matrices made of others


def stars(d, x):
    """What ``*`` is depends on whether it is a matrix or an array."""
    matrix, array = of_data(d), sp.csr_array((d[:3], ([0, 1, 2], [1, 0, 2])), shape=(3, 3))
    products = (matrix * x) * (x * matrix) + (matrix * SQUARE * matrix) @ x + (array * x + array * array) @ x
    powers = (matrix**2 + matrix.power(3)) @ x + (array**2) @ x + (array / (2.0 + x)) @ x + (matrix / 3.0) @ x
    return np.sum(products**2) + np.sum(powers**2)


def of_matrices(d, x):
    matrix = of_data(d)
    normal = matrix.T @ sp.diags(x) @ matrix + 0.1 * sp.eye(3)
    both = (SQUARE @ matrix @ SQUARE).multiply(matrix) + sp.csr_matrix(SQUARE).multiply(x[:, None])
    return np.sum((normal @ x) ** 2) + np.sum((both @ x) ** 2) + np.sum(linalg.spsolve(normal.tocsc(), x) ** 2)


def of_blocks(d, x):
    one, two = sp.diags(d[:2]), sp.csr_array(np.outer(d[:2], d[1:3]))
    wide = sp.hstack([one, two, d[2:4].reshape(2, 1)])
    whole = sp.bmat([[one, None], [two, sp.eye(2)]])
    blocks = sp.block_diag([one, np.outer(x, d[:2]), sp.eye(1)])
    products = sp.kron(sp.eye(2), one) + sp.kron(two, np.array([[x[0], 0.0], [0.0, 1.0]]))
    parts = (sp.vstack([one, sp.eye(2), two]).T @ np.arange(6.0), blocks.T @ np.arange(6.0))
    halves = np.sum((sp.tril(two) - sp.triu(two, k=1)).toarray() ** 3)
    return (
        sum(np.sum(part**2) for part in parts) + np.sum((whole[:, 2:] @ wide @ d[:5] + products @ d[:4]) ** 2) + halves
    )


def parts(d, x):
    matrix = sp.csr_matrix((np.concatenate([d, d]), (np.tile(SQUARE.tocoo().row, 2), np.tile(SQUARE.indices, 2))))
    free = np.array([0, 2])
    inner = matrix[free][:, free]
    rows = matrix[1:] @ x + matrix[[True, False, True]] @ x
    single = matrix[0, 0] * matrix[-1, 2] + matrix[1, 2]
    return (
        np.sum(linalg.spsolve(inner.tocsc(), x[free]) ** 2) + np.sum(rows**2) + single * np.sum(matrix[:, 1:].toarray())
    )


def along_an_axis(d, x):
    """Degrees of a graph, whose Laplacian is made of them."""
    weights, array = of_data(d), sp.csr_array((d[:3], ([0, 1, 2], [1, 0, 2])), shape=(3, 3))
    degrees = np.asarray(weights.sum(axis=1)).ravel() + array.sum(axis=0) + weights.mean(axis=0).A1
    return np.sum(((sp.diags(degrees) - weights) @ x) ** 2)


def with_a_diagonal(d, x):
    matrix = of_data(d).copy()
    matrix.setdiag(x)
    matrix.setdiag(0.5, k=1)
    return np.sum((matrix @ x) ** 2) + np.sum(matrix.diagonal(1) ** 2) + matrix.trace()


def implicit_steps(d, x):
    size = 4
    second = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(size, size))
    moved = sp.diags([-d[0], d[1]], [0, 1], shape=(size, size)) + sp.spdiags(np.outer(x[:2], d[:4]), [0, 1], size, size)
    factors = linalg.splu((sp.identity(size) - 0.1 * d[2] * second + 0.1 * moved).tocsc())
    u = d[:4]
    for _ in range(3):
        u = factors.solve((sp.identity(size) + 0.1 * second * d[2]) @ u)
    return np.sum(u**2)


def summed_in_a_loop(d, x):
    total = sp.csr_matrix((3, 3))
    for k in range(3):
        total = total + d[k] * sp.eye(3, k=k - 1)
    return np.sum((total @ x) ** 2) + np.sum((sum([of_data(d), SQUARE]) @ x) ** 2)


def assembled(d, x):
    """Stiffness of a chain of springs, as finite elements put it together."""
    rows, cols, values = [], [], []
    for element in range(3):
        stiffness = d[element] * np.array([[1.0, -1.0], [-1.0, 1.0]])
        for i in range(2):
            for j in range(2):
                rows.append(element + i)
                cols.append(element + j)
                values.append(stiffness[i, j])
    whole = sp.coo_matrix((values, (rows, cols)), shape=(4, 4)).tocsr()
    return np.sum(linalg.spsolve(whole[1:, 1:].tocsc(), x) ** 2)


def other_functions(d, x):
    matrix = of_data(d) + 3.0 * sp.eye(3)
    near = linalg.cg(matrix.T @ matrix, x, rtol=1e-13)[0] + linalg.gmres(SQUARE, x * d[0], rtol=1e-13)[0]
    triangle = linalg.spsolve_triangular(sp.tril(matrix).tocsr(), x)
    return np.sum(near**2) + linalg.norm(matrix) + np.sum(linalg.expm_multiply(0.1 * matrix, x) * triangle)


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize(
    "f",
    [
        *(stars, of_matrices, of_blocks, parts, along_an_axis, with_a_diagonal, implicit_steps, summed_in_a_loop),
        *(assembled, other_functions),
    ],
)
def test_matrices_made_of_others(f: Callable[..., Any]) -> None:
    data = np.abs(SQUARE.data) + 0.5
    right(f, data, X)
    right(f, data, X, wrt=1)
    second(lambda d: f(d, X), data)


def test_zeros_of_an_array_are_entries() -> None:
    """SciPy leaves them out, but they may vary."""
    right(lambda a: np.sum((sp.csr_matrix(a) @ X) ** 2), DENSE)


def test_shapes_that_may_be_several_things_are_compared() -> None:
    def f(x):
        shape = None if CSR.shape is None else (CSR.shape[1], CSR.shape[0])
        shape = (2, 2) if shape is None else shape
        return np.sum(x) * (2.0 if shape == (x.size, 2) else 3.0)

    right(f, X)


def test_which_class_a_matrix_has() -> None:
    def f(x):
        made, varying = sp.eye(3), sp.diags(x)
        is_matrix = isinstance(made, sp.spmatrix) and not isinstance(made, sp.sparray)
        return np.sum((varying @ x) ** 2) * (2.0 if is_matrix and sp.issparse(varying) else 3.0)

    right(f, X)


def test_a_solver_that_does_not_converge() -> None:
    with pytest.raises(RuntimeError, match="cg did not converge"):
        ad.grad(lambda x: np.sum(linalg.cg(sp.diags(x), X, rtol=1e-14, maxiter=1)[0]))(np.array([1.0, 50.0, 9.0]))


WHOLE = sp.csr_matrix(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [4.0, 0.0, 5.0]]))
COLUMNS, ROWS = sp.csc_array(WHOLE), sp.lil_matrix(WHOLE)
PARTS = {
    "rows": lambda x: WHOLE[1:] @ x,
    "columns": lambda x: COLUMNS[:, :2] @ x[1:],
    "row": lambda x: WHOLE[1] @ x,
    "row_of_all": lambda x: WHOLE[-1, :] * x,
    "places": lambda x: WHOLE[np.array([0, 2])] @ x,
    "list": lambda x: COLUMNS[[0, 2]] @ x,
    "mask": lambda x: WHOLE[np.array([True, False, True])] @ x,
    "blocks": lambda x: sum(np.sum((WHOLE[i : i + 2, :] @ x) ** 2) for i in range(0, 3, 2)),
    "transposed": lambda x: ROWS[:2].T @ x[:2],
    "getrow": lambda x: WHOLE.getrow(2) @ x,
    "pairs": lambda x: np.asarray(WHOLE[[0, 2], [0, 1]]).ravel() * x[:2],
    "entry": lambda x: WHOLE[0, 2] * x,
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_constant_matrices(name) -> None:
    part = PARTS[name]
    right(lambda x: np.sum(np.sin(part(x))), np.array([0.3, 0.7, -0.5]))
