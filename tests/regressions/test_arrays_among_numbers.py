"""Arrays that are written, and held where numbers are held, too: right, or refused.

What may be a number or an array is a value: that an array among them changes later was not seen, and gradients were
wrong.
"""

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


def total(v: Any, n: int) -> Any:
    """A number where nothing is summed."""
    w = 0
    for _ in range(n):
        w = w + v
    return w


def appended_once(v, n):
    w = total(v, n)
    p = [w]
    u = v.copy()
    u[0] += 0.74
    p.append(u)
    return p


def displayed(v, n):
    w = total(v, n)
    u = v.copy()
    u[0] += 0.74
    p = [w, u] if n > 1 else [u, w]
    s = 0.0
    for q in p:
        s = s + np.sum(q * q)
    return s


def appended_in_a_loop(v, n):
    w = total(v, n)
    p = []
    for i in range(n):
        u = v.copy()
        u[i] += 0.74
        p.append(u)
        p.append(w)
    s = 0.0
    for q in p:
        s = s + np.sum(q * q)
    return s


def in_a_dict(v, n):
    w = total(v, n)
    p = {}
    p[0] = w
    for i in range(n):
        u = v.copy()
        u[i] += 0.74
        p[i + 1] = u
    s = 0.0
    for i in range(n):
        s = s + np.sum(p[i] * p[i + 1])
    return s


def written_after_each_append(v, n):
    w = total(v, n)
    p = []
    for i in range(n):
        u = v.copy()
        p.append(u)
        p.append(w)
        u[i] *= 3.0
    s = 0.0
    for q in p:
        s = s + np.sum(q * q)
    return s


def appended_again(v, n):
    w = total(v, n)
    u = v.copy()
    p = [w]
    for i in range(n):
        p.append(u)
        u[i] *= 3.0
    s = 0.0
    for q in p:
        s = s + np.sum(q * q)
    return s


def written_after_the_display(v, n):
    w = total(v, n)
    u = v.copy()
    p = [w, u, w]
    for i in range(n):
        u[i] *= 3.0
    s = 0.0
    for q in p:
        s = s + np.sum(q * q)
    return s


def stored(v, n):
    w = total(v, n)
    u = v.copy()
    p = [w, w, w]
    for i in range(n):
        p[i] = u
        u[i] *= 3.0
    s = 0.0
    for q in p:
        s = s + np.sum(q * q)
    return s


def chosen(v, n):
    w = total(v, n)
    u = v.copy()
    p = []
    for i in range(n):
        p.append(w if i == 1 else u)
    u[0] *= 3
    s = 0.0
    for q in p:
        s = s + np.sum(q * q)
    return s


def written_in_the_list(v, n):
    w = total(v, n)
    p = []
    for i in range(n):
        p.append(w)
        p.append(v.copy())
    p[1][0] *= 3
    s = 0.0
    for q in p:
        s = s + np.sum(q * q)
    return s


def carried(v, n):
    u = v.copy()
    w = 0
    for i in range(n):
        w = u
    u[0] *= 3
    return np.sum(w * w)


def caught(v, n):
    u = v.copy()
    try:
        w = u if n > 2 else u * v[n + 5]
    except IndexError:
        w = 0.0
    try:
        w = v[n - 1] * 2.0
        if n > 2:
            raise ValueError
    except ValueError:
        w = u
    u[0] *= 3
    return np.sum(w * w)


def summed(v, n):
    u = v.copy()
    w = 0
    for i in range(n):
        w = u + w
    u[0] *= 3
    return np.sum(w * w)


def inserted(v, n):
    w = total(v, n)
    p = []
    for i in range(n):
        u = v.copy()
        u[i] += 0.74
        p.insert(0, u)
        p.append(w)
    s = 0.0
    for q in p:
        s = s + np.sum(q * q)
    return s


RIGHT = (appended_once, displayed, written_after_the_display, summed)
REFUSED = (
    caught,
    appended_in_a_loop,
    in_a_dict,
    written_after_each_append,
    appended_again,
    stored,
    chosen,
    written_in_the_list,
    carried,
    inserted,
)
V = np.array([-0.716, 0.686, -0.208])


@pytest.mark.parametrize("f", RIGHT)
def test_right(f: Any) -> None:
    check_grads(f, (V, 3))


@pytest.mark.parametrize("f", REFUSED)
def test_right_or_refused(f: Any) -> None:
    try:
        value, pullback = ad.vjp(f, V, 3)
    except ad.DifferentiationError as error:
        assert {problem.code for problem in error.diagnostics} <= {"AD0303", "AD0401"}
        return
    assert value == f(V, 3)
    step = 1e-6 * np.eye(3)
    slopes = [(f(V + each, 3) - f(V - each, 3)) / 2e-6 for each in step]
    np.testing.assert_allclose(pullback(1.0)[0], slopes, rtol=1e-6)
