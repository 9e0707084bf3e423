"""Tangents of any structure as vectors, and moving along them."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad


@dataclass
class Layer:
    weight: np.ndarray
    bias: float
    name: str = "layer"


@dataclass(frozen=True)
class Fixed:
    scale: float
    layer: Layer


class Pair(NamedTuple):
    left: float
    right: np.ndarray


def tree(x=1.0):
    layer = Layer(np.array([x, 2 * x], np.float32), 3 * x)
    return {"layer": layer, "parts": [np.float32(x), (x, "text")], "pair": Pair(x, np.array([x]))}


def tangent(x=1.0):
    return ad.tangents.scale(ad.grad(squares)(tree(1.0)), x / 2)


def squares(t):
    layer, (first, (second, _)), pair = t["layer"], t["parts"], t["pair"]
    rest = first * first + second * second + pair.left * pair.left + np.sum(pair.right * pair.right)
    return np.sum(layer.weight * layer.weight) + layer.bias * layer.bias + rest


def test_vector_space():
    one, two = tangent(1.0), tangent(2.0)
    zero = ad.tangents.zero(tree())
    assert repr(ad.tangents.add(one, one)) == repr(two)
    assert repr(ad.tangents.subtract(two, one)) == repr(one)
    assert repr(ad.tangents.add(zero, one)) == repr(one) == repr(ad.tangents.add(None, one))
    assert repr(ad.tangents.negate(one)) == repr(ad.tangents.scale(one, -1.0))
    assert repr(ad.tangents.scale(one, 0.0)) == repr(zero)
    assert ad.tangents.dot(one, two) == 2 * ad.tangents.dot(one, one) == 36.0
    assert ad.tangents.norm(one) == math.sqrt(18.0)
    assert ad.tangents.dot(one, None) == 0.0


def test_dtypes_stay():
    scaled = ad.tangents.scale(tangent(), np.float64(0.1))
    assert scaled["layer"].weight.dtype == np.float32 and type(scaled["parts"][0]) is np.float32
    assert type(scaled["pair"]) is Pair


def test_sums_share_no_memory():
    one = tangent()
    total = ad.tangents.add(one, None)
    total["layer"].weight[0] = 100.0
    assert one["layer"].weight[0] == 1.0


def test_moved_makes_a_new_value():
    start = tree()
    end = ad.moved(start, along=tangent())
    assert repr(end) == repr(tree(2.0)) and repr(start) == repr(tree(1.0))


def test_move_changes_in_place():
    value = tree()
    layer, weight = value["layer"], value["layer"].weight
    ad.move(value, along=tangent())
    assert repr(value) == repr(tree(2.0))
    assert value["layer"] is layer and layer.weight is weight


def test_move_replaces_frozen_parts():
    value = [Fixed(1.0, Layer(np.ones(2), 1.0))]
    layer = value[0].layer
    ad.move(value, along=ad.grad(lambda v: v[0].scale * v[0].layer.bias)(value))
    assert value == [Fixed(2.0, layer)] and layer.bias == 2.0 and value[0].layer is layer


@pytest.mark.parametrize("value", [1.0, (np.ones(2), 1.0), Fixed(1.0, Layer(np.ones(2), 1.0))])
def test_move_refuses_what_cannot_change_and_leaves_it(value):
    before = repr(value)
    with pytest.raises(TypeError, match="use moved"):
        ad.move(value, along=ad.tangents.zero(value))
    assert repr(value) == before


def test_move_of_shared_arrays_once():
    shared = np.ones(2)
    value = [shared, shared]
    ad.move(value, along=ad.grad(lambda v: np.sum(v[0]) + np.sum(v[1]))(value))
    np.testing.assert_array_equal(shared, [3.0, 3.0])
