"""Key paths of classes: what declarations rule out is refused, loops over them unroll and are differentiated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
import pytest

import adjoint as ad


@dataclass
class Parameters(ad.ParameterAggregate):
    w: np.ndarray
    b: float


@dataclass
class Layer(ad.KeyPathIterable):
    weight: float
    bias: float


@dataclass
class Model:
    layers: list[Layer]
    scale: float
    pair: tuple[float, float] = (1.0, 2.0)


class Plain:
    pass


class TestWaysThatDeclarationsRuleOut:
    @pytest.mark.parametrize(
        ("way", "said"),
        [
            (lambda m: m.nope, "there is no .nope in Model(layers: "),
            (lambda m: m.layers[0].wieght, "there is no .wieght in .layers[0]"),
            (lambda m: m.scale.x, "there is no .x in .scale"),
            (lambda m: m.scale[0], "there is no [0] in .scale"),
            (lambda m: m.pair[2], "there is no [2] in .pair"),
        ],
    )
    def test_are_refused_where_they_are_written(self, way, said):
        for make in (lambda: way(ad.keypath(Model)), lambda: ad.keypath(Model, way)):
            with pytest.raises(ad.KeyPathError, match="AD0410") as refusal:
                make()
            assert said in str(refusal.value)
        with pytest.raises(ad.KeyPathError):
            ad.keypath(Model, str(way(ad.keypath())))

    def test_are_told_with_what_was_meant(self):
        with pytest.raises(ad.KeyPathError) as refusal:
            _ = ad.keypath(Model).layers[0].wieght
        assert str(refusal.value) == (
            "error[AD0410]: the key path does not fit the value\n"
            "  = note: .layers[0].wieght does not fit: there is no .wieght in .layers[0]\n"
            "  = note: .layers[0] is declared as Layer\n"
            "  = help: did you mean .weight?\n"
            "  = help: a way that declarations do not tell is written as text: ad.keypath('.layers[0].wieght')"
        )

    def test_are_attributes_that_are_not_there(self):
        assert not hasattr(ad.keypath(Model), "nope")

    def test_are_only_those(self):
        assert str(ad.keypath(Plain).anything.at_all) == ".anything.at_all"
        assert str(ad.keypath().nope) == ".nope"
        assert str(ad.keypath(".nope")) == ".nope"
        assert ad.keypath(Model).pair[-1].get(Model([], 1.0)) == 2.0


T = TypeVar("T")


@ad.differentiable
class Box(Generic[T]):
    inner: T
    scale: float = 1.0


class TestGenericClasses:
    def test_tell_what_their_arguments_are(self):
        assert ad.keypath(Box[Layer]).inner.weight.get(Box(Layer(3.0, 1.0))) == 3.0
        with pytest.raises(ad.KeyPathError, match=r"there is no \.nope in Box\(inner: float, scale: float\)"):
            _ = ad.keypath(Box[float]).nope
        with pytest.raises(ad.KeyPathError, match=r"there is no \.wight in \.inner"):
            _ = ad.keypath(Box[Layer]).inner.wight

    def test_have_gradients_that_their_values_tell(self):
        for box in (Box(2.0, 3.0), Box[float](2.0, 3.0)):
            gradient = ad.grad(lambda box: box.inner * box.inner * box.scale)(box)
            assert gradient == Box.TangentVector(inner=12.0, scale=4.0)
            assert box.moved(along=gradient) == Box(14.0, 7.0)
        assert ad.grad(lambda box: box.inner.weight * box.scale)(Box[Layer](Layer(2.0, 1.0), 3.0)).inner.weight == 3.0
        assert ad.grad(lambda box: box.inner * box.scale)(Box(2, 3.0)) == Box.TangentVector(scale=2.0)


class TestKeyPathsOfAClass:
    def test_are_those_of_its_values(self):
        assert Parameters.all_key_paths() == [ad.keypath().w, ad.keypath().b] == point().all_key_paths()
        assert Parameters.all_key_paths(to=float) == [ad.keypath().b]
        assert Layer.recursively_all_writable_key_paths() == Layer(1.0, 2.0).all_writable_key_paths()


def point():
    return Parameters(np.ones(2), 1.0)


def same(one, other):
    """Whether two bundles are of one class and have the same numbers."""
    return type(one) is type(other) and np.allclose(one.w, other.w) and bool(np.isclose(one.b, other.b))


def gradients():
    return Parameters(np.full(2, 0.5), 0.5)


def fit(parameters, gradients, rate):
    for kp in Parameters.all_key_paths():
        parameters[kp] = parameters[kp] - rate * gradients[kp]
    return np.sum(parameters.w**2) + parameters.b**2


def listed(parameters, gradients):
    total = 0.0
    for kp in parameters.all_key_paths():
        total = total + np.sum(parameters[kp] * gradients[kp])
    for kp in ad.recursively_all_writable_key_paths(Parameters, to=float):
        total += math.sin(parameters[kp])
    for kp in parameters.all_key_paths(to=np.float64):
        total += np.sum(parameters[kp])
    return total


class TestLoopsOverKeyPaths:
    def test_unroll(self):
        text = ad.source(ad.compile(fit, native=False), point(), gradients(), 0.1)
        assert "for " not in text
        compiled = point()
        assert ad.compile(fit, native=False)(compiled, gradients(), 0.1) == fit(point(), gradients(), 0.1)
        np.testing.assert_allclose(compiled.w, np.full(2, 0.95))

    def test_are_differentiated(self):
        assert ad.grad(fit, wrt="rate")(point(), gradients(), 0.1) == pytest.approx(-2.85)
        assert same(ad.grad(fit)(point(), gradients(), 0.1), Parameters(np.full(2, 1.9), 1.9))
        assert ad.jvp(lambda rate: fit(point(), gradients(), rate), (0.1,), (1.0,))[1] == pytest.approx(-2.85)
        second = ad.grad(lambda p, g: ad.grad(listed)(p, g).b)(point(), gradients())
        assert second.b == pytest.approx(-math.sin(1.0))

    def test_of_values(self):
        gradient = ad.grad(listed)(point(), gradients())
        np.testing.assert_allclose(gradient.w, np.full(2, 1.5))
        assert gradient.b == pytest.approx(0.5 + math.cos(1.0))

    def test_whose_filter_is_a_function_are_refused(self):
        def f(parameters):
            return sum(np.sum(parameters[kp]) for kp in parameters.all_key_paths(to=lambda part: True))

        with pytest.raises(ad.DifferentiationError, match="a function of the part as to= is not covered"):
            ad.grad(f)(point())


class TestGradientsOfBundles:
    def test_are_bundles(self):
        assert same(ad.grad(lambda p: np.sum(p.w) * p.b)(point()), Parameters(np.ones(2), 2.0))

    def test_update_bundles(self):
        parameters = point()
        parameters.update(ad.grad(lambda p: np.sum(p.w) * p.b)(parameters), lambda p, g: p - 0.1 * g)
        assert same(parameters, Parameters(np.full(2, 0.9), 0.8))

    def test_are_vectors(self):
        gradient = ad.grad(lambda p: np.sum(p.w) * p.b)(point())
        for twice in (gradient + gradient, gradient * 2.0, gradient / 0.5, gradient - -gradient):
            assert same(twice, 2.0 * gradient)
        assert same(ad.moved(point(), along=-0.1 * gradient), Parameters(np.full(2, 0.9), 0.8))

    def test_nested(self):
        @dataclass
        class Outer(ad.ParameterAggregate):
            first: Parameters
            scale: float

        Outer.__annotations__.update(first=Parameters, scale=float)
        gradient = ad.grad(lambda o: np.sum(o.first.w) * o.scale)(Outer(point(), 3.0))
        assert type(gradient) is Outer
        assert type(gradient.first) is Parameters

    def test_pullbacks_take_them(self):
        _, pullback = ad.vjp(lambda x: Parameters(x * np.ones(2), x), 3.0)
        assert pullback(Parameters(np.ones(2), 1.0)) == (3.0,)
        assert same(ad.jvp(lambda p: p, (point(),), (gradients(),))[1], gradients())


class Spring:
    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return self.k * x * x


class TestBoundMethods:
    def test_with_respect_to_the_object(self):
        soft, stiff = Spring(2.0), Spring(5.0)
        assert ad.grad(soft.energy, wrt="self")(3.0).k == 9.0
        value, (spring, slope) = ad.value_and_grad(stiff.energy, wrt=("self", "x"))(3.0)
        assert (value, spring.k, slope) == (45.0, 9.0, 30.0)
        assert ad.grad(stiff.energy, wrt=(0, "self"))(3.0)[0] == 30.0
        assert ad.grad(soft.energy, wrt=ad.keypath(Spring).k)(3.0) == 9.0
        assert ad.grad(soft.energy, wrt="self").canonical(3.0)[1].k == 9.0

    def test_in_code_that_is_differentiated(self):
        spring = Spring(2.0)
        assert ad.grad(lambda x: ad.grad(spring.energy, wrt="self")(x).k)(3.0) == 6.0
        assert ad.grad(lambda spring, x: ad.grad(spring.energy, wrt="self")(x).k * spring.k)(spring, 3.0).k == 9.0

    def test_natively(self):
        assert ad.grad(Spring(2.0).energy, wrt="self", native=True)(3.0).k == 9.0
