"""Classes that ``exec`` made in an empty namespace say that they were of ``builtins``; they are looked into."""

from __future__ import annotations

from typing import Any

import adjoint as ad
from sampling import check_grads

TEXT = """
class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def of(self, x):
        return self.factor * x * x


class Shifted(Scaled):
    shift = 0.5

    def of(self, x):
        return super().of(x) + self.shift * self.factor
"""
made: dict[str, Any] = {}
exec(TEXT, made)
Scaled, Shifted = made["Scaled"], made["Shifted"]
GIVEN = Scaled(3.0)


def made_inside(x):
    return Shifted(x).of(2.0) * Scaled(2.0).of(x)


def found_outside(x):
    return GIVEN.of(x)


def test_gradients() -> None:
    assert Scaled.__module__ == "builtins"
    check_grads(made_inside, (1.3,), order=1)
    check_grads(found_outside, (1.3,), order=1)
    assert ad.grad(lambda given, x: given.of(x), wrt=1)(GIVEN, 1.5) == 9.0
