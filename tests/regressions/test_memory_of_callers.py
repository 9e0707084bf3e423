"""What a pullback keeps is its own: callers may write their arguments before they call it."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad


def arrays_of_a_list(xs):
    xs[0] *= xs[1]
    xs[0], xs[1] = xs[1], xs[0]
    return np.sum(xs[0] * xs[1])


def arrays_of_a_dict(arrays):
    total = 0.0
    arrays["b"] *= arrays["w"]
    for array in arrays.values():
        total += np.sum(array * array)
    return total


def arrays_in_a_loop(xs):
    total, xs[0][0] = 1.0, 2.0
    for x in xs:
        total *= np.sum(x * x)
    return total


def listed() -> list[np.ndarray]:
    return [np.array([1.3, -0.4]), np.array([0.7, 0.2])]


CASES = [
    (arrays_of_a_list, listed),
    (arrays_of_a_dict, lambda: dict(zip("wb", listed(), strict=True))),
    (arrays_in_a_loop, listed),
]


@pytest.mark.parametrize(("function", "make"), CASES)
@pytest.mark.parametrize("kind", ["vjp", "adjoint"])
def test_arrays_in_containers_may_be_written_meanwhile(function, make, kind) -> None:
    def pulled(*, writes: bool):
        given = make()
        if kind == "vjp":
            value, pullback = ad.vjp(function, given)
        else:
            derivative = ad.grad(function)
            checkpoints, value = derivative.primal(given)
        for array in (given.values() if isinstance(given, dict) else given) if writes else ():
            array[...] = np.nan
        found = pullback(1.0)[0] if kind == "vjp" else derivative.adjoint(checkpoints, value, 1.0)
        return list(found.values()) if isinstance(found, dict) else found

    np.testing.assert_array_equal(pulled(writes=True), pulled(writes=False))
    assert np.all(np.isfinite(pulled(writes=True)))
