"""What a slice with computed bounds selects, as far as it follows from the ranges of loops."""

import numpy as np
import pytest

import adjoint as ad


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
