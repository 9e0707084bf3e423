"""Programs of arrays, written for NumPy: each has a scalar result, and the shapes of its arguments."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

PROGRAMS: dict[str, tuple[Callable, tuple[tuple[int, ...], ...]]] = {}
WRITING: set[str] = set()
"""Programs that write into arrays, which a library of arrays that cannot be written refuses."""


def program(*shapes, writes=False):
    def put(f):
        PROGRAMS[f.__name__] = f, shapes
        if writes:
            WRITING.add(f.__name__)
        return f

    return put


# Elementwise


@program((5,))
def smooth(x):
    return np.sum(np.sin(x) * np.exp(-x) + np.sqrt(x) / (1 + x**2))


@program((5,))
def logarithms(x):
    return np.sum(np.log(x) + np.log1p(x) * np.expm1(x) - np.log2(x) + np.log10(1 + x))


@program((5,))
def hyperbolic(x):
    return np.sum(np.tanh(x) + np.sinh(x) / np.cosh(x) + np.arctan(x) + np.arcsinh(x))


@program((5,))
def inverse_trigonometric(x):
    return np.sum(np.arcsin(x / 3) * np.arccos(x / 4) + np.tan(x / 5) + np.arctanh(x / 4) + np.arccosh(1 + x))


@program((4,), (4,))
def pairs(x, y):
    return np.sum(np.maximum(x, y) * np.minimum(x, 0.9) + np.hypot(x, y) + np.arctan2(x, y) + np.logaddexp(x, y))


@program((4,), (4,))
def powers(x, y):
    return np.sum(x**y + x**3 + 2.0**y + np.power(x, 1.5) + np.square(x) - np.reciprocal(y))


@program((5,))
def signs(x):
    return np.sum(np.abs(x - 1) + np.sign(x - 1) * x + np.floor(x) * x + np.clip(x, 0.5, 1.2) + (-x) + (+x))


@program((5,))
def choices(x):
    return np.sum(np.where(x > 1, np.sin(x), x * x) + np.where(x < 0.8, 0.0, x))


# Reductions


@program((3, 4))
def sums(a):
    return np.sum(np.sum(a, axis=0) ** 2) + np.sum(np.sum(a, axis=1, keepdims=True) * a) + np.sum(a, axis=(0, 1))


@program((3, 4))
def means(a):
    return np.sum((a - np.mean(a, axis=0)) ** 3) + np.mean(a) * np.mean(a[0]) + a.mean(axis=1).sum()


@program((3, 4))
def extremes(a):
    return np.max(a) + np.sum(np.min(a, axis=0) ** 2) + np.max(a, axis=1, keepdims=True).sum()


@program((3, 4))
def products(a):
    return np.prod(a) + np.sum(np.prod(a, axis=1))


@program((3, 4))
def spreads(a):
    return np.std(a) + np.sum(np.var(a, axis=0)) + np.sum(np.std(a, axis=1) ** 2)


@program((3, 4))
def softmax(a):
    shifted = np.exp(a - np.max(a, axis=1, keepdims=True))
    p = shifted / np.sum(shifted, axis=1, keepdims=True)
    return -np.sum(np.log(p[:, 0])) + np.sum(p * p)


@program((3, 4))
def log_sum_exp(a):
    top = np.max(a)
    return top + np.log(np.sum(np.exp(a - top)))


@program((6,))
def cumulative(x):
    return np.sum(np.cumsum(x) ** 2) + np.cumsum(x)[2] + np.sum(np.cumsum(np.outer(x, x), axis=1)[:, 3])


# Broadcasting and products


@program((3, 4), (4,), (3, 1))
def broadcasting(a, b, c):
    return np.sum((a * b + c) ** 2) + np.sum(b * c) + np.sum(a / (1 + c))


@program((3, 4), (4,))
def matrix_vector(a, x):
    return np.sum(np.tanh(a @ x)) + x @ x + np.sum(np.dot(a, x))


@program((3, 4), (4, 2))
def matrix_matrix(a, b):
    return np.sum((a @ b) ** 2) + np.sum(np.matmul(b.T, a.T))


@program((2, 3, 4), (4, 3))
def stacks_of_matrices(a, b):
    return np.sum(np.sin(a @ b)) + np.sum(b @ a)


@program((3,), (4,))
def outer_products(x, y):
    return np.sum(np.outer(x, y) ** 2) + np.sum(x[:, None] * y[None, :] * 2.0)


@program((3, 4), (4, 3))
def contractions(a, b):
    return np.sum(np.tensordot(a, b, axes=([0, 1], [1, 0]))) + np.sum(np.tensordot(a, b, axes=1) ** 2) + np.vdot(a, b.T)


@program((3, 4), (4, 2))
def einsums(a, b):
    return np.sum(np.einsum("ij,jk->ik", a, b) ** 2) + np.einsum("ij,ij->", a, a)


# Shapes


@program((3, 4))
def reshaped(a):
    return np.sum(a.reshape(4, 3)[1] ** 2) + np.sum(np.ravel(a)[2:9] ** 3) + np.sum(np.reshape(a, (2, 6)).T[1])


@program((2, 3, 4))
def permuted(a):
    b = np.transpose(a, (2, 0, 1))
    return np.sum(b[1] ** 2) + np.sum(np.swapaxes(a, 0, 2)[3] * 2) + np.sum(np.moveaxis(a, 0, -1)[1] ** 3)


@program((4,))
def axes_added(x):
    y = np.expand_dims(x, 0)
    return np.sum(np.squeeze(y * x[:, None], axis=None)[1] ** 2) + np.sum(np.broadcast_to(x, (3, 4)) * y)


@program((3,), (3,))
def joined(x, y):
    z = np.concatenate([x, 2 * y, x * y])
    return np.sum(z**2) + np.sum(np.stack([x, y]) @ x) + np.sum(np.stack([x, y], axis=1)[0] ** 3)


@program((2, 3), (2, 2))
def joined_beside(a, b):
    return np.sum(np.concatenate([a, b], axis=1) ** 2) + np.sum(np.vstack([a[:, :2], b])[1:3] ** 3)


@program((6,))
def turned(x):
    return np.sum(np.flip(x) * x) + np.sum(np.roll(x, 2) * x**2) + np.sum(x[::-1] ** 2 * x) + np.sum(np.tile(x, 2))


@program((3, 3))
def triangles(a):
    return np.sum(np.tril(a) ** 2) + np.sum(np.triu(a, 1) ** 3) + np.trace(a) ** 2 + np.sum(np.diag(a) ** 3)


# Indexing


@program((6,))
def sliced(x):
    return np.sum(x[1:] * x[:-1]) + np.sum(x[::2] ** 2) + x[0] * x[-1] + np.sum(x[..., 2:4])


@program((4, 5))
def sliced_matrix(a):
    return np.sum(a[1:3, ::2] ** 2) + np.sum(a[:, 1] * a[:, -1]) + a[2, 3] ** 3 + np.sum(a[-1])


@program((6,))
def taken(x):
    return np.sum(x[np.array([0, 2, 2, 5])] ** 2) + np.sum(np.take(x, np.array([1, 1, 3])) ** 3)


@program((6,))
def masked(x):
    return np.sum(x[x > 1.0] ** 2) + np.sum(np.where(x > 1.0, x, 0.0))


@program((6,))
def sorted_elements(x):
    y = np.sort(x)
    return np.sum(y * np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])) + x[np.argmax(x)] ** 2


# Linear algebra


@program((3, 3), (3,))
def solves(a, b):
    m = a @ a.T + 3 * np.eye(3)
    return np.sum(np.linalg.solve(m, b) ** 2) + np.sum(np.linalg.solve(m, a) * a)


@program((3, 3), (3,))
def iterated(a, b):
    for _ in range(3):
        b = np.sin(a @ b) / np.sqrt(b @ b + 1.0)
    return np.sum(b)


@program((3, 3))
def log_determinant(a):
    return np.sum(np.log(np.diagonal(np.linalg.cholesky(a @ a.T + 2 * np.eye(3)))))


@program((3, 3))
def inverses(a):
    m = a + 4 * np.eye(3)
    return np.sum(np.linalg.inv(m) ** 2) + np.linalg.det(m)


@program((3, 3))
def factors(a):
    m = a @ a.T + 2 * np.eye(3)
    lower = np.linalg.cholesky(m)
    sign, logdet = np.linalg.slogdet(m)
    return np.sum(lower * a) + sign * logdet


@program((3, 3))
def norms(a):
    return np.linalg.norm(a) + np.linalg.norm(a[0]) ** 2 + np.sum(np.linalg.norm(a, axis=1))


@program((3, 3))
def eigenvalues(a):
    w, v = np.linalg.eigh(a @ a.T + np.diag(np.array([1.0, 3.0, 6.0])))
    return np.sum(np.log(w)) + np.sum(v[:, 0] ** 2 * w)


# Control


@program((5,))
def loop_over_elements(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i] * np.exp(x[i - 1])
    return s


@program((4,))
def loop_over_arrays(x):
    y = x
    for k in range(3):
        y = np.sin(y) + k * x
    return np.sum(y)


@program((4,))
def while_small(x):
    y = x
    while np.sum(y) < 20.0:
        y = y * 1.5 + x
    return np.sum(y * y)


@program((4,))
def branches(x):
    if np.sum(x) > 2.0:
        y = np.sin(x)
    else:
        y = np.cos(x)
    return np.sum(y) if x[0] > 10.0 else np.sum(y * x)


@program((5,))
def early_return(x):
    total = x[0] * 0.0
    for i in range(x.shape[0]):
        total = total + x[i] ** 2
        if total > 2.0:
            return total * x[0]
    return total


@program((3, 4))
def rows(a):
    total = 0.0
    for row in a:
        total = total + np.sum(row**2) * row[0]
    return total


@program((4,))
def comprehension(x):
    parts = [np.sum(x * k) ** 2 for k in range(1, 4)]
    return sum(parts) + max(parts)


@program((4,))
def newton(x):
    y = x * 0 + 1.0
    for _ in range(8):
        y = y - (y * y - x) / (2 * y)
    return np.sum(y)


def _helper(x, scale):
    return np.sum(np.tanh(scale * x))


@program((4,))
def called_functions(x):
    inner = lambda t: _helper(t, 2.0) ** 2
    return inner(x) + _helper(x * x, 0.5)


# Structures


@dataclass
class Layer:
    weight: object
    bias: object

    def __call__(self, x):
        return np.tanh(self.weight @ x + self.bias)


@program((4, 3), (4,), (3,))
def layers(w, b, x):
    layer = Layer(w, b)
    return np.sum(layer(x) ** 2)


@program((4,), (4,))
def parts_of_dicts(x, y):
    d = {"x": x, "y": y}
    return np.sum(d["x"] * np.exp(d["y"])) + np.sum(d["y"])


# Writing


@program((5,), writes=True)
def stores(x):
    y = np.zeros(5)
    for i in range(5):
        y[i] = x[i] ** 2
    y[1:] += x[:-1]
    return np.sum(y * y)


@program((5,), writes=True)
def overwritten(x):
    y = x * x
    y[2] = y[1] * y[3]
    y[1:3] = np.sin(y[2:4])
    return np.sum(y * y)


@program((4, 4), writes=True)
def sweeps(a):
    u = a * 1.0
    for i in range(1, 4):
        u[i] = u[i] + 0.5 * u[i - 1] * u[i]
        u[:, i] *= u[:, i - 1]
    return np.sum(u)


@program((5,), writes=True)
def swapped(x):
    y = x.copy()
    t = y[0]
    y[0] = y[4]
    y[4] = t
    y[1] += t * y[0]
    return y[0] * 2 + y[4] ** 2 + y[1]


@program((5,), writes=True)
def scanned(x):
    y = np.zeros_like(x)
    y[0] = x[0]
    for i in range(1, 5):
        y[i] = 0.5 * y[i - 1] + np.sin(x[i])
    return np.sum(y**2)


@program((4,))
def augmented(x):
    y = x * 2
    y += x
    y *= x
    s = np.sum(y)
    s += x[0]
    s *= 2.0
    return s + np.sum(x)
