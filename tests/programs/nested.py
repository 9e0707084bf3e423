"""Loops over containers and arrays, and control flow inside control flow."""

import itertools
import math

import numpy as np

from programs.registry import program


@program([0.5, 1.5, 2.0])
def over_list(xs):
    total = 0.0
    for x in xs:
        total += x * x
    return total


@program((0.5, 1.5, 2.0))
def over_tuple(xs):
    total = 1.0
    for x in xs:
        total *= x
    return total


@program(np.array([0.5, 1.5, 2.0]))
def over_array(xs):
    total = 0.0
    for x in xs:
        total += math.sin(x) * x
    return total


@program(lambda rng: rng.normal(size=(3, 4)))
def over_rows(m):
    total = 0.0
    for row in m:
        total += np.sum(row) * row[0]
    return total


@program(lambda rng: rng.normal(size=(3, 4)))
def over_rows_and_elements(m):
    total = 0.0
    for row in m:
        for x in row:
            total += x**3
    return total


@program([0.5, 1.5, 2.0])
def over_enumerate(xs):
    total = 0.0
    for i, x in enumerate(xs):
        total += i * x * x
    return total


@program(np.array([0.5, 1.5, 2.0]))
def over_enumerate_start(xs):
    total = 0.0
    for k, x in enumerate(xs, start=1):
        total += x**k
    return total


@program([0.5, 1.5, 2.0], [1.0, -1.0, 3.0])
def over_zip(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        total += x * y * y
    return total


@program([0.5, 1.5, 2.0], np.array([1.0, -1.0, 3.0]))
def over_neighbours(xs, ys):
    total = 0.0
    for x, after in itertools.pairwise(xs):
        total += x * after * after
    return total + sum(a * b for a, b in itertools.pairwise(ys))


@program(np.array([0.5, 1.5]), [1.0, -1.0], (2.0, 3.0))
def over_zip_mixed(xs, ys, zs):
    total = 0.0
    for x, y, z in zip(xs, ys, zs, strict=True):
        total += x * y * z + x
    return total


@program([0.5, 1.5, 2.0], [1.0, -1.0, 3.0])
def over_enumerate_zip(xs, ys):
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys)):
        total = total * 0.5 + (i + 1) * x * y
    return total


@program([0.5, 1.5, 2.0])
def over_reversed(xs):
    y = 1.0
    for x in reversed(xs):
        y = y * x + x
    return y


@program(np.array([0.5, 1.5, 2.0]))
def over_reversed_array(xs):
    y = 1.0
    for x in xs[::-1]:
        y = y * x + x
    return y


@program({"a": 0.5, "b": 2.0})
def over_dict_items(params):
    total = 0.0
    for name, value in params.items():
        if name == "a":
            total += value
        else:
            total += value**3
    return total


@program({"a": 0.5, "b": 2.0})
def over_dict_values(params):
    total = 1.0
    for value in params.values():
        total = total * value + value
    return total


@program({"a": 0.5, "b": 2.0})
def over_dict_keys(params):
    total = 0.0
    for name in params:
        total += params[name] ** 2
    return total


@program(0.5)
def over_constants(x):
    y = 0.0
    for c in (1.0, -2.0, 3.0):
        y = y * x + c
    return y


@program(0.5)
def over_names(x):
    y = x
    for name in ["double", "square", "double"]:
        if name == "double":
            y = 2.0 * y
        else:
            y = y * y
    return y


@program([[1.0, 2.0], [3.0, 4.0]])
def over_nested_lists(rows):
    total = 0.0
    for row in rows:
        product = 1.0
        for value in row:
            product *= value
        total += product
    return total


@program([(1.0, 2.0), (3.0, 4.0)])
def over_pairs(pairs):
    total = 0.0
    for a, b in pairs:
        total += a * b * b
    return total


@program(0.3)
def triple_nest(x):
    total = 0.0
    for i in range(2):
        for j in range(i, 3):
            k = 0
            while k <= j:
                total += x ** (i + 1) * (j + k)
                k += 1
        total *= x
    return total


@program(0.3)
def branch_in_loop_in_branch(x):
    if x > 0:
        for i in range(4):
            if i == 2:
                x = x * x
            elif x < 0.2:
                x = x + 0.3
            else:
                x = math.sin(x) * 1.5
    else:
        while x < 0:
            x += 1.0
    return x


@program(0.3)
def loop_after_loop(x):
    y = x
    for _ in range(3):
        y = y * x + 1.0
    z = y
    for _ in range(2):
        z = z * y - x
    return z


@program(lambda rng: rng.normal(size=5), lambda rng: rng.normal(size=3))
def convolution(signal, kernel):
    total = 0.0
    for i in range(len(signal) - len(kernel) + 1):
        acc = 0.0
        for j in range(len(kernel)):
            acc += signal[i + j] * kernel[j]
        total += acc * acc
    return total


@program(lambda rng: rng.normal(size=(3, 3)))
def determinant_by_rule(m):
    total = 0.0
    for j in range(3):
        total += m[0, j] * (m[1, (j + 1) % 3] * m[2, (j + 2) % 3] - m[1, (j + 2) % 3] * m[2, (j + 1) % 3])
    return total


@program(lambda rng: rng.normal(size=(4, 2)))
def pairwise_energy(points):
    n = points.shape[0]
    energy = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            d = points[i] - points[j]
            r2 = d @ d
            energy += 1.0 / r2 - 1.0 / math.sqrt(r2)
    return energy


@program(lambda rng: rng.normal(size=(3, 4)))
def viterbi_like(scores):
    best = [scores[0, k] for k in range(4)]
    for t in range(1, 3):
        best = [max(best[j] - 0.1 * (j - k) ** 2 for j in range(4)) + scores[t, k] for k in range(4)]
    return max(best)
