"""Rank-one updates in place give what NumPy's outer product and sum give, for every layout; BLAS does most of them."""

import numpy as np
import pytest

from adjoint.runtime.array_functions import rank_one
from adjoint.runtime.array_functions.rank_one import rank_one_downdate, rank_one_update

pytest.importorskip("scipy")

N, M = 90, 110
LAYOUTS = {
    "rows": (lambda a: a, True),
    "columns": (np.asfortranarray, True),
    "part of rows": (lambda a: np.tile(a, (2, 3))[3 : 3 + N, 5 : 5 + M], True),
    "transposed part": (lambda a: np.tile(a.T, (2, 3))[3 : 3 + M, 5 : 5 + N].T, True),
    "each second column": (lambda a: np.repeat(a, 2, axis=1)[:, ::2], False),
    "backwards": (lambda a: a[::-1], False),
}
VECTORS = {
    "packed": lambda u: u,
    "column of a matrix": lambda u: np.tile(u[:, None], (1, 3))[:, 1],
    "backwards": lambda u: u[::-1],
    "spread out": lambda u: np.broadcast_to(u[:1], u.shape),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("vector", VECTORS)
@pytest.mark.parametrize("update", [rank_one_update, rank_one_downdate])
def test_as_numpy_does(dtype, layout, vector, update):
    rng = np.random.default_rng(1)
    lay, fits = LAYOUTS[layout]
    a = lay(rng.normal(size=(N, M)).astype(dtype))
    u, v = (VECTORS[vector](rng.normal(size=n).astype(dtype)) for n in a.shape)
    given, around = (u.copy(), v.copy()), a if a.base is None else a.base
    outside = np.sum(around, dtype=float) - np.sum(a, dtype=float)
    step = np.outer(u, v) if update is rank_one_update else -np.outer(u, v)
    close = {"rtol": 1e-5 if dtype is np.float32 else 1e-13, "atol": 1e-6}
    before = a.copy()
    update(a, u, v)
    np.testing.assert_allclose(a, before + step, **close)
    assert rank_one._by_blas(a, u, v, False) == (fits and vector in ("packed", "column of a matrix"))
    assert np.isclose(np.sum(around, dtype=float) - np.sum(a, dtype=float), outside, atol=1e-2)
    assert np.array_equal(u, given[0]) and np.array_equal(v, given[1])


def test_zeros_hide_nothing():
    a, u, v = np.zeros((N, M)), np.zeros(N), np.zeros(M)
    v[3], v[4], u[5] = np.inf, np.nan, np.nan
    with np.errstate(invalid="ignore"):
        expected = a + np.outer(u, v)
    rank_one_update(a, u, v)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize("factor", ["u", "v"])
def test_a_part_of_the_matrix_as_a_factor(factor):
    rng = np.random.default_rng(2)
    a, u, v = rng.normal(size=(N, N)), rng.normal(size=N), rng.normal(size=N)
    u, v = (a[4], v) if factor == "u" else (u, a[:, 4])
    expected = a + np.outer(u, v)
    rank_one_update(a, u, v)
    np.testing.assert_array_equal(a, expected)


@pytest.mark.parametrize(
    "u", [np.ones(M), np.ones(N, np.float32), np.ones(N, complex), np.ones((N, 1)), np.ones(N, int)]
)
def test_what_blas_cannot_do_is_left_to_numpy(u):
    def numpy_alone(a):
        a += np.outer(u, np.ones(M))

    def update(a):
        rank_one_update(a, u, np.ones(M))

    found = []
    for run in (numpy_alone, update):
        a = np.zeros((N, M))
        try:
            run(a)
        except (ValueError, TypeError) as problem:
            found.append(str(problem))
        else:
            found.append(a.tolist())
    assert found[0] == found[1]


def test_without_scipy(monkeypatch):
    monkeypatch.setattr(rank_one, "_gemm", lambda char: None)
    a = np.zeros((N, M))
    rank_one_update(a, np.ones(N), np.ones(M))
    assert np.all(a == 1.0)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        rank_one_update(a, np.ones(N), np.ones(M))


def test_what_may_not_be_written_is_not():
    a = np.zeros((N, M))
    a.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        rank_one_update(a, np.ones(N), np.ones(M))
    assert not a.any()
