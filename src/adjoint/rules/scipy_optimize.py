"""Definitions of ``scipy.optimize``: its test function."""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
from scipy import optimize

from adjoint.rules.declare import case, definition, sample


def _rosen(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


definition(optimize.rosen, _rosen, cases=[case(sample(5)), case(sample(3, 4))])
