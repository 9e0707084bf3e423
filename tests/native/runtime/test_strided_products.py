"""Products of parts of arrays, which BLAS is told where they lie, give what NumPy gives."""

import itertools

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.array_functions import arrays
from adjoint.testing import check_grads
from native.runtime.test_plain import compiled
from sampling import IN_DEPTH, THOROUGH

numba = pytest.importorskip("numba")
import adjoint.native.runtime.declarations  # noqa: E402

WIDE = np.random.default_rng(0).normal(size=(9, 12))
PARTS = {
    "rows": lambda a, m, n: a[1 : 1 + m, 2 : 2 + n],
    "columns": lambda a, m, n: a.T[1 : 1 + m, 2 : 2 + n],
    "steps": lambda a, m, n: np.repeat(np.repeat(a, 2, 0), 2, 1)[: 2 * m : 2, : 2 * n : 2],
    "backwards": lambda a, m, n: a[:m, :n][::-1, ::-1],
}


@IN_DEPTH
@pytest.mark.parametrize("dtype", [np.float64, *([np.complex64] if THOROUGH else [])])
def test_parts(dtype) -> None:
    f = compiled("def f(a, b):\n    return plain.product(a, b)\n")
    tolerance = {"rtol": 1e-4, "atol": 1e-4} if dtype is np.complex64 else {}
    shapes = ((4, 5, 3), (1, 5, 1), (4, 1, 3), (0, 5, 3), (4, 0, 3))
    pairs = (
        itertools.product(PARTS.values(), PARTS.values())
        if THOROUGH
        else zip(PARTS.values(), list(PARTS.values())[::-1], strict=True)
    )
    for (left, right), (m, k, n) in itertools.product(pairs, shapes):
        a, b = left(WIDE.astype(dtype), m, k), right(WIDE[::-1].astype(dtype), k, n)
        kept = a.copy(), b.copy()
        for one, other in [(a, b), *([(a, b[:, 0]), (a[0], b)] if m and n else [])]:
            np.testing.assert_allclose(f(one, other), one @ other, **tolerance)
        assert np.array_equal(a, kept[0]) and np.array_equal(b, kept[1])
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        f(WIDE.astype(dtype)[:2, :3], WIDE.astype(dtype)[:4, :2])


@IN_DEPTH
def test_stacks() -> None:
    a, b, x = WIDE.reshape(2, 3, 3, 6)[:, :, :, 1:5], WIDE[:4, 3:8], WIDE[0, ::3]
    f = compiled("def f(a, b):\n    return plain.product(a, b)\n")
    for other in (b, x):
        np.testing.assert_allclose(f(a, other), a @ other)
        ct = np.cos(a @ other)
        for name, function in (("left", arrays.matmul_left), ("right", arrays.matmul_right)):
            g = compiled(f"def f(ct, a, b):\n    return arrays.matmul_{name}(ct, a, b)\n", arrays=arrays)
            np.testing.assert_allclose(g(ct, a, other), function(ct, a, other))


def correlations(x):
    total = 0.0
    for i in range(x.shape[1] - 1):
        total += np.sum(np.sin(x[:, i] @ x[:, i + 1 :]))
    return total


def stacked(x):
    return np.sum(np.sin(np.reshape(x, (3, 3, 3, 4)) @ x[:4, 1:3]) ** 2)


@pytest.mark.parametrize("f", [correlations, stacked])
def test_gradients(f) -> None:
    np.testing.assert_allclose(ad.grad(f, native=True)(WIDE), ad.grad(f, native=False)(WIDE), rtol=1e-12)
    check_grads(f, (WIDE,))
