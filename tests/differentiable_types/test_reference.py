"""The reference system's cases and samples on types: tangents, zeros, moving, trees, vector types."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pytest

import adjoint as ad
from adjoint.tangents import ZERO
from adjoint.testing import check_type
from sampling import check_grads

DATA = Path(__file__).resolve().parents[1] / "data" / "reference_cases.json"
CASES = {case["id"]: case for case in json.loads(DATA.read_text())["cases"]}
T = TypeVar("T")


# -- cases


def test_optional_move() -> None:
    for value, along, moved in CASES["tangent.optional_move"]["cases"]:
        assert ad.moved(value if value is None else float(value), along=float(along)) == moved or value is None
    assert ad.moved([None, 2.0], along=[None, 3.0]) == [None, 5.0]


def as_float(x: Any) -> Any:
    return x if x is None else float(x)


def test_optional_arithmetic() -> None:
    case = CASES["tangent.optional_arith"]
    for a, b, total in case["add"]:
        assert ad.tangents.add(as_float(a), as_float(b)) == total
    for a, b, difference in case["sub"]:
        assert ad.tangents.subtract(as_float(a), as_float(b)) == difference
    assert ad.tangents.zero(2.0) == 0.0


def test_optional_zero() -> None:
    assert ad.tangents.zero([1.0, 2.0, 3.0]) == [0.0, 0.0, 0.0] and ad.tangents.zero(None) is None


def test_array_arithmetic() -> None:
    for a, b, total in CASES["tangent.array_arith"]["add"]:
        assert ad.tangents.add([float(x) for x in a], [float(x) for x in b]) == total
    assert ad.tangents.subtract([], [1.0, 2.0]) == [-1.0, -2.0]
    with pytest.raises(ValueError, match="a list of 2 and a list of 3"):
        ad.tangents.add([1.0, 2.0], [1.0, 2.0, 3.0])


def test_array_zero() -> None:
    assert ad.tangents.zero([1.0] * 10) == [0.0] * CASES["tangent.array_zero_init"]["count"]


@ad.differentiable
class Lists(Generic[T]):
    x: list[T]
    y: list[list[T]]


@ad.differentiable
class Nested:
    lists: Lists[float]


def test_generic_zero() -> None:
    case = CASES["tangent.generic_zero_init"]
    value = Lists([float(v) for v in case["value"]["x"]], [[float(v) for v in row] for row in case["value"]["y"]])
    zero = ad.tangents.zero(value)
    assert {"x": zero.x, "y": zero.y} == case["expected"]
    nested = ad.tangents.zero(Nested(value))
    assert nested.lists == zero


def test_zero_of_a_struct_of_lists_that_is_concatenated() -> None:
    def concatenated(a, b):
        return Lists(a.x + b.x, a.y + b.y)

    def f(s):
        total = 0.0
        for v in concatenated(s, s).x:
            total += v
        return total

    gradient = ad.grad(f)(Lists([1.0, 2.0, 3.0], [[4.0], [5.0, 6.0]]))
    assert gradient == Lists.TangentVector(x=[2.0, 2.0, 2.0], y=[[0.0], [0.0, 0.0]])


def test_static_properties_are_ignored() -> None:
    @ad.differentiable
    class Model:
        scale = 3.0
        x: float

    assert ad.grad(lambda m: m.x * Model.scale * m.scale)(Model(1.0)) == Model.TangentVector(x=9.0)


@ad.differentiable
class Vector2(ad.VectorSpace):
    x: float
    y: float


def test_type_erasure_needs_no_wrapper() -> None:
    one, two = Vector2(1.0, 1.0), Vector2(2.0, 2.0)
    assert ad.moved(one, along=one) == two
    assert ad.tangents.add(two, two) == Vector2(4.0, 4.0)
    assert ad.tangents.subtract(two, two) == Vector2(0.0, 0.0)
    assert ZERO + two == two == two + ZERO and ZERO != Vector2(0.0, 0.0)
    assert ad.tangents.add(ZERO, two) == two == ad.tangents.add(two, ZERO)


def test_pullbacks_of_zero_are_zero() -> None:
    def constant(v):
        return Vector2(1.0, 2.0)

    def squares(v):
        return Vector2(v.x * v.x, v.y * v.y)

    for f in (lambda v: v, constant, squares):
        _, pullback = ad.vjp(f, Vector2(3.0, 4.0))
        for zero in (Vector2(0.0, 0.0), None, ZERO):
            assert pullback(zero) == (Vector2(0.0, 0.0),)


# -- the symbolic zero


def test_the_symbolic_zero_is_a_tangent_of_everything() -> None:
    value = {"a": [1.0, np.ones(2)], "b": None}
    assert repr(ad.moved(value, along=ZERO)) == repr(value)
    assert repr(ad.tangents.materialize(ZERO, value)) == repr(ad.tangents.zero(value))
    assert ad.tangents.materialize(3.0, 1.0) == 3.0
    assert ad.jvp(lambda x, y: x * y, (2.0, 3.0), (ZERO, 1.0)) == (6.0, 2.0)
    assert ad.jvp(lambda p: p[0] * p[1], ((2.0, 3.0),), ((1.0, ZERO),)) == (6.0, 3.0)
    _, pullback = ad.vjp(lambda x: (x, x * x), 3.0)
    assert pullback((ZERO, 1.0)) == (6.0,) and pullback(ZERO) == (0.0,)
    assert not ZERO and repr(ZERO) == "ZERO" and -ZERO is ZERO and 2.0 * ZERO / 3.0 is ZERO
    assert np.array_equal(np.ones(2) + ZERO, np.ones(2)) and np.array_equal(ZERO - np.ones(2), -np.ones(2))
    assert ad.tangents.dot(ZERO, 3.0) == 0.0 == ad.tangents.norm(ZERO)
    assert sum([ZERO, 1.0, ZERO], ZERO) == 1.0
    assert __import__("pickle").loads(__import__("pickle").dumps(ZERO)) is ZERO


# -- samples: differentiable types


@ad.differentiable
class Vector(ad.VectorNumeric):
    x: float
    y: float
    z: float


def test_vector() -> None:
    v = Vector(1.0, 2.0, 3.0)
    assert repr(ad.grad(lambda v: (v + v).x)(v)) == "Vector(x=2.0, y=0.0, z=0.0)"
    assert v.moved(along=Vector(0.5, 0.0, -1.0)) == Vector(1.5, 2.0, 2.0)


@ad.differentiable
class DenseLayer:
    weight: np.ndarray
    bias: np.ndarray
    use_bias: bool = ad.no_derivative(default=True)
    previous_weight: np.ndarray = ad.no_derivative(default_factory=lambda: np.array(0.0))

    def __call__(self, inputs):
        return inputs @ self.weight + self.bias


def test_dense_layer() -> None:
    dense = DenseLayer(np.ones((2, 2)), np.zeros(2))
    gradient = ad.grad(lambda dense: np.sum(dense(np.array([[3.0, 3.0]]))))(dense)
    assert gradient == DenseLayer.TangentVector(weight=np.full((2, 2), 3.0), bias=np.ones(2))
    assert type(gradient) is DenseLayer.DifferentiableVariables
    check_type(dense)


def test_standard_conformances() -> None:
    for value in (1.0, np.float32(1.5), np.float64(2.5), np.longdouble(3.5), np.ones(3), np.ones(2, np.float32)):
        zero = ad.tangents.zero(value)
        assert type(zero) is type(value) and np.all(zero == 0)
        assert type(ad.moved(value, along=value)) is type(value)
        check_type(value)
    assert ad.tangents.zero(np.array([1, 2])) is None and ad.tangents.zero(3) is None
    with pytest.raises(ad.DifferentiationError, match="AD0403"):
        ad.grad(np.sum)(np.array([1, 2]))


# -- samples: the whitepaper's types


def test_arrays_are_vector_numeric() -> None:
    from adjoint.types.protocols import filled, from_scalar

    np.testing.assert_array_equal(filled(np.ndarray, [2, 3], 1.5), np.full((2, 3), 1.5))
    assert from_scalar(float, 2) == 2.0 and from_scalar(Vector, 2.0) == Vector(2.0, 2.0, 2.0)
    assert isinstance(Vector(1.0, 2.0, 3.0), ad.VectorNumeric)


class Tree:
    """The whitepaper's tree: a class with two cases."""

    @staticmethod
    def of(spec: dict[str, Any]) -> Leaf | Node:
        if "leaf" in spec:
            return Leaf(float(spec["leaf"]))
        left, value, right = spec["node"]
        return Node(Tree.of(left), float(value), Tree.of(right))


@ad.differentiable(frozen=True)
class Leaf:
    value: float

    def __add__(self, other):
        match other:
            case Leaf(value):
                return Leaf(self.value + value)
            case Node(left, value, right):
                return Node(left, self.value + value, right)


@ad.differentiable(frozen=True)
class Node:
    left: Leaf | Node
    value: float
    right: Leaf | Node

    def __add__(self, other):
        match other:
            case Leaf(value):
                return Node(self.left, self.value + value, self.right)
            case Node(left, value, right):
                return Node(self.left + left, self.value + value, self.right + right)


def test_tree_addition() -> None:
    for case in CASES["seed.tree_addition"]["cases"]:
        lhs, rhs, total = (Tree.of(case[name]) for name in ("lhs", "rhs", "sum"))
        assert lhs + rhs == total
        value, pullback = ad.vjp(lambda a, b: a + b, lhs, rhs)
        assert value == total
        left, right = pullback(ones_of(total))
        assert ad.tangents.dot(left, ones_of(lhs)) + ad.tangents.dot(right, ones_of(rhs)) == count(total) + shared(
            lhs, rhs
        )


def ones_of(tree):
    return ad.grad(total_of)(tree)


def total_of(tree):
    match tree:
        case Leaf(value):
            return value
        case Node(left, value, right):
            return total_of(left) + value + total_of(right)


def count(tree) -> int:
    return 1 if isinstance(tree, Leaf) else 1 + count(tree.left) + count(tree.right)


def shared(a, b) -> int:
    """How many sums of two numbers the sum of two trees consists of."""
    if isinstance(a, Node) and isinstance(b, Node):
        return 1 + shared(a.left, b.left) + shared(a.right, b.right)
    return 1


def test_functions_over_trees() -> None:
    tree = Tree.of({"node": [{"leaf": 0.3}, 0.5, {"node": [{"leaf": 0.1}, -0.2, {"leaf": 0.9}]}]})
    check_grads(lambda a, b: math.sin(total_of(a + b)) * total_of(a), (tree, Leaf(0.7)))
    check_type(tree)


def test_the_gradient_has_the_active_case() -> None:
    gradient = ad.grad(lambda tree: total_of(tree) ** 2)(Tree.of({"node": [{"leaf": 1}, 2, {"leaf": 3}]}))
    assert type(gradient) is Node.TangentVector and type(gradient.left) is Leaf.TangentVector
    assert type(ad.grad(lambda tree: total_of(tree) ** 2)(Leaf(1.0))) is Leaf.TangentVector
    with pytest.raises(ValueError, match=r"moves along a Leaf\.TangentVector, not along a Node\.TangentVector"):
        ad.moved(Leaf(1.0), along=gradient)
    with pytest.raises(ValueError, match="tangents of two classes"):
        ad.tangents.add(gradient, gradient.left)
    with pytest.raises(ad.DifferentiationError, match=r"expected a Leaf\.TangentVector, got a Node\.TangentVector"):
        ad.jvp(total_of, (Leaf(1.0),), (gradient,))
