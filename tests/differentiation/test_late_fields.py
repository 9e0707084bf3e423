"""Objects that get attributes in the function of an inner derivative, or of which one is one of several."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.8, 0.5])


class Box:
    pass


def given_inside(x):
    box, s = Box(), x[1]
    box.w = x[0]

    def inner(q):
        box.seen = q * box.w
        return box.seen * q

    for _ in range(2):
        s = s + 0.1 * ad.grad(inner)(s) * box.w
        box.w = box.w * s
    return s + box.w


def arrays_given_inside(x):
    box, s, a = Box(), x[1], x * 1.0
    box.w = x[0]

    def inner(q):
        a[0] = 0.5 * box.w * q
        box.rows = a * q
        return np.sum(box.rows) * q

    i = 0
    while i < 2:
        s = s + 0.1 * ad.grad(inner)(s) * a[0]
        box.w = box.w + s
        i += 1
    return s + np.sum(a) * box.w


def one_of_two(x):
    one, pair, s = Box(), Box(), x[1]
    one.w, pair.box = x[0], Box()
    pair.box.w = x[1]

    def inner(q):
        try:
            if np.sin(q) > 0.3:
                raise ValueError
        except ValueError:
            pair.box.w = q * 0.7
        return q**3 * pair.box.w

    for _ in range(2):
        s = s + 0.1 * ad.grad(inner)(s)
        pair.box = one
    return s + pair.box.w


@pytest.mark.parametrize("function", [given_inside, arrays_given_inside, one_of_two])
def test_an_attribute_that_is_given_before_it_is_asked_for(function: Any) -> None:
    expected = [(function(X + step) - function(X - step)) / 2e-6 for step in 1e-6 * np.eye(2)]
    np.testing.assert_allclose(ad.grad(function)(X.copy()), expected, rtol=1e-6)
    np.testing.assert_allclose(ad.grad(function, native=True)(X.copy()), expected, rtol=1e-6)
    np.testing.assert_allclose(ad.jacobian(function, mode="forward")(X.copy()), expected, rtol=1e-6)


def asked_for_later(x):
    box, s = Box(), x[1]
    box.w, box.n = x[0], 0

    def inner(q):
        before = box.seen if box.n > 0 else q
        box.n = box.n + 1
        box.seen = q * box.w
        return before * q * box.seen

    for _ in range(2):
        s = s + 0.1 * ad.grad(inner)(s)
        box.w = box.w * s
    return s


def test_what_cannot_be_copied_is_refused() -> None:
    asked_for_later(X.copy())
    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.grad(asked_for_later)(X.copy())
