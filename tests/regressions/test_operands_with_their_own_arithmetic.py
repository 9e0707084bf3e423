"""Masked arrays, matrices, series: what takes over NumPy's arithmetic is refused where it meets what varies."""

import tempfile
import warnings
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import adjoint as ad
from regressions.differences import refused, right


class Quantity(np.ndarray):
    """A subclass of a user, with an arithmetic of its own as far as anybody knows."""


class Holder:
    def __init__(self, z: Any) -> None:
        self.z = z


MASKED = np.ma.array([0.1, 0.2], mask=[True, False])
with warnings.catch_warnings():
    warnings.simplefilter("ignore", PendingDeprecationWarning)
    MATRIX = np.matrix([[1.0, 2.0], [3.0, 4.0]])
RECORDS = np.rec.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("a", float), ("b", float)])
QUANTITY = np.array([1.0, 2.0]).view(Quantity)
SERIES = pd.Series([1.0, 2.0], index=[1, 0])
TABLE = pd.DataFrame({"a": [1.0, 2.0]})
X = np.array([0.3, -0.7])
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


class OtherArray(np.ndarray):
    """An array of a class of its own."""


def masked_inside(x):
    z = np.ma.array([0.1, 0.2], mask=[True, False])
    return (z - x).sum()


def matrix_inside(x):
    return np.sum(np.asmatrix([[1.0, 2.0], [3.0, 4.0]]) * x)


def masked_in_a_branch(x):
    y = x * 2.0
    if np.sum(x) < 10.0:
        for _ in range(2):
            y = y + MASKED
    return np.sum(y)


def summed_down(z, x, depth):
    return np.sum(z * x) if depth == 0 else summed_down(z, x, depth - 1) * 2.0


PROGRAMS: dict[str, tuple[str, Callable[..., Any]]] = {
    "a masked constant": ("MaskedArray", lambda x: (MASKED - x).sum()),
    "a masked operand of a function": ("MaskedArray", lambda x: np.sum(np.multiply(x, MASKED))),
    "a masked part of an array": ("MaskedArray", lambda x: np.sum(np.concatenate([MASKED, x]))),
    "masked, made inside": ("MaskedArray", masked_inside),
    "masked, in a branch": ("MaskedArray", masked_in_a_branch),
    "masked, in a list": ("MaskedArray", lambda x: np.sum([MASKED][0] * x)),
    "a matrix": ("matrix", lambda x: np.sum(MATRIX * x)),
    "a product with a matrix": ("matrix", lambda x: np.sum(MATRIX @ x)),
    "a matrix made inside": ("matrix", matrix_inside),
    "a class of a user": ("Quantity", lambda x: np.sum(QUANTITY * x)),
    "the same, made inside": ("Quantity", lambda x: np.sum(x * QUANTITY.copy())),
    "in an object": ("Quantity", lambda x: np.sum(Holder(QUANTITY).z * x)),
    "a series": ("Series", lambda x: np.sum(SERIES * x)),
    "a column of a table": ("Series", lambda x: np.sum(x * TABLE["a"])),
    "a table": ("DataFrame", lambda x: np.sum(x[:, None] * TABLE)),
}


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("native", [False, True])
def test_what_brings_its_own_arithmetic_is_refused(name: str, native: bool) -> None:
    cls, f = PROGRAMS[name]
    said = str(refused(lambda: ad.grad(f, native=native)(X)))
    assert "AD0207" in said
    assert repr(cls) in said
    if not native:
        assert "AD0207" in str(refused(lambda: ad.jvp(f, (X,), (X,))))
        assert "AD0207" in str(refused(lambda: ad.vjp(f, X)[1](1.0)))


@pytest.mark.parametrize("z", [MASKED, MATRIX, QUANTITY, SERIES], ids=lambda z: type(z).__name__)
def test_as_arguments_and_in_what_they_hold(z: Any) -> None:
    for f, given in (
        (lambda x, z: np.sum(z * x), z),
        (lambda x, h: np.sum(h.z * x), Holder(z)),
        (lambda x, zs: np.sum(zs[1] * x), [1.0, z]),
        (lambda x, table: np.sum(table["z"] * x), {"z": z}),
        (lambda x, z: summed_down(z, x, 2), z),
    ):
        assert "AD0207" in str(refused(lambda f=f, given=given: ad.grad(f)(0.5, given)))
    said = str(refused(lambda: ad.grad(lambda z: np.sum(z * z))(z)))
    assert "AD0404" in said
    assert "np.asarray(z)" in said or "to_numpy()" in said


@pytest.mark.parametrize("z", [MASKED, MATRIX, MASKED.filled(0.0).view(OtherArray)], ids=lambda z: type(z).__name__)
def test_no_cotangent_of_them_is_left_out(z: Any) -> None:
    total = lambda z, y=1.0: np.sum(np.asarray(z)) * y
    for derivative in (
        lambda: ad.grad(total)(z),
        lambda: ad.vjp(total, z),
        lambda: ad.vjp(total, z, 2),
        lambda: ad.jvp(total, (z,), (z,)),
        lambda: ad.linearize(total, z)[1](z),
        lambda: ad.grad(lambda s: s * np.sum(ad.vjp(total, z)[1](1.0)[0]))(1.0),
    ):
        said = str(refused(derivative))
        assert "AD0404" in said
        assert f"0 is an object of class {type(z).__name__!r}" in said or "tangent 0 is of an object of class" in said
        assert "np.asarray(z)" in said
    for held in ({"a": z}, [z], (z, "text"), Holder(z)):
        for derivative in (lambda held=held: ad.grad(str)(held), lambda held=held: ad.vjp(repr, held)):
            said = str(refused(derivative))
            assert "AD0404" in said
            assert f"0 holds an object of class {type(z).__name__!r}" in said
    assert ad.vjp(total, z, 2.0)[1](1.0) == (None, np.asarray(z).sum())
    assert ad.jvp(total, (z, 2.0), (None, 1.0))[1] == np.asarray(z).sum()


def test_the_ways_out() -> None:
    right(lambda x: np.sum(MASKED.filled(0.0) * x), X)
    right(lambda x: np.sum(np.asarray(MASKED) * x), X)
    right(lambda x: np.where(MASKED.mask, 0.0, np.asarray(MASKED) - x).sum(), X)
    right(lambda x: np.sum(np.asarray(MATRIX) @ x), X)
    right(lambda x: np.sum(SERIES.to_numpy() * x), X)
    right(lambda x, table: np.sum(table["a"].to_numpy() * x), X, TABLE)
    right(lambda x: np.sum(RECORDS.a * x + RECORDS["b"]), X)


def test_what_nothing_varies_in_is_left_alone() -> None:
    right(lambda x: float((MASKED * MASKED).sum()) * np.sum(x), X)
    right(lambda x: np.sum(x * SERIES.mean()), X)
    right(lambda x, series: np.sum(x * float(series.max())), X, SERIES)


@pytest.mark.parametrize("native", [False, True])
def test_memory_maps_are_arrays(tmp_path: Path, native: bool) -> None:
    mapped = np.memmap(tmp_path / "numbers", dtype=float, mode="w+", shape=3)
    mapped[:] = [0.6, -0.4, 1.3]
    right(lambda x: np.sum(x * x), mapped, native=native)
    right(lambda x: np.sum(mapped * x * x), np.array([0.3, 0.7, -0.2]), native=native)
    right(lambda x, m: np.sum(m[1:] * x), 0.7, mapped, native=native)
    np.testing.assert_allclose(ad.hessian(lambda x: np.sum(x**3))(mapped), np.diag(6 * mapped))


def test_a_memory_map_that_is_written() -> None:
    with tempfile.NamedTemporaryFile() as file:
        mapped = np.memmap(file.name, dtype=float, mode="w+", shape=3)

        def f(x, m):
            m[1] = x * x
            return np.sum(m * x)

        assert ad.grad(f)(3.0, mapped) == pytest.approx(27.0)
        assert mapped[1] == 9.0


def test_a_view_of_another_class_is_refused_by_its_name() -> None:
    with pytest.raises(ad.DifferentiationError, match="becomes one of the class 'Quantity'"):
        ad.grad(lambda x: np.sum(x.view(Quantity) ** 2))(np.ones(2))


HOLES = np.array([1.0, np.nan, 3.0, 4.0])


def test_arrays_of_other_classes_that_are_made_of_what_does_not_vary() -> None:
    right(lambda x: np.sum(x) * np.ma.masked_invalid(HOLES).sum(), X)
    right(lambda x: np.sum(x * (x > 0).view(np.int8)), X)
    right(lambda x: x[0] * float(Decimal("1.5") + Decimal(2)) * float(Fraction(1, 3)), X)


@pytest.mark.parametrize(
    ("f", "said"),
    [
        (lambda x: np.sum(np.asmatrix(x)), "becomes one of the class 'matrix'"),
        (lambda x: np.sum(np.matrix(x)), "x @ y is the product"),
        (lambda x: np.sum(np.ma.array(x, mask=x > 2)), "becomes one of the class 'MaskedArray'"),
        (lambda x: np.sum(np.ma.MaskedArray(x)), "keep the mask apart"),
        (lambda x: float(Decimal(x[0]) * 2), "becomes an object of the class 'Decimal'"),
        (lambda x: float(Fraction(x[0])), "compute with floats"),
        (lambda x: timedelta(seconds=x[0]).total_seconds(), "compute with seconds, as a float"),
    ],
)
def test_what_varies_is_made_an_object_without_a_derivative(f: Any, said: str) -> None:
    with pytest.raises(ad.DifferentiationError) as refusal:
        ad.grad(f)(np.ones(2))
    assert said in str(refusal.value)


class Unit(np.ndarray):
    __array_priority__ = 21

    def __new__(cls, value: float) -> Any:
        return np.asarray(value, float).view(cls)

    @property
    def simplified(self) -> float:
        return float(np.asarray(self))


METRE = Unit(2.0)


def test_what_units_make_of_units_has_their_attributes() -> None:
    """Nothing varies in a conversion between units; what their arithmetic gives is a unit, no number."""

    def asked(x: float) -> float:
        scale = 1.0 / METRE
        return x * scale.simplified if hasattr(scale, "simplified") else 0.0 * x

    right(asked, 0.7)
    right(lambda x: x * (METRE * METRE).simplified + x * np.multiply(METRE, 3.0).simplified, 0.7)


def written_later(x):
    z = np.ma.asarray(UNMASKED) * 1.0
    z[0] = np.ma.masked
    return np.sum(z - x)


def test_a_masked_array_that_is_written_keeps_its_mask_or_is_refused() -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0207"):
        ad.grad(written_later)(np.array([0.3, 0.5, 0.7]))


UNMASKED = np.ma.array([1.0, 2.0, 3.0])


def filtered(x, observations):
    """As filters of Kalman's kind look at observations of which some may be missing."""
    rows = np.ma.asarray(observations)
    state, total = x * 0.5, 0.0
    for t in range(rows.shape[0]):
        if not np.any(np.ma.getmask(rows[t])):
            innovation = rows[t] - state
            state = state + 0.3 * innovation * x
            total += np.dot(innovation, innovation)
    return total + np.sum(state)


OBSERVATIONS = np.array([[1.0, 2.0], [0.5, 0.1], [0.2, 0.7]])


@pytest.mark.parametrize("mask", [False, np.array([[False, False], [True, True], [False, False]])])
def test_masked_rows_of_which_nothing_is_masked(mask) -> None:
    right(filtered, X, np.ma.array(OBSERVATIONS, mask=mask))


def masked_after_a_difference(x):
    difference = np.ma.asarray(UNMASKED) - x
    difference[0] = np.ma.masked
    return np.sum(difference)


def test_what_such_an_array_becomes_is_not_masked_later() -> None:
    with pytest.raises(ad.DifferentiationError, match=r"AD0207(.*\n)*.*an element is masked here"):
        ad.grad(masked_after_a_difference)(np.array([0.3, 0.5, 0.7]))


def quotient(x):
    return np.sum(np.ma.asarray(UNMASKED) / x)


def test_a_quotient_of_masked_arrays_may_be_masked() -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0207"):
        ad.grad(quotient)(np.array([0.3, 0.0, 0.7]))
