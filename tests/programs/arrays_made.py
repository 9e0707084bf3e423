"""Where written arrays come from: made inside, arguments, captured, copies."""

import math

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(4))
def made_by_shape(x):
    a = np.zeros(4)
    b = np.ones(4)
    c = np.full(4, 2.0)
    d = np.empty(4)
    a[1] = x[0]
    b[1] *= x[1]
    c[1:] *= x[2]
    d[:] = a + b + c
    return np.sum(a * b + c * d)


@program(normal(2, 3))
def made_like(m):
    a = np.zeros_like(m)
    b = np.ones_like(m)
    c = np.full_like(m, 0.5)
    d = np.empty_like(m)
    a[0] = m[1]
    b[:, 1] *= m[:, 0]
    c += m * m
    d[...] = a * b
    return np.sum(a * b * c + d)


@program(normal(4), 0.3)
def full_of_a_value_that_varies(x, k):
    a = np.full(4, k * k)
    a[1] *= x[1]
    b = np.full((2, 2), x[0])
    b[0, 1] += k
    c = np.full_like(x, k)
    c[2] = 0.0
    return np.sum(a * c) + np.sum(b * b)


@program(normal(4))
def copies_of_every_kind(x):
    a = x.copy()
    b = np.array(x)
    c = np.copy(x)
    d = x + 0.0
    e = x[:].copy()
    f = np.array(x, copy=True)
    g = x.astype(float)
    for i, y in enumerate((a, b, c, d, e, f, g)):
        y[i % 4] *= x[(i + 1) % 4]
    return np.sum(a * b + c * d + e * f * g)


@program(normal(4))
def argument_is_left_alone_by_a_copy(x):
    a = x.copy()
    a[0] = 7.0
    a *= 2.0
    return np.sum(x * a)


@program(normal(4))
def asarray_is_the_same_array(x):
    a = x * 1.0
    b = np.asarray(a)
    b[1] = x[0] * x[2]
    return np.sum(a * b)


@program(normal(3), 0.4)
def array_of_numbers(x, k):
    a = np.array([k, x[0], k * x[1]])
    a[0] *= a[2]
    a[1:] += a[:2]
    return np.sum(a * x)


@program(normal(3), 0.4)
def array_of_rows(x, k):
    a = np.array([x, x * k, [k, 1.0, x[0]]])
    a[0] += a[1]
    a[:, 2] *= a[2]
    return np.sum(a * a)


@program(normal(4))
def made_by_functions(x):
    a = np.arange(4.0)
    a[1:] *= x[1:]
    b = np.linspace(0.0, 1.0, 4)
    b += a * x
    c = np.eye(4)
    c[0] += b
    c[:, 1] *= x
    d = np.diag(x)
    d2 = d.copy()
    d2[0, 1] = x[2]
    e = np.tile(x, 2)
    e[3] *= e[4]
    return np.sum(c * d2) + np.sum(e * e)


@program(normal(2, 3), normal(2, 3))
def concatenated_then_written(m, n):
    a = np.concatenate([m, n])
    a[1] *= a[2]
    b = np.stack([m, n])
    b[0, 1] = n[0]
    c = np.vstack([m, n])
    c[-1] += m[0]
    d = np.where(m > 0, m, n)
    d[0] *= d[1]
    return np.sum(a * c) + np.sum(b * b) + np.sum(d * m)


@program(normal(3))
def argument_scaled(x):
    x *= 2.0
    x[1] *= x[0]
    return np.sum(x * x)


@program(normal(4))
def argument_read_then_written(x):
    before = np.sum(x * x)
    x[0] = x[1] * x[2]
    x[1:3] = 0.5
    return before * np.sum(x)


@program(normal(4))
def argument_overwritten_entirely(x):
    x[:] = 1.0
    return np.sum(x)


@program(normal(3), normal(3))
def two_arguments_written(x, y):
    x += y
    y *= x
    x[0] = y[1]
    return np.sum(x * y)


@program(normal(3), normal(3))
def one_argument_written_from_the_other(out, x):
    for i in range(3):
        out[i] = math.sin(x[i]) * out[i]
    return np.sum(out * x)


@program(normal(3))
def argument_written_and_returned(x):
    x *= x
    return x


@program(normal(3, 3))
def view_of_argument_written(m):
    row = m[1]
    row *= m[0]
    m.T[2] += 1.0
    m.ravel()[0] *= 3.0
    return np.sum(m * m)


@program([1.0, 2.0, 3.0])
def list_argument_written(xs):
    xs[1] = xs[0] * xs[2]
    xs.append(xs[1] * 2.0)
    xs[0] *= xs[3]
    return sum(x * x for x in xs)


@program({"a": 1.0, "b": 2.0}, order=1)
def dict_argument_grown(table):
    table["a"] *= table["b"]
    table["c"] = table["a"] * 2.0
    return table["a"] * table["c"] + table["b"]


@program({"a": 1.0, "b": 2.0})
def dict_argument_written(table):
    table["a"] *= table["b"]
    table["b"] += table["a"] * 2.0
    return table["a"] * table["b"]


@program(lambda rng: {"w": rng.normal(size=3), "b": 0.5})
def dict_of_arrays_written(p):
    p["w"] *= p["b"]
    p["w"][0] = p["w"][1]
    p["b"] += np.sum(p["w"])
    return np.sum(p["w"] * p["w"]) * p["b"]


@program(lambda rng: [rng.normal(size=2), rng.normal(size=2)], order=1)
def list_of_arrays_written(xs):
    xs[0] *= xs[1]
    xs[1][0] = xs[0][1]
    xs[0], xs[1] = xs[1], xs[0]
    xs[0] += 1.0
    return np.sum(xs[0] * xs[1])


@program(lambda rng: [rng.normal(size=2), rng.normal(size=2)])
def arrays_of_a_list_written(xs):
    xs[0] *= xs[1]
    for x in xs:
        x[1] *= x[0]
    return np.sum(xs[0] * xs[1])


@program(lambda rng: {"w": rng.normal(size=3), "b": rng.normal(size=3)})
def arrays_of_a_dict_written(p):
    p["w"][0] *= p["b"][1]
    p["b"] *= p["w"]
    return np.sum(p["w"] * p["b"])


@program(0.3, (np.array([1.0, 2.0]), [0.4, 0.3]))
def parts_of_a_tuple_written(x, pair):
    pair[0][1] *= x
    pair[1][0] *= pair[0][1]
    return np.sum(pair[0]) * pair[1][0]


@program(normal(4), 0.5)
def captured_and_written(x, k):
    a = x * x

    def bump(i, amount):
        a[i] += amount * k

    bump(0, x[1])
    bump(2, a[0])
    return np.sum(a * x)


@program(normal(4))
def captured_and_written_in_a_loop(x):
    history = np.zeros((3, 4))
    state = x.copy()

    def step(n):
        state[1:] += 0.1 * state[:-1]
        history[n] = state

    for n in range(3):
        step(n)
    return np.sum(history * history)


@program(normal(4))
def captured_by_two_closures(x):
    a = x.copy()

    def double(i):
        a[i] *= 2.0

    def spread(i):
        a[i + 1] += a[i] * x[0]

    double(0)
    spread(0)
    double(1)
    spread(1)
    return np.sum(a * x)


@program(normal(4))
def captured_by_a_lambda(x):
    a = x.copy()
    f = lambda i: a[i] * x[i]
    first = f(0)
    a[0] = x[1]
    return first * f(0) * f(2)


GRID = np.linspace(0.0, 1.0, 5)


@program(0.3)
def global_array_copied(k):
    a = GRID.copy()
    a[1:] *= k
    a[0] = k
    return np.sum(a * a * GRID)


@program(normal(5))
def global_array_read(x):
    a = x * GRID
    a[0] = GRID[2] * x[1]
    return np.sum(a * GRID * a)


@program(normal(4), np.zeros(4))
def workspace_given(x, work):
    work[:] = x * x
    work[0] += work[1]
    return np.sum(work * x)


@program(normal(3), np.zeros((3, 3)))
def workspace_filled_by_elements(x, work):
    for i in range(3):
        for j in range(i + 1):
            work[i, j] = x[i] * x[j] + work[j, i]
    return np.sum(work * work)


@program(normal(3))
def single_precision_inside(x):
    a = np.zeros(3)
    a[:] = x
    b = np.zeros((3, 1))
    b[:, 0] = a * 2.0
    return np.sum(b * b)


@program(normal(4))
def zero_dimensional(x):
    total = np.zeros(())
    for value in x:
        total += value * value
    total[...] *= x[0]
    total[()] += x[1]
    return float(total) * x[2]


@program(normal(4))
def length_one(x):
    total = np.zeros(1)
    for i in range(4):
        total[0] += x[i] * total[0] + x[i]
    return total[0]


@program(0.3, 0.7)
def ranges(start, step):
    whole = np.arange(3) * start
    return np.sum(np.arange(start, 4.0, step) ** 2) + np.sum(np.arange(start, 3.5)) + np.sum(whole)


@program(normal(2, 3))
def shapes_in_lists(m):
    rows = m.shape[0]
    a = np.zeros([rows, m.shape[1]])
    b = np.empty(shape=[rows, 2])
    c = np.full([3], 2.0)
    a[:, :2] += m[:, 1:]
    b[...] = m[:, :2]
    return np.sum(a * m) + np.sum(np.ones([rows, 1]) * b * b) + np.sum(c * m)


@program(normal(3, 4))
def grids_in_brackets(m):
    rows, columns = np.mgrid[0 : m.shape[0], 0 : m.shape[1]]
    i, j = np.ogrid[1:3, 0:4:2]
    scaled = m * np.exp(-0.1 * rows * columns)
    return np.sum(scaled * scaled) + np.sum(m[i, j] * (i + j)) + np.sum(np.mgrid[:4] * m)


@program(normal(2))
def grids_between_what_varies(x):
    grid = np.mgrid[x[0] : x[1] : 5j, -1.0:1.0:0.5]
    return np.sum(np.sin(grid[0]) * grid[1] ** 2) * x[0]
