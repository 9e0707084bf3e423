"""What varies is not stored into arrays of objects or of records, in any mode."""

from typing import Any

import numpy as np

import adjoint as ad
from regressions.differences import refused


def into_objects(v: Any) -> Any:
    cells = np.empty(2, dtype=object)
    cells[0] = v[0]
    cells[1] = v
    return np.sum(cells[0] * cells[1])


def into_records(v: Any) -> Any:
    records = np.zeros(3, dtype=[("a", float), ("b", float)])
    records["a"] = v
    return np.sum(records["a"] * v)


def test_stores_are_refused_or_right() -> None:
    v = np.array([0.3, -0.7, 1.2])
    for derivative in (ad.grad(into_objects), lambda v: ad.jvp(into_objects, (v,), (v,))):
        assert refused(lambda derivative=derivative: derivative(v)).diagnostics[0].code == "AD0307"
    np.testing.assert_allclose(ad.grad(into_records)(v), 2.0 * v)
    np.testing.assert_allclose(ad.jvp(into_records, (v,), (v,))[1], 2.0 * np.sum(v * v))


def reads_records(v: Any, weight: float) -> Any:
    records = np.zeros(3, dtype=[("a", float), ("b", float)])
    records["a"] = 2.0
    return np.sum(records["a"] * v) * weight


def test_records_that_do_not_vary_are_written() -> None:
    np.testing.assert_array_equal(ad.grad(reads_records)(np.ones(3), 3.0), [6.0, 6.0, 6.0])
