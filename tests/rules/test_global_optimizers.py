"""Searches for the least of all minima, and minimisers that are handed bounds or gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import adjoint as ad
from regressions.differences import refused


def waves(x: Any, a: float) -> Any:
    return (x[0] - a) ** 2 + 2.0 * (x[1] - a * a) ** 2 + 1.0 - np.cos(3.0 * (x[0] - a))


def slope(x: Any, a: float) -> Any:
    return np.array([2.0 * (x[0] - a) + 3.0 * np.sin(3.0 * (x[0] - a)), 4.0 * (x[1] - a * a)])


BOX = [(-1.0, 3.0), (-2.0, 4.0)]
STARTS = np.array([0.9, 0.9])
SOLVERS: dict[str, Callable[[float], Any]] = {
    "differential_evolution": lambda a: optimize.differential_evolution(waves, BOX, (a,), rng=0, tol=1e-9).x,
    "of bounds": lambda a: optimize.differential_evolution(waves, optimize.Bounds([-1, -2], [3, 4]), (a,), rng=0).x,
    "dual_annealing": lambda a: optimize.dual_annealing(waves, BOX, (a,), rng=0, maxiter=50).x,
    "shgo": lambda a: optimize.shgo(waves, BOX, (a,)).x,
    "basinhopping": lambda a: optimize.basinhopping(waves, STARTS, 20, minimizer_kwargs={"args": (a,)}, rng=0).x,
    "brute": lambda a: optimize.brute(waves, BOX, (a,)),
    "fmin_ncg": lambda a: optimize.fmin_ncg(waves, STARTS, slope, args=(a,), disp=0),
    "fmin_l_bfgs_b": lambda a: optimize.fmin_l_bfgs_b(waves, STARTS, slope, (a,), pgtol=1e-10)[0],
    "without a gradient": lambda a: optimize.fmin_l_bfgs_b(waves, STARTS, args=(a,), approx_grad=1)[0],
    "both at once": lambda a: optimize.fmin_l_bfgs_b(lambda x: (waves(x, a), slope(x, a)), STARTS)[0],
}


@pytest.mark.parametrize("name", SOLVERS)
def test_the_minimum_moves(name: str) -> None:
    f = SOLVERS[name]
    np.testing.assert_allclose(f(1.2), [1.2, 1.44], atol=2e-4)
    np.testing.assert_allclose(ad.jvp(f, (1.2,), (1.0,))[1], [1.0, 2.4], atol=2e-3)
    np.testing.assert_allclose(ad.grad(lambda a: f(a)[1])(1.2), 2.4, atol=2e-3)


def test_bounds_take_the_minimum_along() -> None:
    def held(a: float) -> Any:
        return optimize.differential_evolution(waves, [(-1.0, a / 2.0), (-2.0, 4.0)], (1.2,), rng=0).x

    np.testing.assert_allclose(ad.jvp(held, (1.2,), (1.0,))[1], [0.5, 0.0], atol=1e-5)


def test_what_changes_the_problem_is_refused() -> None:
    for f, option in (
        (lambda a: optimize.brute(waves, BOX, (a,), finish=None)[0], "finish"),
        (lambda a: optimize.differential_evolution(waves, BOX, (a,), integrality=[1, 0]).fun, "integrality"),
        (lambda a: optimize.basinhopping(waves, STARTS, minimizer_kwargs={"jac": slope, "args": (a,)}).fun, "jac"),
        (lambda a: optimize.fmin_l_bfgs_b(waves, STARTS, args=(a,), approx_grad=1)[2]["nit"] * a, "nit"),
    ):
        assert option in str(refused(lambda f=f: ad.grad(f)(1.2)))
