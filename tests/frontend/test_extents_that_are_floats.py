"""Arrays whose extents are no whole numbers: NumPy raises, where the program comes to that."""

from typing import Any

import numpy as np
import pytest
from scipy import linalg

import adjoint as ad


def padded(k: float, x: Any) -> Any:
    if len(x) < k:
        longer = np.zeros(k)  # type: ignore[call-overload]
        longer[: len(x)] = x
        x = longer
    return np.sum(linalg.toeplitz(x))


def test_the_path_ends_there() -> None:
    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(ad.grad(padded, wrt=1)(0.6, x), [3.0, 4.0, 2.0])
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        ad.grad(padded, wrt=1)(5.0, x)
