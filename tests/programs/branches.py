"""Conditions: statements, expressions, chains, short circuits."""

import math

import numpy as np

from programs.registry import program


@program(2.0)
@program(-2.0)
def if_else(x):
    if x > 0:
        y = x * x
    else:
        y = -3.0 * x
    return y


@program(2.0)
@program(-2.0)
def if_without_else(x):
    y = x * x
    if x > 0:
        y = y * x
    return y


@program(0.5)
@program(1.5)
@program(2.5)
def elif_chain(x):
    if x < 1.0:
        return x
    elif x < 2.0:
        return x * x
    else:
        return x**3


@program(0.5)
@program(2.5)
def early_return(x):
    if x < 1.0:
        return math.sin(x)
    y = x * x
    return y + 1.0


@program(2.0, 3.0)
@program(-2.0, 3.0)
def nested_branches(x, y):
    if x > 0:
        if y > 10.0:
            z = x * y
        else:
            z = x + y * y
        z = z * x
    else:
        z = y - x
        if z > 4.0:
            return z * z
    return z


@program(2.0)
@program(-2.0)
def defined_in_one_branch(x):
    if x > 0:
        scale = 3.0 * x
    y = x * x
    if x > 0:
        y = y * scale
    return y


@program(2.0)
@program(-2.0)
def ternary(x):
    return x * x if x > 0 else -x


@program(0.5)
@program(1.5)
def nested_ternary(x):
    return (x if x < 0.2 else x * x) if x < 1.0 else (x**3 if x < 2.0 else 0.0)


@program(0.5)
@program(3.0)
def chained_comparison(x):
    if 0.0 < x < 1.0:
        return x * x
    return 2.0 * x


@program(0.5, 2.0)
@program(-0.5, 2.0)
@program(0.5, -2.0)
def and_or(x, y):
    if x > 0 and y > 0:
        return x * y
    if x > 0 or y > 0:
        return x - y * y
    return x


@program(0.5)
def or_as_value(x):
    return (x or 2.0) * 3.0 + (x and 4.0)


@program(1.5)
@program(-1.5)
def not_condition(x):
    if not x > 0:
        return -x * x
    return x**3


@program(1.5)
def walrus(x):
    if (y := x * x) > 1.0:
        return y * x
    return y


@program(0.3)
@program(1.7)
@program(-1.7)
def huber(r):
    delta = 1.0
    a = abs(r)
    if a <= delta:
        loss = 0.5 * r * r
    else:
        loss = delta * (a - 0.5 * delta)
    return loss


@program(2.0, "square")
@program(2.0, "cube")
@program(2.0, "other")
def branch_on_string(x, kind):
    if kind == "square":
        return x * x
    elif kind in ("cube", "third"):
        return x**3
    return x


@program(2.0, True)
@program(2.0, False)
def branch_on_flag(x, flag):
    y = math.exp(x) if flag else math.log(x)
    return y * x


@program(2.0, 0)
@program(2.0, 1)
@program(2.0, 2)
def branch_on_integer(x, n):
    if n == 0:
        return 1.0
    if n % 2 == 0:
        y = x * x
    else:
        y = x
    return y * n


@program(2.0, None)
@program(2.0, 3.0)
def optional_argument(x, y):
    if y is None:
        y = 10.0
    return x * y


@program(2.0, 3.0)
@program(3.0, 2.0)
def branch_swaps(x, y):
    if x > y:
        x, y = y, x
    return x * x - y


@program(lambda rng: rng.normal(size=4))
def branch_on_array_sum(x):
    if np.sum(x) > 0:
        y = np.sin(x)
    else:
        y = np.cos(x)
    return np.sum(y * x)


@program(2.0)
def branch_of_constant(x):
    debug = False
    if debug:
        x = x * math.nan
    return x * x


@program(2.0)
def active_on_one_side_only(x):
    if x > 1.0:
        y = 5.0
    else:
        y = x
    return y * x


@program(1.0, 2.0)
@program(1.0, 0.5)
def both_sides_assign_many(x, y):
    if x < y:
        a, b = x * y, x
    else:
        a, b = y, x * x
    return a * b


@program(3.0)
@program(0.25)
def assertion(x):
    assert x > 0, "must be positive"
    return math.log(x)


@program(3.0)
def raise_on_bad_input(x):
    if x <= 0:
        raise ValueError(f"not positive: {x}")
    return math.sqrt(x)


@program(0.4)
@program(1.4)
@program(2.4)
def piecewise_spline(t):
    if 0 <= t < 1:
        b = t**3 / 6
    elif 1 <= t < 2:
        s = t - 1
        b = (1 + 3 * s + 3 * s**2 - 3 * s**3) / 6
    else:
        s = t - 2
        b = (4 - 6 * s**2 + 3 * s**3) / 6
    return b


@program(5.0, 3.0)
@program(1.0, 3.0)
def saturate(x, limit):
    return min(max(x, -limit), limit) * x


@program(0.7, 0.4)
@program(0.3, 0.4)
@program(-0.3, 0.4)
@program(0.3, -0.4)
def returns_on_both_sides_of_an_inner_branch(x, y):
    if y > 0.0:
        v = x - y
        if x > 0.5:
            x = math.sin(x * v)
        else:
            if x < 0.0:
                return math.tanh(v)
            return v * v
    return x * y


@program(lambda rng: rng.normal(size=4), np.array([True, False, True, True]), np.linspace(0.5, 1.2, 4))
def part_of_one_iteration(x, mask, weights):
    total = 0.0
    for i in range(3):
        x = x * weights
        if i == 1:
            total += np.sum(x[mask])
    return total
