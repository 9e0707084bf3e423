"""Whole numbers of all sizes, powers of them, imaginary parts, clipped numbers, tables of several kinds."""

import cmath
import math

import numpy as np

import adjoint as ad
from programs.registry import program


def vector(n):
    return lambda rng: rng.uniform(0.5, 1.5, n)


@program(1.3, 3)
def powers_of_two(x, n):
    total = 0.0
    for k in range(n):
        total += x * 2 ** (1 - k)
    return total


@program(vector(3), 2)
def scales_by_levels(x, levels):
    total = 0.0
    for level in range(levels):
        total += math.sin(x[level] * 10**-level)
    return total


@program(vector(4))
def inverse_powers(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** -2 + 3.0 * x[i] ** -1
    return total


@program(vector(4), np.array([100, 27, 100, 90], np.int8))
def small_counters(x, counts):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * (counts[i] + counts[i - 1])
    return total


@program(vector(3), np.array([3, 200, 250], np.uint8))
def pixels(x, image):
    return np.sum(x * (image * np.uint8(2)))


@program(vector(5), 0.7, 1.2)
def clipped_in_a_loop(x, low, high):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * np.clip(x[i], low, high)
    return total


@program(vector(4))
def clipped_steps(x):
    y = 1.0
    for i in range(len(x)):
        y = np.clip(y + 0.3 * x[i], -2.0, 2.0) * x[i]
    return y


@program(vector(2), 2)
def table_of_kinds(x, n):
    table = [[1, 2], [0, 1.5]]
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += table[i][j] * x[j]
    return total


@program(1.2, 3)
def rows_of_kinds(a, n):
    turn = [[0, 1, 0], [1, 0, 0], [0.5, 0, 1.0]]
    return sum(turn[i][j] * turn[j][i] * a for i in range(n) for j in range(n))


@program(vector(3))
def imaginary_parts_written(x):
    z = np.zeros(3, complex)
    z.imag[0] = x[0] * x[1]
    z.imag[1:] = x[1:]
    return np.sum(np.abs(z + x) ** 2)


@program(vector(3))
def imaginary_parts_in_a_loop(x):
    z = x * (1.0 + 0.0j)
    for i in range(len(x)):
        z.imag[i] = x[i] * x[i - 1]
    return np.sum((z * z).imag)


def halved(x):
    with ad.backward(x) as x_bar:
        x_bar *= 0.5
    return x * x


def clamped_below(x):
    with ad.backward(x) as x_bar:
        x_bar = min(x_bar, 1.0)
    return x * x * x


@program(1.1, order=1)
def slope_of_what_is_clamped(x):
    return ad.grad(clamped_below)(x) * x


def updated(x):
    x[0] = x[0] * x[1]
    x[1] += x[0]
    return x[0] * x[1]


@program(vector(2))
def slope_of_what_writes(x):
    slope = ad.grad(updated)(x.copy())
    return slope[0] * slope[1]


def relaxed(u):
    for i in range(1, len(u)):
        u[i] += 0.5 * u[i] * u[i - 1]
    return np.sum(u * u)


@program(vector(3))
def slope_of_what_relaxes(x):
    slope = ad.grad(relaxed)(x.copy())
    return np.sum(slope * x)


@program(1.3, order=1)
def slope_of_what_is_halved(x):
    return x * ad.grad(halved)(x)


@program(0.6, -0.4)
def functions_of_complex_numbers(x, y):
    z = complex(x, y)
    w = cmath.exp(z) * cmath.sqrt(z) + cmath.log(z, 2) + cmath.sin(x) * cmath.atan(z) + complex(z, y)
    radius, angle = cmath.polar(w)
    return radius * angle + cmath.rect(x, y).imag + cmath.phase(z) * w.imag


@program(0.6)
def parts_of_real_numbers(x):
    return x.imag + x.real * x + x.conjugate() + math.log(x + 1, 2)


@program(vector(3))
def numbers_that_know_whose_they_are(x):
    total = 0.0
    for y in x:
        total += y
    return 2 * total * x[0] if isinstance(total, np.floating) else 3 * total


@program(vector(3), 0)
def numbers_that_stay_pythons(x, n):
    total = 1.0
    for i in range(n):
        total *= x[i]
    return total * x[1] if type(total) is float else 2 * total


@program(vector(3))
def shapes_that_are_missing(x):
    items = [0.5, x[0], x[1]]
    total = 0.0
    for item in items:
        try:
            total += item.ndim + item * x[2]
        except AttributeError:
            total += 5 * x[2]
    return total


@program(4.0)
def whole_on_one_path(x):
    scale = 1 if x > 3.5 else 2.0
    return x * x if isinstance(scale, int) else x * 3


@program(4.0, 3)
def a_float_that_becomes_true(x, n):
    found = 2.0
    for k in range(n):
        if k == 2:
            found = True
    return x * x if found is True else x * 3


@program(4.0, 3)
def a_list_of_floats_and_integers(x, n):
    items = [2.0]
    for _ in range(n):
        items.append(1)
    rest = 7 // items[-1]
    return (x * x if isinstance(rest, int) else x * 3) * items[0]


@program(4.0, 3)
def a_table_of_numbers_and_flags(x, n):
    table = {"rate": 2.0}
    for k in range(n):
        table[str(k)] = True
    total = 0.0
    for value in table.values():
        total += x * x if value is True else x * value
    return total


def halved_steps(n, x):
    if n == 0:
        return 1
    return x * 1.0 if n == 1 else halved_steps(n - 2, x)


@program(4.0, 4)
def a_recursion_that_ends_in_an_integer(x, n):
    return x * x if type(halved_steps(n, x)) is int else x * 3
