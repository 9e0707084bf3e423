"""Functions that return numbers, and on some paths what has no derivative: None, texts, tuples of them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
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


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda x: None, "None"),
        (lambda x: "not positive", "'not positive'"),
        (lambda x: f"{x} is not positive", "a string"),
        (lambda x: ("not positive", None), "a tuple of 2"),
    ],
    ids=["None", "text", "text of x", "tuple"],
)
@pytest.mark.parametrize("made", [lambda x: x * x, lambda x: np.array([x, x * x])], ids=["number", "array"])
def test_what_has_no_derivative_in_place_of_a_value(make: Any, told: str, made: Any) -> None:
    def f(x: float) -> Any:
        if x <= 0.0:
            return make(x)
        return made(x)

    value, pullback = ad.vjp(f, 3.0)
    assert pullback(np.ones_like(value)) == (7.0 if np.ndim(value) else 6.0,)
    assert ad.jvp(f, (3.0,), (1.0,))[1] == pytest.approx([1.0, 6.0] if np.ndim(value) else 6.0)
    with pytest.raises(TypeError, match=f"'f' returns {re.escape(told)} here"):
        ad.vjp(f, -3.0)
    with pytest.raises(TypeError, match="has no derivative"):
        ad.jvp(f, (-3.0,), (1.0,))
