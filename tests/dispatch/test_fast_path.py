"""The fast path of a call lets in only what has the key that its specialisation was made for."""

from __future__ import annotations

import copy
import gc
import sys
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.dispatch import call_cache
from adjoint.dispatch.fast_path import write_door
from adjoint.dispatch.keys import MISS, Door, keys_of

Pair = namedtuple("Pair", "left right")


@dataclass
class Layer:
    weight: Any
    bias: Any = None


class Layer2(Layer):
    pass


@dataclass(slots=True)
class Slotted:
    weight: Any


class Computed:
    def __init__(self, weight: Any) -> None:
        self._weight = weight

    @property
    def weight(self) -> Any:
        return self._weight


class Free:
    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


def door_for(*args: Any) -> Door:
    compiled: Any = SimpleNamespace(
        argument_guards=(),
        guards=(),
        captured=(),
        may_collide=False,
        draws=False,
        tangents=0,
        call=lambda *values: ("called", values),
    )
    return write_door(compiled, None, args)


def lets_in(door: Door, *args: Any) -> bool:
    return door(None, args) is not MISS


M, N, ROW = np.ones((2, 3)), np.ones((4, 5)), np.ones((1, 3))
SHARED = Layer(1.0)
VALUES: list[Any] = [
    1.0, 2, True, None, "a", "b", b"a", M, N, ROW, M.astype(np.float32), np.ones(3), np.float64(1.0), np.float32(1.0),
    (1.0, 2.0), (1.0, 2), (1.0,), (), Pair(1.0, 2.0), (M, (1.0,)), [1.0], [1.0, 2.0], [1], [1.0, 2], [], [M, M], [M],
    {"a": 1.0}, {"a": 1}, {"b": 1.0}, {"a": 1.0, "b": 2.0}, {"b": 1.0, "a": 2.0}, {1: 1.0}, {},
    Layer(1.0), Layer(1), Layer(M), Layer(N, N), Layer(M, M), Layer(ROW), Layer2(1.0), Layer(Layer(1.0), Layer(2.0)),
    Layer(SHARED, SHARED), Layer((SHARED, M), [SHARED]), [Layer(1.0), Layer(2.0)], [SHARED, SHARED], [Layer(M)],
    [Layer(1.0), 2.0], Slotted(1.0), Slotted(M), Computed(1.0), Computed(M), Free(a=1.0), Free(a=1.0, b=M),
    Free(b=M, a=1.0), Free(**{"class": 1.0}), Free(**{"not a name": 1.0}), Layer(len), Layer(np.sin),
    Layer(lambda: 1.0),
    Layer({"a": [Layer(M)]}), Layer({"a": [Layer(1.0)]}),
]  # fmt: skip


def test_what_comes_in_has_the_key() -> None:
    doors = [(value, door_for(value), keys_of((value,))) for value in VALUES]
    for made_for, door, key in doors:
        assert lets_in(door, made_for)
        for other in VALUES:
            if lets_in(door, other):
                assert keys_of((other,)) == key, (made_for, other)


@pytest.mark.parametrize("place", range(len(VALUES)))
def test_a_copy_comes_in(place: int) -> None:
    value = VALUES[place]
    other = copy.deepcopy(value)
    assert lets_in(door_for(value), other) == (keys_of((value,)) == keys_of((other,)))


def test_one_object_in_two_arguments() -> None:
    door = door_for(Layer(1.0), Layer(2.0))
    assert lets_in(door, Layer(3.0), Layer(4.0))
    assert not lets_in(door, SHARED, SHARED)
    together = door_for(SHARED, SHARED)
    assert not lets_in(together, Layer(3.0), Layer(4.0))
    other = Layer(2.0)
    assert lets_in(together, other, other)


def test_an_attribute_that_comes_or_goes() -> None:
    model = Free(a=1.0)
    door = door_for(model)
    model.c = 2.0  # type: ignore[attr-defined]
    assert not lets_in(door, model)
    del model.c, model.a  # type: ignore[attr-defined]
    assert not lets_in(door, model)


def test_a_class_that_changes() -> None:
    class Changing:
        def __init__(self) -> None:
            self.weight = 1.0

    model = Changing()
    door = door_for(model)
    assert lets_in(door, model)
    Changing.weight = property(lambda self: 1)  # type: ignore[assignment]
    assert not lets_in(door, model)


def test_a_structure_of_many_parts() -> None:
    model = [Layer(float(place)) for place in range(1000)]
    door = door_for(model)
    assert lets_in(door, model)
    assert not lets_in(door, model[:-1])
    assert not lets_in(door, [*model[:-1], Layer(1)])


# What a function captures


def test_numbers_of_an_enclosing_function_are_told_apart() -> None:
    scale, shift = 2.0, 5.0

    def loss(x):
        return x * scale + shift * x * x

    gradient = ad.value_and_grad(loss)
    for scale, shift in [(2.0, 5.0)] * 4 + [(7.0, -1.0)] * 2:
        assert gradient(1.5) == pytest.approx((loss(1.5), scale + 2 * shift * 1.5), rel=1e-15)


def test_data_of_an_enclosing_function_is_told_apart() -> None:
    rows, more, table, other = [1.0, 3.0], [2.0], np.array([1.0, 2.0]), np.array([4.0])

    def loss(x):
        return x * rows[1] * more[0] + table[1] * other[0] * x * x

    gradient = ad.value_and_grad(loss)
    for rows[1], table[1] in [(3.0, 2.0)] * 4 + [(7.0, -1.0)] * 2:
        slope = rows[1] * more[0] + 2 * table[1] * other[0] * 1.5
        assert gradient(1.5) == pytest.approx((loss(1.5), slope), rel=1e-15)


def test_functions_may_go_after_the_module_at_the_end_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def square(x: float) -> float:
        return x * x

    assert call_cache._ways_of(square) == {}
    told: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    monkeypatch.setattr(call_cache, "_known", None)
    monkeypatch.setattr(call_cache, "_forget", None)
    del square
    gc.collect()
    assert not told
