"""Triangular systems are solved by BLAS as by NumPy, for every layout; what BLAS cannot do is NumPy's."""

import numpy as np
import pytest

from adjoint.runtime.array_functions import triangular
from adjoint.runtime.array_functions.triangular import solve_triangular

pytest.importorskip("scipy")

N, M = 40, 7
LAYOUTS = {
    "rows": (lambda a: a, True),
    "columns": (np.asfortranarray, True),
    "part of rows": (lambda a: np.pad(a, ((2, 1), (3, 4)))[2 : 2 + N, 3 : 3 + N], True),
    "part of columns": (lambda a: np.pad(a.T, ((2, 1), (3, 4)))[2 : 2 + N, 3 : 3 + N].T, True),
    "each second column": (lambda a: np.repeat(a, 2, axis=1)[:, ::2], False),
    "backwards": (lambda a: a[::-1, ::-1].copy()[::-1, ::-1], False),
}


def system(lower):
    rng = np.random.default_rng(3)
    whole = rng.normal(size=(N, N)) / N + 2.0 * np.eye(N)
    return np.tril(whole) if lower else np.triu(whole), rng.normal(size=(N, M))


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("right", [lambda b: b, np.asfortranarray, lambda b: b[:, ::-1]])
def test_as_numpy_does(lower, layout, right):
    a, b = system(lower)
    lay, fits = LAYOUTS[layout]
    a, b = lay(a), right(b)
    given = a.copy(), b.copy()
    np.testing.assert_allclose(solve_triangular(a, b, lower), np.linalg.solve(a, b), rtol=1e-12, atol=1e-14)
    assert (triangular._by_blas(a, b, lower) is not None) == fits
    assert np.array_equal(a, given[0]) and np.array_equal(b, given[1])


@pytest.mark.parametrize("place", [0, N // 2, N - 1])
def test_singular(place):
    a, b = system(True)
    a[place, place] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        solve_triangular(a, b, True)


def test_what_is_no_number_is_not_hidden():
    a, b = system(True)
    a[3, 1] = np.nan
    assert np.isnan(solve_triangular(a, b, True)[3:]).all()
    a, b = system(False)
    b[5, 2] = np.nan
    assert np.isnan(solve_triangular(a, b, False)[:6, 2]).all()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.eye(3), np.ones((3, 2))),  # small
        (np.eye(N, dtype=np.float32), np.ones((N, 2), np.float32)),
        (np.eye(N) * 1j, np.ones((N, 2))),
        (np.stack([np.eye(N)] * 2), np.ones((2, N, 3))),
        (np.eye(N), np.ones((N, 0))),
        (np.eye(N), np.ones((N + 1, 2))),
        (np.ones((N, N + 1)), np.ones((N, 2))),
    ],
)
def test_what_is_left_to_numpy(a, b):
    def outcome(solve):
        try:
            found = solve()
        except (np.linalg.LinAlgError, ValueError) as problem:
            return str(problem)
        return found.dtype, found.tolist()

    assert outcome(lambda: solve_triangular(a, b, True)) == outcome(lambda: np.linalg.solve(a, b))


def test_without_scipy(monkeypatch):
    monkeypatch.setattr(triangular, "_trsm", lambda: None)
    a, b = system(True)
    np.testing.assert_array_equal(solve_triangular(a, b, True), np.linalg.solve(a, b))
