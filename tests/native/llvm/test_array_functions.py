"""Functions of NumPy as helpers: what NumPy gives, NaN and what it raises included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads

A, B = np.array([0.5, -1.25, 2.0, 7.5]), np.array([3.0, 0.25, -2.0])
SORTED = np.array([-1.0, 0.5, 0.5, 2.0, 4.0])
SOUGHT = np.array([-2.0, -1.0, 0.5, 0.7, 4.0, 9.0, np.nan, np.inf])
INFINITE = np.array([1.0, np.inf, np.inf, 2.0, 3.0])
CALLS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "outer": (lambda a, b: np.outer(a, b), (A, B)),
    "kron": (lambda a, b: np.kron(a, b), (A, B)),
    "cross": (lambda a, b: np.cross(a[:3], b), (A, B)),
    "convolve": (lambda a, b: np.convolve(a, b), (A, B)),
    "convolve, same": (lambda a, b: np.convolve(a, b, "same"), (B, A)),
    "convolve, valid": (lambda a, b: np.convolve(a, b, mode="valid"), (A, B)),
    "searchsorted": (lambda a, v: np.searchsorted(a, v) * a, (SORTED, SOUGHT[2])),
    "searchsorted, several": (lambda a, v: np.searchsorted(a, v), (SORTED, SOUGHT)),
    "searchsorted, right": (lambda a, v: np.searchsorted(a, v, side="right"), (np.append(SORTED, np.nan), SOUGHT)),
    "interp": (lambda x, xp, fp: np.interp(x, xp, fp) * xp, (0.7, SORTED, SORTED[::-1] ** 2)),
    "interp, several": (lambda x, xp, fp: np.interp(x, xp, fp), (SOUGHT, SORTED, SORTED**2)),
    "interp, infinite": (
        lambda x, xp, fp: np.interp(x, xp, fp),
        (SOUGHT, SORTED, np.array([1.0, np.inf, np.inf, 2, 3])),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_are_those_of_numpy(name, own):
    function, args = CALLS[name]
    found, expected = ad.compile(function, native="strict")(*args), function(*args)
    assert own and np.asarray(found).dtype == np.asarray(expected).dtype
    np.testing.assert_allclose(found, expected, rtol=1e-14)


CUBE = np.random.default_rng(4).uniform(0.5, 2.0, (3, 4, 5))
LOOPS: dict[str, Callable[..., Any]] = {
    "flip": lambda x: np.sum(np.flip(x) * x),
    "flip, an axis": lambda x: np.sum(np.flip(x, -1) * x * np.flip(x, axis=(0, 2))),
    "flip, written": lambda x: _turned(x.copy()),
    "swapaxes": lambda x: np.sum(np.swapaxes(x[0], -1, 0) @ x[1] @ np.swapaxes(np.sin(x[2]), 0, 1)),
    "var": lambda x: np.sum(np.var(x, axis=1, keepdims=True) * x),
    "var, of all": lambda x: np.var(np.sin(x)) + np.var(x, ddof=2),
    "std": lambda x: np.sum(x.std((0, -1), ddof=1) * x[0, :, 0]),
    "std, of all": lambda x: np.sum(np.std(x * x, keepdims=True) / x),
}


def _turned(x):
    for k in range(1, x.shape[2]):
        x[..., :k] += np.flip(x[..., :k], 2) * np.flip(x, 0)[..., k:]
    return np.sum(np.sin(x))


@pytest.mark.filterwarnings("ignore:Degrees of freedom")
@pytest.mark.parametrize("ddof", [0, 2, 3, 5])
def test_variances_of_few(ddof, own):
    values = ad.compile(lambda x: np.var(x, axis=0, ddof=ddof), native="strict")(CUBE[:, :, 0])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(values, np.var(CUBE[:, :, 0], axis=0, ddof=ddof), rtol=1e-13)
    assert own


IN_MACHINE_CODE = [(name, np.float64) for name in LOOPS]
IN_MACHINE_CODE += [(name, np.float32) for name in LOOPS if name != "flip, written"]  # such sums run as Python


@pytest.mark.parametrize(("name", "dtype"), IN_MACHINE_CODE)
def test_nothing_is_left_to_python(name, dtype, own):
    x, f = CUBE[:, :, :2].astype(dtype) if name == "flip, written" else CUBE.astype(dtype), LOOPS[name]
    gradient = ad.grad(f, native="strict")
    assert "call_python" not in ad.stages(ad.grad(f), x, native=True).rpartition("\n-- llvm")[2].partition("define")[2]
    found, expected = gradient(x), ad.grad(f)(x)
    assert own and found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-12 if dtype is np.float64 else 2e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (lambda a, b: np.cross(a, b), (A, A)),
        (lambda a, b: np.convolve(a, b), (A, A[:0])),
        (lambda x, xp, fp: np.interp(x, xp, fp), (0.5, A, B)),
    ],
)
def test_what_numpy_refuses_is_refused(function, args, own):
    with pytest.raises(Exception) as expected:
        function(*args)
    with pytest.raises(type(expected.value)) as found:
        ad.compile(function, native="strict")(*args)
    assert own and str(found.value).partition("\n")[0] == str(expected.value).partition("\n")[0]


def backwards(x: Any, start: int, stop: int) -> Any:
    total = 1.0
    for i in range(start, stop, -2):
        total = np.sin(total * x[i])
    for i in range(stop + 1, start + 1, 3):
        total = np.cos(total * x[i])
    return total


@pytest.mark.parametrize(("start", "stop"), [(5, -1), (4, 0), (3, 3), (0, 4)])
def test_lengths_of_ranges(start, stop, own):
    x = np.linspace(0.3, 1.7, 7)
    found, expected = (ad.grad(backwards, native=native)(x, start, stop) for native in ("strict", False))
    np.testing.assert_allclose(found, expected, rtol=1e-13)
    assert own


def permuted(a, b):
    inside = slice(0, 2)
    product = np.tensordot(a, b[inside, inside, inside, inside], axes=((1, 2), (1, 3)))
    return np.sum(np.einsum("jbme->mbej", product) ** 2) + np.sum(np.einsum("ie,ma,mbej->ijab", a[0, 0], a[1, 1], b))


@pytest.mark.each_time
@pytest.mark.parametrize("wrt", [0, 1])
def test_sums_of_products_whose_subscripts_are_found(wrt):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 2, 2, 2)), rng.standard_normal((2, 2, 2, 2))
    native, interpreted = ad.grad(permuted, wrt=wrt, native=True)(a, b), ad.grad(permuted, wrt=wrt)(a, b)
    np.testing.assert_allclose(native, interpreted, rtol=1e-12)
    check_grads(permuted, (a, b))


def one_field_for_each_axis(image):
    field = np.zeros((image.ndim, *image.shape))
    for axis in range(2):
        field[axis] += axis * image
    return np.sum(field * field)


def shapes_put_together(image):
    before, behind = np.zeros((2,) + image.shape), np.ones(image.shape + (3,))
    return np.sum((before + image) ** 2) + np.sum(behind[:, :, 0] * image)


@pytest.mark.each_time
@pytest.mark.parametrize("function", [one_field_for_each_axis, shapes_put_together])
def test_shapes_of_more_axes_than_an_array_has(function, asked):
    image = np.linspace(0.1, 2.0, 12).reshape(3, 4)
    native, interpreted = ad.grad(function, native=True)(image), ad.grad(function)(image)
    np.testing.assert_allclose(native, interpreted, rtol=1e-12)
    assert not asked


def test_gradients_lie_as_the_arrays_do(asked):
    """Machine code lays zeros out as NumPy does, whatever the order of the axes: Python is not asked."""

    def f(a):
        total = 0.0
        for i in range(a.shape[0]):
            total += np.sum(a[i] * a[i]) * (i + 1.0)
        return total

    base = np.random.default_rng(0).normal(size=(4, 5, 3))
    ways = (base.transpose(2, 0, 1), base.transpose(1, 2, 0)[::2], base[:, ::-1], base.T, base[0].T, base[:, 1:2].T)
    for lies in ways:
        found, expected = ad.grad(f, native="strict")(lies), ad.grad(f)(lies)
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        assert [step for step, n in zip(found.strides, found.shape) if n > 1] == [
            step for step, n in zip(expected.strides, expected.shape) if n > 1
        ]
    assert not any("zeros_like" in text for text in asked)


def test_diagonals_along_other_axes():
    def f(m):
        inner = np.diagonal(np.stack([m, m * m]), 0, 1, 2)
        return np.sum(np.linalg.diagonal(m * 2.0) ** 3) + np.sum(inner**2)

    m = np.random.default_rng(0).normal(size=(3, 3))
    np.testing.assert_allclose(ad.grad(f, native=True)(m), ad.grad(f)(m), rtol=1e-13)


@pytest.mark.parametrize("shape", [(4, 3), (3, 4)])
def test_diagonals_are_views(shape, asked):
    def f(m, k):
        m = m * 1.0
        above, below = np.diagonal(m, 1), np.diag(m, -1)
        m[0, 1] *= 3.0
        m[2, 1] *= 2.0
        return np.sum(above * above) + np.sum(below**3) + np.sum(np.diag(m, 7)) + np.sum(np.diag(m)) * k

    m = np.random.default_rng(0).normal(size=shape)
    value, slope = ad.value_and_grad(f, native="strict")(m, 2.0)
    np.testing.assert_allclose(value, f(m, 2.0), rtol=1e-13)
    np.testing.assert_allclose(slope, ad.grad(f)(m, 2.0), rtol=1e-13)
    assert not any("diag" in text for text in asked)
