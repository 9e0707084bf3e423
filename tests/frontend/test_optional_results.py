"""Results with parts that are of one structure on some paths and of another, or None, on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.api.tools.float_leaves import flatten, tangent_of


def number_or_none(x: float, k: int) -> Any:
    return (None, x * x) if k == 0 else (x, x**3)


def list_or_none(x: float, k: int) -> Any:
    return (None, x * x) if k == 0 else ([x, x * x], x**3)


def array_or_none(x: float, k: int) -> Any:
    return {"v": None, "w": x * x} if k == 0 else {"v": np.ones(3) * x, "w": x**3}


def tuple_or_text(x: float, k: int) -> Any:
    return {"v": "none", "w": x * x} if k == 0 else {"v": (np.ones(3) * x, x), "w": x**3}


def array_or_number(x: float, k: int) -> Any:
    return (np.ones(2) * x, x * x) if k == 0 else (x * 3, x**3)


def texts(x: float, k: int) -> Any:
    if k == 0:
        return "square", x * x
    if k == 1:
        return "cube", x**3
    return (-1, -1)


PROGRAMS = [number_or_none, list_or_none, array_or_none, tuple_or_text, array_or_number, texts]


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_parts_of_several_structures(f: Any, k: int) -> None:
    value, tangent = ad.jvp(f, (2.0, k), (1.0, None))
    assert repr(value) == repr(f(2.0, k))
    slopes = (flatten(f(2.0 + 1e-6, k)) - flatten(f(2.0 - 1e-6, k))) / 2e-6
    assert flatten(tangent) == pytest.approx(slopes, rel=1e-8)
    value, pullback = ad.vjp(f, 2.0, k)
    assert repr(value) == repr(f(2.0, k))
    for _ in range(2):
        assert pullback(tangent_of(value, np.ones(len(slopes))))[0] == pytest.approx(sum(slopes), rel=1e-8)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_differentials_of_parts_of_several_structures(f: Any) -> None:
    for k in (0, 1):
        _, differential = ad.linearize(f, 2.0, k)
        tangent = ad.jvp(f, (2.0, k), (3.0, None))[1]
        assert repr(differential(3.0, None)) == repr(tangent)


def test_tangents_of_parts_inside_of_a_program() -> None:
    def f(x: float, k: int) -> float:
        value, tangent = ad.jvp(list_or_none, (x, k), (1.0, None))
        return tangent[1] if tangent[0] is None else tangent[0][1] * value[1]

    assert ad.grad(f)(2.0, 0) == pytest.approx(2.0)
    assert ad.grad(f)(2.0, 1) == pytest.approx(8 * 2.0**3)
