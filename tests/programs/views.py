"""Views: slices, transposes, reshapes, rows bound to names, views of views, views handed to functions."""

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(6))
def slice_written_through(x):
    a = x.copy()
    middle = a[1:5]
    middle[0] = x[0] * x[1]
    middle *= 2.0
    a[2] += middle[2]
    return np.sum(a * x)


@program(normal(6))
def whole_written_read_through_the_slice(x):
    a = x.copy()
    tail = a[3:]
    a[4] = x[0] * x[0]
    first = tail[1] * x[1]
    a *= 3.0
    return first * tail[1] * tail[2]


@program(normal(6))
def view_with_steps(x):
    a = x.copy()
    even, odd = a[::2], a[1::2]
    even += odd
    odd *= even
    even[0] = odd[2]
    return np.sum(a * x)


@program(normal(5))
def view_backwards(x):
    a = x.copy()
    back = a[::-1]
    back[0] *= x[0]
    back[1:] += back[:-1]
    return np.sum(a * x)


@program(normal(5))
def views_of_views(x):
    a = x.copy()
    b = a[1:]
    c = b[::2]
    d = c[::-1]
    d[0] = x[0] * x[1]
    c[0] *= d[0]
    b[1] += c[1]
    return np.sum(a * x)


@program(normal(5))
def overlapping_views(x):
    a = x.copy()
    left, right = a[:-1], a[1:]
    right += left
    left *= right
    right[0] = left[2]
    return np.sum(a * x)


@program(normal(3, 4))
def transpose_written(m):
    a = m.copy()
    t = a.T
    t[0] = m[:, 1] * m[:, 2]
    t[1, 2] *= 3.0
    a[0] += t[:, 1].sum()
    return np.sum(a * m)


@program(normal(3, 4))
def transpose_by_functions(m):
    a = m.copy()
    np.transpose(a)[2] *= m[:, 0]
    a.transpose(1, 0)[3, 1] = m[0, 0]
    np.swapaxes(a, 0, 1)[0] += 1.0
    return np.sum(a * m)


@program(normal(6))
def reshape_of_contiguous(x):
    a = x.copy()
    m = a.reshape(2, 3)
    m[0] *= m[1]
    m[:, 1] = a[:2]
    return np.sum(a * x)


@program(normal(3, 4))
def reshape_of_transpose_is_a_copy(m):
    a = m.copy()
    flat = a.T.reshape(12)
    flat[0] = 5.0
    flat[1:] *= 2.0
    return np.sum(a * m) + np.sum(flat * flat)


@program(normal(2, 3))
def ravel_of_contiguous(m):
    a = m.copy()
    flat = a.ravel()
    flat[1] *= flat[0]
    flat[3:] += flat[:3]
    return np.sum(a * m)


@program(normal(3, 4))
def ravel_of_strided_is_a_copy(m):
    a = m.copy()
    flat = a[:, ::2].ravel()
    flat *= flat
    flat[0] = 1.0
    return np.sum(a * m) + np.sum(flat)


@program(normal(3, 4), True)
@program(normal(3, 4), False)
def view_or_copy_by_flag(m, flag):
    a = m.copy()
    b = a if flag else a.T
    flat = b.reshape(-1)
    flat[0] *= 3.0
    flat[5] = m[0, 0] * m[1, 1]
    return np.sum(a * m) + np.sum(flat * flat)


@program(normal(2, 3))
def flatten_is_a_copy(m):
    a = m.copy()
    flat = a.flatten()
    flat *= 2.0
    flat[0] = a[1, 1]
    return np.sum(a * m) * np.sum(flat)


@program(normal(3, 4))
def row_bound_to_a_name(m):
    a = m.copy()
    row = a[1]
    row[0] = m[0, 0] * m[1, 1]
    row[1:] *= row[:-1]
    a[1, 2] += row[0]
    return np.sum(a * m)


@program(normal(3, 4))
def column_bound_to_a_name(m):
    a = m.copy()
    column = a[:, 2]
    column[0] = m[0, 0] * m[1, 1]
    column += a[:, 0]
    return np.sum(a * m)


@program(normal(3, 4))
def row_of_a_loop_bound(m):
    a = m.copy()
    for i in range(3):
        row = a[i]
        for j in range(1, 4):
            row[j] += row[j - 1] * m[i, j]
    return np.sum(a * m)


@program(normal(3, 4))
def iteration_over_rows(m):
    a = m.copy()
    for row in a:
        row *= 2.0
        row[0] = row[1] * row[2]
    return np.sum(a * m)


@program(normal(3, 4))
def iteration_over_columns(m):
    a = m.copy()
    for column in a.T:
        column -= np.mean(column)
    return np.sum(a * m)


@program(normal(3, 4))
def iteration_with_enumerate_and_zip(m):
    a, b = m.copy(), m * m
    for i, (r, s) in enumerate(zip(a, b)):
        r += s * i
        s[0] = r[1]
    for i, row in enumerate(a):
        row[i] *= b[i, i]
    return np.sum(a * b)


@program(normal(2, 3, 2))
def iteration_over_blocks(t):
    a = t.copy()
    for block in a:
        for row in block:
            row[0] *= row[1]
        block[0] += block[1]
    return np.sum(a * t)


@program(normal(3, 4))
def rows_exchanged_through_a_copy(m):
    a = m.copy()
    saved = a[0].copy()
    a[0] = a[2]
    a[2] = saved * 2.0
    a[[0, 1]] = a[[1, 0]]
    return np.sum(a * m)


@program(normal(3, 4))
def rows_exchanged_by_tuple_assignment_alias(m):
    a = m.copy()
    a[0], a[1] = a[1], a[0]  # both sides are views: the second row is read after the first was written
    return np.sum(a * m)


def scale(part, k):
    part *= k


def accumulate(part):
    for i in range(1, len(part)):
        part[i] += part[i - 1]


@program(normal(6), 0.5)
def view_handed_to_a_function(x, k):
    a = x.copy()
    scale(a[1:4], k)
    accumulate(a[::2])
    scale(a[3:], a[0])
    return np.sum(a * x)


@program(normal(3, 4))
def rows_handed_to_a_function(m):
    a = m.copy()
    for i in range(3):
        accumulate(a[i])
    accumulate(a[:, 1])
    scale(a.T[0], 2.0)
    return np.sum(a * m)


def halves(a):
    middle = len(a) // 2
    return a[:middle], a[middle:]


@program(normal(6))
def views_returned_by_a_function(x):
    a = x.copy()
    low, high = halves(a)
    low *= high
    high[0] = low[2]
    return np.sum(a * x)


@program(normal(4))
def recursive_halves(x):
    def transform(a):
        if len(a) > 1:
            low, high = halves(a)
            transform(low)
            transform(high)
            high *= 0.5
            low += high
        else:
            a *= a

    a = x.copy()
    transform(a)
    return np.sum(a * x)


@program(normal(4, 4))
def blocks_of_a_matrix(m):
    a = m.copy()
    a11, a12 = a[:2, :2], a[:2, 2:]
    a21, a22 = a[2:, :2], a[2:, 2:]
    a11 += a22 @ m[:2, :2]
    a12 *= a21
    a21[:] = a11.T
    a22 -= a21 @ a12
    return np.sum(a * m)


@program(normal(3, 3))
def diagonal_through_a_stepped_view(m):
    a = m.copy()
    a.ravel()[::4] += 1.0
    a.reshape(-1)[::4] *= m[0]
    return np.sum(a * m)


@program(normal(3, 3))
def diagonal_read_after_write(m):
    a = m.copy()
    d = np.diagonal(a)
    before = np.sum(d * d)
    a[1, 1] *= 3.0
    return before * np.sum(np.diagonal(a)) + np.trace(a)


@program(normal(4))
def new_axis_view_written(x):
    a = x.copy()
    column = a[:, None]
    column *= 2.0
    column[1, 0] = x[0] * x[2]
    row = a[None]
    row += 1.0
    return np.sum(a * x)


@program(normal(1, 4))
def squeeze_and_expand(m):
    a = m.copy()
    flat = a.squeeze()
    flat[1] *= flat[0]
    np.expand_dims(flat, 1)[2] = m[0, 0]
    a[0].reshape(2, 2)[1] *= 2.0
    return np.sum(a * m)


@program(normal(2, 6))
def split_into_views(m):
    a = m.copy()
    left, right = np.split(a, 2, axis=1)
    left *= right
    right[0] = left[1]
    return np.sum(a * m)


@program(normal(6))
def view_kept_in_a_list(x):
    a = x.copy()
    parts = [a[:2], a[2:4], a[4:]]
    for part in parts:
        part *= x[0]
    parts[1][0] = x[1] * x[1]
    parts[0] += parts[2]
    return np.sum(a * x)


@program(normal(6))
def view_kept_in_a_dict(x):
    a = x.copy()
    parts = {"head": a[:3], "tail": a[3:]}
    parts["head"] *= parts["tail"]
    parts["tail"][0] += x[1]
    return np.sum(a * x)


@program(normal(6))
def view_chosen_by_condition(x):
    a = x.copy()
    for i in range(4):
        part = a[:3] if x[i] > 0 else a[3:]
        part *= x[i]
        part[0] += 1.0
    return np.sum(a * x)


@program(normal(4))
def view_rebound_in_a_loop(x):
    a = x.copy()
    rest = a
    while len(rest) > 1:
        rest[1] += rest[0] * 0.5
        rest = rest[1:]
    rest[0] *= 2.0
    return np.sum(a * x)


@program(normal(4))
def view_outlives_a_rebinding(x):
    a = x.copy()
    head = a[:2]
    a = a * 2.0
    head[0] = 7.0 * x[3]
    a[1] = head[1]
    return np.sum(a * x) + np.sum(head * head)


@program(normal(3, 4))
def read_of_a_view_before_and_after(m):
    a = m.copy()
    row = a[0]
    before = np.sum(row * row)
    a[0] = m[1] * m[2]
    after = np.sum(row * row)
    return before * after


@program(normal(2, 4))
def flat_iteration(m):
    a = m.copy()
    a.T[1] = 0.5
    total = 0.0
    for value in a.flat:
        total += value * value
    for i, value in enumerate(a.ravel()):
        total += value * i
    return total


@program(normal(4))
def broadcast_view_read(x):
    a = x.copy()
    a[1] = x[0] * x[0]
    table = np.broadcast_to(a, (3, 4))
    row = table[1]
    return np.sum(row * x) * np.sum(table * table)


@program(normal(5))
def windows_read(x):
    a = x.copy()
    a[2] *= a[1]
    windows = np.lib.stride_tricks.sliding_window_view(a, 3)
    return np.sum(windows[:, 0] * windows[:, 2])


@program(normal(3))
def real_part_is_a_view(x):
    a = x.copy()
    part = a.real
    part[0] = x[1] * x[2]
    a *= part
    return np.sum(a * x)


@program(normal(3), normal(3))
def parts_of_a_complex_array(x, y):
    z = np.zeros(3, dtype=complex)
    z.real[:] = x * x
    z += 1j * y
    re, im = z.real, z.imag
    return np.sum(re * im * x)


@program(normal(2, 3))
def conversions_that_do_nothing_are_views(m):
    a = m.copy()
    np.asarray(a)[0] *= 2.0
    np.atleast_2d(a)[1, 0] = m[0, 0]
    np.ascontiguousarray(a)[1, 1] *= a[0, 0]
    np.asarray(a.T)[2] += 1.0
    return np.sum(a * m)


@program(normal(2, 3))
def flips_are_views(m):
    a = m.copy()
    np.flip(a, 0)[0] *= m[0]
    np.fliplr(a)[:, 0] += 1.0
    np.rot90(a)[0, 0] = m[0, 0] * m[1, 1]
    np.moveaxis(a, 0, 1)[2] *= 2.0
    return np.sum(a * m)


@program(normal(6))
def splits_are_views(x):
    a = x.copy()
    for part in np.split(a, 3):
        part[0] *= part[1]
    low, high = np.array_split(a, 2)
    low += high
    top, bottom = np.vsplit(a.reshape(2, 3), 2)
    bottom *= top
    return np.sum(a * x)


@program(normal(2, 3))
def ravelled_by_columns(m):
    m = np.asfortranarray(m) * 1.0
    flat = m.ravel(order="F")
    flat[1] *= m[0, 0]
    return np.sum(flat * np.arange(6.0)) + m[1, 0]


@program(normal(2, 3))
def ravelled_by_columns_into_a_copy(m):
    m = m * 1.0
    flat = m.ravel("F")
    flat[1] *= m[0, 0]
    return np.sum(flat * np.arange(6.0)) + m[1, 0]


@program(normal(2, 3))
def ravelled_by_columns_of_the_transpose(m):
    m = m * 1.0
    flat = np.ravel(m.T, order="F")
    flat[1] *= m[0, 0]
    return np.sum(flat * np.arange(6.0)) + m[0, 1]


@program(normal(2, 3))
def flattened_by_columns(m):
    flat = m.flatten("F")
    flat[1] *= m[0, 0]
    return np.sum(flat * np.arange(6.0)) + m[1, 0] ** 2


@program(normal(6))
def view_as_it_is(a):
    b = a.view()
    b[1] *= b[0]
    return np.sum(a * a)


@program(normal(6))
def view_as_a_plain_array(a):
    b = np.asanyarray(a).view(np.ndarray)
    b[1] *= b[0]
    return np.sum(a * a.view(type=np.ndarray))


if hasattr(np, "unstack"):  # NumPy 2.1

    @program(normal(2, 3))
    def unstacked(m):
        a, b = np.unstack(m)
        columns = np.unstack(m, axis=1)
        return np.sum(a * b) + np.sum(columns[0] * columns[2])
