"""Matrices and integrals."""

# ruff: noqa

import numpy as np
from scipy import linalg, integrate

from scipy_calls.given import Corpus, M3, S3, X, Y

corpus = Corpus(8)
call, normal, positive = corpus.call, corpus.normal, corpus.positive


@call(M3, normal(3))
def solve(a, b):
    return linalg.solve(a, b)


@call(M3)
def inv(a):
    return linalg.inv(a)


@call(M3)
def det(a):
    return linalg.det(a)


@call(normal(4, 3), normal(4))
def lstsq(a, b):
    return linalg.lstsq(a, b)[0]


@call(normal(4, 3))
def pinv(a):
    return linalg.pinv(a)


@call(S3)
def pinvh(a):
    return linalg.pinvh(a)


@call(S3)
def cholesky(a):
    return linalg.cholesky(a, lower=True)


@call(S3, normal(3))
def cho_solve(a, b):
    return linalg.cho_solve(linalg.cho_factor(a), b)


@call(S3)
def eigh(a):
    w, v = linalg.eigh(a)
    return (w, v * np.sign(v[0]))


@call(S3)
def eigh_subset(a):
    return linalg.eigh(a, subset_by_index=[1, 2], eigvals_only=True)


@call(S3, S3 + 2 * np.eye(3))
def eigh_gen(a, b):
    return linalg.eigh(a, b, eigvals_only=True)


@call(M3)
def eig(a):
    w, v = linalg.eig(a)
    return np.abs(w)


@call(M3)
def eigvals(a):
    return np.abs(linalg.eigvals(a))


@call(M3, normal(3, 3))
def eigvals_gen(a, b):
    return np.abs(linalg.eigvals(a, b + 4 * np.eye(3)))


@call(S3)
def eigvalsh(a):
    return linalg.eigvalsh(a)


@call(normal(4), normal(3))
def eigh_tridiagonal(d, e):
    w, v = linalg.eigh_tridiagonal(d, e)
    return w


@call(normal(4), normal(3))
def eigvalsh_tridiagonal(d, e):
    return linalg.eigvalsh_tridiagonal(d, e)


@call(normal(4, 3))
def svd(a):
    u, s, v = linalg.svd(a, full_matrices=False)
    return (s, np.abs(u @ np.diag(s) @ v))


@call(normal(4, 3))
def svdvals(a):
    return linalg.svdvals(a)


@call(normal(4, 3))
def qr(a):
    q, r = linalg.qr(a, mode="economic")
    return (q, r)


@call(normal(3, 3))
def qr_full(a):
    q, r = linalg.qr(a)
    return (q, r)


@call(normal(4, 3))
def rq(a):
    r, q = linalg.rq(a, mode="economic")
    return (r, q)


@call(M3)
def lu(a):
    p, l, u = linalg.lu(a)
    return (l, u)


@call(M3, normal(3))
def lu_solve(a, b):
    return linalg.lu_solve(linalg.lu_factor(a), b)


@call(M3)
def schur(a):
    t, z = linalg.schur(a + a.T)
    return np.diag(t)


@call(S3)
def ldl(a):
    l, d, p = linalg.ldl(a)
    return l @ d @ l.T


@call(M3)
def polar(a):
    u, p = linalg.polar(a)
    return (u, p)


@call(M3)
def hessenberg(a):
    return linalg.hessenberg(a)


@call(M3 * 0.3)
def expm(a):
    return linalg.expm(a)


@call(M3 * 0.3, normal(3, 3))
def expm_frechet(a, e):
    return linalg.expm_frechet(a, e)[1]


@call(S3)
def logm(a):
    return linalg.logm(a)


@call(S3)
def sqrtm(a):
    return linalg.sqrtm(a)


@call(S3)
def fractional(a):
    return linalg.fractional_matrix_power(a, 0.3)


@call(M3)
def norm(a):
    return linalg.norm(a)


@call(M3)
def norm2(a):
    return linalg.norm(a, 2)


@call(M3[0])
def normv(a):
    return linalg.norm(a)


@call(M3, normal(3))
def solve_triangular(a, b):
    return linalg.solve_triangular(a, b, lower=True)


@call(np.array([[0, 1.0, 1, 1], [4, 4, 4, 4.0], [1, 1, 1, 0.0]]), normal(4))
def solve_banded(ab, b):
    return linalg.solve_banded((1, 1), ab, b)


@call(np.array([[0, 1.0, 1, 1], [4, 4, 4, 4.0]]), normal(4))
def solveh_banded(ab, b):
    return linalg.solveh_banded(ab, b)


@call(np.array([[0, 1.0, 1, 1], [4, 4, 4, 4.0]]))
def cholesky_banded(ab):
    return linalg.cholesky_banded(ab)


@call(np.array([3.0, 1.0, 0.3]), normal(3))
def solve_toeplitz(c, b):
    return linalg.solve_toeplitz(c, b)


@call(np.array([3.0, 1.0, 0.3]), normal(3))
def matmul_toeplitz(c, b):
    return linalg.matmul_toeplitz(c, b)


@call(np.array([3.0, 1.0, 0.3]), normal(3))
def solve_circulant(c, b):
    return linalg.solve_circulant(c, b)


@call(np.array([3.0, 1.0, 0.3]))
def toeplitz(c):
    return linalg.toeplitz(c)


@call(np.array([3.0, 1.0, 0.3]))
def hankel(c):
    return linalg.hankel(c)


@call(np.array([3.0, 1.0, 0.3]))
def circulant(c):
    return linalg.circulant(c)


@call(np.array([3.0, 1.0, 0.3]))
def companion(c):
    return linalg.companion(c)


@call(normal(2, 2), normal(3, 3))
def block_diag(a, b):
    return linalg.block_diag(a, b)


@call(M3, M3 + 1, normal(3, 3))
def solve_sylvester(a, b, q):
    return linalg.solve_sylvester(a, b, q)


@call(-M3, S3)
def solve_continuous_lyapunov(a, q):
    return linalg.solve_continuous_lyapunov(a, q)


@call(0.2 * M3, S3)
def solve_discrete_lyapunov(a, q):
    return linalg.solve_discrete_lyapunov(a, q)


@call(M3, normal(3, 2), S3, np.eye(2))
def solve_continuous_are(a, b, q, r):
    return linalg.solve_continuous_are(a, b, q + q.T, r + r.T)


@call(0.3 * M3, normal(3, 2), S3, np.eye(2))
def solve_discrete_are(a, b, q, r):
    return linalg.solve_discrete_are(a, b, q + q.T, r + r.T)


@call(normal(4, 2))
def orth(a):
    return np.abs(linalg.orth(a))


@call(normal(4, 2), normal(4, 2))
def subspace_angles(a, b):
    return linalg.subspace_angles(a, b)


@call(normal(4, 3), normal(4, 3))
def orthogonal_procrustes(a, b):
    return linalg.orthogonal_procrustes(a, b)[0]


@call(normal(2, 3), normal(2, 3))
def khatri_rao(a, b):
    return linalg.khatri_rao(a, b)


@call(normal(3))
def convolution_matrix(a):
    return linalg.convolution_matrix(a, 4)


@call(positive(3), np.array([0.4, 0.3]))
def leslie(f, s):
    return linalg.leslie(f, s)


@call(M3)
def matrix_balance(a):
    return linalg.matrix_balance(a)[0]


@call(0.3 * M3)
def cosm(a):
    return linalg.cosm(a)


@call(M3)
def signm(a):
    return linalg.signm(a)


@call(Y, X)
def trapezoid(y, x):
    return integrate.trapezoid(y, x)


@call(Y, X)
def simpson(y, x):
    return integrate.simpson(y, x=x)


@call(Y, X)
def cumulative_trapezoid(y, x):
    return integrate.cumulative_trapezoid(y, x, initial=0)


@call(Y, X)
def cumulative_simpson(y, x):
    return integrate.cumulative_simpson(y, x=x)


@call(normal(5))
def romb(y):
    return integrate.romb(y, 0.1)


@call(0.3, 1.2)
def quad(a, b):
    return integrate.quad(lambda x: np.exp(-a * x * x), 0, b)[0]


@call(0.3, 1.2)
def quad_inf(a, b):
    return integrate.quad(lambda x: np.exp(-a * x * x), 0, np.inf)[0]


@call(0.3, 1.2)
def quad_vec(a, b):
    return integrate.quad_vec(lambda x: np.exp(-a * x * x) * np.ones(2), 0, b)[0]


@call(0.3, 1.2)
def fixed_quad(a, b):
    return integrate.fixed_quad(lambda x: np.exp(-a * x * x), 0, b, n=5)[0]


@call(0.3, 1.2)
def dblquad(a, b):
    return integrate.dblquad(lambda y, x: np.exp(-a * x * y), 0, b, 0, 1)[0]


@call(0.3, 1.2)
def nquad(a, b):
    return integrate.nquad(lambda y, x: np.exp(-a * x * y), [[0, b], [0, 1]])[0]


@call(normal(2), 0.3)
def odeint(y, a):
    return integrate.odeint(lambda y, t: np.array([y[1], -a * y[0]]), y, np.linspace(0, 1, 4))


@call(normal(2), 0.3)
def solve_ivp(y, a):
    return integrate.solve_ivp(
        lambda t, y: np.array([y[1], -a * y[0]]), (0, 1), y, t_eval=np.linspace(0, 1, 4), rtol=1e-10, atol=1e-12
    ).y


@call(normal(2), 0.3)
def solve_ivp_dense(y, a):
    return integrate.solve_ivp(
        lambda t, y: np.array([y[1], -a * y[0]]), (0, 1), y, dense_output=True, rtol=1e-10, atol=1e-12
    ).sol(0.4)


@call(0.3)
def solve_bvp(a):
    return integrate.solve_bvp(
        lambda x, y: np.vstack((y[1], -a * y[0])),
        lambda ya, yb: np.array([ya[0], yb[0] - 1]),
        np.linspace(0, 1, 5),
        np.zeros((2, 5)),
    ).y[0]
