"""Products that loops add to matrices are added some at a time; where that may be seen, they are not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from native.machine_form import machine_text
from sampling import IN_DEPTH, check_grads

pytest.importorskip("llvmlite")


def recurrent(w: np.ndarray, x: np.ndarray) -> float:
    h = x
    for _ in range(30):
        h = np.tanh(w @ h)
    return np.sum(h * h)


def in_batches(w: np.ndarray, x: np.ndarray) -> float:
    for _ in range(7):
        x = np.tanh(x @ w)
    return np.sum(x * x)


def one_by_one(w: np.ndarray, xs: np.ndarray) -> float:
    total = 0.0
    for i in range(xs.shape[0]):
        t = np.tanh(w @ xs[i])
        total += t @ t
    return total


def covariances(x: np.ndarray, y: np.ndarray) -> float:
    c = np.zeros((x.shape[1], x.shape[1]))
    for i in range(x.shape[1]):
        c[i:, i] = c[i, i:] = x[:, i] @ x[:, i:]
    return np.sum(c * y)


def twice(a: np.ndarray, v: np.ndarray) -> float:
    for _ in range(20):
        v = a @ (a.T @ v)
        v = v / np.sqrt(v @ v)
    return np.sum(v) + np.sum(a)


def propagated(a: np.ndarray, p: np.ndarray) -> float:
    """Products in the cotangent of ``a`` are transposed, and have transposed factors."""
    for _ in range(12):
        p = a @ p @ a.T + 0.1 * p
    return np.sum(p)


def turned(a: np.ndarray, x: np.ndarray) -> float:
    for _ in range(12):
        x = np.tanh((a.T @ x.T).T @ a + (x @ a).T)
    return np.sum(x * x)


def overwritten(a: np.ndarray, x: np.ndarray) -> float:
    """The matrix of which the products are is another one in each iteration."""
    total = 0.0
    for i in range(x.shape[0]):
        a[i] *= 1.1
        total += np.sum((a @ x[i]) ** 2)
    return total


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape[0]).normal(size=shape) / np.sqrt(shape[-1])


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[np.ndarray, ...], str]] = {
    "recurrent": (recurrent, (drawn(24, 24), drawn(24)), "add_outer"),
    "small": (recurrent, (drawn(3, 3), drawn(3)), "add_outer"),
    "in_batches": (in_batches, (drawn(24, 24), drawn(5, 24)), "add_rows"),
    "one_by_one": (one_by_one, (drawn(20, 30), drawn(150, 30)), "add_outer"),
    "covariances": (covariances, (drawn(40, 25), drawn(25, 25)), "add_line"),
    "twice": (twice, (drawn(30, 20), drawn(30)), "add_outer"),
    "propagated": (propagated, (drawn(24, 24), drawn(24, 24)), "add_rows"),
    "propagated_small": (propagated, (drawn(3, 3), drawn(3, 3)), "add_rows"),
    "turned": (turned, (drawn(40, 40), np.ascontiguousarray(drawn(40, 40).T)), "add_rows"),
    "overwritten": (overwritten, (drawn(20, 20), drawn(20, 20)), ""),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str) -> None:
    function, args, _ = PROGRAMS[name]
    before = [arg.copy() for arg in args]
    expected = ad.grad(function, wrt=(0, 1))(*[arg.copy() for arg in args])
    derivative = ad.grad(function, wrt=(0, 1), native="strict")
    for _ in range(2):
        given = [arg.copy() for arg in args]
        for one, other in zip(derivative(*given), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
    if name != "overwritten":
        derivative(*args)
        assert all(np.array_equal(one, other) for one, other in zip(args, before, strict=True))
        check_grads(function, args, order=1)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if PROGRAMS[name][2]])
def test_products_are_delayed(name: str) -> None:
    function, args, call = PROGRAMS[name]
    text = machine_text(ad.grad(function, wrt=(0, 1), native=True), *args)
    assert f"rt.{call}(" in text and text.index(f"rt.{call}(") < text.index("rt.add_delayed")


def test_what_is_not_finite_stays_where_it_is() -> None:
    x, y = drawn(40, 25), drawn(25, 25)
    y[3, 7] = np.inf
    with np.errstate(all="ignore"):
        expected = ad.grad(covariances)(x, y)
        found = ad.grad(covariances, native="strict")(x, y)
    assert 0 < np.isfinite(expected).sum() < expected.size
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


def read_meanwhile(w: np.ndarray, xs: np.ndarray) -> float:
    m = np.zeros((20, 20))
    total = 0.0
    for i in range(xs.shape[0]):
        m += np.outer(xs[i], xs[i] * w)
        total += m[0, 1]
    return total


def factor_written(w: np.ndarray, xs: np.ndarray) -> float:
    """A factor is another one by the time that the product is added."""
    m, n, u = np.zeros((20, 20)), np.zeros((20, 20)), w.copy()
    for i in range(xs.shape[0]):
        t = np.outer(u, xs[i])
        s = np.outer(u, xs[i]).T
        u *= 0.9
        m += t
        n += s
    return np.sum(m * m) + np.sum(n * m) + u[3]


def factor_written_inside(w: np.ndarray, xs: np.ndarray) -> float:
    m, c, u = np.zeros((20, 30)), xs[:20].copy(), w.copy()
    for i in range(20):
        t = c.T @ u
        for j in range(2):
            u[j:] += 0.1
        m[i] += t[:1]
        m[:, i] += c @ u[: c.shape[1]]
    return np.sum(m * m)


def in_all_forms(f: np.ndarray, us: np.ndarray, vs: np.ndarray) -> float:
    """Sums of products that nobody reads before the loop ends; ``f`` is 20 by 30."""
    m, t = np.zeros((20, 30)), np.zeros((30, 20))
    rows, turned = np.zeros((20, 30)), np.zeros((30, 20))
    parts, inner = np.zeros((20, 30)), np.zeros((20, 30))
    columns, lines = np.zeros((20, 150)), np.zeros((150, 30))
    some, others = np.zeros((20, 150)), np.zeros((150, 20))
    for i in range(150):
        u, v = us[i], vs[i]
        x, y = us[i : i + 3], vs[i : i + 3]
        m += np.outer(u, v)
        m -= np.outer(v * 0.5, u).T
        t -= np.outer(v, u)
        t += np.outer(u, v * 0.3).T
        rows += x.T @ y
        rows -= (y.T @ (x * 0.7)).T
        turned += (x.T @ y).T
        turned -= y.T @ (x * 0.1)
        turned += (f @ np.outer(v, v)).T
        parts[:, i % 30 :] += np.outer(u, v[i % 30 :])
        parts[i % 20] -= v
        inner[2:, 1:-1] -= np.outer(u[2:], v[1:-1])
        inner[3:-1] += x[:, 3:-1].T @ y
        columns[:, i] += f @ v
        lines[i] -= f.T @ u
        some[:, i] += f[:, i % 30 :] @ v[i % 30 :]
        some[1:, i] += f[1:] @ v
        others[i] += f @ v
        others[i, ::2] -= f[::2] @ v
    total = np.sum(m * np.cos(m)) + np.sum(t * t.T[0, 0]) + np.sum(np.sin(t)) + np.sum(rows * rows) + np.sum(turned**2)
    total += np.sum(parts**2) + np.sum(inner**2) + np.sum(columns**2) + np.sum(lines**2)
    return total + np.sum(some**2) + np.sum(others**2)


@IN_DEPTH
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_all_forms(dtype: type) -> None:
    args = [drawn(*shape).astype(dtype) for shape in ((20, 30), (152, 20), (152, 30))]
    value, gradient = ad.value_and_grad(in_all_forms, wrt=(0, 1, 2), native="strict")(*args)
    exact = [arg.astype(np.float64) for arg in args]
    expected, slopes = ad.value_and_grad(in_all_forms, wrt=(0, 1, 2))(*exact)
    tolerance = 1e-11 if dtype is np.float64 else 2e-4
    np.testing.assert_allclose(value, expected, rtol=tolerance)
    for one, other in zip(gradient, slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * np.max(np.abs(other)))


def written_outside(w: np.ndarray, m: np.ndarray, xs: np.ndarray) -> float:
    for i in range(xs.shape[0]):
        m += np.outer(xs[i], w)
        if xs[i, 0] > 1e8:
            raise ValueError("too large")
    return np.sum(m)


@pytest.mark.parametrize("function", [read_meanwhile, factor_written, factor_written_inside])
def test_what_is_other_meanwhile_is_added_at_once(function: Callable[..., Any]) -> None:
    args = drawn(20), drawn(30, 20)
    value, gradient = ad.value_and_grad(function, wrt=(0, 1), native="strict")(*args)
    expected, slopes = ad.value_and_grad(function, wrt=(0, 1))(*args)
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    for one, other in zip(gradient, slopes, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_what_a_caller_has_is_written_at_once() -> None:
    xs = drawn(30, 20)
    xs[9, 0] = 1e9
    found, expected = np.zeros((20, 20)), np.zeros((20, 20))
    for native, m in ((True, found), (False, expected)):
        with pytest.raises(ValueError, match="too large"):
            ad.value_and_grad(written_outside, native=native)(drawn(20), m, xs)
    np.testing.assert_array_equal(found, expected)
