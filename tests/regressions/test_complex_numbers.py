"""Python's complex numbers as arguments: differentiated as NumPy's are, by the pairing that complex arrays have."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as ad

Z = 1.0 + 2.0j
PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "square of the modulus": lambda z: abs(z) ** 2,
    "parts": lambda z: z.real * z.imag**2,
    "conjugate": lambda z: (z * z.conjugate() * z).real,
    "powers": lambda z: (z**3 / (z + 1.0)).imag,
    "beside an array": lambda z: float(np.sum(np.abs(z * np.array([1.0, 0.5j])) ** 2)),
}


def _expected(f: Callable[[Any], Any]) -> complex:
    """Paired with a tangent by the real part of the product."""
    step = 1e-6
    along, across = ((f(Z + d * step) - f(Z - d * step)) / (2 * step) for d in (1.0, 1j))
    return complex(along, -across)


@pytest.mark.parametrize(("name", "native"), [*((name, False) for name in PROGRAMS), ("parts", True)])
def test_gradients(name: str, native: bool) -> None:
    f = PROGRAMS[name]
    expected = pytest.approx(_expected(f), rel=1e-7)
    found = ad.grad(f, native=native)(Z)
    assert type(found) is complex
    assert found == expected
    value, pullback = ad.vjp(f, Z, native=native)
    assert pullback(type(value)(1.0)) == (expected,)
    if not native:
        assert complex(ad.jvp(f, (Z,), (1.0 + 0j,))[1], -ad.jvp(f, (Z,), (1j,))[1]) == expected


@dataclass
class Point:
    z: complex
    x: float


def test_in_structures_and_beside_floats() -> None:
    found = ad.grad(lambda p: abs(p.z) ** 2 * p.x)(Point(Z, 3.0))
    assert found.z == pytest.approx(6.0 - 12.0j)
    assert found.x == pytest.approx(5.0)
    assert ad.grad(lambda table: abs(table["z"]) ** 2)({"z": Z})["z"] == pytest.approx(2.0 - 4.0j)
    assert ad.grad(lambda x, z: abs(x * z) ** 2)(2.0, Z) == pytest.approx(20.0)
    assert ad.vjp(lambda x, z: abs(x * z) ** 2, 2.0, Z)[1](1.0) == pytest.approx((20.0, 8.0 - 16.0j))


def test_one_derivative_for_real_and_complex_numbers() -> None:
    gradient = ad.grad(PROGRAMS["square of the modulus"])
    assert [gradient(z) for z in (Z, 3.0, 2.0 + 1.0j, 4.0)] == pytest.approx([2 - 4j, 6.0, 4 - 2j, 8.0])


def divided_by_a_part(x: float) -> float:
    """Parts of Python's complex numbers are Python's floats, by which nothing is divided where they are zero."""
    z = complex(x, 2.0 * x)
    return 1.0 / ((z * z.conjugate()).real - 5.0) + z.conjugate().imag


@pytest.mark.parametrize("native", [False, True])
def test_parts_of_conjugates_are_numbers_of_python(native: bool) -> None:
    slope = ad.grad(divided_by_a_part, native=native)
    assert slope(2.0) == pytest.approx(-20.0 / 225.0 - 2.0)
    with pytest.raises(ZeroDivisionError):
        divided_by_a_part(1.0)
    with pytest.raises(ZeroDivisionError):
        slope(1.0)


def turned(x: float, y: float) -> float:
    z = complex(x, y)
    return abs(z * z.conjugate() * complex(0.5, 1.0)) + (z * z).imag * z.real


def test_the_text_takes_parts_as_one_writes_them() -> None:
    text = ad.source(ad.grad(turned), 1.0, 2.0)
    assert ".conjugate()" in text
    assert ".real" in text
    assert "np." not in text
    assert "unbroadcast" not in text
