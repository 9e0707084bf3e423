"""What is asked of factors is what NumPy gives of the matrix, and derivatives factorise a matrix once."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.array_functions import lu
from adjoint.runtime.array_functions.lu import inverse_factored, lu_factors, slogdet_factored, solve_factored

pytest.importorskip("scipy")

LAYOUTS = {
    "rows": lambda a: a,
    "columns": np.asfortranarray,
    "each second column": lambda a: np.repeat(a, 2, axis=1)[:, ::2],
    "lower": np.tril,
    "upper": np.triu,
}


def regular(n, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, n)) + 2 * np.sqrt(n) * np.eye(n), rng.normal(size=n)


@pytest.mark.parametrize("n", [1, 5, 63, 64, 90])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_as_numpy_does(n, layout):
    a, b = regular(n)
    a = LAYOUTS[layout](a)
    columns, given = np.outer(b, [1.0, -2.0, 0.5]), a.copy()
    factors = lu_factors(a)
    assert (len(factors[1]) > 0) == (n >= lu._FEWEST_ROWS)
    for turned, matrix in ((False, a), (True, a.T)):
        for right in (b, columns, np.asfortranarray(columns), b[::-1]):
            found = solve_factored(*factors, right, turned)
            np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-9, atol=1e-12)
            assert found.flags.c_contiguous
    np.testing.assert_allclose(inverse_factored(*factors), np.linalg.inv(a), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(slogdet_factored(*factors), np.linalg.slogdet(a), rtol=1e-12)
    assert np.array_equal(a, given)


@pytest.mark.parametrize("n", [3, 80])
def test_singular_matrices_are_refused_by_who_asks(n):
    factors = lu_factors(np.ones((n, n)))
    assert tuple(slogdet_factored(*factors)) == (0.0, -np.inf)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        solve_factored(*factors, np.ones(n))
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        inverse_factored(*factors)
    with pytest.raises(ValueError, match="mismatch in its core dimension"):
        solve_factored(*lu_factors(np.eye(n)), np.ones(n + 1))
    with pytest.raises(np.linalg.LinAlgError, match="must be square"):
        solve_factored(*lu_factors(np.ones((n, n + 1))), np.ones(n))


def energy(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


def log_density(a, b):
    return b @ np.linalg.solve(a, b) + np.linalg.slogdet(a)[1]


def inverse_and_system(a, b):
    return np.sum(np.linalg.inv(a) @ np.linalg.solve(a, np.outer(b, b)))


def implicit_steps(a, b):
    u = b
    for _ in range(4):
        u = np.linalg.solve(a, u + b)
    return u @ u


def newton(a, b):
    u = b
    for _ in range(4):
        r = a @ u + 0.1 * u**3 - 1.0
        u = u - np.linalg.solve(a + np.diag(0.3 * u**2), r)
    return u @ u


def newton_until_it_converges(a, b):
    a = a + a.T
    u, r = b, a @ b + 0.1 * b**3 - 1.0
    while np.linalg.norm(r) > 1e-9:
        j = a + np.diag(0.3 * u**2)
        u = u - np.linalg.solve(j.T, r)
        r = a @ u + 0.1 * u**3 - 1.0
    return u @ u


def log_determinants(a, b):
    total = 0.0
    for i in range(3):
        k = a + np.outer(b, b) * i
        total += np.linalg.slogdet(k)[1] + b @ np.linalg.solve(k, b)
    return total


def matrices_that_are_read(a, b):
    total = 0.0
    for i in range(3):
        k = np.sin(a) + (4.0 * len(b) + i) * np.eye(len(b))
        total += np.sum(k * k) * (b @ np.linalg.solve(k, b))
    return total


def on_one_path(a, b):
    if b[0] > 0:
        return np.sum(np.linalg.solve(a, b))
    return np.sum(np.linalg.solve(a.T, b) ** 2)


def assembled(x, b):
    n = len(b)
    a = np.zeros((n, n))
    for i in range(n):
        a[i, i] = 3.0 + x[i, i]
        if i:
            a[i, i - 1] = -x[i, 0]
    return np.sum(np.linalg.solve(a, b) ** 2)


def changed_between(a, b):
    x = np.linalg.solve(a, b)
    a = a.copy()
    a[0, 0] += 1.0
    return x @ np.linalg.solve(a, b * x)


def changed_in_a_loop(a, b):
    a = a.copy()
    total = 0.0
    for i in range(3):
        total += np.sum(np.linalg.solve(a, b) ** 2)
        a[i, i] += 1.0
    return total


PROGRAMS = (
    *(energy, log_density, inverse_and_system, implicit_steps, newton, newton_until_it_converges),
    *(log_determinants, matrices_that_are_read, on_one_path, assembled, changed_between),
)
ONE_MATRIX = (energy, log_density, inverse_and_system, implicit_steps, assembled)
SHARED = dict.fromkeys((*ONE_MATRIX, newton, log_determinants), 1)
"""How many factorisations the text of a gradient has."""


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("n", [4, 70])
@pytest.mark.parametrize("f", [*PROGRAMS, changed_in_a_loop])
def test_derivatives(f, n, native):
    a, b = regular(n)
    v, w = regular(n, seed=1)
    gradient = ad.grad(f, wrt=(0, 1), native=native)
    given = a.copy(), b.copy()
    first, second = gradient(a, b), gradient(a, b)
    assert all(map(np.array_equal, first, second)) and all(map(np.array_equal, (a, b), given))
    value, along = ad.jvp(f, (a, b), (v, w), native=native)
    h = 1e-6
    np.testing.assert_allclose(value, f(a, b), rtol=1e-10)
    np.testing.assert_allclose(along, np.sum(first[0] * v) + first[1] @ w, rtol=1e-8)
    np.testing.assert_allclose(along, (f(a + h * v, b + h * w) - f(a - h * v, b - h * w)) / (2 * h), rtol=1e-5)
    products = ad.hvp(f, (a, b), (v, w), native=native)
    ahead, behind = gradient(a + h * v, b + h * w), gradient(a - h * v, b - h * w)
    for product, one, other in zip(products, ahead, behind, strict=True):
        np.testing.assert_allclose(product, (one - other) / (2 * h), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("f", SHARED)
def test_factorised_once(f):
    a, b = regular(4)
    gradient = ad.grad(f, wrt=(0, 1), native=False)
    gradient(a, b)
    text = ad.source(gradient)
    assert text.count("rt.lu_factors(") == SHARED[f] and "np.linalg." not in text
    loops = [line for line in text.splitlines() if line.startswith("        ")]
    assert any("lu_factors" in line for line in loops) == (f not in ONE_MATRIX)


@pytest.mark.parametrize("f", [changed_between, changed_in_a_loop])
def test_what_is_written_is_factorised_again(f):
    a, b = regular(4)
    gradient = ad.grad(f, wrt=(0, 1), native=False)
    gradient(a, b)
    text = ad.source(gradient)
    assert f is changed_between or "rt.lu_factors(" not in text
