"""What a slice with computed bounds selects, as far as it follows from the ranges of loops."""

import numpy as np
import pytest

import adjoint as ad
from poison import inside, shapes
from poison.outside import Poisoned


def moved(x, w):
    n = len(x) - len(w) + 1
    out = np.zeros(n)
    for i in range(len(w)):
        out = out + w[i] * x[i : i + n]
    return np.sum(out * out)


def moved_backwards(x, w):
    n = len(x) - len(w) + 1
    out = np.zeros(n)
    for i in range(len(w) - 1, -1, -1):
        out = out + w[i] * x[i : n + i]
    return np.sum(out * out)


def beyond_the_end(x, w):
    n = len(x) - len(w) + 1
    out = np.zeros(n)
    for i in range(len(w) + 1):
        out = out + w[i - 1] * x[i : i + n]
    return np.sum(out * out)


def before_the_start(x, w):
    n = len(x) - len(w) + 1
    out = np.zeros(n)
    for i in range(-1, len(w)):
        out = out + w[i] * x[i : i + n]
    return np.sum(out * out)


def of_unknown_sign(x, w):
    n = len(x) - len(w) + 1
    total = 0.0
    for i in range(len(w)):
        total += np.sum(w[i] * x[i : i + n])
    if n > 0:
        total += np.sum(np.zeros(n))
    return total


def fits(function, *args):
    """Whether the cotangents of parts need no fitting."""
    return "unbroadcast(w" not in (text := ad.source(ad.grad(function), *args)) and "unbroadcast(out_bar" not in text


X, W = np.arange(1.0, 7.0), np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize(
    ("function", "expected"),
    [(moved, True), (moved_backwards, True), (beyond_the_end, False), (before_the_start, False)],
)
def test_windows_inside_of_an_axis_have_their_length(function, expected):
    assert fits(function, X, W) is expected


@pytest.mark.parametrize("function", [moved, moved_backwards, of_unknown_sign])
@pytest.mark.parametrize("extent", [6, 4, 3, 2, 1])
def test_gradients_agree_with_differences(function, extent):
    x = X[:extent]
    try:
        function(x, W)
    except ValueError:
        with pytest.raises(ValueError, match="negative dimensions"):
            ad.grad(function)(x, W)
        return
    gradient, h = ad.grad(function)(x, W), 1e-6
    for i, step in enumerate(np.eye(extent) * h):
        slope = (function(x + step, W) - function(x - step, W)) / (2.0 * h)
        assert gradient[i] == pytest.approx(slope, rel=1e-6, abs=1e-6)


def test_what_does_not_fit_raises_as_ever():
    for function in (beyond_the_end, before_the_start):
        with pytest.raises(ValueError, match="broadcast"):
            function(X, W)
        with pytest.raises(ValueError, match="broadcast"):
            ad.grad(function)(X, W)


def up_to_the_end(x, n):
    """Bounds that are told by the length, or by a number that is the length."""
    m = len(x)
    total = np.sum(x[: m - 1]) * np.sum(x[1 : m - 1]) + np.sum(x[2:m]) + np.sum(x[: m - 2] * 2.0) * np.sum(x[1 : m - 2])
    total += np.sum(x[: m - 3] * x[: m - 3]) + np.sum(x[1 : m - 4] * 3.0) + np.sum(x[m - 1 :]) + np.sum(x[: m + 1])
    for i in range(1, n - 1):
        total += np.sum(x[1 : n - 1] * x[: n - 2]) * np.sum(x[2:n]) + np.sum(x[i : n - 1]) + np.sum(x[: n - i])
    return total


def of_sweeps(x, n):
    """What one sweep makes last is read in the other: the first loop may have made nothing."""
    y = np.zeros(len(x))
    for _ in range(n):
        for j in range(1, n - 1):
            y[1 : n - 1] = x[: n - 2] * y[1 : n - 1] + x[2:n] * x[j]
    return np.sum(y * y)


@pytest.mark.parametrize("function", [up_to_the_end, of_sweeps])
@pytest.mark.parametrize("extent", range(7))
def test_arrays_have_the_shapes_that_are_claimed(function, extent):
    x = np.linspace(1.0, 2.0, extent)
    with inside.interpreted():
        gradient = ad.grad(function)(x, extent)
    np.testing.assert_allclose(ad.grad(function, native="strict")(x, extent), gradient, rtol=1e-12)


def test_a_claim_that_does_not_hold_is_found(monkeypatch):
    monkeypatch.setattr(shapes, "Extents", lambda function: _Wrong(function))
    with inside.interpreted(), pytest.raises(Poisoned, match="is claimed for axis 0"):
        ad.grad(moved)(X, W)


class _Wrong(shapes.Extents):
    """Every array has an element more."""

    def __init__(self, function):
        super().__init__(function)
        self.shapes = {
            var: tuple(("sum", 1, (part, 1)) for part in shape)
            for var, shape in self.shapes.items()
            if var not in function.params
        }


def slices_that_may_begin_behind_their_end(x):
    """The length of a slice is not what lies between its bounds where these are the wrong way round."""
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            total += np.sum(np.ones(len(x[i:j]) + 6) * x[0] * np.ones(j - i + 6 if j >= i or x[2] > 9.0 else 6))
    return total


def the_wrong_way_round(x):
    total = 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            total += np.sum(np.ones(len(x[i:j]) + 6) * x[0] * np.ones(j - i + 6) * x[1])
    return total


@pytest.mark.parametrize("native", [False, True])
def test_bounds_the_wrong_way_round(native):
    expected = np.array([slices_that_may_begin_behind_their_end(X) / X[0], *np.zeros(5)])
    found = ad.grad(slices_that_may_begin_behind_their_end, native=native)(X)
    np.testing.assert_allclose(found, expected)
    with pytest.raises(ValueError, match="could not be broadcast together"):
        ad.grad(the_wrong_way_round, native=native)(X)
