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


def filled(x: list[float]) -> Any:
    result: list[Any] = [None] * len(x)
    for i in range(len(x)):
        result[i] = x[i] ** 2
    return result


def merged(x: list[float]) -> Any:
    half = len(x) // 2
    one, other = sorted(x[:half]), sorted(x[half:])
    result: list[Any] = [None] * len(x)
    i = j = 0
    while i < len(one) and j < len(other):
        if one[i] < other[j]:
            result[i + j] = one[i] * 2.0
            i += 1
        else:
            result[i + j] = other[j]
            j += 1
    while i < len(one):
        result[i + j] = one[i]
        i += 1
    while j < len(other):
        result[i + j] = other[j]
        j += 1
    return result, result[0]


def lists_of_tuples(x: list[float]) -> Any:
    return [tuple([2.0 * each for each in x]) for _ in x]


def tables_of_tuples(x: list[float]) -> Any:
    return {"a": [tuple(x[: i + 1]) for i in range(len(x))], "b": tuple(x)}


@pytest.mark.parametrize("f", [filled, merged, lists_of_tuples, tables_of_tuples], ids=lambda f: f.__name__)
def test_lists_of_what_is_found_at_run_time(f: Any) -> None:
    x, direction = [3.0, 1.0, 2.0], np.array([0.3, -0.4, 0.5])
    value, tangent = ad.jvp(f, (x,), (direction.tolist(),))
    assert repr(value) == repr(f(x))
    slopes = (flatten(f(list(x + 1e-6 * direction))) - flatten(f(list(x - 1e-6 * direction)))) / 2e-6
    assert flatten(tangent) == pytest.approx(slopes, rel=1e-8)
    weights = np.arange(1.0, len(slopes) + 1.0)
    assert repr(tangent_of(value, flatten(tangent))) == repr(tangent)
    value, pullback = ad.vjp(f, x)
    assert repr(value) == repr(f(x))
    for _ in range(2):
        assert np.dot(pullback(tangent_of(value, weights))[0], direction) == pytest.approx(weights @ slopes, rel=1e-8)


def test_none_that_is_left_in_a_list() -> None:
    def f(x: float, n: int) -> Any:
        result: list[Any] = [None] * n
        result[0] = x * x
        return result

    assert ad.jvp(f, (3.0, 1), (1.0, None)) == ([9.0], [6.0])
    with pytest.raises(TypeError, match="None lies in what 'f' returns, which has no derivative"):
        ad.jvp(f, (3.0, 2), (1.0, None))
