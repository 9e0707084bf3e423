"""An array of unknown rank may be a number of NumPy's at run time: its cotangent is memory all the same.

What ``np.float64`` or a ufunc makes of an array without axes is no array. Views of it have memory of their own.
"""

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads


def inner(x, depth):
    for _ in range(depth):
        x = x[0]
    return x


def made_anew_unless_it_is_an_array_of_one(x, depth):
    h = np.asarray(inner(x, depth)) * 2.0
    if isinstance(h, np.ndarray) and h.size == 1 and h.ndim != 0:
        h1 = np.asarray(h, np.float64)
    else:
        h1 = np.float64(h)
    h2 = np.asarray(h1, np.float64)
    h2[np.isnan(h2)] = 0.0
    return np.sum(h1 * h1) + np.sum(h2)


def view_is_overwritten(x, depth):
    h = np.float64(np.asarray(inner(x, depth)) * 2.0)
    view = np.asarray(h)
    view[...] = 4.0
    return np.sum(h * h) + np.sum(view)


def view_is_scaled(x, depth):
    h = np.asarray(inner(x, depth)) * 2.0
    view = np.asarray(h)
    view *= 3.0
    return np.sum(h * h) + np.sum(np.sin(view))


def of_either(x, depth):
    h = np.asarray(inner(x, depth)) % 3.0
    kept = h if h.size > 1 else np.float64(h)
    view = np.asarray(kept)
    view[view > 1.2] *= 2.0
    return np.sum(kept * view) + np.sum(view)


X = np.array([[0.5, 1.1], [0.9, 1.4]])
ALL = [made_anew_unless_it_is_an_array_of_one, view_is_overwritten, view_is_scaled, of_either]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("function", ALL, ids=lambda function: function.__name__)
@pytest.mark.filterwarnings("ignore:.*AD0601", "ignore:.*AD0501")
def test_nothing_is_lost(function, depth, native):
    if native:
        found = ad.value_and_grad(function, native=True)(X.copy(), depth)
        expected = ad.value_and_grad(function)(X.copy(), depth)
        assert found[0] == pytest.approx(expected[0]) and np.allclose(found[1], expected[1])
    else:
        check_grads(function, (X, depth), order=2)


@pytest.mark.parametrize("function", ALL, ids=lambda function: function.__name__)
@pytest.mark.filterwarnings("ignore:.*AD0501")
def test_arrays_of_one(function):
    check_grads(function, (X[:1, :1].copy(), 0), order=2)
    check_grads(function, (X[:1, :1].copy(), 1), order=2)
