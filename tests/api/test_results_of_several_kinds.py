"""What functions give back that return None or a number, or containers with such parts: whichever it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad


class Pair:
    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pair) and vars(self) == vars(other)


def _found_or_not(x):
    for i in range(3):
        if x > i:
            return i + x * x
    return None


def _in_a_tuple(x):
    if x > 1:
        return None, x
    return x * x, [x, None if x < 0 else "small"]


def _in_an_object(x):
    pair = Pair(x, None)
    if x > 1:
        pair.second = [x]
    return pair


def _in_a_dict(x):
    table = {"a": x, "b": None}
    if x > 1:
        table["b"] = (x, "y")
    return table


def _of_three_kinds(x):
    if x > 1:
        return Pair(x, 1.0)
    if x > 0:
        return "small"
    return [x, (x, None)]


def _by_a_call(x):
    found = _found_or_not(x)
    return found if found is None else ad.grad(lambda t: t * t * found)(x)


KINDS = (_found_or_not, _in_a_tuple, _in_an_object, _in_a_dict, _of_three_kinds)


@pytest.mark.parametrize("function", KINDS)
def test_compiled_functions_give_whichever_structure_it_is(function: Callable[[float], Any]) -> None:
    compiled = ad.compile(function, native=False)
    for x in (0.5, 1.5, -1.5):
        found, expected = compiled(x), function(x)
        assert type(found) is type(expected) and found == expected


def test_compiled_functions_give_none_by_machine_code() -> None:
    compiled = ad.compile(_by_a_call)
    assert compiled(-1.0) is None
    assert compiled(0.5) == 0.25


def test_an_array_or_none() -> None:
    compiled = ad.compile(lambda x: x * np.ones(2) if x > 0 else None, native=False)
    assert compiled(2.0).tolist() == [2.0, 2.0]
    assert compiled(-2.0) is None


def test_what_is_given_beside_a_value_may_be_none() -> None:
    derivative = ad.value_and_grad(lambda x: (x * x, _found_or_not(x)), has_aux=True)
    assert derivative(-1.0) == ((1.0, None), -2.0)
    assert derivative(0.5) == ((0.25, 0.25), 1.0)
