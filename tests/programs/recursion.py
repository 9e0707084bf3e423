"""Functions that call themselves and each other."""

import math

from programs.registry import program


@program(1.5, 5)
@program(1.5, 0)
def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


@program(1.2, 9)
def fast_power(x, n):
    if n == 0:
        return 1.0
    half = fast_power(x, n // 2)
    return half * half * x if n % 2 else half * half


@program(4.6)
def factorial_of_float(x):
    if x <= 1.0:
        return 1.0
    return x * factorial_of_float(x - 1.0)


@program(0.7, 6)
def fibonacci(x, n):
    if n < 2:
        return x**n
    return fibonacci(x, n - 1) + x * fibonacci(x, n - 2)


@program(0.7, 7)
def chebyshev(x, n):
    if n == 0:
        return 1.0
    if n == 1:
        return x
    return 2.0 * x * chebyshev(x, n - 1) - chebyshev(x, n - 2)


def even_step(x, n):
    if n == 0:
        return x
    return odd_step(x * 1.1, n - 1)


def odd_step(x, n):
    if n == 0:
        return x * x
    return even_step(math.sin(x), n - 1)


@program(0.7, 4)
@program(0.7, 5)
def mutual(x, n):
    return even_step(x, n) + odd_step(x, n)


@program(40.0)
def depth_depends_on_value(x):
    if x < 1.0:
        return x * x
    return 0.5 * depth_depends_on_value(x / 3.0) + x


@program([1.0, 2.0, 3.0, 4.0])
def recursive_sum(xs):
    if len(xs) == 0:
        return 0.0
    return xs[0] ** 2 + recursive_sum(xs[1:])


@program([1.0, 2.0, 3.0, 4.0])
def divide_and_conquer(xs):
    def go(low, high):
        if high - low == 1:
            return xs[low]
        middle = (low + high) // 2
        left, right = go(low, middle), go(middle, high)
        return left * right + left

    return go(0, len(xs))


@program(0.0, 1.0, 3)
def adaptive_like_simpson(a, b, depth):
    middle = 0.5 * (a + b)
    if depth == 0:
        return (b - a) / 6.0 * (math.exp(a) + 4.0 * math.exp(middle) + math.exp(b))
    return adaptive_like_simpson(a, middle, depth - 1) + adaptive_like_simpson(middle, b, depth - 1)


@program(0.5)
def recursion_with_loop(x):
    def go(t, n):
        if n == 0:
            return t
        total = 0.0
        for i in range(n):
            total += go(t * 0.5 + i * x, n - 1)
        return total

    return go(x, 3)


def tree_sum(tree, x):
    kind = tree[0]
    if kind == "leaf":
        return tree[1] * x
    return tree_sum(tree[1], x * x) + 2.0 * tree_sum(tree[2], x)


@program(1.3)
def over_constant_tree(x):
    return tree_sum(("node", ("leaf", 2.0), ("node", ("leaf", 3.0), ("leaf", 0.5))), x)


@program(2.5, 3)
def returns_two(x, n):
    def go(t, k):
        if k == 0:
            return t, 1.0
        a, b = go(t * 0.9, k - 1)
        return a * t, b + a

    p, q = go(x, n)
    return p * q


def expanded(a, row, used):
    n = len(a)
    total, sign = 0.0, 1.0
    for column in range(n):
        if not used >> column & 1:
            if row == n - 1:
                total += a[row, column]
            else:
                total += sign * a[row, column] * expanded(a, row + 1, used | 1 << column)
            sign = -sign
    return total


@program(lambda rng: rng.normal(size=(3, 3)))
def determinant_from_constants(a):
    return expanded(a, 0, 0)


@program(1.2, 4)
def arguments_by_any_name(x, n):
    def power(n, **named):
        if n == 0:
            return named["a"] * named["b"]
        named["a"] = named["a"] * x
        return power(n - 1, **named) + named["a"]

    return power(n, a=x, b=2.0)
