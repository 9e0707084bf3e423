"""Updates of parameters in code that is differentiated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


@dataclass
class Parameters(ad.ParameterAggregate):
    w: np.ndarray
    b: float


@dataclass
class Nested(ad.ParameterAggregate):
    first: Parameters
    scale: float


def half():
    return Parameters(np.full(2, 0.5), 0.5)


def updated(x, rate):
    p = Parameters(x * np.ones(2), x)
    before = p.w
    p.update(half(), lambda p, g: p - rate * g * x)
    return p.b**2 + np.sum(p.w * before)  # arrays are written where they lie


def zipped(x, rate):
    p = Nested(Parameters(x * np.ones(2), x), 2.0 * x)
    ad.for_zipped_parameters(p, Nested(half(), 3.0), fn=lambda p, g: p * x - rate * g)
    return p.scale * p.first.b + np.sum(p.first.w)


def trained(x):
    p = Parameters(np.ones(2), 1.0)
    for _ in range(3):
        gradient = ad.grad(lambda p: np.sum(p.w * p.w) * p.b * x)(p)
        p.update(gradient, lambda p, g: p - 0.1 * g)
    return p.b + np.sum(p.w)


@pytest.mark.parametrize(("f", "args"), [(updated, (1.3, 0.1)), (zipped, (1.3, 0.1)), (trained, (0.5,))])
def test_derivatives(f, args):
    check_grads(f, args)


def test_natively():
    assert ad.grad(zipped, native=True)(1.3, 0.1) == pytest.approx(ad.grad(zipped)(1.3, 0.1))


def test_updates_that_were_written_out_are_refused():
    @ad.unrolled
    def step(p, g, *, rate):
        p = p - rate * g

    def f(x):
        p = Parameters(x * np.ones(2), x)
        step(p, half(), rate=x)
        return p.b

    with pytest.raises(ad.DifferentiationError) as refusal:
        ad.grad(f)(1.0)
    assert "an update that ad.unrolled has made is not covered in code that is differentiated" in str(refusal.value)
    assert "for kp in Parameters.all_key_paths()" in str(refusal.value)
