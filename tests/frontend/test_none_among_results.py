"""Functions whose results are None on several paths, of which not all are known as that."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad


def test_none_that_is_handed_on() -> None:
    table: dict[str, Any] = {"a": None, "b": None}

    def f(x: float, k: float, name: str) -> Any:
        if k > 2.0:
            return table[name]
        if k > 1.0:
            return None
        return x * x

    assert ad.grad(f)(3.0, 0.5, "a") == 6.0
    for k in (1.5, 2.5):
        with pytest.raises(TypeError, match="returns None here"):
            ad.grad(f)(3.0, k, "a")
