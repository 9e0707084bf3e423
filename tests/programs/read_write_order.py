"""Reads before and after writes, branches, `while`, functions that write, the same array twice."""

import math

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(3))
def read_write_read(x):
    a = x.copy()
    before = a[0] * a[1]
    a[0] = x[2] * x[1]
    after = a[0] * a[1]
    a[1] = before
    return before * after + a[1] * a[0]


@program(normal(3))
def overwritten_value_is_needed(x):
    a = x.copy()
    s = math.sin(a[0])
    a[0] = s * a[0]
    e = math.exp(a[0])
    a[0] = e * e * a[0]
    return a[0] * s


@program(normal(3))
def whole_array_operation_before_the_write(x):
    a = x.copy()
    b = np.sin(a) * a
    a[:] = b * a
    c = a * a
    a[0] = 0.0
    return np.sum(b * c + a)


@program(normal(4))
def value_taken_out_before_the_write(x):
    a = x.copy()
    saved = a[2]
    part = a[:2].copy()
    a *= 2.0
    a[2] = saved * a[1]
    return np.sum(a * x) * np.sum(part) * saved


@program(normal(4))
def same_element_many_times(x):
    a = np.zeros(2)
    for i in range(4):
        a[0] = a[0] * x[i] + x[i]
        a[1] = a[0] * a[1] + 1.0
        a[0] += a[1]
    return a[0] * a[1]


@program(normal(4), True)
@program(normal(4), False)
def written_in_one_branch(x, flag):
    a = x.copy()
    if flag:
        a[1] = a[0] * x[2]
        a *= 2.0
    return np.sum(a * x)


@program(normal(6))
def written_in_a_branch_of_a_loop(x):
    a = x.copy()
    for i in range(1, 6):
        if x[i] > 0:
            a[i] *= a[i - 1]
        elif x[i] < -0.5:
            a[i - 1] = a[i] * x[0]
    return np.sum(a * x)


@program(normal(4), 1.5)
@program(normal(4), -1.5)
def array_replaced_in_one_branch(x, k):
    a = x.copy()
    b = a
    if k > 0:
        a = a * k
        a[0] = 1.0
    a[1] *= 2.0
    return np.sum(a * b * x)


@program(normal(4), 1.5)
@program(normal(4), -1.5)
def array_made_in_one_branch(x, k):
    if k > 0:
        a = np.zeros(4)
        a[1:] = x[1:] * k
    else:
        a = x * k
        a[0] = k
    a[2] += x[0]
    return np.sum(a * x)


@program(normal(4), 1.5)
@program(normal(4), -1.5)
def alias_in_one_branch(x, k):
    a, b = x.copy(), x * 2.0
    c = a if k > 0 else b
    c[0] = x[1] * k
    c *= 2.0
    return np.sum(a * b)


@program(normal(4))
def early_return_after_a_write(x):
    a = x.copy()
    a[0] *= 2.0
    if a[0] > 10.0:
        return np.sum(a)
    a[1] = a[0] * x[1]
    if a[1] < 10.0:
        return np.sum(a * a)
    a[2] = 0.0
    return a[2]


@program(normal(5))
def loop_left_after_a_write(x):
    a = x.copy()
    for i in range(4):
        a[i + 1] += a[i] * x[i]
        if abs(a[i + 1]) > 0.8:
            a[0] = a[i + 1] * 2.0
            break
        if i == 1:
            continue
        a[i] *= 0.5
    else:
        a[-1] = 0.0
    return np.sum(a * x)


@program(normal(3))
def written_in_a_while_loop(x):
    a = x.copy()
    n = 0
    while np.sum(a * a) > 0.05:
        a *= 0.7
        a[n % 3] -= 0.1 * a[(n + 1) % 3]
        n += 1
    return np.sum(a * x)


@program(1.7)
def while_loop_over_elements(k):
    a = np.ones(6)
    i = 0
    while a[i] < 5.0 and i < 5:
        a[i + 1] = a[i] * k
        i += 1
    return a[i] * a[1]


@program(normal(4))
def two_pointers(x):
    a = x.copy()
    i, j = 0, len(a) - 1
    while i < j:
        a[i], a[j] = a[j] * x[i], a[i]
        i += 1
        j -= 1
    return np.sum(a * x)


def relax(a, k):
    for i in range(1, len(a)):
        a[i] += k * a[i - 1]


@program(normal(4), 0.3)
def function_called_several_times(x, k):
    a = x.copy()
    relax(a, k)
    relax(a, a[1])
    for _ in range(2):
        relax(a, k * k)
    return np.sum(a * x)


@program(normal(4), 0.3)
def function_called_on_several_arrays(x, k):
    a, b = x.copy(), x * x
    for array in (a, b, a):
        relax(array, k)
    for array in [a, b]:
        relax(array[::-1], k)
    return np.sum(a * b)


def axpy(out, k, y):
    for i in range(len(out)):
        out[i] += k * y[i]


@program(normal(4), 0.3)
def the_same_array_twice(x, k):
    a = x.copy()
    axpy(a, k, a)
    axpy(a, a[0], a)
    return np.sum(a * x)


def shift_into(out, y):
    for i in range(1, len(out)):
        out[i] = 2.0 * y[i - 1]
    out[0] = y[-1]


@program(normal(4))
def the_same_array_twice_with_dependence(x):
    a = x.copy()
    shift_into(a, a)
    b = x.copy()
    shift_into(b, x)
    shift_into(b[1:], b[:-1])
    return np.sum(a * b)


def swap_parts(a, b):
    for i in range(len(a)):
        a[i], b[i] = b[i], a[i]


@program(normal(6))
def overlapping_views_of_one_array_handed_over(x):
    a = x.copy()
    swap_parts(a[:3], a[3:])
    swap_parts(a[:3], a[1:4])
    return np.sum(a * x)


def normalise(a):
    a -= np.mean(a)
    return a


@program(normal(4))
def function_writes_and_returns_its_argument(x):
    a = x * x
    b = normalise(a)
    b[0] *= 3.0
    return np.sum(a * b)


def filled(n, value):
    a = np.empty(n)
    a.fill(value)
    return a


@program(normal(4), 0.6)
def function_makes_and_returns(x, k):
    a = filled(4, k)
    b = filled(4, k * k)
    a[1:] *= x[1:]
    b += a
    return np.sum(a * b)


def maybe_copy(a, flag):
    return a.copy() if flag else a


@program(normal(4), True)
@program(normal(4), False)
def function_returns_argument_or_copy(x, flag):
    a = x * 1.0
    b = maybe_copy(a, flag)
    b[0] = x[1] * x[2]
    b *= 2.0
    return np.sum(a * b * x)


@program(normal(4))
def result_read_before_the_argument_is_cleared(x):
    def energy(a):
        return np.sum(np.sin(a) * a)

    a = x * 1.0
    y = energy(a)
    a[0] = 0.0
    z = energy(a)
    a[:] = 1.0
    return y * z


@program(normal(4))
def value_of_an_array_kept_in_tuples(x):
    a = x.copy()
    pair = (a, a[0])
    a[0] = x[1] * x[2]
    same, number = pair
    same[1] *= number
    return np.sum(a * x) * number


@program(normal(4))
def same_array_in_two_names_of_a_loop(x):
    u = x.copy()
    v = u
    for i in range(3):
        u[i] += v[i + 1]
        v[i + 1] *= u[i]
        if i == 1:
            v = v.copy()
    return np.sum(u * v)


@program(normal(5), np.array([True, False, True, True, False]))
def buffers_swapped_by_condition(x, flags):
    u, v = x.copy(), x * 0.5
    for k in range(5):
        u, v = (v, u) if flags[k] else (u, v)
        u[k] += v[k] * x[0]
        v *= 0.9
    return np.sum(u * x) + v[2]


@program(normal(4))
def inactive_array_becomes_active(x):
    a = np.zeros(4)
    a[0] = 3.0
    first = a[0] * x[0]
    a[1] = x[1]
    a[0] = a[1] * a[0]
    a[2] = 5.0
    return first + np.sum(a * x)


@program(normal(4))
def active_array_becomes_inactive(x):
    a = x * x
    total = np.sum(a)
    a[:] = 0.0
    a[1] = 2.0
    return total * x[0] + np.sum(a * x)


@program(normal(4))
def array_written_but_never_read(x):
    a = x.copy()
    log = np.zeros(10)
    for i in range(3):
        log[i] = a[i] * 2.0
        a[i + 1] += a[i]
    return np.sum(a * x)


@program(normal(4))
def assertion_and_print_between(x):
    a = x.copy()
    a[0] *= 2.0
    assert a.shape == (4,)
    if not np.all(np.isfinite(a)):
        raise ValueError("not finite")
    a[1] += a[0]
    return np.sum(a * x)


@program(normal(4))
def two_stores_of_one_statement(x):
    a = np.zeros(4)
    b = np.zeros(4)
    a[0] = b[1] = x[0] * x[1]
    a[2], b[3] = x[2], a[0]
    a[3] = a[1] = b[3] * 2.0
    return np.sum(a * x) + np.sum(b * b)


@program(normal(2, 2))
def recursion_on_an_array(m):
    def power(a, n):
        if n == 0:
            return
        a[0] += a[1] * 0.5
        a[1, 1] *= a[0, 0]
        power(a, n - 1)
        a *= 0.9

    a = m.copy()
    power(a, 3)
    return np.sum(a * m)


@program(normal(4))
def comprehension_that_reads_while_written(x):
    a = x.copy()
    parts = [a[i] * x[i] for i in range(4)]
    a[:] = parts
    more = [a[i] * v for i, v in enumerate(parts)]
    a[0] = sum(more)
    return np.sum(a * x)


@program(lambda rng: rng.normal(size=4))
def places_change_between_reads(x):
    places = np.array([0, 1, 2])
    z = x * 2.0
    for k in range(3):
        z[places] += x[places] * x[k]
        places[k] = 3
    return np.sum(z * x)


@program(lambda rng: rng.uniform(0.1, 0.9, size=4))
def masks_change_between_reads(x):
    mask = np.array([True, False, True, False])
    z = x * 2.0
    few = z[mask]
    mask[1] = True
    for k in range(3):
        z[mask] = z[mask] * x[mask] + x[k]
        mask[k] = not mask[k]
    return np.sum(z * x) + np.sum(few) * np.sum(z[mask])


@program(lambda rng: rng.normal(size=(3, 4)))
def parts_selected_by_masks(m):
    z = m * m
    chosen = z > 0.2
    z[chosen] = np.sin(z[chosen]) * m[chosen]
    rows = np.sum(z, axis=1) > 0.5
    return np.sum(z[rows] * m[rows]) + np.sum(z[:, rows.nonzero()[0]])
