"""Machine code solves systems whose matrices lie by rows, by columns, within others, or apart, triangular or not."""

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")
pytest.importorskip("scipy")

N = 4


def solved(a, b):
    total = np.sum(np.linalg.solve(a[:N, :N].T, b) ** 2)  # within another, by columns
    total += np.sum(np.linalg.solve(a[1 : N + 1, 2 : N + 2], b))
    total += np.sum(np.linalg.solve(a[N : 2 * N, N : 2 * N].T.copy(), b) ** 2)
    total += np.sum(np.linalg.solve(a[::3, ::3][:N, :N], b) ** 2)
    return total + np.sum(np.linalg.solve(a[N - 1 :: -1, N - 1 :: -1], b) ** 2)


def by_columns(a, b):
    return np.sum(np.linalg.solve(a.T, b) ** 2) + np.sum(np.linalg.solve(a, b))


@pytest.fixture(scope="module", params=[solved, by_columns], ids=lambda function: function.__name__)
def derivatives(request):
    return tuple(ad.value_and_grad(request.param, wrt=(0, 1), native=native) for native in ("strict", False))


@pytest.mark.parametrize("triangle", [lambda a: a, np.tril, np.triu, lambda a: np.diag(np.diag(a))])
@pytest.mark.parametrize("shape", [(N,), (N, 3)])
def test_as_numpy_does(derivatives, triangle, shape):
    rng = np.random.default_rng(3)
    native, interpreted = derivatives
    a = triangle(rng.uniform(-1.0, 1.0, (3 * N, 3 * N)) + 4.0 * np.ones((3 * N, 3 * N)) * np.eye(3 * N))
    a[1 : N + 1, 2 : N + 2] += 5.0 * np.eye(N)
    if native.__wrapped__ is by_columns:
        a = np.linalg.inv(np.asfortranarray(a[:N, :N] + 3.0 * np.eye(N)))
    b = rng.normal(size=shape)
    (value, found), (right, expected) = native(a, b), interpreted(a, b)
    assert np.isclose(value, right, rtol=1e-10)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8)
