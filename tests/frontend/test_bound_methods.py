"""`types.MethodType(function, object)`, and descriptors of users that make methods so."""

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad


class AvailableIf:
    """As a descriptor of scikit-learn: the method is there where a check lets it be."""

    def __init__(self, function: Callable[..., Any], check: Callable[[Any], bool]) -> None:
        self.function = function
        self.check = check

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if not self.check(instance):
            raise AttributeError(f"this {owner.__name__!r} has no attribute")
        return types.MethodType(self.function, instance)


class Model:
    def __init__(self, weights: Any) -> None:
        self.weights = weights

    def _predict(self, x: Any, power: int = 2) -> Any:
        return np.sum(self.weights * x**power)

    predict = AvailableIf(_predict, lambda self: len(self.weights) > 1)


X = np.array([1.0, 2.0])


@pytest.mark.parametrize("native", [False, True])
def test_methods_that_a_descriptor_makes(native: bool) -> None:
    model = Model(np.array([3.0, -1.0]))
    assert ad.grad(lambda x: model.predict(x, power=3), native=native)(X) == pytest.approx([9.0, -12.0])
    assert ad.grad(lambda x: Model(x).predict(x))(X) == pytest.approx(3 * X**2)


def test_methods_that_are_made_in_the_function() -> None:
    def function(x: Any) -> Any:
        model = Model(x)
        return types.MethodType(Model._predict, model)(x) * types.MethodType(lambda self, y: np.sum(self * y), x)(x)

    x = X.copy()
    direction = np.array([0.5, -1.0])
    expected = (function(x + 1e-6 * direction) - function(x - 1e-6 * direction)) / 2e-6
    assert np.sum(ad.grad(function)(x) * direction) == pytest.approx(expected)


def test_what_a_descriptor_raises_is_handled() -> None:
    model = Model(np.array([3.0]))

    def function(x: Any) -> Any:
        try:
            return model.predict(x)
        except AttributeError:
            return np.sum(x**2)

    assert ad.grad(function)(X) == pytest.approx(2 * X)
