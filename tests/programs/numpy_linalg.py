"""Products, solvers and factorisations."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


def spd(n):
    def draw(rng):
        a = rng.normal(size=(n, n))
        return a @ a.T + n * np.eye(n)

    return draw


@program(normal(3), normal(3))
def vector_dot(a, b):
    return np.dot(a, b) * (a @ b)


@program(normal(2, 3), normal(3))
def matrix_vector(a, x):
    return a @ x


@program(normal(2), normal(2, 3))
def vector_matrix(x, a):
    return x @ a


@program(normal(2, 3), normal(3, 4))
def matrix_matrix(a, b):
    return a @ b


@program(normal(5, 2, 3), normal(5, 3, 2))
def batched_product(a, b):
    return np.matmul(a, b)


@program(normal(5, 2, 3), normal(3, 4))
def batched_broadcast_product(a, b):
    return a @ b


@program(normal(3, 4))
def gram_matrix(a):
    return a.T @ a


@program(normal(3, 3), normal(3))
def quadratic_form(a, x):
    return x @ a @ x


@program(normal(3), normal(2))
def outer(a, b):
    return np.outer(a, b)


@program(normal(2, 3), normal(3, 4))
def einsum_product(a, b):
    return np.einsum("ij,jk->ik", a, b)


@program(normal(3, 3), normal(3))
def einsum_trace_and_scale(a, x):
    return np.einsum("ii->", a) * np.einsum("ij,j,i->", a, x, x)


@program(normal(2, 3), normal(3, 2))
def tensordot(a, b):
    return np.tensordot(a, b, axes=1)


@program(normal(3, 3))
def trace_and_diagonal(a):
    return np.trace(a) * np.diag(a)


@program(spd(3), normal(3))
def solve(a, b):
    return np.linalg.solve(a, b)


@program(spd(3), normal(3))
def implicit_steps(a, b):
    total = 0.0
    for _ in range(3):
        b = np.linalg.solve(a, b + 1.0)
        total += b @ b
    return total


@program(spd(3), normal(3))
def matrix_between_two_systems(a, b):
    x = np.linalg.solve(a, b)
    a = a.copy()
    a[0, 0] += 1.0
    return x @ np.linalg.solve(a, b * x)


@program(spd(3))
def inverse(a):
    return np.linalg.inv(a)


@program(spd(3))
def determinant(a):
    return np.linalg.det(a)


@program(spd(3))
def log_determinant(a):
    sign, value = np.linalg.slogdet(a)
    return sign * value


@program(spd(3))
def cholesky(a):
    return np.linalg.cholesky(0.5 * (a + a.T))


@program(spd(3), normal(3))
def gaussian_log_density(cov, x):
    _, logdet = np.linalg.slogdet(cov)
    return -0.5 * (x @ np.linalg.solve(cov, x) + logdet + 3 * np.log(2.0 * np.pi))


@program(normal(4, 3), normal(3, 2), normal(2))
def two_layers(x, w, b):
    h = np.maximum(x @ w + b, 0.0)
    return np.sum(h * h)


@program(normal(3, 3))
def matrix_power_by_loop(a):
    p = np.eye(3)
    for _ in range(3):
        p = p @ a
    return np.trace(p)


@program(normal(4, 3), normal(2, 3))
def squared_distances(a, b):
    return np.sum(a**2, axis=1)[:, None] - 2.0 * a @ b.T + np.sum(b**2, axis=1)[None, :]


@program(normal(2, 2, 2))
def norms(a):
    return np.linalg.norm(a[0]) + np.linalg.norm(a[1], axis=1).sum()


@program(normal(3), normal(3))
def cross_product(a, b):
    return np.cross(a, b)


@program(normal(2, 2), normal(2, 2))
def kron(a, b):
    return np.kron(a, b)


@program(lambda rng: rng.normal(size=(4, 4)) * 0.3, normal(4, 2), normal(5, 2))
def kalman_like_scan(a, b, inputs):
    x = np.zeros(4)
    cost = 0.0
    for u in inputs:
        x = a @ x + b @ u
        cost += x @ x
    return cost


@program(normal(3), normal(3))
def inner_and_vdot(a, b):
    return np.inner(a, b) + np.vdot(a, b) ** 2


def _recurrent_step(h, w, b):
    return np.tanh(h @ w + b), w, b


@program(normal(3, 4), normal(4, 4), normal(4))
def recurrent_in_batches(h, w, b):
    for _ in range(3):
        h, w, b = _recurrent_step(h, w, b)
    return np.sum(h * h)


@program(normal(12), normal(12, 12), normal(12))
def power_method_of_a_pair(v, a, shift):
    for _ in range(3):
        v, a = a.T @ (a @ v) + shift, a
        v = v / np.sqrt(v @ v)
    return v @ (a @ v)


@program(normal(9, 16))
def covariances_by_columns(x):
    n = x.shape[1]
    c = np.zeros((n, n))
    for i in range(n):
        c[i:, i] = c[i, i:] = x[:, i] @ x[:, i:] / n
    return np.sum(c * c)


@program(normal(16, 9), normal(11, 9))
def layer_one_by_one(w, xs):
    total = 0.0
    for i in range(len(xs)):
        t = np.tanh(w @ xs[i])
        total -= t @ t
    return total


@program(normal(10, 10), normal(10, 10))
def covariance_propagated(a, p):
    for _ in range(3):
        p = a @ p @ a.T / 9.0 + np.eye(10)
    return np.sum(p * p)
