"""What is bound on some ways only is read in generated text on these only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad


def counted(x: Any, mask: Any, w: Any) -> Any:
    y, total = x.copy(), 0.0
    for i in range(3):
        y = y * w
        if i == 1:
            total += np.sum(y[mask])
    return total


def until(x: Any, mask: Any, w: Any) -> Any:
    y, total, i = x.copy(), 0.0, 0
    while i < 3:
        y = y * w
        i += 1
        if i == 2:
            total += np.sum(y[mask])
    return total


@pytest.mark.parametrize("f", [counted, until])
def test_a_part_that_one_iteration_reads(f: Any) -> None:
    mask = np.array([False, True, True, False, True])
    found = ad.grad(f)(np.array([0.3, 1.5, 2.0, 0.4, 0.7]), mask, np.full(5, 1.1))
    np.testing.assert_allclose(found, np.where(mask, 1.21, 0.0))
