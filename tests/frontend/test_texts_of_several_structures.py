"""Formatted strings of what has one of several structures."""

from typing import Any

import numpy as np
import pytest

import adjoint as ad


def test_messages_and_lengths() -> None:
    def f(x: Any, k: float) -> Any:
        found = None if k > 1.0 else [1.0, k]
        if k > 5.0:
            raise ValueError(f"bad {type(found)} of {found!r}")
        return np.sum(x) * len(f"{found}")

    assert ad.grad(f)(np.ones(2), 2.0).tolist() == [4.0, 4.0]
    assert ad.grad(f)(np.ones(2), 0.5).tolist() == [10.0, 10.0]
    with pytest.raises(ValueError, match="bad <class 'NoneType'> of None"):
        ad.grad(f)(np.ones(2), 6.0)
