"""Which of several things a solver of SciPy chooses: what changes by steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import optimize


def assignment_rows(costs: Any, maximize: Any = False) -> Any:
    """The rows of the assignment that costs least."""
    return optimize.linear_sum_assignment(costs, maximize)[0]


def assignment_columns(costs: Any, maximize: Any = False) -> Any:
    """The columns that belong to them."""
    return optimize.linear_sum_assignment(costs, maximize)[1]


def columns_above_zero(a: Any, b: Any) -> Any:
    """Which unknowns of a problem of least squares are above zero where none may be below."""
    return np.flatnonzero(optimize.nnls(a, b)[0] > 0)
