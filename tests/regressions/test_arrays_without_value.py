"""Arrays that have a value on some paths only: on the others their cotangent is the number 0, which has no shape."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import adjoint as ad
from regressions import optional_arrays
from regressions.optional_arrays import A
from sampling import check_grads

OPERATIONS = {
    "matmul": lambda u: A @ u,
    "cumsum": lambda u: np.cumsum(u) * 0.3,
    "reversed": lambda u: u[::-1] * 0.3,
    "concatenate": lambda u: np.concatenate([u[:1], u[1:]]) * 0.3,
    "solve": lambda u: np.linalg.solve(A, u),
    "gather": lambda u: u[np.array([2, 0, 1])],
    "outer": lambda u: np.outer(u, u)[0],
    "stack": lambda u: np.stack([u[0], u[1], u[2] * u[0]]),
    "roll": lambda u: np.roll(u, 1),
    "elementwise": lambda u: u / 1.5,
}


def nearest_of(operation):
    def nearest(a):
        total = 0.0
        r = np.array([1.0, a[0], 0.5])
        for k in range(3):
            d = np.array([a[k], 0.3, a[1]])
            best = None
            t = 0.0
            for c in range(2):
                u = d * (c + 1) + r
                s = u @ u
                if s < 1.0:
                    found = None
                    size = 0.0
                else:
                    found = operation(u)
                    size = s
                if found is not None and (best is None or size < t):
                    best = found
                    t = size
            if best is None:
                total += 0.1
                break
            total += t * best[0] * 0.1
            r = r * 0.1 + 0.01 * t * best - 0.2 * (r @ best) * best
        return total + r[2]

    nearest.__qualname__ = f"nearest_of.{operation.__code__.co_firstlineno}"
    return nearest


X = np.array([0.7, -0.4, 1.3])


@pytest.mark.parametrize("name", OPERATIONS)
def test_cotangents_of_arrays_without_value(name):
    check_grads(nearest_of(OPERATIONS[name]), (X,))


@pytest.mark.parametrize("name", OPERATIONS)
def test_cotangents_of_arrays_without_value_in_machine_code(name):
    pytest.importorskip("llvmlite")
    f = nearest_of(OPERATIONS[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ad.DifferentiationWarning)
        np.testing.assert_allclose(ad.grad(f, native=True)(X), ad.grad(f)(X), rtol=1e-10)


@pytest.mark.parametrize("seed", range(80))
def test_random_programs_of_optional_arrays(seed):
    assert not optional_arrays.outcome(seed).startswith("wrong")


@pytest.mark.parametrize("seed", range(120, 140))
def test_random_programs_of_optional_arrays_in_machine_code(seed):
    pytest.importorskip("llvmlite")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ad.DifferentiationWarning)
        assert not optional_arrays.outcome(seed, native=True).startswith("wrong")
