"""Lists that grow, shrink and are collected in loops."""

import math

import numpy as np

from programs.registry import program


@program(1.5)
def append_then_sum(x):
    ys = []
    for i in range(4):
        ys.append(x**i)
    return sum(ys)


@program(1.5)
def append_then_loop(x):
    ys = []
    for i in range(4):
        ys.append(math.sin(x * i))
    total = 0.0
    for y in ys:
        total += y * y
    return total


@program(1.5)
def trajectory(x):
    path = [x]
    for i in range(4):
        path.append(path[-1] * 0.9 + math.sin(path[-1]))
    return path[-1] * path[1]


@program(1.5)
def path_from_a_fixed_point(x):
    a, b = 2.0, 3.0
    points = [(a, b)]
    for _ in range(3):
        a, b = a * x, b + x
        points.append((a, b))
    total = 0.0
    for i in range(len(points)):
        u, v = points[i]
        total += u * v
    return total


@program(1.5)
def path_from_a_constant(x):
    points = [(2.0, 3.0)]
    for i in range(3):
        points.append((x, x * 2 + i))
    total = 0.0
    for i in range(len(points)):
        u, v = points[i]
        total += u * v
    return total


@program(1.5)
def rows_beside_a_fixed_one(x):
    rows = [[1.0, 2.0]]
    for i in range(3):
        rows.append([x, x * i])
    total = 0.0
    for i in range(len(rows)):
        total += rows[i][0] * rows[i][1]
    return total


@program([1.0, 2.0, 3.0])
def running_sums(xs):
    sums = []
    total = 0.0
    for x in xs:
        total += x
        sums.append(total * total)
    return sums


@program(1.5)
def append_pairs(x):
    pairs = []
    for i in range(3):
        pairs.append((x * i, x**i))
    return sum(a * b for a, b in pairs)


@program(1.5)
def stack_push_pop(x):
    stack = [x]
    for i in range(3):
        top = stack.pop()
        stack.append(top * x)
        stack.append(top + i)
    return stack[0] * stack[-1]


@program(1.5)
def stack_that_is_popped_before_it_grows(x):
    stack, total = [], 0.0
    for i in range(5):
        while len(stack) > 1:
            total += stack.pop() * i
        stack.append(x * i)
    return total


@program(1.5)
def append_conditionally(x):
    ys = []
    for i in range(6):
        if i % 2 == 0:
            ys.append(x * i)
        elif x * i > 4.0:
            ys.append(x * x)
    return sum(ys) * len(ys)


@program(1.5)
def list_of_rows(x):
    rows = []
    for i in range(3):
        row = []
        for j in range(2):
            row.append(x**i * (j + 1))
        rows.append(row)
    return rows[2][1] * rows[1][0] + rows[0][0]


@program(1.5)
def extend(x):
    ys = [x]
    ys.extend([x * x, x**3])
    ys += [2.0 * x]
    return ys[1] * ys[2] * ys[3]


@program(1.5)
def overwrite_appended(x):
    ys = []
    for i in range(3):
        ys.append(x)
    for i in range(3):
        ys[i] = ys[i] * (i + 1) * ys[0]
    return ys[0] * ys[1] * ys[2]


def fill(out, x, n):
    for i in range(n):
        out.append(x * (i + 1))


@program(1.5)
def filled_by_callee(x):
    out = []
    fill(out, x, 3)
    return out[0] * out[2]


@program(lambda rng: rng.normal(size=4))
def collect_into_array(x):
    ys = []
    for i in range(len(x)):
        ys.append(x[i] * x[i - 1])
    return np.sum(np.array(ys) ** 2)


@program(lambda rng: rng.normal(size=(3, 2)))
def stack_of_rows(m):
    rows = []
    for row in m:
        rows.append(np.tanh(row))
    return np.sum(np.stack(rows) * m)


@program(1.5)
def appended_while(x):
    ys = [x]
    while ys[-1] < 20.0:
        ys.append(ys[-1] * x + 1.0)
    return ys[-1] + len(ys) * ys[1]


@program([0.4, 0.1, 0.9])
def bubble_sort(xs):
    ys = list(xs)
    for i in range(len(ys)):
        for j in range(len(ys) - 1 - i):
            if ys[j] > ys[j + 1]:
                ys[j], ys[j + 1] = ys[j + 1], ys[j]
    return ys[0] + 10.0 * ys[1] * ys[2]


@program(0.3)
def dynamic_programming(x):
    table = [1.0, x]
    for n in range(2, 8):
        table.append(((2 * n - 1) * x * table[n - 1] - (n - 1) * table[n - 2]) / n)
    return table[7]
