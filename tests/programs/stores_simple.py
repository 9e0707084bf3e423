"""Writing arrays in place: elements, slices, augmented assignment, `out` buffers."""

import math

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(4))
def fill_by_index(x):
    y = np.zeros(4)
    for i in range(4):
        y[i] = x[i] * x[i]
    return np.sum(y * x)


@program(normal(4))
def fill_returned(x):
    y = np.empty_like(x)
    for i in range(len(x)):
        y[i] = math.sin(x[i])
    return y


@program(1.5)
def recurrence(x):
    y = np.zeros(5)
    y[0] = x
    for i in range(1, 5):
        y[i] = y[i - 1] * x + i
    return y[4] * y[2]


@program(normal(5))
def multiply_by_previous(x):
    y = x.copy()
    for i in range(1, 5):
        y[i] *= y[i - 1]
    return np.sum(y)


@program(normal(4))
def slice_store(x):
    y = np.zeros(6)
    y[1:5] = x * x
    y[0] = y[1] * 2.0
    return np.sum(y[::2] * y[1::2])


@program(normal(4))
def augmented_slice(x):
    y = x * 1.0
    y[1:] += x[:-1] * x[1:]
    y *= 2.0
    return np.sum(y * y)


@program(normal(4), 2.0)
def scalar_into_slice(x, k):
    y = x.copy()
    y[:2] = k
    y[2] = k * x[0]
    return y * x


@program(normal(3, 3))
def rows_and_columns(m):
    a = m.copy()
    a[0] = m[1] * 2.0
    a[:, 1] = a[:, 0] * m[:, 2]
    a[2, 2] = 0.0
    return np.sum(a * m)


@program(normal(4))
def overwritten_value_has_no_gradient(x):
    y = x * x
    y[0] = 1.0
    y[0] = x[1] * 3.0
    return np.sum(y)


@program(normal(4))
def alias_of_array(x):
    y = x * 1.0
    z = y
    z[0] = x[1] * x[2]
    return y[0] * y[3]


@program(normal(4))
def view_written(x):
    y = x * 2.0
    v = y[1:3]
    v[:] = v * v
    return np.sum(y * x)


@program(normal(4))
def masked_store(x):
    y = x * 1.0
    y[y < 0] = 0.0
    return np.sum(y * y * x)


@program(normal(4))
def augmented_scalar_rebinds(x):
    s = x[0]
    s += x[1] * x[2]
    s *= x[3]
    return s


def scale_in_place(a, k):
    a *= k


@program(normal(3), 2.0)
def callee_writes(x, k):
    y = x.copy()
    scale_in_place(y, k)
    scale_in_place(y, y[0])
    return np.sum(y)


@program(normal(3))
def argument_written(x):
    x[0] = x[1] * x[2]
    x *= 2.0
    return np.sum(x * x)


@program(normal(6), 0.1)
def heat_equation(u, k):
    u = u.copy()
    for _ in range(4):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + k * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u = new
    return np.sum(u * u)


@program(normal(6), 0.1)
def heat_equation_by_slices(u, k):
    u = u.copy()
    for _ in range(4):
        u[1:-1] = u[1:-1] + k * (u[:-2] - 2.0 * u[1:-1] + u[2:])
    return np.sum(u * u)


@program(normal(4), normal(4))
def double_buffer(x, y):
    a, b = x.copy(), y.copy()
    for i in range(3):
        b[:] = np.sin(a) + 0.1 * b
        a, b = b, a
    return np.sum(a * x)


@program(normal(4))
def temporary_reused(x):
    t = np.zeros(2)
    total = 0.0
    for i in range(3):
        t[0] = x[i]
        t[1] = x[i + 1] * t[0]
        total += t[0] * t[1]
    return total


@program(normal(5), np.array([0, 1, 1, 3]))
def scatter_add(x, idx):
    y = np.zeros(5)
    np.add.at(y, idx, x[idx] ** 2)
    return np.sum(y * x)


@program(normal(3, 3), normal(3))
def forward_substitution(l, b):
    x = np.zeros(3)
    for i in range(3):
        s = b[i]
        for j in range(i):
            s -= l[i, j] * x[j]
        x[i] = s / (l[i, i] ** 2 + 1.0)
    return x


@program(normal(3, 3))
def cholesky_by_hand(m):
    a = m @ m.T + 3.0 * np.eye(3)
    l = np.zeros((3, 3))
    for j in range(3):
        s = a[j, j]
        for k in range(j):
            s -= l[j, k] ** 2
        l[j, j] = math.sqrt(s)
        for i in range(j + 1, 3):
            t = a[i, j]
            for k in range(j):
                t -= l[i, k] * l[j, k]
            l[i, j] = t / l[j, j]
    return np.sum(l)


@program(normal(4))
def branch_writes(x):
    y = x * 1.0
    if x[0] > 0:
        y[1] = y[0] * y[2]
    else:
        y[2] = y[0] * y[1]
    return np.sum(y * y)


@program(normal(4))
def out_argument(x):
    y = np.zeros(4)
    np.multiply(x, x, out=y)
    np.add(y, x, out=y)
    return np.sum(y * y)


@program(normal(2, 3))
def rows_of_a_matrix_written(m):
    out = np.zeros_like(m)
    for i, row in enumerate(m):
        out[i] = row * np.sum(row)
    return out
