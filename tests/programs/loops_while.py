"""While loops: counted, and with trip counts that depend on the data."""

import math

import numpy as np

from programs.registry import program


@program(1.5)
def counted(x):
    i = 0
    y = x
    while i < 4:
        y = y * x
        i += 1
    return y


@program(1.5)
@program(150.0)
def until_large(x):
    while x < 100.0:
        x = x * x + 0.5
    return x


@program(2.0)
@program(0.3)
def newton_sqrt(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


@program(2.0, 5)
def newton_fixed_steps(a, n):
    x = 1.0
    while n > 0:
        x = x - (x * x - a) / (2.0 * x)
        n -= 1
    return x


@program(0.8)
def bisection(c):
    low, high = 0.0, 2.0
    scale = c
    while high - low > 0.1:
        mid = 0.5 * (low + high)
        if mid * mid < c:
            low = mid
        else:
            high = mid
        scale = scale * 0.9 + mid * c
    return scale * low


@program(0.5)
def collatz_like(x):
    steps = 0
    while x > 0.05 and steps < 50:
        if x > 0.3:
            x = x * 0.4
        else:
            x = x * 0.7 - 0.01
        steps += 1
    return x * steps


@program(10.0)
def while_true(x):
    while True:
        x = x * 0.5
        if x < 1.0:
            break
    return x


@program(3.0, 0.1)
def euler_until(y, dt):
    t = 0.0
    while t < 0.55:
        y = y - dt * math.sin(y)
        t += 0.1
    return y


@program(3.0)
def nested_while(x):
    outer = 0
    while outer < 3:
        inner = 0
        while inner < outer + 1:
            x = math.sin(x) + 0.1 * inner
            inner += 1
        outer += 1
    return x


@program(lambda rng: rng.normal(size=(3, 3)))
def power_iteration(a):
    m = a @ a.T
    v = np.ones(3)
    k = 0
    while k < 4:
        v = m @ v
        v = v / np.sqrt(np.sum(v * v))
        k += 1
    return v @ m @ v


@program(0.3, 0.7)
def fixed_point(a, b):
    x = 0.0
    while True:
        new = a * math.cos(x) + b
        if abs(new - x) < 1e-12:
            return new
        x = new


@program(2.0)
def while_walrus(x):
    n = 0
    while (x := x * 0.7) > 0.5:
        n += 1
    return x * n


@program(5.0)
@program(0.5)
def zero_or_more(x):
    y = x
    while y > 1.0:
        y = math.log(y) + 0.1 * x
    return y * x


@program(0.7)
def while_else(x):
    i = 0
    while i < 3:
        x = x * 1.5
        i += 1
    else:
        x = x * x
    return x


@program(1.2, 0.8)
def agm(a, b):
    while abs(a - b) > 1e-14:
        a, b = 0.5 * (a + b), math.sqrt(a * b)
    return a


@program(0.6)
def series_until_small(x):
    term = x
    total = x
    n = 1
    while abs(term) > 1e-15:
        term = -term * x * x / ((n + 1) * (n + 2))
        total += term
        n += 2
    return total


@program(1.7)
def collatz_on_integer(x):
    n = 7
    while n != 1:
        if n % 2 == 0:
            n //= 2
            x = x * 0.9
        else:
            n = 3 * n + 1
            x = x + 0.01 * n
    return x


@program(np.array([0.7, -1.3, 2.1, 0.4]), 5)
def power_by_squaring(x, n):
    """What the loop leaves of the matrix is not read: its zero cotangent has a shape all the same."""
    matrix = x.reshape(2, 2).copy()
    result = np.eye(2)
    while n:
        if n & 1:
            result = result @ matrix
        matrix = matrix @ matrix
        n >>= 1
    return result[0, 1]


@program(np.array([0.7, -1.3, 2.1, 0.4]), 5)
def reshaped_for_the_next_iteration(x, n):
    total = 0.0
    row = x
    while n:
        total += row[1]
        row = np.reshape(row, (2, 2)).T.ravel() * 1.5
        n -= 1
    return total


@program(np.array([0.7, -1.3, 2.1, 0.4]), 5)
def matrix_made_in_the_first_iteration(x, n):
    total = 0.0
    while n:
        matrix = x.reshape(2, 2) * 2.0 if n == 5 else matrix @ matrix * 0.3  # noqa: F821
        total += matrix[0, 1]
        n -= 1
    return total


@program(np.array([0.7, -1.3, 2.1, 0.4]), 3)
def solved_for_the_next_iteration(x, n):
    total = 0.0
    row = x
    while n:
        total += row[1]
        row = np.linalg.solve(np.outer(row, row) + np.eye(4), row)
        n -= 1
    return total
