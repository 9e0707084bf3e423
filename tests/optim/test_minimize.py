"""SciPy's minimisers on structures."""

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad


@dataclass(frozen=True)
class Point:
    x: float
    rest: tuple[np.ndarray, float]
    name: str = "point"


def rosenbrock(point, scale=1.0):
    a, (b, c) = point.x, point.rest
    return scale * ((1 - a) ** 2 + 100 * (b[0] - a * a) ** 2 + 100 * (b[1] - b[0] * b[0]) ** 2 + (c - 4.0) ** 2)


START = Point(-1.0, (np.array([0.5, 0.5]), 1.0))
METHODS = ["L-BFGS-B", "BFGS", "CG", "TNC", "SLSQP", "Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"]


@pytest.mark.parametrize("method", METHODS)
def test_gradient_methods(method):
    limit = "maxfun" if method == "TNC" else "maxiter"
    found = ad.optim.minimize(rosenbrock, START, (2.0,), method=method, tol=1e-10, options={limit: 2000})
    assert isinstance(found.x, Point) and found.x.name == "point"
    assert found.x.x == pytest.approx(1.0, abs=1e-3)
    np.testing.assert_allclose(found.x.rest[0], [1.0, 1.0], atol=3e-3)
    assert found.x.rest[1] == pytest.approx(4.0, abs=1e-3)
    assert START.x == -1.0 and START.rest[0][0] == 0.5


def test_products_without_further_arguments():
    found = ad.optim.minimize(rosenbrock, START, method="Newton-CG", tol=1e-10)
    assert found.x.x == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("method", ["Nelder-Mead", "Powell"])
def test_methods_without_gradients(method):
    found = ad.optim.minimize(
        lambda p: (p["x"] - 1.0) ** 2 + (p["y"][0] + 2.0) ** 2, {"x": 0.0, "y": [0.0]}, method=method
    )
    assert found.x["x"] == pytest.approx(1.0, abs=1e-3) and found.x["y"][0] == pytest.approx(-2.0, abs=1e-3)


def test_the_result_has_the_structure_and_dtypes_of_the_start():
    seen = []
    start = {"w": np.zeros((2, 2), np.float32), "b": 0.0}
    found = ad.optim.minimize(
        lambda p: np.sum((p["w"] - 1.0) ** 2) + (p["b"] - 2.0) ** 2, start, callback=seen.append, bounds=[(-3, 3)] * 5
    )
    assert found.x["w"].dtype == np.float32 and type(found.x["b"]) is float
    np.testing.assert_allclose(found.x["w"], 1.0, atol=1e-3)
    assert found.jac["w"].shape == (2, 2) and seen and set(seen[0]) == {"w", "b"}


def test_a_number():
    assert ad.optim.minimize(lambda x: (x - 3.0) ** 2, 0.0).x == pytest.approx(3.0)
