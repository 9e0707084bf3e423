"""Arrays of whole numbers that come from functions whose bodies are not visible, as operands beside what varies.

Their zero tangents are arrays, too: a derivative of a derivative was handed None for them.
"""

import pickle

import numpy as np
import pytest
from scipy import interpolate, special

import adjoint as ad
from adjoint.testing import check_grads

HIDDEN = pickle.dumps((1, np.array([[2, 1], [-1, 3]])))

OPERATIONS = {
    "matmul": lambda d, x: x @ d @ x,
    "before": lambda d, x: d @ (x * x),
    "dot": lambda d, x: np.dot(d, x * x) ** 2,
    "outer": lambda d, x: np.outer(d, x * x) ** 2,
    "einsum": lambda d, x: np.einsum("ij,jk->ik", d, x * x) ** 2,
    "kron": lambda d, x: np.kron(d, x * x) ** 2,
    "tensordot": lambda d, x: np.tensordot(d, x * x, 1) ** 2,
    "inner": lambda d, x: np.inner(d, x * x) * x,
    "solve": lambda d, x: np.linalg.solve(d, x * x) * x,
    "solved": lambda d, x: np.linalg.solve(x, d) * x,
    "inverse": lambda d, x: np.linalg.inv(x @ d),
    "where": lambda d, x: np.where(x > 1.2, d, x * x) ** 2,
    "power": lambda d, x: x**d + (3.0 + d) ** x,
    "maximum": lambda d, x: np.maximum(d, x * x) ** 2,
    "average": lambda d, x: np.average(x * x, weights=abs(d)) * x,
    "concatenate": lambda d, x: np.concatenate([d, x * x]) ** 2,
    "clip": lambda d, x: np.clip(x * x, d - 0.3, d + 0.3) ** 2,
    "clip from above": lambda d, x: np.clip(x * x, None, d) ** 2,
    "clip by name": lambda d, x: np.clip(x * x, max=d) ** 2,
    "diff": lambda d, x: np.diff(x * x, prepend=d, append=d[:, :1]) ** 2,
    "diff of a number": lambda d, x: np.diff(x * x, append=d[0, 0], axis=0) ** 2,
    "ediff1d": lambda d, x: np.ediff1d(x * x, to_begin=d[0], to_end=d) ** 2,
    "logsumexp": lambda d, x: special.logsumexp(x * x, b=abs(d)) ** 2,
    "shapes": lambda d, x: np.reshape(np.outer(x * x, d), np.shape(d) + np.shape(x * d)) ** 2,
    "shapes and tuples": lambda d, x: np.reshape(x * d, np.shape(x * d)[1:] + d.shape[1:]) ** 2,
    "a spline": lambda d, x: interpolate.CubicSpline(np.cumsum(d[0]), x * x)(d) ** 2,
    "Bessel functions": lambda d, x: special.jve(abs(d), x) + special.ive(abs(d), x),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_second_derivatives(name):
    operation = OPERATIONS[name]

    def f(x):
        _, d = pickle.loads(HIDDEN)
        return np.sum(operation(d, x))

    x, v = np.array([[1.3, 0.4], [0.7, 1.9]]), np.array([[0.3, -0.2], [0.5, 0.1]])
    check_grads(f, (x,), order=2)
    slope = ad.grad(f)
    expected = (slope(x + 1e-5 * v) - slope(x - 1e-5 * v)) / 2e-5
    np.testing.assert_allclose(ad.hvp(f, (x,), (v,))[0], expected, rtol=1e-5, atol=1e-6)
