"""Linear operators of SciPy that are given by their products: systems of equations with them, and what is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import linalg

import adjoint as ad
from adjoint.runtime.numerical_methods.of_scipy import krylov
from regressions.differences import refused, right, second

B = np.array([1.0, 2.0, -1.0, 0.5])


def stiffness(k, v):
    out = (2.0 + k) * v
    out[1:] -= k * v[:-1]
    out[:-1] -= k * v[1:]
    return out


def laplacian(v):
    return 3.0 * v - np.roll(v, 1) - np.roll(v, -1)


def by_conjugate_gradients(p, b):
    def matvec(v):
        return stiffness(p[0] ** 2, v)

    operator = linalg.LinearOperator((len(b), b.size), matvec=matvec, dtype=float)
    x, told = linalg.cg(operator, b * p[1], rtol=1e-13, x0=b)
    return np.sum(x**2) + told


def with_a_preconditioner(p, b):
    n = len(b)
    operator = linalg.LinearOperator((n, n), lambda v: p * v + 0.3 * np.roll(v, 1) ** 1)
    near = linalg.LinearOperator((n, n), matvec=lambda v: v / p)
    x, _ = linalg.gmres(operator, b, rtol=1e-13, M=near)
    return x @ operator.matvec(x) + np.sum(linalg.bicgstab(operator, np.sin(b), rtol=1e-13, atol=0.0)[0])


def of_a_function_that_stands_elsewhere(p, b):
    operator = linalg.LinearOperator(matvec=laplacian, shape=(4, 4))
    x, _ = linalg.minres(operator, p * b, rtol=1e-13)
    return np.sum(x**3) + np.sum(operator @ p) + np.sum(operator.dot(b) * operator(p * p))


def in_steps(p, b):
    x = b
    for k in range(3):
        operator = linalg.LinearOperator((4, 4), lambda v, k=k: stiffness(p[k] ** 2, v))
        x = linalg.cg(operator, np.sin(x), rtol=1e-13)[0]
    return np.sum(x * p)


def tall(p, b):
    a = np.outer(np.arange(1.0, 4.0), p)
    operator = linalg.LinearOperator((3, 4), matvec=lambda v: a @ v, rmatvec=lambda u: a.T @ u)
    return np.sum(operator.rmatvec(operator @ b) ** 2) + operator.shape[0] * np.sum(operator.T @ (a @ b))


CONSTANT = linalg.LinearOperator((4, 4), matvec=laplacian, rmatvec=laplacian)


def of_one_made_outside(p, b):
    halves = linalg.LinearOperator((4, 4), matvec=lambda v: v / 3)
    x = linalg.cg(CONSTANT, p * b, rtol=1e-13, M=halves)[0]
    return np.sum(x * linalg.cg(halves, CONSTANT @ np.sin(p), rtol=1e-13, M=CONSTANT)[0])


def of_a_right_side_of_unknown_rank(p, b):
    right_side = np.sin(p)
    for _ in range(int(p[0] > 1.0)):
        right_side = np.squeeze(right_side[None])
    halves = linalg.LinearOperator((4, 4), matvec=lambda v: v / 3)
    return linalg.gmres(SPARSE, right_side, rtol=1e-13)[0] @ linalg.cg(halves, b * right_side, rtol=1e-13)[0]


def of_several(p, b):
    first = linalg.LinearOperator((4, 4), matvec=lambda v: p * v)
    second = linalg.LinearOperator((4, 4), matvec=laplacian)
    whole = 2.0 * first - second @ first / 3.0 + (-second) * b[0]
    return np.sum(linalg.gmres(whole, b, rtol=1e-13)[0] ** 2)


def products_with_matrices(p, b):
    operator = linalg.LinearOperator((4, 4), matvec=laplacian, rmatvec=lambda v: p[0] * v) * b[1]
    return np.sum((operator @ np.outer(b, p[:2])) ** 2) + np.sum((operator.T @ p[:, None]) ** 3)


def with_a_matrix_beside(p, b):
    operator = linalg.LinearOperator((4, 4), lambda v: p * v + 0.1 * np.sum(v))
    return np.sum(linalg.cg(operator, b, M=np.diag(1.0 / B), rtol=1e-13)[0] ** 2)


def of_a_matrix(p, b):
    operator = linalg.aslinearoperator(np.outer(p, b) + np.eye(4))
    return np.sum((operator @ b) ** 2) + np.sum(operator.rmatvec(p) ** 2)


def eigenvalues(p, b):
    operator = linalg.LinearOperator((4, 4), lambda v: p * v + 0.1 * b[0] * np.sum(v))
    values = linalg.eigsh(operator, k=2, which="LA", return_eigenvectors=False)
    return values[0] * values[1] ** 2


def eigenvectors(p, b):
    matrix = sp.diags([p * b, 0.3 * p[1:], 0.3 * p[1:]], [0, 1, -1], format="csc")
    values, vectors = linalg.eigsh(matrix, k=2, which="SA", v0=np.ones(4))
    return values[0] * np.sum(vectors[:, 1] ** 4) + np.sum(np.outer(vectors[:, 0], vectors[:, 0]) @ b)


def inner_eigenvalues(p, b):
    matrix = sp.csc_matrix(np.diag(p * b) + 0.3 * np.ones((4, 4)))
    values, vectors = linalg.eigsh(matrix, k=2, M=SPARSE + SPARSE.T, sigma=0.1, v0=np.ones(4))
    return values[0] * values[1] + np.sum(vectors**4) + linalg.eigsh(matrix, 1, sp.diags(p), which="LA")[0][0]


def eigenvalues_in_the_plane(p, b):
    operator = linalg.LinearOperator((4, 4), lambda v: (v[::-1] * (1.0 + p)) * np.sign(b) + 0.1 * b * v)
    values = linalg.eigs(operator, k=2, return_eigenvectors=False)
    return np.sum(np.abs(values)) + np.sum(values.real**3)


def eigenvectors_of_any_matrix(p, b):
    matrix = sp.csr_matrix(np.diag(np.arange(1.0, 5.0)) + 0.1 * np.outer(p, b))
    values, vectors = linalg.eigs(matrix, k=2, which="LR", v0=np.ones(4))
    near, _ = linalg.eigs(matrix, k=1, sigma=0.9)
    return np.sum(np.abs(vectors) ** 4) + np.sum(values.real) * near[0].real


def singular_values(p, b):
    def product(v):
        return p * np.ravel(v) + 0.3 * b[0] * np.roll(np.ravel(v), 1)

    def turned(u):
        return p * np.ravel(u) + 0.3 * b[0] * np.roll(np.ravel(u), -1)

    values = linalg.svds(linalg.LinearOperator((4, 4), product, turned), k=2, return_singular_vectors=False)
    return values[0] * values[1] ** 2


def singular_vectors(p, b):
    matrix = sp.csr_matrix(
        (np.concatenate([p, b]), (np.array([0, 1, 2, 0, 1, 2, 0, 1]), np.array([0, 1, 2, 1, 2, 0, 2, 0]))), shape=(3, 3)
    )
    left, values, right = linalg.svds(matrix, k=1, v0=np.ones(3))
    return values[0] + np.sum(left[:, 0] * right[0]) * p[0]


def eigenvectors_by_blocks(p, b):
    matrix = np.diag(np.arange(6.0)) + np.pad(np.diag(p * b) + 0.2 * np.outer(p, p), 1)
    values, vectors = linalg.lobpcg(matrix, np.eye(6)[:, 5:] + 0.1, tol=1e-13, maxiter=400)
    return values[0] ** 2 + np.sum(vectors[1:-1, 0] * b) ** 2


SPARSE = sp.diags([4.0 * np.ones(4), -np.ones(3), -0.5 * np.ones(3)], [0, 1, -1], format="csc")
INCOMPLETE = linalg.spilu(SPARSE)


def with_a_constant_matrix(p, b):
    operator = linalg.LinearOperator((4, 4), lambda v: SPARSE @ v + p * v, rmatvec=lambda v: SPARSE.T @ v + p * v)
    near = linalg.LinearOperator((4, 4), INCOMPLETE.solve)
    by_both = np.sum(linalg.bicg(operator, b, rtol=1e-13)[0] * linalg.qmr(operator, np.sin(b), rtol=1e-13)[0])
    return by_both + np.sum(linalg.lgmres(operator, b * p, M=near, rtol=1e-13)[0] ** 2)


def with_incomplete_factors(p, b):
    matrix = SPARSE + sp.diags(p)
    near = linalg.LinearOperator((4, 4), linalg.spilu(matrix, drop_tol=0.1).solve)
    scaled = sp.diags(1.0 / matrix.diagonal())
    x = linalg.gmres(matrix, b, M=near, rtol=1e-13)[0]
    return x @ linalg.bicgstab(matrix, np.sin(b), M=scaled, rtol=1e-13)[0]


@pytest.mark.parametrize(
    "f",
    [
        with_a_constant_matrix,
        with_incomplete_factors,
        inner_eigenvalues,
        eigenvalues_in_the_plane,
        eigenvectors_of_any_matrix,
        singular_values,
        singular_vectors,
        eigenvectors_by_blocks,
        with_a_matrix_beside,
        of_a_matrix,
        eigenvalues,
        eigenvectors,
        of_one_made_outside,
        of_a_right_side_of_unknown_rank,
        of_several,
        products_with_matrices,
        by_conjugate_gradients,
        with_a_preconditioner,
        of_a_function_that_stands_elsewhere,
        in_steps,
        tall,
    ],
)
def test_products(f: Callable[..., Any]) -> None:
    p = np.array([1.3, 0.8, 1.1, 2.0])
    right(f, p, B)
    right(f, p, B, wrt=1)
    second(lambda p: f(p, B), p)


def test_a_solver_that_does_not_converge() -> None:
    def f(p):
        operator = linalg.LinearOperator((4, 4), lambda v: p * v)
        return np.sum(linalg.cg(operator, B, rtol=1e-14, maxiter=1)[0])

    with pytest.raises(RuntimeError, match="cg did not converge"):
        ad.grad(f)(np.array([1.0, 50.0, 9.0, 0.1]))


def test_a_derivative_makes_no_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(p):
        operator = linalg.LinearOperator((400, 400), lambda v: p * v + 3.0 * v)
        return np.sum(linalg.cg(operator, np.ones(400))[0])

    monkeypatch.setattr(krylov, "solvable", None)
    x = np.linspace(1.0, 2.0, 400)
    np.testing.assert_allclose(ad.grad(f)(x), -1.0 / (x + 3.0) ** 2, rtol=1e-4)


@pytest.mark.parametrize("solver", [linalg.cg, linalg.cgs, linalg.minres, linalg.gcrotmk, linalg.tfqmr])
def test_solvers(solver: Callable[..., Any]) -> None:
    def f(p):
        by_products = linalg.LinearOperator((4, 4), lambda v: laplacian(v) + p * v)
        by_entries = sp.diags([p, -np.ones(3), -np.ones(3)], [0, 1, -1]) + 4.0 * sp.eye(4)
        return solver(by_products, B, rtol=1e-13)[0] @ solver(by_entries, B, rtol=1e-13)[0]

    right(f, np.array([1.3, 0.8, 1.1, 2.0]))


def test_an_operator_without_an_inverse() -> None:
    def f(p):
        u = np.array([1.0, p[0], 2.0])
        operator = linalg.LinearOperator((3, 3), lambda v: u * (u @ v))
        return np.sum(linalg.cg(operator, u, rtol=1e-10)[0] ** 2)

    for run in (ad.grad(f), lambda x: ad.jvp(f, (x,), (x,))):
        with pytest.raises(np.linalg.LinAlgError, match="singular at the solution"):
            run(np.array([0.5]))


def test_what_is_near_no_solution() -> None:
    def f(p):
        operator = linalg.LinearOperator((9, 9), lambda v: (np.arange(1.0, 10.0) ** 2 + p[0]) * v)
        return np.sum(linalg.cg(operator, np.ones(9), rtol=0.5)[0])

    with pytest.raises(ValueError, match="is no solution"):
        ad.grad(f)(np.array([0.5]))


def test_a_complex_eigenvector_has_no_phase() -> None:
    def f(p):
        turned = sp.diags([0.1 * p, np.array([p[0], 0.0, 0.0]), np.array([-5.0, 0.0, 0.0])], [0, 1, -1])
        values, vectors = linalg.eigs(turned, k=2, v0=B)
        return np.sum(np.abs(values)), vectors

    x = np.array([1.3, 0.8, 1.1, 2.0])
    with pytest.raises(ValueError, match=r"eigenvectors of real ones: np.linalg.eig\(A.toarray\(\)\)"):
        ad.grad(lambda p: np.sum(f(p)[1].real ** 2))(x)
    right(lambda p: f(p)[0], x)


def test_a_matrix_that_meets_what_a_solver_captures_is_refused() -> None:
    other = np.ma.masked_array(B, mask=[False, True, False, False])

    def f(p):
        operator = linalg.LinearOperator((4, 4), lambda v: laplacian(v) + p * other * v)
        return np.sum(linalg.cg(operator, B)[0])

    refused(lambda: ad.grad(f)(B))


def test_what_a_product_does_not_tell_is_refused() -> None:
    def other(p):
        return np.sum(linalg.LinearOperator((4, 4), lambda v: p * v).args)

    def handed_on(p):
        return np.sum(linalg.lsqr(linalg.LinearOperator((4, 4), lambda v: p * v), p)[0])

    def turned(p):
        return np.sum(linalg.LinearOperator((4, 4), lambda v: p * v).T @ p)

    for f in (other, handed_on, turned):
        refused(lambda f=f: ad.grad(f)(B))
    with pytest.raises(ad.DifferentiationError, match="was made with, not its 'rmatvec'"):
        ad.grad(turned)(B)
