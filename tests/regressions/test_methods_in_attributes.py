"""Objects whose attributes are methods of their own, or functions that capture them: what varies there, varies."""

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right, second


class Chosen:
    def __init__(self, k: Any = 1.5, mode: str = "square") -> None:
        self.k = k
        self.f = self._square if mode == "square" else self._cube

    def _square(self, x: Any) -> Any:
        return x * x * self.k

    def _cube(self, x: Any) -> Any:
        return x**3 * self.k * self.k

    def total(self, x: Any) -> Any:
        return self.f(x) + self.f(2 * x)


class InContainers:
    def __init__(self, k: Any = 1.5) -> None:
        self.k = k
        self.inner = Chosen(k)
        self.listed = [self.go]
        self.named = {"go": self.go, "inner": self.inner._square}
        self.paired = (self.go, self.inner.total)
        self.partial = functools.partial(InContainers.go, self)
        self.later = lambda x: x * self.k + self.inner.k

    def go(self, x: Any) -> Any:
        return x * self.k

    def total(self, x: Any) -> Any:
        result = self.listed[0](x) * self.named["inner"](x) + self.paired[1](x) * self.partial(x)
        return result + self.paired[0](x) * self.later(x) * self.named["go"](x)


class Pipeline:
    def __init__(self, k: Any = 0.5) -> None:
        self.layers = [Chosen(k), Chosen(k * 0.7, "cube")]
        self.steps = [layer.total for layer in self.layers]

    def total(self, x: Any) -> Any:
        for step in self.steps:
            x = step(x)
        return x


def numbers_in(tangent: Any) -> float:
    """The sum of the numbers in the tangent of an object."""
    if tangent is None or isinstance(tangent, (float, np.floating)):
        return float(tangent or 0.0)
    if isinstance(tangent, dict):
        return sum(map(numbers_in, tangent.values()))
    if isinstance(tangent, (list, tuple)):
        return sum(map(numbers_in, tangent))
    return sum(map(numbers_in, vars(tangent).values()))


def total(model: Any, x: Any) -> Any:
    return model.total(x)


def differences(make: Callable[[float], Any], x: float, step: float = 1e-6) -> float:
    return (make(step).total(x) - make(-step).total(x)) / (2 * step)


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(
    "make",
    [lambda by: Chosen(1.5 + by), lambda by: Chosen(1.5 + by, "cube"), lambda by: InContainers(1.5 + by)],
)
def test_with_respect_to_the_object(make: Callable[[float], Any], native: bool) -> None:
    found = ad.grad(total, native=native)(make(0.0), 0.7)
    assert numbers_in(found) == pytest.approx(differences(make, 0.7), rel=1e-6)
    assert numbers_in(ad.vjp(total, make(0.0), 0.7)[1](1.0)[0]) == pytest.approx(numbers_in(found))


def test_layers_in_a_list() -> None:
    found = ad.grad(total)(Pipeline(), 0.7)
    first = differences(lambda by: _with(0, by), 0.7)
    assert found.layers[0].k == pytest.approx(first, rel=1e-6)
    assert found.layers[1].k == pytest.approx(differences(lambda by: _with(1, by), 0.7), rel=1e-6)
    by_path = ad.grad(total, wrt=ad.keypath(Pipeline).layers[0].k)(Pipeline(), 0.7)
    assert by_path == pytest.approx(first, rel=1e-6)


def _with(place: int, by: float) -> Pipeline:
    made = Pipeline()
    made.layers[place].k += by
    return made


def test_tangents_of_objects() -> None:
    model = Chosen()
    tangent = ad.grad(lambda m: m.k)(model)
    value, slope = ad.jvp(total, (model, 0.7), (tangent, None))
    assert (value, slope) == pytest.approx((model.total(0.7), differences(lambda by: Chosen(1.5 + by), 0.7)), rel=1e-6)


def test_a_method_beside_its_object() -> None:
    model = Chosen()
    for given in ((model, model.total), [model, model.total], {0: model, 1: model.total}):
        found = ad.grad(lambda both, x: both[1](x) * both[0].k)(given, 0.7)
        assert found[0].k == pytest.approx(2 * 1.5 * 5 * 0.49)


CAPTURED = Chosen(0.8, "cube")


def test_made_inside_and_captured() -> None:
    for f in (
        lambda x: Chosen(x).total(x),
        lambda x: Chosen(x, "cube" if x > 0 else "square").total(x),
        lambda x: CAPTURED.total(x),
        lambda x: sum(each.total(x) for each in (Chosen(x), Chosen(2 * x, "cube"))),
        lambda x: InContainers(x).total(x),
    ):
        right(f, 0.7)
        second(f, 0.7)


class Linked:
    def __init__(self, v: float = 2.0) -> None:
        self.v = v
        self.child = Child(self)

    def total(self, x: Any) -> Any:
        return self.child.parent.v * x * self.child.w


class Child:
    def __init__(self, parent: Linked) -> None:
        self.parent = parent
        self.w = 3.0


def test_objects_that_lead_back_to_themselves() -> None:
    with pytest.raises(ad.DifferentiationError, match="'Linked' leads back to itself"):
        ad.grad(total)(Linked(), 0.7)
    assert ad.grad(total, 1)(Linked(), 0.7) == pytest.approx(6.0)
    assert ad.grad(total, wrt=ad.keypath(Linked).v)(Linked(), 0.7) == pytest.approx(2.1)
    assert ad.grad(total, wrt=ad.keypath(Linked).child.w)(Linked(), 0.7) == pytest.approx(1.4)


def kept(f: Any) -> Any:
    @functools.wraps(f)
    def call(*args: Any) -> Any:
        return f(*args)

    return call


class Reached:
    """An object that is reached by what it holds itself."""

    def __init__(self, way: str) -> None:
        self.k = 2.0
        self.way = way
        if way == "weak reference":
            self.f = weakref.ref(self)
        elif way == "iterator":
            self.f = map(self.go, [1.0, 2.0])
        elif way == "generator":
            self.f = (self.k * i for i in (1.0, 2.0))
        elif way == "default":
            self.f = lambda x, owner=self: owner.k * x
        elif way == "vectorized":
            self.f = np.vectorize(self.go)
        elif way == "composed":
            self.f = functools.reduce(lambda f, g: lambda x: g(f(x)), [self.go, self.go])
        elif way == "wrapped":
            self.f = kept(self.go)
        elif way == "bound":
            self.f = types.MethodType(lambda owner, x: owner.k * x, self)

    def go(self, x: Any) -> Any:
        return x * self.k

    def total(self, x: Any) -> Any:
        if self.way == "weak reference":
            return self.f().k * x
        if self.way in ("iterator", "generator"):
            return next(self.f) * x
        return self.f(x) * 1.0


@pytest.mark.parametrize("way", ["composed", "wrapped", "bound"])
def test_functions_that_lead_to_their_object(way: str) -> None:
    expected = {"composed": 2 * 2.0 * 0.7}.get(way, 0.7)
    assert ad.grad(total)(Reached(way), 0.7).k == pytest.approx(expected)


@pytest.mark.parametrize("way", ["weak reference", "iterator", "generator", "default", "vectorized"])
def test_ways_that_are_not_looked_into(way: str) -> None:
    with pytest.raises(ad.DifferentiationError, match="'f' in argument 0 leads back to what varies"):
        ad.grad(total)(Reached(way), 0.7)
    if way != "vectorized":
        assert ad.grad(total, 1)(Reached("weak reference"), 0.7) == pytest.approx(2.0)


def test_a_weak_reference_to_what_is_made_inside() -> None:
    def f(x: Any) -> Any:
        made = types.SimpleNamespace(w=x)
        return weakref.ref(made)().w * x  # type: ignore[union-attr]

    with pytest.raises(ad.DifferentiationError, match="'ReferenceType' is not visible"):
        ad.grad(f)(0.7)
