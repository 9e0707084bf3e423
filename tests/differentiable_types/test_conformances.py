"""What can vary besides user's classes: containers, alternatives, named tuples; and classes of others, registered."""

from __future__ import annotations

import math
import pickle
from collections import namedtuple
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_type
from sampling import check_grads


class State(NamedTuple):
    position: np.ndarray
    speed: float
    label: str = "state"


@ad.differentiable(frozen=True)
class Circle:
    radius: float

    def area(self):
        return math.pi * self.radius * self.radius


@ad.differentiable(frozen=True)
class Rectangle:
    width: float
    height: float

    def area(self):
        return self.width * self.height


@ad.differentiable(frozen=True)
class Group:
    members: tuple[Circle | Rectangle | Group, ...]
    scale: float


Shape = Circle | Rectangle | Group


def area(shape: Shape):
    match shape:
        case Circle(radius):
            return math.pi * radius * radius
        case Rectangle(width=w, height=h):
            return w * h
        case Group(members, scale):
            total = 0.0
            for member in members:
                total += area(member)
            return total * scale * scale


GROUP = Group((Circle(0.5), Group((Rectangle(1.0, 2.0), Circle(1.5)), 0.7)), 1.2)

VALUES = {
    "float": 1.5,
    "float32": np.float32(1.5),
    "array": np.arange(6.0).reshape(2, 3),
    "single": np.ones(3, np.float32),
    "scalar array": np.array(2.0),
    "empty": np.zeros((0, 2)),
    "tuple": (1.0, "text", (2.0, np.ones(2))),
    "list": [1.0, [2.0, 3.0], []],
    "dict": {"a": 1.0, 3: [2.0], "b": None},
    "named tuple": State(np.ones(2), 3.0),
    "circle": Circle(1.0),
    "group": GROUP,
    "alternatives": [Circle(1.0), Rectangle(2.0, 3.0), None],
    "mixed": {"shapes": (Circle(1.0), GROUP), "state": State(np.zeros(1), 1.0), "count": 3},
}


@pytest.mark.parametrize("name", VALUES)
def test_laws(name):
    check_type(VALUES[name])


@pytest.mark.parametrize("name", VALUES)
def test_tangents_are_moved_along_and_pickled(name):
    value = VALUES[name]
    zero = ad.tangents.zero(value)
    assert repr(pickle.loads(pickle.dumps(zero))) == repr(zero)
    assert repr(ad.moved(value, along=zero)) == repr(value)


def test_functions_of_containers():
    check_grads(lambda s: np.sum(s.position * s.speed) + math.sin(s.speed), (State(np.array([1.0, 2.0]), 0.5),))
    check_grads(lambda d: d["a"] * d["b"][0] + d["b"][1], ({"a": 2.0, "b": (3.0, 4.0), "name": "x"},))
    check_grads(lambda xs: [xs[1] * xs[0], (xs[0], xs[2][0])], ([1.0, 2.0, [3.0]],))
    gradient = ad.grad(lambda s: np.sum(s.position) * s.speed)(State(np.ones(2), 3.0))
    assert type(gradient) is State and gradient.label is None and gradient.speed == 2.0


def test_optional_parts():
    @dataclass
    class Layer:
        weight: float
        bias: float | None

    def forward(layer, x):
        y = layer.weight * x
        if layer.bias is not None:
            y += layer.bias * layer.bias
        return y

    check_grads(forward, (Layer(2.0, 3.0), 0.5))
    check_grads(forward, (Layer(2.0, None), 0.5))
    assert not hasattr(ad.grad(forward)(Layer(2.0, None), 0.5), "bias")
    check_grads(lambda x, y: x * x if y is None else x * y, (2.0, None))


def test_alternatives_by_match():
    check_grads(area, (GROUP,))
    for shape in (Circle(2.0), Rectangle(1.0, 3.0)):
        check_grads(area, (shape,))
    gradient = ad.grad(area)(GROUP)
    assert [type(part) for part in gradient.members] == [Circle.TangentVector, Group.TangentVector]


def test_alternatives_by_method_in_lists_of_any_length():
    def total(shapes):
        result = 0.0
        for shape in shapes:
            result += shape.area() ** 2
        return result

    check_grads(total, ([Circle(1.0), Rectangle(2.0, 3.0), Circle(0.5)],))
    gradient = ad.grad(total)([Rectangle(1.0, 1.0), Circle(1.0)])
    assert [type(part) for part in gradient] == [Rectangle.TangentVector, Circle.TangentVector]


def test_a_gradient_of_another_case_is_refused():
    def total(shapes):
        return sum(shape.area() for shape in shapes)

    shapes = [Circle(1.0), Rectangle(2.0, 3.0)]
    gradient = ad.grad(total)(shapes)
    assert ad.moved(shapes, along=gradient)[1].width == 5.0
    with pytest.raises(ValueError, match="moves along a"):
        ad.moved(shapes, along=gradient[::-1])
    with pytest.raises(ValueError):
        ad.moved(shapes, along=gradient[:1])
    with pytest.raises(ad.DifferentiationError, match="AD0409"):
        ad.jvp(total, (shapes,), (gradient[::-1],))
    with pytest.raises(ValueError, match="structures differ"):
        ad.tangents.add(gradient, [*gradient, None])


def test_zeros_depend_on_the_value():
    assert ad.tangents.zero([[1.0], [], [2.0, 3.0]]) == [[0.0], [], [0.0, 0.0]]
    gradient = ad.grad(lambda xs: xs[1][0] * 2.0)([[1.0, 5.0], [2.0], []])
    assert gradient == [[0.0, 0.0], [2.0], []]


# -- pointwise operations and elementary functions of tangents


@ad.differentiable
class Model:
    weight: np.ndarray
    scale: float
    name: ad.NoDerivative[str] = "model"


def tangent() -> Model.TangentVector:
    return Model.TangentVector(weight=np.array([1.0, 4.0], np.float32), scale=9.0)


def test_tangents_conform_to_the_protocols():
    t = tangent()
    protocols = (ad.AdditiveArithmetic, ad.VectorSpace, ad.PointwiseMultiplicative, ad.ElementaryFunctions)
    assert all(isinstance(t, protocol) for protocol in (*protocols, ad.Differentiable))


def test_tangents_are_multiplied_number_by_number():
    t = tangent()
    assert t * t == Model.TangentVector(weight=np.array([1.0, 16.0], np.float32), scale=81.0)
    assert t / t == t.one == Model.TangentVector(weight=np.ones(2, np.float32), scale=1.0)
    assert t.one / t == t.reciprocal and t.reciprocal.weight.dtype == np.float32
    assert t - t == t.zero


def test_elementary_functions_of_tangents():
    t = tangent()
    assert t.sqrt() == Model.TangentVector(weight=np.array([1.0, 2.0], np.float32), scale=3.0)
    for name, function in {"exp": np.exp, "log": np.log, "sin": np.sin, "atan": np.arctan, "log1p": np.log1p}.items():
        result = getattr(t, name)()
        np.testing.assert_allclose(result.weight, function(t.weight), rtol=1e-6)
        assert result.weight.dtype == np.float32 and type(result.scale) is float
        assert result.scale == pytest.approx(function(9.0))
    assert t.pow(2) == t * t and t.pow(t.one) == t and t.root(2) == t.sqrt()
    assert (-t).root(3).scale == pytest.approx(-(9.0 ** (1 / 3)))
    assert t.exp2().scale == 512.0 and t.exp10().scale == 1e9


@ad.differentiable
class Pair(ad.VectorSpace, ad.PointwiseMultiplicative, ad.ElementaryFunctions, ad.VectorNumeric):
    x: float
    parts: tuple[float, float]


@ad.differentiable
class Holder(ad.PointwiseMultiplicative, ad.ElementaryFunctions):
    pair: Pair
    table: dict[str, list[float]]
    array: np.ndarray


def test_synthesised_protocols_are_differentiated():
    p, q = Pair(0.5, (0.3, 0.8)), Pair(1.5, (-0.2, 0.4))
    assert isinstance(p, ad.VectorNumeric) and Pair.TangentVector is Pair
    check_type(p)
    check_grads(lambda p, q: p + q - p * q / (q + 2.0 * q.one), (p, q))
    check_grads(lambda p: (p.exp() * p.sin()).sqrt().pow(1.5), (p,))
    check_grads(lambda p: p.root(3) + p.log1p().tanh() + p.reciprocal, (p,))
    check_grads(lambda x: Pair.from_scalar(x).exp2(), (0.7,))
    assert p.zero == Pair(0.0, (0.0, 0.0)) and p.one == Pair.filled((), 1.0)


def test_synthesised_protocols_of_nested_fields():
    h = Holder(Pair(0.5, (0.3, 0.8)), {"a": [0.1, 0.2], "b": []}, np.array([0.5, 0.6]))
    check_grads(lambda a, b: a * b + a.exp() - b.sin() / a, (h, h.cos()))
    assert Holder.TangentVector is Holder
    check_type(h)


def test_arithmetic_that_cannot_be_synthesised_is_refused():
    with pytest.raises(TypeError, match=r"Odd\.x: arithmetic cannot be synthesised for a field of the type"):

        @ad.differentiable
        class Odd(ad.VectorSpace):
            x: object

    with pytest.raises(NotImplementedError, match=r"@ad\.differentiable"):

        class Plain(ad.AdditiveArithmetic):
            pass

        Plain() + Plain()


# -- classes of other libraries


class Interval:
    """A class that could come from anywhere: its constructor checks, its fields are private."""

    __slots__ = ("_high", "_low", "unit")

    def __init__(self, low, high, unit="m"):
        if high < low:
            raise ValueError("upside down")
        self._low, self._high, self.unit = low, high, unit

    @property
    def width(self):
        return self._high - self._low


ad.register_type(Interval, fields=("_low", "_high"), no_derivative=("unit",))


class Angle:
    """A class with a group of its own: angles wrap."""

    def __init__(self, radians):
        self.radians = math.remainder(radians, math.tau)


ad.register_type(Angle, fields=["radians"], make=Angle, moved=lambda x, along: Angle(x.radians + along.radians))


def test_registered_types():
    interval = Interval(1.0, 3.0)
    check_grads(lambda i: i.width * i._low, (interval,))
    gradient = ad.grad(lambda i: i.width * i._low)(interval)
    assert vars(gradient) == {"_low": 1.0, "_high": 1.0}
    moved = ad.moved(interval, along=gradient)
    assert (moved._low, moved._high, moved.unit) == (2.0, 4.0, "m")
    upside_down = ad.moved(interval, along=5.0 * (gradient - 2.0 * gradient) + 7.0 * gradient * gradient)
    assert upside_down.width == 2.0
    check_type(interval)


def test_registered_types_that_make_themselves():
    angle = Angle(3.0)
    assert ad.grad(lambda a: math.sin(a.radians))(angle).radians == math.cos(3.0)
    moved = ad.moved([angle], along=[ad.types.tangent_class(Angle)(radians=1.0)])
    assert moved[0].radians == pytest.approx(4.0 - math.tau)
    check_type(angle)


def test_wrong_registrations():
    with pytest.raises(TypeError, match="takes a class"):
        ad.register_type(3.0, fields=("x",))
    with pytest.raises(TypeError, match="needs fields"):
        ad.register_type(dict)
    with pytest.raises(TypeError, match="by name"):
        ad.register_type(Interval, fields=(1,))
    with pytest.raises(TypeError, match="as a field that varies and as one that does not"):
        ad.register_type(Interval, fields=("_low",), no_derivative=("_low",))


def test_namedtuple_of_collections():
    plain = namedtuple("plain", "a b")
    assert ad.grad(lambda p: p.a * p.b)(plain(2.0, 3.0)) == plain(3.0, 2.0)
    check_type(plain(2.0, 3.0))


# -- types that conform without inheriting anything


class Money:
    """A user's own vector: no base, no decorator."""

    def __init__(self, amount):
        self.amount = amount

    zero = property(lambda self: Money(0.0))

    def __add__(self, other):
        return Money(self.amount + other.amount)

    def __sub__(self, other):
        return Money(self.amount - other.amount)

    def __mul__(self, factor):
        return Money(self.amount * factor)

    __rmul__ = __mul__


class Bead:
    """A user's own point on a circle: it says itself how it moves."""

    def __init__(self, angle):
        self.angle = angle

    def moved(self, along):
        return Bead(math.remainder(self.angle + along.angle, math.tau))


def test_conformance_without_inheriting():
    assert isinstance(Money(1.0), ad.VectorSpace) and isinstance(Bead(0.0), ad.Differentiable)
    assert not isinstance(Bead(0.0), ad.AdditiveArithmetic)
    check_grads(lambda a, b: (2.0 * (a + b) - a).amount ** 2, (Money(1.0), Money(2.0)))
    bead = Bead(3.0)
    for _ in range(50):
        bead = ad.moved(bead, along=0.5 * ad.grad(lambda b: math.cos(b.angle - 3.5))(bead))
    assert bead.angle == pytest.approx(3.5 - math.tau, abs=1e-6)
    check_type(bead)
    check_type(Money(2.0))
