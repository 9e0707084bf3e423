"""Tangent classes, zeros, shadows and the checks at the boundary."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections import namedtuple
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from adjoint.runtime.boundary import check_cotangent, check_tangent
from adjoint.runtime.tangents import (
    accumulate,
    add_to_field,
    add_to_slot,
    finish,
    follow_view,
    shadow,
    take_field,
    take_slot,
    to_shadow,
    zero_tangent,
)
from adjoint.types import TangentVector, moved
from adjoint.types.structure import leaves_of, map_structure
from adjoint.types.vectors import tangent_class

Pair = namedtuple("Pair", "first second")


@dataclass(frozen=True)
class Layer:
    weight: np.ndarray
    bias: float
    name: str = "layer"
    size: int = 3

    def __post_init__(self) -> None:
        raise_if_told()


@dataclass
class Options:
    rate: float
    fixed: float = field(default=1.0, metadata={"no_derivative": True})


class Plain:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


class Slotted:
    __slots__ = ("x", "y")


told = False


def raise_if_told() -> None:
    if told:
        raise AssertionError("the user's constructor ran")


@pytest.fixture
def no_constructors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "told", True)


def test_tangent_class_is_one_per_class_and_named_after_it() -> None:
    cls = tangent_class(Layer)
    assert cls is tangent_class(Layer)
    assert cls is tangent_class(cls)
    assert issubclass(cls, TangentVector)
    assert cls.__qualname__ == "Layer.TangentVector"
    assert cls.__module__ == __name__


def test_tangent_class_does_not_keep_the_class_alive() -> None:
    class Local:
        pass

    reference = weakref.ref(Local)
    tangent_class(Local)
    del Local
    gc.collect()
    assert reference() is None


def test_tangent_vectors_are_vectors() -> None:
    cls = tangent_class(Layer)
    a, b = cls(weight=np.array([1.0, 2.0]), bias=3.0), cls(weight=np.array([10.0, 20.0]), bias=1.0)
    assert a + b == cls(weight=np.array([11.0, 22.0]), bias=4.0)
    assert a - b == cls(weight=np.array([-9.0, -18.0]), bias=2.0)
    assert -a == a * -1.0 == -1.0 * a == a * np.float64(-1.0) == np.float64(-1.0) * a
    assert a / 2 == cls(weight=np.array([0.5, 1.0]), bias=1.5)
    assert a.zero == cls(weight=np.zeros(2), bias=0.0)
    assert sum([a, b]) == a + b
    assert a != b
    assert repr(a) == "Layer.TangentVector(weight=array([1., 2.]), bias=3.0)"
    with pytest.raises(TypeError):
        a + 1.0
    with pytest.raises(TypeError):
        hash(a)


def test_tangent_vectors_keep_float32() -> None:
    a = tangent_class(Plain)(w=np.ones(2, np.float32))
    assert (a * np.float64(2.0)).w.dtype == np.float32


def test_tangent_vectors_can_be_pickled_and_copied() -> None:
    a = zero_tangent(Layer(np.ones(2), 1.0))
    for other in (pickle.loads(pickle.dumps(a)), copy.deepcopy(a), copy.copy(a)):
        assert other == a
        assert type(other) is type(a)


def test_zero_tangent_of_each_kind() -> None:
    assert zero_tangent(1.5) == 0.0
    zero = zero_tangent(np.float32(1.5))
    assert zero == 0
    assert zero.dtype == np.float32
    array = zero_tangent(np.ones((2, 3), np.float32))
    assert array.shape == (2, 3)
    assert array.dtype == np.float32
    for nothing in (1, True, "text", None, len, np.arange(3), np, Layer):
        assert zero_tangent(nothing) is None
    assert zero_tangent((1.0, 2, [3.0])) == (0.0, None, [0.0])
    assert zero_tangent(Pair(1.0, "x")) == Pair(0.0, None)
    assert isinstance(zero_tangent(Pair(1.0, "x")), Pair)
    assert zero_tangent({"a": 1.0, "b": 2}) == {"a": 0.0, "b": None}


def test_zero_tangent_of_objects(no_constructors: None) -> None:
    layer = object.__new__(Layer)
    for name, value in {"weight": np.ones(2), "bias": 1, "name": "n", "size": 3}.items():
        object.__setattr__(layer, name, value)
    assert vars(zero_tangent(layer)).keys() == {"weight", "bias"}
    assert zero_tangent(layer).bias == 0.0
    assert vars(zero_tangent(Options(1.0))).keys() == {"rate"}
    assert zero_tangent(Plain(n=1)) is None
    slotted = Slotted()
    slotted.x = 1.0
    assert zero_tangent(slotted).x == 0.0


def test_what_is_shared_shares_its_zero() -> None:
    array = np.ones(2)
    zero = zero_tangent([array, array, Plain(a=array)])
    assert zero[0] is zero[1] is zero[2].a


def test_cycles() -> None:
    node = Plain(value=1.0)
    node.next = node
    zero = zero_tangent(node)
    assert zero.next is zero
    assert finish(shadow(node), node).next.value == 0.0


def test_shadows_are_mutable_and_complete() -> None:
    made = shadow((1.0, Layer(np.ones(2), 1.0), 3))
    assert isinstance(made, list)
    assert made[2] == 0.0  # of another tuple a float may be there
    assert finish(made, (1.0, Layer(np.ones(2), 1.0), 3))[2] is None
    made[1].bias = 5.0
    assert made[1].name is None


def test_finish_restores_structure_and_copies() -> None:
    x = (1.0, [np.ones(2)], Pair(2.0, np.float32(1.0)), Layer(np.ones(2), 1), 7)
    held = shadow(x)
    held[0] = np.float64(4.0)
    held[1][0][0] = 2.0
    held[3].bias = 3.0
    result = finish(held, x)
    assert result[0] == 4.0
    assert type(result[0]) is float
    assert np.array_equal(result[1][0], [2.0, 0.0])
    assert not np.may_share_memory(result[1][0], held[1][0])
    assert isinstance(result[2], Pair)
    assert result[2].second.dtype == np.float32
    assert result[3].bias == 3.0
    assert result[4] is None
    assert vars(result[3]).keys() == {"weight", "bias"}


def test_finish_takes_the_entry_structure_as_a_zero_tangent() -> None:
    x = (1.0, [2.0])
    before = zero_tangent(x)
    held = shadow(x)
    x[1].append(3.0)
    assert finish(held, before) == (0.0, [0.0])


def test_finish_gives_writable_full_arrays() -> None:
    result = finish(np.broadcast_to(1.0, (3,)), np.zeros(3, np.float32))
    result[0] = 2.0
    assert result.dtype == np.float32
    assert finish(None, np.ones(2)).shape == (2,)


def test_to_shadow_has_the_layout_of_the_value() -> None:
    x = np.ones((2, 3)).T
    held = to_shadow(np.arange(6.0).reshape(3, 2), x)
    assert held.strides == x.strides
    structure = (1.0, {"a": x}, Layer(np.ones(2), 1.0))
    tangent = (2.0, {"a": x * 2}, SimpleNamespace(weight=None, bias=5.0))
    held = to_shadow(tangent, structure)
    assert held[0] == 2.0
    assert np.all(held[1]["a"] == 2)
    assert held[1]["a"] is not tangent[1]["a"]
    assert held[2].bias == 5.0
    assert np.all(held[2].weight == 0)
    assert to_shadow(2.0, 1.0) == 2.0


def test_accumulate() -> None:
    assert accumulate(None, 1.0) == 1.0
    assert accumulate((1.0, None), (2.0, 3.0)) == (3.0, 3.0)
    assert accumulate({"a": 1.0}, {"a": 1.0, "b": 2.0}) == {"a": 2.0, "b": 2.0}
    cls = tangent_class(Plain)
    assert accumulate(cls(a=1.0), cls(b=2.0)) == cls(a=1.0, b=2.0)


@pytest.mark.parametrize(
    ("given", "like", "path"),
    [
        ((1.0,), (1.0, 2.0), "length 2"),
        ([1.0], (1.0,), "tuple"),
        ("x", 1.0, "a float"),
        (1j, 1.0, "a float"),
        (True, 1.0, "a float"),
        (1.0, 3, "does not vary"),
        (np.ones(3), np.ones(2), "shape (2,)"),
        ([1.0, 2.0], np.ones(2), "shape (2,)"),
        ({"b": 1.0}, {"a": 1.0}, "ct['b']"),
        ((1.0, [1.0, "x"]), (1.0, [1.0, 2.0]), "ct[1][1]"),
        (SimpleNamespace(other=1.0), Options(1.0), "ct.other"),
        (SimpleNamespace(rate="x"), Options(1.0), "ct.rate"),
        (1.0, Options(1.0), "Options.TangentVector"),
    ],
)
def test_check_names_the_place(given: Any, like: Any, path: str) -> None:
    from adjoint.diagnostics import DifferentiationError

    with pytest.raises(DifferentiationError) as caught:
        check_cotangent(given, like, "ct")
    assert caught.value.diagnostics[0].code == "AD0409"
    assert path in str(caught.value)


def test_check_converts() -> None:
    assert type(check_tangent(1, 2.0)) is float
    assert check_tangent(1, np.float32(2.0)).dtype == np.float32
    assert check_tangent(np.array(3), 2.0) == 3.0
    assert check_tangent(np.arange(2), np.ones(2)).dtype == np.float64
    assert check_tangent((1, None), (1.0, 2)) == (1.0, None)
    assert check_tangent(SimpleNamespace(rate=1), Options(1)) == tangent_class(Options)(rate=1.0)
    assert check_tangent(1, 1 + 1j) == 1.0 + 0j


def test_leaves() -> None:
    array = np.ones(2)
    x = (1.0, [array, 3, array], Layer(array, 2.0))
    leaves, rebuild = leaves_of(x)
    assert leaves[0] == 1.0
    assert leaves[1] is array
    assert leaves[2:] == [2.0]
    again = rebuild([5.0, array * 2, 7.0])
    assert again[0] == 5.0
    assert again[1][0] is again[1][2] is again[2].weight
    assert again[2].bias == 7.0
    assert again[2].name == "layer"


def test_map_structure() -> None:
    assert map_structure(lambda a, b: (a or 0) + (b or 0), (1, [2]), (3, [4])) == (4, [6])
    with pytest.raises(ValueError, match="structures differ"):
        map_structure(lambda a, b: a, (1,), (1, 2))


def test_moved(no_constructors: None) -> None:
    options = Options(1.0, 4.0)
    assert moved(options, SimpleNamespace(rate=0.5)) == Options(1.5, 4.0)
    assert moved((1.0, "x"), (0.5, None)) == (1.5, "x")
    assert moved(np.float32(1), np.float32(1)).dtype == np.float32


def test_slots() -> None:
    held = [1.0, np.ones(2)]
    assert take_slot(held, 0) == 1.0
    assert held[0] == 0.0
    first = take_slot(held, 1)
    assert np.all(first == 1)
    assert np.all(held[1] == 0)
    array = np.arange(3.0)
    taken = take_slot(array, slice(1, None))
    assert np.array_equal(taken, [1, 2])
    assert np.array_equal(array, [0, 0, 0])
    add_to_slot(held, 1, np.ones(2))
    assert np.all(held[1] == 1)
    tangent = tangent_class(Plain)(a=2.0)
    add_to_field(tangent, "a", 1.0)
    assert take_field(tangent, "a") == 3.0
    assert tangent.a == 0.0


def test_follow_view_asks_the_primal() -> None:
    square, turned = np.zeros((2, 2)), np.zeros((2, 2)).T
    held, held_turned = np.zeros((2, 2)), np.zeros((2, 2)).T
    assert np.may_share_memory(follow_view(held.reshape(4), held, square.reshape(4), square), held)
    assert not np.may_share_memory(follow_view(held.reshape(4), held, turned.reshape(4), turned), held)
    with pytest.raises(ValueError, match="laid out"):
        follow_view(held_turned.reshape(4), held_turned, square.reshape(4), square)
