"""Augmented assignment of elements, slices, rows, columns and whole arrays: every operator."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


def positive(*shape):
    return lambda rng: rng.uniform(0.5, 1.5, size=shape)


@program(normal(4), 0.7)
def element_plus(x, k):
    a = x * x
    a[1] += k * x[2]
    a[-1] += a[1]
    return np.sum(a * x)


@program(normal(4), 0.7)
def element_minus(x, k):
    a = x * x
    a[1] -= k * x[2]
    a[-1] -= a[1] * a[1]
    return np.sum(a * x)


@program(normal(4), 0.7)
def element_times(x, k):
    a = x * x
    a[1] *= k * x[2]
    a[1] *= a[1]
    return np.sum(a * x)


@program(positive(4), 0.7)
def element_over(x, k):
    a = x * x
    a[1] /= k * x[2]
    a[2] /= a[1]
    a[3] /= a[3] * x[0]
    return np.sum(a * x)


@program(positive(4), 1.7)
def element_power(x, k):
    a = x + 1.0
    a[0] **= 2
    a[1] **= k
    a[2] **= a[1]
    a[3] **= -1
    return np.sum(a * x)


@program(positive(4), 0.7)
def element_floor_and_remainder(x, k):
    a = x * 3.0
    a[0] %= k
    a[1] //= k
    return np.sum(a * x)


@program(normal(3, 3), 0.7)
def element_of_matrix(m, k):
    a = m.copy()
    a[0, 1] += k * a[1, 0]
    a[1, -1] -= a[0, 1] * k
    a[2, 0] *= a[0, 2]
    a[-1, -1] /= 2.0 + k
    a[1][1] += a[0][0] * k
    return np.sum(a * m)


@program(normal(6), normal(6))
def slices(x, y):
    a = x.copy()
    a[1:4] += y[:3] * y[1:4]
    a[::2] -= y[1::2]
    a[-2:] *= y[0]
    a[:3] /= 1.5 + y[3:] ** 2
    a[::-1] += x
    return np.sum(a * x)


@program(positive(6), positive(6))
def slices_to_a_power(x, y):
    a = x.copy()
    a[1:4] **= 2
    a[::2] **= y[:3]
    a[-1:] **= y[2]
    return np.sum(a * y)


@program(normal(3, 4), normal(4), normal(3))
def rows_and_columns(m, r, c):
    a = m.copy()
    a[0] += r
    a[:, 1] -= c
    a[-1, :] *= r
    a[:, -1] /= 1.5 + c**2
    a[1, 1:3] += a[0, :2] * r[1:3]
    a[::2, 0] *= 2.0
    return np.sum(a * m)


@program(normal(3, 4), normal(4), 0.3)
def whole_array(m, r, k):
    a = m.copy()
    a += r
    a *= k
    a -= m * k
    a /= 1.0 + r**2
    a += 1.0
    return np.sum(a * a)


@program(positive(3), 1.3)
def whole_array_to_a_power(x, k):
    a = x.copy()
    a **= 2
    a **= k
    b = x.copy()
    b **= x
    return a * b


@program(normal(3, 3), normal(3, 3))
def whole_array_matrix_product(m, b):
    a = m.copy()
    a @= b
    a @= a.T.copy()
    return np.sum(a * m)


@program(normal(4))
def added_to_itself(x):
    a = x.copy()
    a += a
    a *= a
    a[1:] += a[:-1]
    a[0] += a[0] * a[1]
    return np.sum(a * x)


@program(normal(4))
def subtracted_from_itself(x):
    a = x * x
    b = a
    b -= x
    a *= b
    a -= a * 0.5
    return np.sum(a * x)


@program(positive(4))
def divided_by_itself_shifted(x):
    a = x.copy()
    a[1:] /= a[:-1]
    a[:-1] /= a[1:]
    return np.sum(a * x)


@program(normal(5))
def reversed_onto_itself(x):
    a = x.copy()
    a += a[::-1]
    a *= a[::-1]
    return np.sum(a * x)


@program(normal(5))
def products_along_a_loop(x):
    a = x.copy()
    for i in range(1, 5):
        a[i] *= a[i - 1]
        a[i - 1] /= 2.0
        a[i] -= a[i - 1] * x[i]
    return np.sum(a)


@program(positive(4))
def quotients_along_a_loop(x):
    a = x.copy()
    for i in range(3):
        a[i + 1] /= a[i]
        a[i] **= 2
    return np.sum(a * x)


@program(normal(3, 3))
def matrix_in_two_loops(m):
    a = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            a[i, j] += m[i, j] * m[j, i]
            a[j, i] *= m[i, j]
            a[i, j] -= a[j, i]
    return np.sum(a)


@program(normal(4), np.array([3, 0, 3, 1]))
def index_from_an_array(x, where):
    a = x.copy()
    for i in where:
        a[i] *= x[0]
        a[i] += a[where[0]]
    return np.sum(a * x)


@program(normal(4), 1)
def index_computed(x, k):
    a = x.copy()
    a[k + 1] += a[2 * k - 1] * x[k]
    a[-k] *= a[k]
    return np.sum(a * x)
