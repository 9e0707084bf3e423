"""Types of arrays that constants name are known before it runs, and so is what a table has for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right

SUPPORTED = {"f": np.float32, "d": np.float64, "g": np.float64, "D": np.complex128}
X = np.array([0.3, 0.7])


def supported(dtype: Any) -> Any:
    if isinstance(dtype, tuple):
        return np.result_type(*(supported(each) for each in dtype))
    return SUPPORTED.get(np.dtype(dtype).char, np.float64)


def converted(x: Any) -> Any:
    y = x.astype(supported(x.dtype), copy=False)
    return np.sum(y * y) * np.finfo(np.dtype(y.dtype)).precision


def of_several(x: Any) -> Any:
    return np.sum(x.astype(supported((x.dtype, np.float32))) ** 2) + np.sum(x.astype(np.dtype("f8")))


@pytest.mark.parametrize("native", [False, True])
def test_they_are_known(native: bool) -> None:
    right(converted, X, native=native)
    right(of_several, X, native=native)
    assert "dtype(np.dtype" not in ad.source(ad.grad(converted), X)
    assert ad.grad(converted)(X.astype(np.float32)).dtype == np.float32


def test_what_names_none_is_refused() -> None:
    def f(x: Any) -> Any:
        return np.sum(x.astype(np.dtype("no such type")))

    assert "not understood" in str(refused(lambda: ad.grad(f)(X)))
