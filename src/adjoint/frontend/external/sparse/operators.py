"""Linear operators of SciPy that are given by their products, and systems of equations with them."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from scipy.sparse import linalg

from adjoint.declarations.custom_derivatives import stop_gradient
from adjoint.declarations.implicit import refused, solved
from adjoint.frontend.external.sparse.making import block_of
from adjoint.runtime.numerical_methods.implicit import root, system
from adjoint.runtime.numerical_methods.of_scipy.krylov import (
    OF_BOTH,
    exact_solution,
    incomplete_solution,
    iterated_solution,
    solution_by_products,
)
from adjoint.runtime.numerical_methods.of_scipy.sparse import (
    complex_eigenpair,
    direction,
    eigenpair,
    real_eigenpair,
    singular_triplet,
)


class Operator:
    """Stands for a linear operator whose products with vectors are computed by a function."""

    __adjoint_stands_for__ = linalg.LinearOperator

    def __init__(self, shape, matvec, rmatvec=None, matmat=None, dtype=None, rmatmat=None):
        if dtype is not None and np.dtype(dtype) != np.float64:
            raise NotImplementedError("a linear operator that is not of float64")
        if matmat is not None or rmatmat is not None:
            raise NotImplementedError("a linear operator that is given by products with matrices")
        m, n = shape
        self.shape = (m, n)
        self.ndim = 2
        self._product = matvec
        self._turned = rmatvec

    def matvec(self, x):
        m, n = self.shape
        if np.shape(x) != ((n,) if np.ndim(x) == 1 else (n, 1)):
            raise ValueError("dimension mismatch")
        found = np.asarray(self._product(x))
        if np.iscomplexobj(found):
            raise NotImplementedError("a linear operator with complex products")
        return np.reshape(found, (m,)) if np.ndim(x) == 1 else np.reshape(found, (m, 1))

    def matmat(self, X):
        return np.hstack([self.matvec(np.reshape(column, (-1, 1))) for column in X.T])

    def rmatvec(self, x):
        return self.T.matvec(x)

    def rmatmat(self, X):
        return self.T.matmat(X)

    def dot(self, x):
        if isinstance(x, Operator):
            turned = None if self._turned is None or x._turned is None else lambda v: x.rmatvec(self.rmatvec(v))
            return Operator((self.shape[0], x.shape[1]), lambda v: self.matvec(x.matvec(v)), turned)
        if np.ndim(x) == 0:
            turned = None if self._turned is None else lambda v: x * self.rmatvec(v)
            return Operator(self.shape, lambda v: x * self.matvec(v), turned)
        return self.matvec(x) if np.ndim(x) == 1 else self.matmat(x)

    def __matmul__(self, x):
        return self.dot(x)

    def __call__(self, x):
        return self.dot(x)

    def __mul__(self, x):
        return self.dot(x)

    def __rmul__(self, x):
        return self.dot(x) if np.ndim(x) == 0 else self.T.dot(x.T).T

    def __rmatmul__(self, x):
        return self.T.dot(x.T).T

    def __truediv__(self, divisor):
        return self.dot(1.0 / divisor)

    def __neg__(self):
        return self.dot(-1)

    def __add__(self, other):
        turned = None if self._turned is None or other._turned is None else lambda v: self.rmatvec(v) + other.rmatvec(v)
        return Operator(self.shape, lambda v: self.matvec(v) + other.matvec(v), turned)

    def __sub__(self, other):
        return self + -other

    @property
    def T(self):
        if self._turned is None:
            return refused("rmatvec", "the products that a linear operator was made with")
        return Operator((self.shape[1], self.shape[0]), self._turned, self._product)

    @property
    def H(self):
        return self.T

    def transpose(self):
        return self.T

    def adjoint(self):
        return self.T

    def __getattr__(self, name):
        return refused(name, "the products of a linear operator with vectors")


def product_with(matrix):
    """The operator whose products are those with a matrix."""
    if isinstance(matrix, (Operator, linalg.LinearOperator)):
        return matrix
    m, n = np.shape(matrix)
    return Operator((m, n), lambda v: matrix @ v, lambda v: matrix.T @ v)


class Incomplete:
    """Stands for incomplete factors of a matrix that varies, which help to solve systems: what they give is linear."""

    def __init__(self, matrix, drop_tol=None, fill_factor=None, drop_rule=None, permc_spec=None):
        self.matrix = matrix
        self.options = {
            "drop_tol": drop_tol,
            "fill_factor": fill_factor,
            "drop_rule": drop_rule,
            "permc_spec": permc_spec,
        }

    def solve(self, b, trans="N"):
        m = self.matrix
        return incomplete_solution(m.values, m.rows, m.cols, m.shape, b, self.options, trans != "N")

    def __getattr__(self, name):
        return refused(name, "the solutions that incomplete factors of a sparse matrix give")


def eigenpairs(
    A,
    k=6,
    M=None,
    sigma=None,
    which="LM",
    v0=None,
    ncv=None,
    maxiter=None,
    tol=0,
    return_eigenvectors=True,
    Minv=None,
    OPinv=None,
    mode="normal",
    rng=None,
):
    """``eigsh``: eigenvalues, and vectors of length one, each pair as a solution of its equations."""
    if Minv is not None or OPinv is not None or mode != "normal":
        raise NotImplementedError("another problem than those of eigsh(A, k, M, sigma)")
    n = A.shape[0]
    options = _of_search(k, which, v0, ncv, maxiter, tol) | {"sigma": stop_gradient(sigma)}
    mass = None if M is None else product_with(M)
    equations, given = _eigenequations(A, n, mass), (n, M is not None, options)
    pairs = [solved(root, equations, (np.zeros(n + 1),), eigenpair, (i, *given)) for i in range(k)]
    values = np.array([pair[n] for pair in pairs])
    if not return_eigenvectors:
        return values
    return values, np.stack([pair[:n] for pair in pairs], axis=1)


def _of_search(k, which, v0, ncv, maxiter, tol):
    return {"k": k, "which": which, "v0": stop_gradient(v0), "ncv": ncv, "maxiter": maxiter, "tol": tol}


def general_eigenpairs(
    A,
    k=6,
    M=None,
    sigma=None,
    which="LM",
    v0=None,
    ncv=None,
    maxiter=None,
    tol=0,
    return_eigenvectors=True,
    Minv=None,
    OPinv=None,
    OPpart=None,
    rng=None,
):
    """``eigs``: eigenvalues, complex ones too, and vectors of those that are real."""
    if M is not None or Minv is not None or OPinv is not None or OPpart is not None:
        raise NotImplementedError("another problem than those of eigs(A, k, sigma=sigma)")
    n = A.shape[0]
    options = _of_search(k, which, v0, ncv, maxiter, tol) | {"sigma": stop_gradient(sigma)}
    point, equations = np.zeros(2 * n + 2), _complex_eigenequations(A, n)
    found = [solved(root, equations, (point,), complex_eigenpair, (i, n, options)) for i in range(k)]
    values = np.array([pair[2 * n] + 1j * pair[2 * n + 1] for pair in found])
    if not return_eigenvectors:
        return values
    equations = _eigenequations(A, n, None)
    pairs = [solved(root, equations, (np.zeros(n + 1),), real_eigenpair, (i, n, options)) for i in range(k)]
    return values, np.stack([pair[:n] for pair in pairs], axis=1) + 0j


def blockwise(
    A,
    X,
    B=None,
    M=None,
    Y=None,
    tol=None,
    maxiter=None,
    largest=True,
    verbosityLevel=0,
    retLambdaHistory=False,
    retResidualNormsHistory=False,
    restartControl=20,
):
    """``lobpcg``: as many eigenpairs as there are columns in ``X``, where the search begins."""
    if B is not None or Y is not None or retLambdaHistory or retResidualNormsHistory:
        raise NotImplementedError("another problem than that of a symmetric matrix by itself")
    n, k = np.shape(X)
    options = {"X": stop_gradient(X), "tol": tol, "maxiter": maxiter, "largest": largest}
    if M is not None:
        raise NotImplementedError("a preconditioner")
    equations, given = _eigenequations(A, n, None), (n, False, options)
    pairs = [solved(root, equations, (np.zeros(n + 1),), eigenpair, (i, *given)) for i in range(k)]
    return np.array([pair[n] for pair in pairs]), np.stack([pair[:n] for pair in pairs], axis=1)


def _eigenequations(A, n, M):
    """What a vector of length one and a number are a root of that are an eigenpair; a matrix may measure the length."""

    def equations(pair):
        v, w = pair[:n], pair[n]
        weighed = v if M is None else M @ v
        return np.concatenate([A @ v - w * weighed, np.array([0.5 * (1.0 - np.sum(v * weighed))])])

    return equations


def _complex_eigenequations(A, n):
    """The same of the real and the imaginary part of a pair; a weighted sum of the vector is real."""

    def equations(pair):
        v, u, w, s = pair[:n], pair[n : 2 * n], pair[2 * n], pair[2 * n + 1]
        length = 0.5 * (1.0 - np.sum(v * v) - np.sum(u * u))
        phase = np.sum(direction(n) * u)
        return np.concatenate([A @ v - w * v + s * u, A @ u - w * u - s * v, np.array([length, phase])])

    return equations


def triplets(
    A,
    k=6,
    ncv=None,
    tol=0,
    which="LM",
    v0=None,
    maxiter=None,
    return_singular_vectors=True,
    solver="arpack",
    rng=None,
    options=None,
):
    """``svds``: singular values and pairs of vectors of length one, each triplet as a solution of its equations."""
    m, n = A.shape
    told = {"k": k, "ncv": ncv, "tol": tol, "which": which, "maxiter": maxiter, "solver": solver, "options": options}
    turned = A.T

    def equations(triplet):
        u, v, s = triplet[:m], triplet[m : m + n], triplet[m + n]
        return np.concatenate([A @ v - s * u, turned @ u - s * v, np.array([0.5 * (1.0 - np.sum(v * v))])])

    point, start = np.zeros(m + n + 1), {"v0": stop_gradient(v0), **told}
    found = [solved(root, equations, (point,), singular_triplet, (m, n, i, start)) for i in range(k)]
    values = np.array([triplet[m + n] for triplet in found])
    if return_singular_vectors is False:
        return values
    if return_singular_vectors is not True:
        raise NotImplementedError("singular vectors of one side")
    left = np.stack([triplet[:m] for triplet in found], axis=1)
    return left, values, np.stack([triplet[m : m + n] for triplet in found])


def iterated(solver, A, b, x0=None, M=None, **settings):
    """What an iterative solver finds, with the derivative of the solution that it is near."""
    for name in settings:
        if name.startswith("callback") or name in ("shift", "M1", "M2", "outer_v", "CU"):
            raise NotImplementedError(name)
    if np.ndim(b) != 1:
        raise NotImplementedError("a right side that is no vector")
    right = np.ravel(b)
    if np.iscomplexobj(right):
        raise NotImplementedError("a right side that is complex")
    start = None if x0 is None else stop_gradient(x0)
    options = {"x0": start, **settings}
    if M is None and not isinstance(A, (Operator, linalg.LinearOperator)):
        m = block_of(A)
        return iterated_solution(m.values, m.rows, m.cols, m.shape, right, solver, options), 0
    preconditioner = None if M is None else product_with(M)
    told = _told(product_with(A), preconditioner, right, solver in OF_BOTH)
    how = (exact_solution, solver, len(right), options)
    return solved(system, told, (np.zeros(len(right)),), solution_by_products, how), 0


def _told(A, M, b, turned_too):
    """What is told of a system: products with the operator, its transpose, and a preconditioner and its transpose."""
    if turned_too and M is not None:
        return lambda v: (A.matvec(v), b, A.rmatvec(v), M.matvec(v), M.rmatvec(v))
    if turned_too:
        return lambda v: (A.matvec(v), b, A.rmatvec(v))
    if M is not None:
        return lambda v: (A.matvec(v), b, M.matvec(v))
    return lambda v: (A.matvec(v), b)
