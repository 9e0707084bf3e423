"""Loops over ranges."""

import math

import numpy as np

from programs.registry import program


@program(1.3)
def power_by_loop(x):
    y = 1.0
    for _ in range(5):
        y = y * x
    return y


@program(1.3, 4)
@program(1.3, 0)
@program(1.3, 1)
def power_by_count(x, n):
    y = 1.0
    for _ in range(n):
        y *= x
    return y


@program(0.3)
def index_in_value(x):
    total = 0.0
    for i in range(1, 6):
        total += x**i / i
    return total


@program(0.3)
def integer_zero_accumulator(x):
    total = 0
    for i in range(4):
        total = total + i * x * x
    return total


@program(0.3)
def step_range(x):
    total = 0.0
    for i in range(0, 10, 3):
        total = total * x + math.sin(i + x)
    return total


@program(0.3)
def negative_range(x):
    total = 0.0
    for i in range(5, 0, -1):
        total = total * x + i
    return total


@program(0.3)
def reversed_range(x):
    total = 0.0
    for i in reversed(range(5)):
        total = total * x + i + x
    return total


@program(0.3, 3)
def empty_range(x, n):
    y = x * x
    for i in range(n, 0):
        y = y * 100.0
    return y


@program(0.4)
def logistic_map(x):
    r = 3.2
    for _ in range(10):
        x = r * x * (1.0 - x)
    return x


@program(0.2, 3.5)
def logistic_two(x, r):
    for i in range(6):
        x = r * x * (1.0 - x)
    return x


@program([2.0, 3.0, 5.0])
def product_of_list(xs):
    prod = 1.0
    for i in range(len(xs)):
        prod *= xs[i]
    return prod


@program(np.array([2.0, 3.0, 5.0]))
@program(np.array([2.0, 0.0, 5.0]))
def product_of_array(x):
    prod = 1.0
    for i in range(len(x)):
        prod *= x[i]
    return prod


@program(np.array([1.0, -2.0, 0.5, 0.25]), 0.7)
def horner(c, x):
    y = 0.0
    for i in range(c.shape[0] - 1, -1, -1):
        y = y * x + c[i]
    return y


@program(1.0)
def fibonacci_like(x):
    a, b = x, 1.0
    for _ in range(8):
        a, b = b, a + 0.5 * b
    return a * b


@program(1.0, 2.0)
def swap_in_loop(x, y):
    for i in range(3):
        x, y = y, x * y
    return x - y


@program(0.5)
def branch_on_index(x):
    y = x
    for i in range(6):
        if i % 2 == 0:
            y = math.sin(y)
        else:
            y = y * x
    return y


@program(0.5)
def branch_on_value(x):
    y = x
    for i in range(12):
        if y < 1.0:
            y = y * 1.7 + 0.1 * x
        else:
            y = y - 0.8
    return y


@program(0.5)
def overwritten_in_loop(x):
    y = x * x
    for i in range(4):
        y = x + i
    return y * y


@program(0.5)
def defined_in_loop(x):
    for i in range(4):
        y = x * i
    return y * y


@program(0.5)
def loop_variable_after(x):
    for i in range(4):
        x = x * 1.1
    return x * i


@program(0.5)
def loop_local_variable(x):
    total = 0.0
    for i in range(4):
        t = math.sin(x + i)
        u = t * t
        total += u * t
    return total


@program(np.array([0.1, 0.4, 0.2, 0.9]))
def previous_value(x):
    total, last = 0.0, 0.0
    for i in range(len(x)):
        total += (x[i] - last) ** 2
        last = x[i]
    return total


@program(np.array([0.1, 0.4, 0.2, 0.9]))
def neighbours(x):
    total = 0.0
    for i in range(1, len(x) - 1):
        total += x[i - 1] * x[i + 1] - 2.0 * x[i] ** 2
    return total


@program(1.0, 0.1)
def rk4(y, dt):
    for step in range(5):
        k1 = -y * y
        k2 = -((y + 0.5 * dt * k1) ** 2)
        k3 = -((y + 0.5 * dt * k2) ** 2)
        k4 = -((y + dt * k3) ** 2)
        y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y


@program(0.5, 0.0)
def pendulum_leapfrog(angle, speed):
    dt = 0.1
    for _ in range(10):
        speed = speed - 0.5 * dt * math.sin(angle)
        angle = angle + dt * speed
        speed = speed - 0.5 * dt * math.sin(angle)
    return angle, speed


@program(0.5, 2.0)
def trapezoid(a, b):
    n = 8
    h = (b - a) / n
    total = 0.5 * (math.exp(-a * a) + math.exp(-b * b))
    for i in range(1, n):
        x = a + i * h
        total += math.exp(-x * x)
    return total * h


@program(0.2, 1.0, 0.3)
def scalar_kalman_filter(q, r, x):
    p = 1.0
    log_likelihood = 0.0
    for z in range(1, 6):
        p = p + q
        s = p + r
        innovation = z * 0.3 - x
        log_likelihood -= 0.5 * (math.log(2.0 * math.pi * s) + innovation * innovation / s)
        gain = p / s
        x = x + gain * innovation
        p = (1.0 - gain) * p
    return log_likelihood


@program(1.1)
def many_carried(x):
    a = b = c = d = x
    for i in range(3):
        a = a * b
        b = b + c * 0.1
        c = math.sin(d)
        d = a - c
    return a + b + c + d


@program(1.1)
def constant_loop(x):
    n = 0
    for i in range(10):
        n += i
    return n * x


@program(np.array([1.0, 2.0, 3.0]))
def sum_of_squares(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


@program(lambda rng: rng.normal(size=(3, 2)))
def two_index_loop(m):
    total = 0.0
    rows, columns = m.shape
    for i in range(rows):
        for j in range(columns):
            total += m[i, j] ** 2 * (i + 1) - m[i, j] * j
    return total


@program(2.0)
def carried_changes_type(x):
    y = 1
    for i in range(3):
        y = y * x
    return y


@program(np.array([[0.3, -0.2, 0.5], [1.1, 0.4, -0.7]]), np.array([[0.2, 0.9], [-0.4, 0.6], [0.8, -0.1]]))
def bounds_from_shapes(a, b):
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                out[i, j] += math.sin(a[i, k]) * b[k, j]
    return np.sum(out * out)


@program(np.array([[0.3, -0.2, 0.5], [1.1, 0.4, -0.7]]))
def bounds_from_shapes_of_what_changes(a):
    total = 0.0
    for _ in range(3):
        for i in range(a.shape[0]):
            total += math.sin(a[i, 0]) * a[i, -1]
        a = a.T * total
    return total
