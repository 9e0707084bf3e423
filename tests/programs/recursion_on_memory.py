"""Functions that call themselves and write arrays, their arguments' or their own; arrays that they return."""

import math

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(3), 4)
def called_on_two_arrays(x, n):
    def shake(a, n):
        if n > 0:
            a[n % 3] *= a[0]
            shake(a, n - 1)

    a, b = x.copy(), x * 2.0
    shake(a, n)
    shake(b, n)
    return np.sum(a * b)


@program(normal(3), 4)
def arguments_exchanged(x, n):
    def mix(a, b, n):
        if n > 0:
            a[n % 3] *= b[0]
            mix(b, a, n - 1)

    a, b, c = x.copy(), x * 2.0, x * 3.0
    mix(a, b, n)
    mix(c, c, n)
    return np.sum(a * b * c)


@program(normal(3), 4)
def list_of_arrays_written_by_recursion(x, n):
    def mix(arrays, n):
        if n > 0:
            arrays[n % 2][0] *= arrays[0][1]
            mix(arrays, n - 1)

    arrays = [x.copy(), x * 2.0]
    before = np.sum(np.sin(arrays[0]) * arrays[1])
    mix(arrays, n)
    return np.sum(arrays[0] * arrays[1]) * before


@program(normal(3), 4)
def read_by_recursion_written_between(x, n):
    def product(a, n):
        return a[0] if n == 0 else a[n % 3] * product(a, n - 1)

    a = x.copy()
    first = product(a, n)
    a[0] = first
    return product(a, n) * product(x, n)


@program(normal(4), 3)
def array_passed_through(x, n):
    def halved(a, n):
        if n == 0:
            return a
        return halved(a * 0.5 + x, n - 1)

    y = halved(x, n)
    return np.sum(y * y)


@program(normal(4), 3)
def array_made_by_recursion_and_written(x, n):
    def built(n):
        if n == 0:
            return np.zeros(4)
        a = built(n - 1)
        b = a + x
        b[n] *= 2.0
        return b

    y = built(n)
    return np.sum(y * y * x)


def levels(x, n):
    if n == 0:
        return x
    y = np.empty(len(x))
    y[1:] = levels(x, n - 1)[:-1]
    y[0] = x[n] * y[1]
    return y


@program(normal(4), 3)
def rows_of_a_triangle(x, n):
    return np.sum(levels(x, n) * levels(x, n - 1) * x)


@program(normal(8), normal(8))
def recursive_transform(real, imag):
    def transform(re, im):
        n = len(re)
        if n == 1:
            return re.copy(), im.copy()
        er, ei = transform(re[::2], im[::2])
        od, oi = transform(re[1::2], im[1::2])
        outr, outi = np.empty(n), np.empty(n)
        for k in range(n // 2):
            c, s = math.cos(2.0 * math.pi * k / n), -math.sin(2.0 * math.pi * k / n)
            tr, ti = c * od[k] - s * oi[k], s * od[k] + c * oi[k]
            outr[k], outi[k] = er[k] + tr, ei[k] + ti
            outr[k + n // 2], outi[k + n // 2] = er[k] - tr, ei[k] - ti
        return outr, outi

    re, im = transform(real, imag)
    return np.sum(re * re * np.arange(8)) + np.sum(im * re)


@program(normal(6))
def merge_sort_that_returns(x):
    def sort(a):
        n = len(a)
        if n < 2:
            return a
        left, right = sort(a[: n // 2]), sort(a[n // 2 :])
        out = np.empty(n)
        i = j = 0
        for k in range(n):
            if j >= len(right) or (i < len(left) and left[i] <= right[j]):
                out[k] = left[i]
                i += 1
            else:
                out[k] = right[j]
                j += 1
        return out

    return np.sum(sort(x) * np.arange(6.0) * x)


@program(normal(4), 3)
def result_of_recursion_written_by_the_caller(x, n):
    def sums(n):
        if n == 0:
            return np.ones(4)
        return sums(n - 1) * x

    y = sums(n)
    y[0] *= 3.0
    z = sums(n)
    z += y
    return np.sum(z * y)


@program(normal(5))
def pair_of_arrays_returned(x):
    def parts(a):
        if len(a) < 2:
            return a, np.zeros(len(a))
        low, _ = parts(a[1:])
        out = np.zeros(len(a))
        out[0] = a[0]
        out[1:] = low * a[0]
        return out, out

    first, second = parts(x)
    return np.sum(first * second)
