"""Parts of arrays at indices of which the compiler does not know whether they pick out a view, or copy."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right

X = np.array([1.3, -0.4, 0.7])
BOTH = np.s_[0:2]


def read_after(x):
    a = x.copy()
    part = a[np.s_[0:2]]
    a[BOTH] = a[BOTH] * 3.0
    return np.sum(part * part)


def read_before(x):
    a = x.copy()
    part = a[np.s_[0:2]]
    y = part * part
    a[np.s_[0:2]] = a[np.s_[0:2]] * 3.0
    return np.sum(y * y) + np.sum(a)


def written(x):
    a = np.outer(x, x)
    part = a[np.index_exp[0:2]]
    part *= 3.0
    a[np.index_exp[0, 1:]][0] = x[2]
    a[np.s_[0:2]][0] += x
    return np.sum(a * a)


@pytest.mark.parametrize("function", [read_after, read_before, written])
def test_slices_as_numpy_spells_them(function) -> None:
    right(function, X)


def parts_read_after(x, indices):
    a, total = np.outer(x, x), 0.0
    for index in indices:
        part = a[index]
        a[0] = a[0] * 2.0
        total += np.sum(part * part)
    return total


def parts_read_before(x, indices):
    a, total = np.outer(x, x), 0.0
    for index in indices:
        part = a[index]
        total += np.sum(part * part * part)
        a[0] = a[0] * 2.0
    return total + np.sum(a)


def parts_written(x, indices):
    a = np.outer(x, x)
    for index in indices:
        part = a[index]
        part *= 3.0
    return np.sum(a * a)


SLICES = [slice(0, 2), slice(0, 1)]


def test_parts_that_are_read_before_the_array_is_written() -> None:
    right(parts_read_before, X, SLICES)
    right(parts_read_before, X, [np.array([0, 2]), np.array([0, 0])])


@pytest.mark.parametrize("function", [parts_read_after, parts_written])
def test_parts_that_would_be_read_or_written_through_a_view(function) -> None:
    for derive in (lambda: ad.grad(function)(X, SLICES), lambda: ad.vjp(function, X, SLICES)):
        with pytest.raises(ad.DifferentiationError) as refusal:
            derive()
        assert refusal.value.diagnostics[0].code in ("AD0303", "AD0401")
    with pytest.raises(ad.DifferentiationError):
        ad.jvp(parts_written, (X, SLICES), (X, None))


def test_parts_that_would_be_read_through_a_view_in_forward_mode() -> None:
    _, tangent = ad.jvp(parts_read_after, (X, SLICES), (X, None))
    step = 1e-6
    change = parts_read_after(X * (1 + step), SLICES) - parts_read_after(X * (1 - step), SLICES)
    assert tangent == pytest.approx(change / (2 * step), rel=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x[np.unravel_index(np.argmax(x), x.shape)] ** 2,
        lambda x: x[tuple(np.argwhere(x > 1.0)[0])] ** 2,
        lambda x: x[tuple([1, 2])] * x[tuple(np.array([1, 1]))],
    ],
)
def test_one_number_at_an_index_of_unknown_length(f) -> None:
    right(f, np.array([[0.5, 0.2, -0.3], [1.2, -0.7, 0.4]]))


def test_items_at_tuples_that_are_kept_in_a_dict() -> None:
    """They were taken for places in the array's memory."""

    def f(x):
        places = {}
        for k in range(len(x)):
            places[k] = (k, 1)
        return sum([np.outer(x, x).item(place) for place in places.values()])

    right(f, X)
