"""Complex numbers in machine code of Adjoint's own, beside the interpreted form and NumPy."""

from __future__ import annotations

import cmath
import copy
import itertools
import math

import numpy as np
import pytest

import adjoint as ad
from native.agreement import _difference as difference
from sampling import check_grads


def modulus(z, n):
    for _ in range(n):
        z = z * z + 0.3 - 0.2j
    return abs(z) ** 2


def quotients(z, w):
    return abs((z + 1.0) / w - w / (2.0 * z) + 1.0 / z) + (z.conjugate() * w).real


def functions(z, w):
    angle = cmath.phase(z) + np.angle(w)
    of_z = cmath.exp(z) + cmath.log(z) + np.cos(z) + np.tanh(z) + cmath.log(w, 2) + cmath.log10(z)
    return abs(of_z * cmath.sqrt(w) * np.sin(w) * np.arctan(w * 0.3)) + angle


def powers(z, w):
    total = abs(z**3 + w**-2 + z**0.5 + z**w + 2.0**z)
    for k in range(-2, 3):
        total += abs((z + w) ** k)
    return total


def loops(x, y):
    z = np.zeros(len(x), complex)
    for i in range(len(x)):
        z[i] = complex(x[i], y[i]) * (1.0 + 2.0j)
        z[i] += z[i - 1] * 0.5
    total = 0.0
    for i in range(len(x)):
        total += z[i].real * z[i].imag + abs(z[i])
    return total


def of_arrays(z, x):
    w = z * x + np.exp(z) / (z + 2.0) - np.conj(z) + z.conj() ** 2
    return np.sum(np.abs(w) ** 2) + np.sum(w.real * x) + np.sum(w.imag)


def views(x, y):
    z = np.zeros(len(x), dtype=complex)
    z.real = x
    z.imag[:] = y * x
    z[1:] *= z[:-1]
    return np.sum(np.abs(z))


def kept(x, n):
    states = []
    z = complex(x, 0.5)
    for _ in range(n):
        states.append(z)
        z = z * complex(0.3, x)
    total = 0.0
    for w in states:
        total += abs(w)
    return total


def choices(z, w):
    if z == w or not z:
        return z.real
    u = z if abs(z) > abs(w) else w
    return abs(u * u)


def single(z):
    total = np.float32(0.0)
    for k in range(len(z)):
        total += abs(z[k] * z[k])
    return total


def butterflies(x):
    a = x.astype(complex)
    half = len(a) // 2
    for k in range(half):
        t = np.exp(-2j * np.pi * k / len(a)) * a[k + half]
        a[k + half] = a[k] - t
        a[k] = a[k] + t
    return np.sum(np.abs(a) ** 2)


def listed(zs, x):
    total = 0.0
    for z in zs:
        total += abs(z * x)
    return total


Z, W = 1.2 - 0.7j, 0.4 + 0.9j
X, Y = np.linspace(0.5, 1.4, 6), np.linspace(1.3, 0.7, 6)
PROGRAMS = [
    (modulus, (0,), (Z, 3)),
    (quotients, (0, 1), (Z, W)),
    (functions, (0, 1), (Z, W)),
    (powers, (0, 1), (Z, W)),
    (loops, (0, 1), (X, Y)),
    (of_arrays, (0, 1), (X + 1j * Y, Y)),
    (views, (0, 1), (X, Y)),
    (kept, (0,), (0.7, 4)),
    (choices, (0, 1), (Z, W)),
    (choices, (0, 1), (np.complex128(Z), Z)),
    (single, (0,), ((X + 1j * Y).astype(np.complex64),)),
    (butterflies, (0,), (X,)),
    (listed, (0, 1), ([Z, W], 0.3)),
]


@pytest.mark.parametrize(("function", "wrt", "args"), PROGRAMS, ids=lambda part: getattr(part, "__name__", ""))
def test_gradients_of_complex_numbers(function, wrt, args, own):
    given, others = copy.deepcopy(args), copy.deepcopy(args)
    found = ad.value_and_grad(function, wrt, native="strict")(*given)
    assert own
    assert difference(ad.value_and_grad(function, wrt)(*others), found, 1e-6 if function is single else 1e-11) is None
    assert difference(list(others), list(given), 1e-12) is None


def itself(z):
    return z


def real_parts(z):
    return z.real


@pytest.mark.parametrize("value", [Z, np.complex64(Z), X + 1j * Y, (Z, 1.0)])
def test_complex_numbers_go_in_and_out(value, own):
    found = ad.compile(itself, native="strict")(value)
    assert own
    assert difference(value.item() if isinstance(value, np.generic) else value, found, 1e-15) is None


def test_parts_of_an_argument_are_another_array(own):
    z = X + 1j * Y
    found = ad.compile(real_parts, native="strict")(z)
    assert own and found.dtype == np.float64
    np.testing.assert_array_equal(found, z.real)


def sums(z, w):
    return z + w - 2 * w


def products(z, w):
    return z * w


def ratios(z, w):
    return np.divide(z, w)


def inverses(z, w):
    return 1.0 / w


def sizes(z, w):
    return np.abs(z)


def exponentials(z, w):
    return np.exp(z)


def logarithms(z, w):
    return np.log(z)


def roots(z, w):
    return np.sqrt(z)


def cubes(z, w):
    return z**3


def tangents(z, w):
    return np.tanh(z)


SPECIAL = [
    complex(*parts)
    for parts in itertools.product(
        (0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan, 1e100), (0.0, -0.0, 0.5, -3.0, math.inf, math.nan, 1e-300)
    )
]


@pytest.mark.parametrize(
    "function",
    [sums, products, ratios, inverses, sizes, exponentials, logarithms, roots, cubes, tangents],
    ids=lambda f: f.__name__,
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_special_values_are_those_of_numpy(function, own):
    z, w = (np.array(each) for each in zip(*itertools.product(SPECIAL, SPECIAL), strict=True))
    found, expected = ad.compile(function, native="strict")(z, w), function(z, w)
    assert own
    for one, other in ((found.real, expected.real), (np.imag(found), np.imag(expected))):
        np.testing.assert_allclose(one, other, rtol=1e-13)


def inverse(z):
    return abs(1.0 / z)


def to_the(z, w):
    return abs(z**w)


@pytest.mark.parametrize(
    ("function", "args", "kind"),
    [
        (inverse, (0j,), ZeroDivisionError),
        (to_the, (0j, -1.0), ZeroDivisionError),
        (to_the, (0j, 1j), ZeroDivisionError),
        (to_the, (1e300 + 0j, 2.0), OverflowError),
    ],
)
def test_what_python_refuses_is_refused(function, args, kind, own):
    with pytest.raises(kind) as expected:
        function(*args)
    with pytest.raises(kind) as found:
        ad.value_and_grad(function, native="strict")(*args)
    assert own and str(found.value) == str(expected.value)


def products_of_arrays(a, b):
    return a @ b


LAYOUTS = {
    "by rows": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "every other": lambda x: np.repeat(x, 2, -1)[..., ::2],
    "backwards": lambda x: x[..., ::-1].copy()[..., ::-1],
}


@pytest.mark.parametrize("kind", ["complex128", "complex64"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((3, 4), (4, 2)),
        ((3, 4), (4,)),
        ((4,), (4, 2)),
        ((4,), (4,)),
        ((2, 3, 4), (4, 2)),
        ((0, 4), (4, 2)),
        ((3, 0), (0, 2)),
    ],
)
def test_products_are_those_of_numpy(first, second, layout, kind):
    rng = np.random.default_rng(1)
    a, b = (LAYOUTS[layout]((rng.normal(size=s) + 1j * rng.normal(size=s)).astype(kind)) for s in (first, second))
    found = ad.compile(products_of_arrays, native="strict")(a, b)
    expected = a @ b
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-12 if kind == "complex128" else 1e-4)


def test_empty_products_are_zero():
    empty = np.zeros(0, complex)
    assert ad.compile(products_of_arrays, native="strict")(empty, empty) == 0.0


def fields_of_neighbours(g, d):
    total = 0.0
    for k in range(g.shape[0]):
        field = g[k] @ d[k] + 0.5 * (d[k].T @ g[k])
        total += abs(field[0] @ field[1]) + np.sum(np.abs(field @ d[k, 0]))
    return total


def test_gradients_of_products(own):
    rng = np.random.default_rng(2)
    g, d = (rng.normal(size=(4, 3, 3)) + 1j * rng.normal(size=(4, 3, 3)) for _ in range(2))
    found = ad.grad(fields_of_neighbours, wrt=(0, 1), native="strict")(g, d)
    expected = ad.grad(fields_of_neighbours, wrt=(0, 1))(g, d)
    assert own
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def complex_in_the_places_of_real(x):
    parts = [np.empty_like(x) for _ in range(3)]
    for i in range(3):
        parts[i] = x * (1 + 2j)
    whole = np.concatenate(parts)
    return np.sum(whole.real**2) + np.sum(np.stack(parts).imag * np.arange(4.0))


def test_lists_that_hold_complex_arrays_where_real_ones_were():
    x = np.random.default_rng(1).normal(size=(2, 4))
    check_grads(complex_in_the_places_of_real, (x,))
    derivative = ad.grad(complex_in_the_places_of_real, native=True)
    np.testing.assert_allclose(derivative(x), ad.grad(complex_in_the_places_of_real)(x), rtol=1e-12)
