"""Reading arrays: elements, slices, new axes, ellipsis, integer arrays, masks."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(4))
def elements(x):
    return x[0] * x[1] + x[-1] ** 2 + x[0]


@program(normal(3, 4))
def element_of_matrix(m):
    return m[0, 1] * m[2, -1] + m[1][2]


@program(normal(3, 4))
def rows_and_columns(m):
    return m[0] * m[-1] + m[1, :] - np.sum(m[:, 2])


@program(normal(6))
def slices(x):
    return x[1:4] * x[:3] + x[::2] - x[-3:]


@program(normal(6))
def negative_steps(x):
    return x[::-1] * x + x[5:2:-1][0]


@program(normal(4, 5))
def blocks(m):
    return m[1:3, 2:] * m[:2, ::2]


@program(normal(3))
def new_axes(x):
    return x[:, None] * x[None, :] + x[np.newaxis]


@program(normal(2, 3, 4))
def ellipsis(a):
    return a[..., 0] * a[0, ..., 1:3].sum() + a[..., -1]


@program(normal(5), np.array([0, 2, 2, 4]))
def gather_with_repeats(x, idx):
    return x[idx] ** 2


@program(normal(4, 3))
def gather_rows(m):
    return m[[0, 2, 0]] * m[1]


@program(normal(4, 3))
def pairs_of_indices(m):
    return m[[0, 1, 3], [2, 2, 0]] * m[np.arange(3), np.arange(3)]


@program(normal(6))
def boolean_mask(x):
    return np.sum(x[x > 0] ** 2)


@program(normal(6))
def constant_mask(x):
    mask = np.array([True, False, True, True, False, False])
    return x[mask] * x[~mask]


@program(normal(5), 2)
def variable_index(x, i):
    return x[i] * x[i + 1] - x[i - 1] ** 2


@program(normal(5), 1, 4)
def variable_slice(x, a, b):
    return np.sum(x[a:b] ** 2) * x[a]


@program(normal(5))
def index_from_loop(x):
    total = 0.0
    for i in range(0, 4, 2):
        total += x[i] * x[i + 1]
    return total


@program(normal(5))
def index_from_data(x):
    i = int(np.argmax(x))
    return x[i] * x[(i + 1) % 5]


@program(normal(4, 2))
def rows_in_loop(m):
    total = np.zeros(2)
    for i in range(1, 4):
        total = total + m[i] * m[i - 1]
    return total


@program(normal(4))
def take(x):
    return np.take(x, [3, 0, 0]) * x[1]


@program(normal(3, 3))
def slice_of_slice(m):
    block = m[1:]
    return block[:, 1:][0] * block[0, 0]


@program(normal(4))
def element_and_whole(x):
    total = 0.0
    for i in range(3):
        total += x[i] * np.sum(x)
    return total


@program(normal(8))
def strided_views(x):
    even, odd = x[::2], x[1::2]
    return even * odd[::-1]


@program(normal(5), normal(3))
def interpolation(values, points):
    total = 0.0
    for p in points:
        position = 2.0 + np.tanh(p) * 1.5
        i = int(np.floor(position))
        t = position - i
        total += (1.0 - t) * values[i] + t * values[i + 1]
    return total


@program(normal(3, 4), np.array([1, 0, 3]))
def one_per_row(m, columns):
    return m[np.arange(len(m)), columns]


@program(normal(4))
def search_sorted_index(x):
    grid = np.array([-1.0, 0.0, 1.0])
    k = np.searchsorted(grid, 0.5)
    return x[k] * x[0]


@program(np.arange(1.0, 7.0), 4)
def slices_chosen_and_carried(x, n):
    part = slice(n, n + 1) if n > 3 else slice(0, n)
    window = slice(0, 2)
    for i in range(n):
        window = slice(i, i + 2)
    return np.sum(x[part] ** 2) * np.prod(x[window])


def _windows(n):
    for i in range(n):
        yield (slice(None), *(slice(first, first + n) for first in (i, i)))


@program(np.arange(1.0, 10.0).reshape(1, 3, 3), 2)
def slices_that_are_drawn(x, n):
    first = next(_windows(n))
    return np.sum(x[first] ** 2) + sum(np.prod(x[place]) for place in _windows(n))


@program(np.arange(12.0).reshape(3, 4) * 0.3 + 0.1)
def open_meshes_of_masks_and_ranges(x):
    rest = np.setdiff1d(np.arange(3), [1])
    y = x * 1.0
    y[np.ix_([True, False, True], range(1, 3))] *= x[0, 1]
    return np.sum(y**2) + np.sum(x[np.ix_(rest, [0, 2])] ** 3) + np.sum(x[np.ix_(x[:, 0] > 0.5, [1, 3])])


@program(0.7)
@program(-0.7)
def masks_of_a_number(x):
    y = np.sin(x)
    is_low = y < 0.0
    try:
        y[is_low] = -y[is_low]
    except TypeError:
        y = y * (3.0 + np.sum(y[is_low]))
    return y * np.sum(y[y > 0.0])


@program(normal(5, 4), normal(4, 3))
def rows_of_a_range(m, w):
    rows = m[range(3)]
    halves = [half * 2.0 for half in np.split(rows, 2, axis=-1)]
    total = np.sum((np.hstack(halves) @ w) ** 3) + np.sum(m[:, range(1, 3)] @ w[range(2)])
    other = m * 1.0
    other[range(2), range(2)] *= 3.0
    other[range(3, 5)] = m[0] * m[1]
    return total + np.sum(other**2)


@program(normal(4))
@program(normal(1))
def slices_by_extent(x):
    rows = x[tuple(slice(0, 1) if n == 1 else slice(None, None, 2) for n in x.shape)]
    return np.sum(rows * rows) + np.sum(x[(slice(0, 1) if len(x) == 1 else slice(1, None)),] ** 3)


@program(normal(4))
@program(normal(1))
def bounds_that_may_be_none(x):
    head = x[: (None if len(x) < 3 else 2)]
    return np.sum(head * head) + np.sum(x[(1 if len(x) > 1 else None) :] ** 3)


@program(normal(4))
@program(normal(1))
def stores_at_slices_by_extent(x):
    a = x * x
    a[(slice(1, 3) if len(x) > 2 else slice(None)),] = x[0]
    a[(slice(0, 1) if len(x) == 1 else slice(None, -1)),] *= 2.0 * x[-1]
    return np.sum(a * x)
