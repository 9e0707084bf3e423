"""Tuples of which it is known that they have other numbers of items are never equal: the other branch is not there."""

import numpy as np
import pytest

import adjoint as ad


def as_a_row(x):
    is_column = x.shape == (len(x), 1)
    if is_column:
        return np.reshape(x, (len(x),))
    return x


def of_one_axis(x):
    return np.sum(as_a_row(x) ** 2) if as_a_row(np.sin(x)).ndim == 1 else "of more"


def not_a_plane(x):
    return np.sum(x**2) if x.shape != (2, 2) else "a plane"


def by_parts_of_shapes(x):
    return np.sum(x**2) if x.shape[:-1] == () and (x.shape[:1] != np.ones((2, 2)).shape) else "more axes"


@pytest.mark.parametrize("f", [of_one_axis, not_a_plane, by_parts_of_shapes])
def test_the_branch_for_other_ranks_is_not_looked_at(f):
    x = np.array([0.5, 1.5, -0.7])
    np.testing.assert_allclose(ad.grad(f)(x), 2 * x)
    assert ad.jvp(f, (x,), (x,))[1] == pytest.approx(2 * x @ x)
    np.testing.assert_allclose(ad.jacobian(ad.grad(f))(x), 2 * np.eye(3))
