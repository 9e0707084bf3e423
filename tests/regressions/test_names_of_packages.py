"""A module of a user's may begin with the name of a library."""

import importlib

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


class Activation:
    """Something that is called, as layers and kernels are."""

    def __init__(self, slope: float) -> None:
        self.slope = slope

    def __call__(self, x):
        return np.where(x > 0, x, self.slope * x * x)


@pytest.mark.parametrize("module", ["numpy_models", "numba_kernels", "jax_tools", "numpyro_like.layers"])
def test_objects_that_are_called(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Activation, "__module__", module)

    def f(activation, x):
        return np.sum(activation(x))

    x = np.array([-1.5, 2.0])
    assert ad.grad(f)(Activation(0.5), x).slope == 2.25
    check_grads(lambda slope, x: f(Activation(slope), x), (0.5, x))
    check_grads(f, (Activation(0.5), x))


NAMES = {"plain": "numpy", "numbers": "math"}
CHOSEN = "plain"


class Chosen:
    """The functions of the package that a name says."""

    def __getattr__(self, name):
        return getattr(importlib.import_module(NAMES[CHOSEN]), name)


functions = Chosen()


def test_packages_that_are_chosen_by_a_name() -> None:
    check_grads(lambda x: functions.sum(functions.sqrt(x) * functions.pi), (np.array([0.3, 2.0]),))


class First:
    def __init__(self, x) -> None:
        self.x = x
        following, lacking = getattr(super(), "square", None), getattr(super(), "lacking", None)
        self.x = following() if following is not None and lacking is None else x


class Second:
    def square(self):
        return self.x * self.x


class Both(First, Second):
    pass


def test_methods_that_a_class_may_follow() -> None:
    check_grads(lambda x: np.sum(Both(x).x * First(x).x), (np.array([0.3, 2.0]),))
