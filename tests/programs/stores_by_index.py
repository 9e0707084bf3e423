"""Stores through every kind of index: steps, new axes, ellipsis, masks, integer arrays with repeats."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(6), normal(3))
def steps(x, y):
    a = x.copy()
    a[::2] = y
    a[1::2] = y * a[::2]
    a[4:0:-2] = a[:2]
    a[::-3] = a[:2] * 2.0
    return np.sum(a * x)


@program(normal(6))
def overlapping_move_up(x):
    a = x.copy()
    a[1:] = a[:-1]
    a[2:] = a[:-2] * x[2:]
    return np.sum(a * x)


@program(normal(6))
def overlapping_move_down(x):
    a = x.copy()
    a[:-1] = a[1:]
    a[:3] = a[3:]
    a[:] = a[::-1]
    return np.sum(a * x)


@program(normal(4))
def rotation(x):
    a = x.copy()
    last = a[-1]
    a[1:] = a[:-1].copy()
    a[0] = last * 2.0
    return np.sum(a * x)


@program(normal(3, 4), normal(3))
def new_axis_on_the_right(m, c):
    a = m.copy()
    a[:] = c[:, None] * a
    a[:, 1:3] = c[:, None]
    return np.sum(a * m)


@program(normal(4), normal(4))
def new_axis_on_the_left(x, y):
    a = x.copy()
    a[None, :] = y * y
    a[np.newaxis, 1:3] += x[:2]
    a[:, None] *= y[:, None]
    return np.sum(a * x)


@program(normal(2, 3, 4), normal(2, 3), normal(3, 4))
def ellipsis(t, p, q):
    a = t.copy()
    a[..., 0] = p
    a[0, ...] = q
    a[..., 1:3] *= 2.0
    a[1, ..., -1] += p[1]
    a[...] = a * t
    return np.sum(a * t)


@program(normal(4), normal(4))
def ellipsis_whole(x, y):
    a = np.empty(4)
    a[...] = x
    a[...] *= y
    a[...] += a
    return np.sum(a * x)


@program(normal(3, 4), normal(4), 0.5)
def rows_and_columns(m, r, k):
    a = m.copy()
    a[1] = r
    a[-1, :] = a[1] * m[0]
    a[:, 0] = k
    a[:, -1] = a[:, 1] * a[:, 2]
    a[0:2, 1:3] = a[1:3, 0:2]
    return np.sum(a * m)


@program(normal(3, 4), normal(4))
def broadcast_into_block(m, r):
    a = np.zeros((3, 4))
    a[:] = r
    a[1:, ::2] = r[:2]
    a[:, 1] = m[0, 0]
    return np.sum(a * m)


@program(normal(1, 4), normal(3, 1))
def broadcast_of_length_one(row, column):
    a = np.zeros((3, 4))
    a[:] = row
    a[1:] += column[1:]
    a[:, 2:] = column
    a[0] = row[0]
    return np.sum(a * (row + column))


@program(normal(6), 0.3)
def mask_with_number(x, k):
    a = x.copy()
    a[x > 0] = k
    a[a < 0] *= k
    return np.sum(a * x)


@program(normal(6), normal(6))
def mask_with_array(x, y):
    a = x.copy()
    positive = x > 0
    a[positive] = y[positive] * x[positive]
    a[~positive] += y[~positive]
    a[positive] *= a[positive]
    return np.sum(a * x)


@program(normal(3, 4))
def mask_of_matrix(m):
    a = m.copy()
    a[m > 0] = m[m > 0] ** 2
    a[a < 0] -= 1.0
    a[a < -1.5] /= 2.0
    return np.sum(a * m)


@program(normal(3, 4), normal(2, 4))
def mask_of_rows(m, r):
    a = m.copy()
    keep = np.array([True, False, True])
    a[keep] = r
    a[keep, 1] += r[:, 0]
    a[:, np.array([True, False, False, True])] *= 2.0
    return np.sum(a * m)


@program(normal(6))
def mask_that_depends_on_what_was_written(x):
    a = x.copy()
    a[a > 0] *= 2.0
    a[a > 1.0] = a[a > 1.0] ** 2
    return np.sum(a * x)


@program(normal(5), normal(3))
def integer_array(x, y):
    a = x.copy()
    a[[0, 3, 4]] = y
    a[[3, 1]] += y[:2]
    a[np.array([4, 2])] *= a[[0, 3]]
    return np.sum(a * x)


@program(normal(5), normal(4))
def repeated_indices_last_write_wins(x, y):
    a = x.copy()
    a[[1, 1, 2, 1]] = y
    return np.sum(a * x)


@program(normal(5), normal(4), np.array([3, 0, 3, 3]))
def repeated_indices_given(x, y, where):
    a = x * x
    a[where] = y * y
    return np.sum(a * a)


@program(normal(5), normal(3))
def repeated_indices_augmented_count_once(x, y):
    a = x.copy()
    a[[2, 2, 0]] += y
    a[[1, 1]] *= y[:2]
    a[[0, 0]] -= a[[3, 4]]
    return np.sum(a * x)


@program(normal(4, 3), normal(3, 3))
def repeated_rows(m, r):
    a = m.copy()
    a[[0, 2, 0]] = r
    a[[1, 1]] += r[:2]
    return np.sum(a * m)


@program(normal(4, 3), normal(3))
def pairs_of_indices(m, v):
    a = m.copy()
    a[[0, 1, 0], [2, 0, 2]] = v
    a[np.arange(3), np.arange(3)] += v
    a[[3, 3], 1] *= v[:2]
    return np.sum(a * m)


@program(normal(3, 4), normal(2))
def slice_and_integer_array(m, v):
    a = m.copy()
    a[1:, [0, 3]] = v
    a[:, [1, 1]] += v
    a[[0, 2], 1:3] = a[[2, 0], :2]
    return np.sum(a * m)


@program(normal(4, 4), normal(2))
def mesh_of_indices(m, v):
    a = m.copy()
    a[np.ix_([0, 2], [1, 3])] = v[:, None]
    a[np.ix_([0, 1], [1, 2])] *= a[:2, :2]
    return np.sum(a * m)


@program(normal(4, 4), normal(3))
def places_that_repeat_found_by_number(m, v):
    a = m.copy()
    a[np.unravel_index(np.array([1, 1, 2]), (4, 4))] += v
    return np.sum(a * m)


@program(normal(4, 4), normal(3, 3))
def mesh_of_indices_that_repeat(m, v):
    a = m.copy()
    for e in range(2):
        a[np.ix_([e, e + 1, e], [0, e, e + 2])] += v
    return np.sum(a * m)


@program(normal(5), normal(4), np.array([1, 1, 4, 1]))
def add_at(x, y, where):
    a = x.copy()
    np.add.at(a, where, y)
    np.add.at(a, where[:2], 0.5)
    np.add.at(a, 2, y[0] * a[1])
    return np.sum(a * a * x)


@program(normal(5), normal(4), np.array([1, 1, 4, 1]))
def subtract_at(x, y, where):
    a = x * x
    np.subtract.at(a, where, y * y)
    return np.sum(a * a * x)


@program(normal(4, 3), normal(3, 3), np.array([1, 1, 3]))
def add_rows_at(m, r, where):
    a = m.copy()
    np.add.at(a, where, r)
    np.add.at(a, (where, [0, 0, 2]), r[0])
    return np.sum(a * a)


@program(normal(4), np.array([1, 3]))
def index_array_written_later(x, where):
    a = x.copy()
    a[where] = x[:2] * 2.0
    where = where + 0
    where[0] = 0
    a[where] += x[2:] * a[where]
    return np.sum(a * x)


@program(normal(4), 0, 2)
def bounds_given(x, low, high):
    a = x.copy()
    a[low:high] = x[low + 1 : high + 1] * 2.0
    a[high:] *= a[: len(a) - high]
    return np.sum(a * x)


@program(normal(2, 3))
def element_by_element_index(m):
    a = np.zeros((2, 3))
    for where in np.ndindex(2, 3):
        a[where] = m[where] * m[0, where[1]]
    return np.sum(a * m)


@program(normal(2, 3))
def element_by_enumeration(m):
    a = np.zeros((2, 3))
    for (i, j), value in np.ndenumerate(m):
        a[i, j] = value * value
    return np.sum(a * m)


@program(normal(4))
def integer_counts_beside(x):
    a = x.copy()
    count = np.zeros(4, dtype=int)
    for i in range(4):
        count[i % 2] += 1
        a[count[0] % 4] += x[i] * count[1]
    return np.sum(a * x)


@program(normal(4))
def picked_out_and_written(x):
    b = x[[0, 2]]
    b *= 2.0
    c = x[x > 0]
    c[0] *= 3.0
    return np.sum(b * b) + np.sum(c * c)


@program(normal(4))
def picked_out_of_what_is_written(x):
    a = x.copy()
    a[1] = x[0]
    b = a[np.array([0, 2, 0])]
    b[0] *= 2.0
    a[0] = b[0] * b[2]
    b += a[:3]
    return np.sum(b * b) + np.sum(a * x)


@program(normal(4), True)
@program(normal(4), False)
def picked_out_or_a_view(x, flag):
    a = x * 1.0
    b = a[[0, 1]] if flag else a[0:2]
    b *= 3.0
    b[0] = x[3]
    return np.sum(a * x) + np.sum(b * b)


@program(normal(3, 3))
def rows_picked_out_and_written(m):
    a = m.copy()
    rows = a[[0, 2]]
    for row in rows:
        row *= a[1]
    rows[0, 1] = m[1, 1] * 2.0
    a[1:] += rows
    return np.sum(a * m) + np.sum(rows)


@program(normal(6))
def picked_out_in_a_loop(x):
    a = x.copy()
    total = 0.0
    for i in range(4):
        b = a[[i, i + 1]]
        b *= x[i]
        b[1] += b[0]
        total += b[1]
        a[i : i + 2] = b
    return total * np.sum(a)
