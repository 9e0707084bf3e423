"""Functions that write arrays: `out` arguments, `copyto`, `fill`, `sort`, `put`, `fill_diagonal`."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(4), normal(4))
def ufuncs_with_out(x, y):
    a = np.empty(4)
    np.multiply(x, y, out=a)
    np.sin(a, out=a)
    np.add(a, x, a)
    np.divide(a, 1.5 + y * y, out=a)
    np.exp(0.1 * a, out=a)
    return np.sum(a * x)


@program(normal(4), normal(4))
def out_result_bound(x, y):
    a = np.empty(4)
    b = np.multiply(x, y, out=a)
    b[0] = x[1]
    return np.sum(a * b * x)


@program(normal(4), normal(4))
def out_in_a_tuple(x, y):
    a = np.empty(4)
    np.subtract(x, y * y, out=(a,))
    return np.sum(a * x)


@program(normal(4), normal(6))
def out_into_a_slice(x, y):
    a = y.copy()
    np.multiply(x, x, out=a[1:5])
    np.negative(a[:3], out=a[:3])
    return np.sum(a * y)


@program(normal(5))
def out_overlaps_the_input(x):
    a = x.copy()
    np.multiply(a[:-1], a[1:], out=a[1:])
    np.subtract(a[1:], a[:-1], out=a[:-1])
    return np.sum(a * x)


@program(normal(3, 3), normal(3, 3))
def matmul_with_out(m, n):
    a = np.empty((3, 3))
    np.matmul(m, n, out=a)
    b = np.zeros((3, 3))
    np.dot(a, m, out=b)
    return np.sum(a * b)


@program(normal(3, 4))
def sum_with_out(m):
    a = np.zeros(4)
    np.sum(m * m, axis=0, out=a)
    b = np.empty(3)
    m.sum(axis=1, out=b)
    return np.sum(a * a) * np.sum(b * b)


@program(normal(3, 4))
def reductions_with_out(m):
    a = np.zeros((2, 4))
    np.mean(m, axis=0, out=a[0])
    np.max(m, axis=0, out=a[1])
    c = np.empty((3, 4))
    np.cumsum(m, axis=1, out=c)
    return np.sum(a * a) + np.sum(c * m)


@program(normal(4), normal(4))
def clip_with_out(x, y):
    a = x * y
    np.clip(a, -0.5, 0.5, out=a)
    np.maximum(a, x, out=a)
    return np.sum(a * y)


@program(normal(4), normal(4))
def ufunc_with_where(x, y):
    a = x.copy()
    np.multiply(x, y, out=a, where=x > 0)
    np.sqrt(a * a + 1.0, out=a, where=np.array([True, False, True, False]))
    return np.sum(a * x)


@program(normal(4), normal(4))
def copyto(x, y):
    a = np.empty(4)
    np.copyto(a, x * y)
    np.copyto(a[1:3], x[0])
    return np.sum(a * x)


@program(normal(4), normal(4))
def copyto_where(x, y):
    a = x.copy()
    np.copyto(a, y * y, where=x > 0)
    np.copyto(a, 0.5, where=y > 0.3)
    return np.sum(a * x)


@program(normal(3, 4), normal(4))
def copyto_broadcast(m, r):
    a = m * m
    np.copyto(a, r, where=m > 0)
    np.copyto(a[1:], r)
    return np.sum(a * m)


@program(normal(4), 0.7)
def fill(x, k):
    a = x.copy()
    b = a[1:3]
    b.fill(k * x[0])
    a *= x
    a[3:].fill(0.0)
    return np.sum(a * x)


@program(normal(6))
def sort_in_place(x):
    a = x * x
    a.sort()
    return np.sum(a * np.arange(6.0))


@program(normal(3, 4))
def sort_rows_in_place(m):
    a = m.copy()
    a.sort(axis=1)
    a.sort(axis=0)
    a[0].sort()
    return np.sum(a * m)


@program(normal(6))
def sort_a_view(x):
    a = x.copy()
    a[1:5].sort()
    a[::2] *= 2.0
    a[::-1].sort()
    return np.sum(a * x)


@program(normal(5), normal(2))
def put(x, y):
    a = x.copy()
    np.put(a, [3, 1], y)
    a.put([0, 4], y * y)
    np.put(a, 2, y[0])
    return np.sum(a * x)


@program(normal(3, 4), normal(3))
def put_into_a_matrix(m, y):
    a = m.copy()
    np.put(a, [0, 5, 0], y)
    return np.sum(a * m)


@program(normal(3, 3), normal(3))
def fill_diagonal(m, d):
    a = m.copy()
    np.fill_diagonal(a, d)
    b = m * m
    np.fill_diagonal(b, d[0])
    return np.sum(a * b)


@program(normal(3, 4), normal(3, 1))
def put_along_axis(m, v):
    a = m.copy()
    index = np.array([[1], [0], [3]])
    np.put_along_axis(a, index, v, axis=1)
    return np.sum(a * m)


@program(normal(4), normal(2))
def place_and_putmask(x, y):
    a = x.copy()
    np.place(a, np.array([True, False, True, False]), y)
    b = x * x
    np.putmask(b, x > 0, x)
    return np.sum(a * b)


@program(normal(4), 0.5)
def itemset_by_flat(x, k):
    a = x.reshape(2, 2).copy()
    a.flat[3] = k * x[0]
    a.flat[0] += x[1]
    return np.sum(a * a)


@program(normal(2, 3))
def flat_slice(m):
    a = m.copy()
    a.flat[1:4] = m[0] * m[1]
    return np.sum(a * m)


@program(normal(4))
def methods_with_out(x):
    a = np.empty(4)
    x.cumsum(out=a)
    b = np.empty(4)
    a.clip(-0.5, 0.5, out=b)
    return np.sum(a * b)


@program(normal(4), normal(4))
def take_with_out(x, y):
    a = np.empty(3)
    np.take(x, [2, 0, 2], out=a)
    b = np.empty((2, 4))
    np.stack([x, y], out=b)
    c = np.empty(8)
    np.concatenate([x, y], out=c)
    return np.sum(a * a) + np.sum(b[0] * b[1] * x) + np.sum(c * c[::-1])


@program(normal(3), normal(4))
def outer_with_out(x, y):
    a = np.empty((3, 4))
    np.outer(x, y, out=a)
    a *= a
    return np.sum(a * np.outer(x, y))


@program(normal(4))
def computed_at_places_that_repeat(x):
    a = x.copy()
    np.multiply.at(a, [0, 0, 1], x[1:])
    np.maximum.at(a, np.array([2, 3, 2]), 0.5)
    np.subtract.at(a, [1, 1], 2.0)
    np.divide.at(a, np.array([3, 3]), x[:2] + 3.0)
    return np.sum(a * x)


@program(normal(2, 3))
def computed_at_places_of_several_axes(x):
    a = x.copy()
    np.minimum.at(a, (0, [1, 1]), x[1, :2])
    np.multiply.at(a, ([0, 1, 0], [1, 1, 1]), np.sin(x[0]))
    np.maximum.at(a, (slice(None), [0, 0]), x[:, 1:])
    np.multiply.at(a, [1, 1], x[0])
    return np.sum(a * np.cos(x))


@program(normal(2, 3))
def computed_at_places_by_masks(x):
    a = x.copy()
    np.multiply.at(a, np.array([True, False]), x[1])
    np.minimum.at(a, x > 0.0, 0.5 * x[1, 1])
    np.divide.at(a, (1, 2), 2.0 + np.sin(x[0, 0]))
    np.multiply.at(a[:, 1], np.array([0, 1, 0]), x[0, :1])
    return np.sum(a * np.cos(x))


@program(normal(4))
def computed_where_it_is_defined(x):
    a = np.zeros(4)
    np.divide(1.0, x, out=a, where=x > 0)
    np.log(x, out=a, where=x > 1.0)
    return np.sum(a * x)


@program(np.array(0.7))
@program(np.array([0.7, 0.3]))
@program(np.full((1, 2, 1, 2), 0.7))
def flat_of_any_rank(a):
    inverse = np.zeros_like(a)
    known = ~np.isnan(a.flat)
    known[known] = a.flat[known] > 0.1
    inverse.flat[known] = 1.0 / a.flat[known]
    return np.sum(inverse * a * a)
