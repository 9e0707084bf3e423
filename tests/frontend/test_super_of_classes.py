"""``super(C, cls)`` of a class: properties and functions as they are, for there is no object."""

from __future__ import annotations

import pytest

import adjoint as ad
from adjoint.testing import check_grads


class Scaled:
    def __init__(self) -> None:
        self.scale = 1.0

    @property
    def params(self):
        return (self.scale,)

    @params.setter
    def params(self, value):
        self.scale = value[0]

    def apply(self, x):
        return self.scale * x

    @classmethod
    def doubled(cls, x):
        return x * 2.0


class Shifted(Scaled):
    """How programs of autograd hand parameters to the class above: by its property's setter."""

    def __init__(self) -> None:
        super().__init__()
        self.shift = 2.0

    @property
    def params(self):
        return (*super().params, self.shift)

    @params.setter
    def params(self, value):
        self.shift = value[-1]
        super(Shifted, self.__class__).params.fset(self, value[:-1])

    def apply(self, x):
        return super(Shifted, type(self)).apply(self, x) * self.shift

    @classmethod
    def doubled(cls, x):
        return super().doubled(x) + super().doubled(x)


def loss(model, p):
    model.params = (p * 2.0, p)
    return model.apply(p) + model.doubled(p) * model.params[0]


def test_gradients() -> None:
    check_grads(lambda p: loss(Shifted(), p), (1.5,))
    model = Shifted()
    assert ad.grad(lambda p: loss(model, p))(1.5) == pytest.approx(6.0 * 1.5**2 + 16.0 * 1.5)
    assert model.params == (3.0, 1.5)
