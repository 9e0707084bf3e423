"""Primals and tangents have one entry per argument: what is one argument itself is refused, with a way out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused


def square(x: Any) -> Any:
    return x * x


def test_jvp_of_bare_numbers() -> None:
    refusal = refused(lambda: ad.jvp(square, 2.0, 1.0))  # type: ignore[arg-type]
    assert refusal.diagnostics[0].code == "AD0409"
    assert "ad.jvp(f, (x,), (x_dot,))" in str(refusal)


@pytest.mark.parametrize(
    "run",
    [
        lambda: ad.hvp(square, 2.0, 1.0),  # type: ignore[arg-type]
        lambda: ad.jvp(square, (2.0,), 1.0),  # type: ignore[arg-type]
        lambda: ad.jvp(square, 2.0, (1.0,)),  # type: ignore[arg-type]
        lambda: ad.jvp(square, np.ones(2), np.ones(2)),  # type: ignore[arg-type]
        lambda: ad.jvp(square, {"x": 2.0}, {"x": 1.0}),  # type: ignore[arg-type]
        lambda: ad.grad(lambda x: ad.jvp(square, x, 1.0)[1])(2.0),
        lambda: ad.grad(lambda x: ad.jvp(square, (x,), 1.0)[1])(2.0),
        lambda: ad.grad(lambda x: ad.hvp(square, x, 1.0)[0])(2.0),
    ],
)
def test_what_is_no_tuple(run: Callable[[], Any]) -> None:
    assert refused(run).diagnostics[0].code == "AD0409"


def test_directions_that_are_left_out() -> None:
    assert refused(lambda: ad.grad(lambda x: ad.jvp(square, (x,))[1])(2.0)).diagnostics[0].code == "AD0203"  # type: ignore[call-arg]


def test_lists_and_tuples() -> None:
    assert ad.jvp(square, [2.0], [1.0]) == (4.0, 4.0)
    assert ad.jvp(square, (2.0,), [1.0]) == (4.0, 4.0)
    assert ad.hvp(square, [2.0], (1.0,)) == (2.0,)
    assert ad.grad(lambda x: ad.jvp(f=square, primals=(x,), tangents=(1.0,))[1])(2.0) == 2.0
