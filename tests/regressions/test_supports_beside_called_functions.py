"""Supports of tangents that functions fill: values that only lie beside them have none, nor have numbers of loops."""

import functools

import numpy as np

import adjoint as ad
from regressions.differences import right, second

Free = ad.Fn[[np.ndarray, float], np.ndarray]
itself = functools.lru_cache(lambda: lambda v, k: v)


def doubled(a, x):
    """Called by name, with memory that it may write."""
    if len(a):
        return
    m = a
    doubled(m, x)
    a[m] += a


def normed(v):
    doubled(v, 1.0)
    p = [0.6, 0.4]
    total = 0.0
    for e in v:
        p = p * np.array(e)
        z = p.sum()
        p = p / z
        total += z
    return total * total


def test_lengths_of_what_a_function_is_handed():
    x = np.array([-0.431, -0.301, -0.205])
    right(normed, x)
    second(normed, x)


def test_values_of_functions_known_only_at_run_time():
    def through(v):
        f: Free = itself()
        w = v * 1.0
        for _ in range(2):
            w = f(w, 0.5)
        v[0] = w[1]
        s = v / 1.5
        return np.sum(s * s)

    x = np.array([1.001, -1.114, -0.717])
    right(through, x)
    second(through, x)
