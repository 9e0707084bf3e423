"""Methods that `functools.singledispatchmethod` chooses by the class of an argument."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right, second


class Scale:
    def __init__(self, by):
        self.by = by

    @functools.singledispatchmethod
    def __call__(self, x):
        raise TypeError("this kind of argument")

    @__call__.register
    def _(self, x: float):
        return self.by * x * x

    @__call__.register(np.ndarray)
    def _(self, x):
        return self.by * np.sum(x**3)

    @__call__.register(list)
    @__call__.register(tuple)
    def _(self, x, factor=1.0):
        return sum(self(v) for v in x) * factor

    @functools.singledispatchmethod
    @classmethod
    def made(cls, x):
        return cls(x * 2.0)

    @made.register
    @classmethod
    def _(cls, x: str):
        return cls(float(x))

    @functools.singledispatchmethod
    @staticmethod
    def plain(x):
        return x * x


class Other(Scale):
    pass


GIVEN = Other(1.5)


def of_floats(x):
    return Scale(x)(x) + Other(2.0 * x)((x, x * x)) * GIVEN(x)


def of_arrays(x):
    return Scale(x[0])(x) * Other(x[1])([float(v) for v in x], factor=x[2]) + GIVEN(x)


def other_kinds(x):
    return Other(1.0).made(x).by * Other(1.0).made("3.0").by + Scale(1.0).plain(x)


@pytest.mark.parametrize(("f", "x"), [(of_floats, 1.3), (of_arrays, np.array([0.7, -1.2, 0.4])), (other_kinds, 1.3)])
def test_the_method_is_chosen_by_the_first_argument(f: Callable[[Any], Any], x: Any) -> None:
    right(f, x)
    second(f, x)


def test_methods_that_are_registered_later() -> None:
    class Late:
        @functools.singledispatchmethod
        def f(self, x):
            return x

    late = Late()
    derivative = ad.grad(lambda x: late.f(x))
    assert derivative(3.0) == 1.0
    Late.f.register(float, lambda self, x: x * x)
    assert derivative(3.0) == 6.0


def test_what_cannot_be_chosen_is_refused() -> None:
    refused(lambda: ad.grad(lambda x: Scale(2.0).plain(x=x))(1.0))
    refused(lambda: ad.grad(lambda x: Scale(2.0)({"a": x}))(1.0))
