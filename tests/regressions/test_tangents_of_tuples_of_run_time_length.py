"""The tangent of a tuple that is made of a list is a tuple, inside of functions that are differentiated, too."""

import numpy as np
import pytest

import adjoint as ad


def moments(x):
    found = []
    for axis in range(np.ndim(x)):
        found.append(np.sum(x * (axis + 1.0)) / np.sum(x * x))
    return tuple(found)


V = np.array([[0.3, -0.2, 1.0], [0.5, 0.1, -0.7]])


def along(x):
    return ad.jvp(moments, (x,), (V,))[1]


def values(x):
    return ad.vjp(moments, x)[0]


@pytest.mark.parametrize("f", [along, values])
def test_it_is_a_tuple(f):
    x = np.array([[1.0, 2.0, 0.5], [0.7, 1.5, 3.0]])
    found = f(x)
    value, pullback = ad.vjp(f, x)
    again, moved = ad.jvp(f, (x,), (V,))
    assert type(found) is type(value) is type(again) is type(moved) is tuple
    (back,) = pullback((1.0, -2.0))
    np.testing.assert_allclose(np.sum(back * V), moved[0] - 2.0 * moved[1], rtol=1e-12)
    h = 1e-6
    ahead, behind = f(x + h * V), f(x - h * V)
    np.testing.assert_allclose(moved, (np.array(ahead) - behind) / (2 * h), rtol=1e-6)
