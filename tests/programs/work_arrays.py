"""Arrays that loops fill anew in each iteration, and such as only look like it; counters; sums in all orders."""

import math

import numpy as np

from programs.registry import program


def vector(n):
    return lambda rng: rng.uniform(0.5, 1.5, n)


def matrix(n, m):
    return lambda rng: rng.uniform(0.5, 1.5, (n, m))


@program(matrix(4, 3), vector(3))
def filled_and_read(points, w):
    centred = np.empty(3)
    total = 0.0
    for i in range(points.shape[0]):
        for j in range(3):
            centred[j] = points[i, j] - w[j]
        for j in range(3):
            total += centred[j] * centred[2 - j]
    return total


@program(matrix(4, 3), vector(3))
def packed_triangle(x, w):
    scaled = np.empty(3)
    packed = w * w
    total = 0.0
    for i in range(x.shape[0]):
        for j in range(3):
            scaled[j] = x[i, j]
        place = 0
        for j in range(3):
            for row in range(j + 1, 3):
                scaled[row] += packed[place] * scaled[j]
                place += 1
        norm = 0.0
        for j in range(3):
            norm += scaled[j] ** 2
        total += math.log(norm)
    return total


@program(matrix(4, 3))
def only_partly_filled(x):
    work = np.zeros(3)
    total = 0.0
    for i in range(4):
        for j in range(2):
            work[j] = x[i, j]
        total += work[0] * work[1] * (1.0 + work[2])
        work[2] = x[i, 2]
    return total


@program(matrix(4, 3))
def filled_under_a_condition(x):
    work = np.zeros(3)
    total = 0.0
    for i in range(4):
        for j in range(3):
            if x[i, j] > 0.9:
                work[j] = x[i, j]
        total += work[0] * work[1] + work[2]
    return total


@program(matrix(4, 3))
def read_after_the_loop(x):
    work = np.empty(3)
    total = 0.0
    for i in range(4):
        for j in range(3):
            work[j] = x[i, j] ** 2
        total += work[0] * work[1]
    return total + work[2]


@program(matrix(4, 3))
def filled_in_a_loop_that_does_not_run(x):
    work = np.ones(3)
    total = 0.0
    for i in range(4):
        for j in range(i - 3):
            work[j] = x[i, j] * 2.0
        total += work[0] * x[i, 0]
    return total


@program(matrix(4, 3))
def rows_of_a_work_array(x):
    work = np.empty((4, 3))
    total = 0.0
    for k in range(2):
        for i in range(4):
            for j in range(3):
                work[i, j] = x[i, j] ** (k + 2)
        for i in range(1, 4):
            total += work[i, 0] * work[i - 1, 2]
    return total


@program(vector(5))
def prefix_sums_in_place(x):
    y = x * 2.0
    for i in range(1, 5):
        y[i] += y[i - 1] * x[i]
    total = 0.0
    for i in range(5):
        total += y[i] * y[4 - i]
    return total


@program(vector(5), vector(5))
def one_place_added_to(x, y):
    sums = np.zeros(3)
    for i in range(3):
        for j in range(5):
            sums[i] += x[j] * y[j] ** i
        sums[2] += sums[i] ** 2
    return sums[0] * sums[1] * sums[2]


@program(vector(5))
def place_of_an_empty_loop(x):
    sums = np.ones(2)
    place = 7
    for j in range(int(x[0]) - 1):
        sums[place] += x[j]
    return sums[0] * x[1] + sums[1] * x[2] ** 2


@program(vector(6))
def counters_up_and_down(x):
    total, up, down = 0.0, 0, 5
    for i in range(3):
        for j in range(i + 1):
            total += x[up] * x[down] ** (j + 1)
            if j % 2 == 0:
                total *= 1.1
        up += 2
        down -= 1
    return total


@program(matrix(5, 2))
def nearest(points):
    total = 0.0
    for i in range(5):
        best = math.inf
        for c in range(2):
            distance = 0.0
            for j in range(2):
                difference = points[i, j] - points[c, j] * 1.5
                distance += difference * difference
            if distance < best:
                best = distance
        total += best
    return total


@program(matrix(3, 4), vector(4))
def rows_by_name(a, w):
    total = 0.0
    for i in range(3):
        row = a[i]
        part = 0.0
        for j in range(4):
            part += row[j] * row[j] * w[j]
        total += part * np.sum(row)
    return total


@program(vector(4), vector(4))
def steps_with_new_arrays(x, y):
    state = x
    for k in range(3):
        found = np.empty(4)
        found[0] = state[0] * y[0]
        for i in range(1, 4):
            found[i] = y[i] * state[i - 1]
        state = state + 0.5 * found
    return np.sum(state * state)


@program(vector(4))
def carried_and_summed(x):
    speed, place, total = 0.0, 1.0, 0.0
    work = np.empty(4)
    for k in range(4):
        for i in range(4):
            work[i] = math.sin(place * x[i])
        speed += work[k] * work[3 - k]
        place += 0.1 * speed
        total += place * place
    return total


@program(matrix(4, 3))
def left_early(x):
    work = np.empty(3)
    total = 0.0
    for i in range(4):
        for j in range(3):
            work[j] = x[i, j] * (i + 1)
        if work[0] > 2.5:
            break
        total += work[1] * work[2]
    return total


@program(matrix(4, 5), matrix(4, 5), matrix(4, 5), 2)
def fields_in_turns(ex, ey, hz, steps):
    for _ in range(steps):
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])
    return np.sum(ex * ex) + np.sum(ey * hz)


@program(matrix(5, 5), 5)
def swept_by_columns(u, n):
    p, q = np.zeros(u.shape), np.zeros(u.shape)
    for j in range(1, n - 1):
        p[1 : n - 1, j] = 0.3 / (0.2 * p[1 : n - 1, j - 1] + 2.0)
        right = 0.4 * u[j, 0 : n - 2] + 0.2 * u[j, 1 : n - 1] - 0.3 * u[j, 2:n]
        q[1 : n - 1, j] = (right - 0.2 * q[1 : n - 1, j - 1]) / (0.2 * p[1 : n - 1, j - 1] + 2.0)
    for j in range(n - 2, 0, -1):
        u[1 : n - 1, j] = p[1 : n - 1, j] * u[1 : n - 1, j + 1] + q[1 : n - 1, j]
    return np.sum(u * u)


@program(matrix(4, 3), matrix(4, 3))
def sums_on_an_argument(x, y):
    s = x
    for i in range(4):
        s = y * i + s
    return np.sum(s * x)


@program(matrix(4, 3), matrix(4, 3))
def sums_in_two_loops(x, y):
    s = x
    for i in range(2):
        for j in range(3):
            s = s + y * (i + j)
        s = s + x
    return np.sum(s * x)
