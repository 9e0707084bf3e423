"""Shapes: reshape, transpose, join, split, repeat, create."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(2, 6))
def reshape(a):
    return np.reshape(a, (3, 4)) ** 2 + a.reshape(3, -1)


@program(normal(2, 3))
def transpose(a):
    return a.T @ a + np.transpose(a) @ a


@program(normal(2, 3, 4))
def transpose_axes(a):
    return np.transpose(a, (2, 0, 1)) ** 2


@program(normal(2, 3, 4))
def move_and_swap_axes(a):
    return np.moveaxis(a, 0, -1) * np.swapaxes(np.swapaxes(a, 0, 1), 1, 2)


@program(normal(2, 3))
def flatten(a):
    return a.ravel() * a.flatten()


@program(normal(3))
def expand_and_squeeze(a):
    column = np.expand_dims(a, 1)
    return np.squeeze(column * column, axis=1) + a[:, None][:, 0]


@program(normal(2), normal(3))
def concatenate(a, b):
    return np.concatenate([a, b * b, a])


@program(normal(2, 2), normal(2, 3))
def concatenate_axis(a, b):
    return np.concatenate((a, b), axis=1) ** 2


@program(normal(3), normal(3))
def stack(a, b):
    return np.stack([a, b, a * b], axis=1)


@program(normal(3), normal(3))
def vstack_hstack(a, b):
    return np.vstack([a, b]) @ np.hstack([a[:2], b[:1]])


@program(1.0, 2.0)
def array_of_scalars(x, y):
    v = np.array([x, y, x * y])
    return v @ v


@program(1.0, 2.0)
def matrix_of_scalars(t, s):
    r = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
    return r @ np.array([s, 1.0])


@program([1.0, 2.0, 3.0])
def array_of_list(xs):
    return np.array(xs) ** 2


@program(normal(4))
def split(a):
    left, right = np.split(a, 2)
    return left * right


@program(normal(3))
def tile_and_repeat(a):
    return np.tile(a, 2) * np.repeat(a, 2)


@program(normal(3))
def broadcast_to(a):
    return np.broadcast_to(a, (2, 3)) * np.arange(6.0).reshape(2, 3)


@program(normal(4))
def flip_and_roll(a):
    return np.flip(a) * np.roll(a, 1) + a[::-1]


@program(normal(3))
def pad(a):
    return np.pad(a, 1) ** 2 + np.pad(a, (2, 0))


@program(normal(3))
def fresh_arrays(a):
    n = len(a)
    return a + np.zeros(n) + np.ones_like(a) * a + np.full(n, 2.0) * a + np.eye(n) @ a + np.arange(n) * a


@program(normal(3))
def linspace_grid(a):
    t = np.linspace(0.0, 1.0, 5)
    return np.sum(a[0] * t**2 + a[1] * t + a[2])


@program(normal(3, 3))
def triangles(a):
    return np.tril(a) @ np.triu(a, 1)


@program(normal(2, 3))
def copies(a):
    b = a.copy()
    c = np.array(a)
    return b * c + np.copy(a) + np.asarray(a)


@program(normal(4), normal(4))
def meshgrid(a, b):
    x, y = np.meshgrid(a, b)
    return np.sum(x * y * y)


@program(normal(4), 3)
def meshgrid_of_ranges(a, n):
    x, y = np.meshgrid(range(n), range(1, n + 2))
    u, v = np.meshgrid(a, np.array(range(n)), sparse=True)
    whole = np.asarray(range(4), dtype=float)
    return np.sum(np.sin(a[0] * x) * y) + np.sum(u * v * u) + np.sum(np.cos(a) * whole)


@program(normal(3))
def to_list(a):
    xs = a.tolist()
    return xs[0] * xs[1] + xs[2]


@program(normal(1))
def item(a):
    return a.item() ** 2 + float(a[0])


@program(normal(3))
def astype_float(a):
    return a.astype(np.float64) * a


@program(normal(2, 3))
def atleast(a):
    return np.atleast_2d(a[0]) @ np.atleast_1d(a[1])


@program(normal(3), normal(2, 2), 2)
def ranks_known_at_run_time(a, b, rank):
    total = a.sum() + b if rank == 0 else np.reshape(a, a.shape + (1,) * rank) * b
    return np.sum(total**2)


def of_some_rank(a):
    return np.atleast_1d(a) if np.sum(a) > 0 else np.atleast_3d(a)


@program(np.array([0.3, 0.2, 0.4]))
@program(np.array([-0.3, -0.2, -0.4]))
def shapes_of_unknown_length(a):
    b = of_some_rank(a)
    ones = np.ones([1 if i == 1 else n for i, n in enumerate(np.shape(b))])
    rest = np.full(b.shape[:1] + b.shape[1:], 2.0)
    total = np.sum(b * ones * rest) * len(b.shape)
    for extent in b.shape:
        total = total * extent
    return total * 2.0 if b.shape == (3,) else total


@program(np.array([0.3, 0.2, 0.4]), 1.5)
def part_of_a_shape(a, k):
    shape = (np.size(a), 2, 3)
    return np.sum(np.ones(shape[: int(k)]) * a) + sum(shape[int(k) :]) * a[0]


@program(np.array([0.7, -1.3, 2.1, 0.4]))
def rolled_by_lists(x):
    return np.roll(x, [1, 2], axis=[0, 0]) @ x + np.roll(np.outer(x, x), [3], axis=[1])[0] @ x


@program(lambda rng: rng.normal(size=(2, 3)))
def copies_in_an_order(a):
    columns, rows = np.array(a, order="F"), np.array(a.T, order="C", copy=True)
    weights = np.arange(6.0)
    return np.sum(columns.ravel() * weights) * np.sum(rows.ravel("F") * weights) + np.sum(np.array(a, order="K")[0])


@program(lambda rng: rng.normal(size=3))
def vectors_in_any_order(x):
    y = x * 2
    return np.sum(y.ravel("K") * np.ravel(x[::-1], order="A")) + np.sum(y.flatten("K") ** 3)


@program(lambda rng: rng.normal(size=6))
def shapes_assigned(x):
    y = x * 2.0
    same, part = y, y[1:]
    y.shape = 2, -1
    same[1, 0] = x[0] * x[5]
    part[0] = x[2] * part[3]
    return np.sum(same[0] * y[1]) * len(same) + np.sum(part**2)


def flattened(a):
    a.shape = a.size
    return a


@program(lambda rng: rng.normal(size=(2, 3)))
def shapes_assigned_in_turn(x):
    total = 0.0
    rows, columns = np.mgrid[0:2, 0:3]
    for i in range(2):
        each = np.sin(x) * (columns + i)
        grid = rows + 1
        grid.shape = each.shape = (3, 2)
        total += np.sum(each[0] * grid[2]) * np.sum(flattened(x * i) * each.ravel())
    rows.shape = columns.shape = 6
    return total + np.sum(rows * columns * x.ravel())
