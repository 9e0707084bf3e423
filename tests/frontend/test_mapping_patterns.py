"""Mapping patterns of dicts whose keys are known at run time only."""

from typing import Any

import pytest

import adjoint as ad
from sampling import check_grads


def _filled(x: float, names: list[str]) -> dict[str, float]:
    table = {}
    for place, name in enumerate(names):
        table[name] = x ** (place + 1)
    return table


def by_keys(x: float, names: list[str]) -> float:
    match _filled(x, names):
        case {"a": first, "b": second}:
            return first * second
        case {"a": first, **others}:
            return first * (1.0 + sum(others.values()))
        case {"c": 1.0}:
            return -x
        case {"c": y} if y > 2.0:
            return y * y
        case {}:
            return 5.0 * x
    return x


@pytest.mark.parametrize("names", [["a", "b"], ["b", "a"], ["a"], ["a", "c", "d"], ["c"], ["d", "c"], ["d"], []])
@pytest.mark.parametrize("x", [0.8, 1.7])
def test_what_is_there(x: float, names: list[str]) -> None:
    check_grads(lambda x: by_keys(x, names), (x,))
    assert ad.value_and_grad(lambda x: by_keys(x, names), native=True)(x)[0] == pytest.approx(by_keys(x, names))


def test_what_may_be_written_into() -> None:
    def f(x: float, names: list[str]) -> Any:
        table = _filled(x, names)
        match table:
            case {"a": first, **others}:
                others["b"] = first
                return sum(others.values()) * sum(table.values())
        return x

    for names in (["a"], ["b", "a"], ["c"]):
        check_grads(lambda x, names=names: f(x, names), (1.3,))


def test_a_value_that_is_just_that() -> None:
    assert ad.grad(by_keys)(1.0, ["c"]) == -1.0
