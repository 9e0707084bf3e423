"""Orders in which equal elements stand are those of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad


def placed(x: Any) -> Any:
    y = np.zeros_like(x)
    y[np.argsort(x)] = np.arange(float(len(x))) * x
    return np.sum(y * np.arange(len(x)) * x)


def descending(x: Any) -> Any:
    order = np.argsort(-x)
    return np.sum(x[order] * np.sin(1.0 * order))


def ranks(x: Any) -> Any:
    rank = np.argsort(np.argsort(x))
    return np.sum(x * x * rank)


@pytest.mark.parametrize("size", [5, 17, 300])
@pytest.mark.parametrize("f", [placed, descending, ranks])
def test_equal_elements_are_in_the_order_of_numpy(f: Any, size: int) -> None:
    rng = np.random.default_rng(size)
    x = np.round(rng.normal(size=size), 1)
    x[rng.random(size) < 0.4] = 0.5
    value, gradient = ad.value_and_grad(f, native=True)(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    np.testing.assert_allclose(gradient, ad.grad(f)(x), rtol=1e-12)
