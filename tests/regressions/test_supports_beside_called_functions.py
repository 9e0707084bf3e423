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


def test_lists_of_what_a_function_was_handed():
    def halved(a):
        if len(a) < 2:
            return None
        m = len(a) // 2
        halved(a[:m])
        a[:m] -= 0.6 * a[m]
        return None

    def gates(v):
        halved(v)
        w, c = np.zeros(3), np.zeros(3)
        states = []
        for e in v:
            w = np.tanh(c + 0.1) / (1.0 + np.exp(-(e + w)))
            states.append(w)
        return w @ w + sum(h[0] for h in states)

    x = np.array([-0.2, 0.98, 0.86])
    right(gates, x)
    second(gates, x)


def test_values_of_functions_known_only_at_run_time():
    def stacked(v):
        f: Free = itself()
        w, states = np.zeros(3), []
        for e in v:
            w = np.tanh(v * 0.5 + w) / (1.0 + np.exp(-(e + w)))
            states.append(w)
        u = f(v, sum(h[0] for h in states) + np.sum(np.stack(states)))
        return np.sum(np.sin(u)) + w @ w

    x = np.array([1.001, -1.114, -0.717])
    right(stacked, x)
    second(stacked, x)

    def through(v):
        f: Free = itself()
        w = v * 1.0
        for _ in range(2):
            w = f(w, 0.5)
        v[0] = w[1]
        s = v / 1.5
        return np.sum(s * s)

    right(through, x)
    second(through, x)


def test_shadows_that_are_kept_in_lists():
    """What a list of shadows gives is taken out once, though it is asked which zeros in it were left out."""

    def moved(v, weights):
        total = 0.0
        for weight in weights[:2]:
            if total > 3:
                break
            position, velocity = v, weights * 0.5
            for _ in range(2):
                force = np.zeros(3)
                for i in range(3):
                    for j in range(i + 1, 3):
                        r = position[j] - position[i]
                        force[i] += r / (abs(r) ** 3 + 0.4)
                velocity += 0.1 * force
                position += 0.1 * velocity
            total += weight
        w = v
        m = np.zeros(3)
        for _ in range(2):
            m = 0.9 * m + 0.2 * w * total + 0.1
            w = w - 0.1 * m / np.sqrt(np.zeros(3) + 0.3)
        return v * np.sum(w**2)

    weights = np.array([0.5, -0.1, -0.5])
    for wrt in (0, 1):
        right(moved, np.array([-0.7, -0.6, 0.5]), weights, wrt=wrt, modes=("jvp",))
    _, pullback = ad.vjp(moved, np.array([-0.7, -0.6, 0.5]), weights)
    jacobian = ad.jacobian(moved, wrt=(0, 1))(np.array([-0.7, -0.6, 0.5]), weights)
    for place, bar in enumerate(pullback(np.ones(3))):
        np.testing.assert_allclose(bar, np.sum(jacobian[place], axis=0), rtol=1e-12)


def test_copies_of_what_nobody_writes():
    """What is put into a copy is no part of the tangent that the copy was made of."""

    def picked(v):
        powers = v ** np.arange(3)
        x = v[1] * v[1]
        copy = v[[0]]
        copy[0] += x
        return np.sum((copy + powers) ** 2)

    right(picked, np.array([-0.1, -0.3, -0.8]))
