"""What one mask selects of several arrays has one extent: nothing is summed to shapes, as long as the mask stays."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads

X = np.array([1.0, -0.5, 2.0, 0.7])


def squared_where_small(x, steps):
    z = x * 0.5
    total = 0.0
    for _ in range(steps):
        m = z < 0.9
        z[m] = z[m] * z[m] + x[m]
        total += np.sum(z)
    return total


def in_several_axes(x, steps):
    z = np.outer(x, x)
    y = np.outer(x, x + 1.0)
    for _ in range(steps):
        m = z > 0.2
        z[m] = np.sin(z[m]) * y[m] + x[0]
        y[:, 1:][m[:, 1:]] = 1.0
    return np.sum(z * y)


def columns(x, steps):
    z = np.outer(x, x)
    for _ in range(steps):
        m = x > 0.6
        z[:, m] = z[:, m] * z[:, 0][:, None] + x[m]
    return np.sum(z)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("program", [squared_where_small, in_several_axes, columns])
def test_nothing_is_summed_to_a_shape(program, native):
    check_grads(lambda x: program(x, 3), (X,))
    gradient = ad.grad(program, native=native)
    np.testing.assert_allclose(gradient(X, 3), ad.grad(program)(X, 3), rtol=1e-13)


def test_text():
    text = ad.source(ad.grad(squared_where_small), X, 3)
    assert "unbroadcast" not in text
    assert "m_kept" in text
    assert text.count(".append(") == 3, "the mask, and both factors"


def mask_that_changes(x):
    m = np.array([True, False, False, False])
    few = x[m]
    m[2:] = True
    many = x[m]
    return np.sum(few * many * many)


def mask_that_changes_in_turns(x, steps):
    total = 0.0
    m = np.array([True, False, False, False])
    for k in range(steps):
        few = x[m]
        m[k + 1] = True
        total += np.sum(few[:1] * x[m])
    return total


def masks_on_some_sides(x, steps):
    """Masks and values of different turns stand at one index of their tapes."""
    total = 0.0
    z = x * 1.0
    for k in range(steps):
        m = z > 0.3 * k
        if k % 2 == 0:
            z[m] = z[m] * x[m]
        else:
            other = z < 0.6
            z[other] = z[other] + z[m][0]
        total += np.sum(z[m] * z[m])
    return total


def one_selected(x, steps):
    z = x * 1.0
    for k in range(steps):
        m = np.arange(4) == k
        z = z * z[m] + x[m]
    return np.sum(z)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(
    ("program", "args"),
    [
        (mask_that_changes, ()),
        (mask_that_changes_in_turns, (3,)),
        (masks_on_some_sides, (4,)),
        (one_selected, (3,)),
    ],
)
def test_extents_that_differ(program, args, native):
    check_grads(lambda x: program(x, *args), (X,))
    gradient = ad.grad(program, native=native)
    np.testing.assert_allclose(gradient(X, *args), ad.grad(program)(X, *args), rtol=1e-13)
