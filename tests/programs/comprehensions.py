"""Comprehensions, generator expressions and the built-ins that consume them."""

import math

import numpy as np

from programs.registry import program


@program([0.5, 1.5, 2.0])
def list_comprehension(xs):
    return [x * x for x in xs]


@program([0.5, 1.5, 2.0])
def sum_of_comprehension(xs):
    return sum([x * x for x in xs])


@program([0.5, 1.5, 2.0])
def sum_of_generator(xs):
    return sum(math.sin(x) for x in xs)


@program([0.5, 1.5, 2.0])
def sum_with_start(xs):
    return sum((x for x in xs), 10.0) * xs[0]


@program([0.5, -1.5, 2.0])
def filtered(xs):
    return sum(x * x for x in xs if x > 0)


@program([0.5, -1.5, 2.0])
def conditional_element(xs):
    return sum([x * x if x > 0 else -x for x in xs])


@program(np.array([0.5, -1.5, 2.0]))
def over_array_elements(xs):
    return sum(x * x * x for x in xs)


@program(0.5)
def over_range(x):
    return sum(x**i for i in range(5))


@program([1.0, 2.0], [3.0, 4.0])
def two_for_clauses(xs, ys):
    return sum(x * y * y for x in xs for y in ys)


@program([[1.0, 2.0], [3.0, 4.0]])
def flattened(rows):
    flat = [value for row in rows for value in row]
    return flat[0] * flat[3] - flat[1] * flat[2]


@program([[1.0, 2.0], [3.0, 4.0]])
def nested_comprehension(rows):
    transposed = [[row[j] for row in rows] for j in range(2)]
    return sum(t[0] * t[1] ** 2 for t in transposed)


@program({"a": 1.0, "b": 2.0})
def dict_comprehension(params):
    return {name: value**2 for name, value in params.items()}


@program({"a": 1.0, "b": 2.0})
def dict_comprehension_used(params):
    squares = {name + "2": value**2 for name, value in params.items()}
    return squares["a2"] * squares["b2"]


@program([1.0, 2.0, 3.0], [0.3, 0.2, 0.1])
def dot_by_zip(xs, ws):
    return sum(x * w for x, w in zip(xs, ws))


@program([1.0, 2.5, 2.0])
def max_of_generator(xs):
    return max(x * x for x in xs) * min(x for x in xs)


@program([1.0, 2.5, 2.0])
def max_of_list(xs):
    return max(xs) * 2.0 - min(xs)


@program([1.0, 2.5, 2.0])
@program([1.0, -2.5, 2.0])
def all_any(xs):
    if all(x > 0 for x in xs):
        return math.log(xs[1])
    if any([x > 1.5 for x in xs]):
        return xs[1] * xs[2]
    return xs[0]


@program([1.0, 2.5, 2.0])
def sum_of_list(xs):
    return sum(xs) / len(xs)


@program([1.0, 2.5, 2.0])
def mean_and_variance(xs):
    mean = sum(xs) / len(xs)
    variance = sum((x - mean) ** 2 for x in xs) / (len(xs) - 1)
    return mean, variance


@program([1.0, 2.5, 2.0])
def tuple_of_generator(xs):
    a, b, c = tuple(x * x for x in xs)
    return a * b - c


@program([1.0, 2.5, 2.0])
def map_with_lambda(xs):
    return sum(map(lambda x: x * x, xs))


@program([1.0, 2.5, 2.0])
def list_of_map(xs):
    ys = list(map(math.exp, xs))
    return ys[0] * ys[2]


@program([1.0, 2.5, 2.0])
def enumerate_in_comprehension(xs):
    return sum(i * x**2 for i, x in enumerate(xs))


@program([0.2, 0.5, 0.3])
def entropy(ps):
    total = sum(ps)
    return -sum(p / total * math.log(p / total) for p in ps)


@program([0.2, 0.5, 0.3])
def log_sum_exp(xs):
    m = max(xs)
    return m + math.log(sum(math.exp(x - m) for x in xs))


@program([0.2, 0.5, 0.3])
def softmax_list(xs):
    es = [math.exp(x) for x in xs]
    z = sum(es)
    return [e / z for e in es]


@program([0.2, 0.5, 0.3])
def inactive_comprehension(xs):
    indices = [i for i in range(len(xs)) if i != 1]
    return xs[indices[0]] * xs[indices[1]]


@program(0.4)
def walrus_in_comprehension(x):
    ys = [y * y for i in range(4) if (y := x * i) > 0.5]
    return sum(ys)


@program([3.0, 1.0, 2.0])
def sorted_values(xs):
    ordered = sorted(xs)
    return ordered[0] + 2.0 * ordered[1] + 3.0 * ordered[2] ** 2


@program([3.0, 1.0, 2.0])
def gauss_quadrature(cs):
    nodes = [-math.sqrt(0.6), 0.0, math.sqrt(0.6)]
    weights = [5 / 9, 8 / 9, 5 / 9]
    return sum(w * math.exp(cs[0] * t) * (cs[1] + cs[2] * t) ** 2 for w, t in zip(weights, nodes))


# Variables that are assigned inside


@program([0.5, 1.5, 2.0])
def assigned_in_a_comprehension(xs):
    pairs = [(double := x * 2, double**2) for x in xs]
    return sum(a * b for a, b in pairs) + double


@program([0.5, 1.5, 2.0])
def running_sums_in_a_comprehension(xs):
    total = 0.0
    sums = [total := total + x * x for x in xs]
    return total * sums[1]


@program([0.5, 1.5, 2.0])
def assigned_in_conditions_and_tables(xs):
    large = [y * x for x in xs if (y := x * x) > 1.0]
    table = {i: (last := x * y) for i, x in enumerate(xs)}
    return sum(large) * last + table[0] + max((z := x) for x in xs) * z


@program([1.5, -2.0, 0.75])
def tested_where_the_first_is_known(x):
    log = []

    def noted(v):
        log.append(v)
        return v

    values = [noted(v) for k, v in enumerate([x[0], x[1]]) if k == 0 or x[2] > 0]
    return sum(values) * x[2] + 10.0 * sum(log)


@program([1.5, -2.0, 0.75])
def tested_only_behind_what_is_passed(x):
    return x[0] * sum([v for v in ("a", x[1], x[2]) if not isinstance(v, str) if v > 0])
