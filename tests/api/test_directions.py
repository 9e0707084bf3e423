"""Derivatives in several directions: as one after another, compiled or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.api.sweeps.sweep_forms import width_of


def rotation(state: np.ndarray, rate: float, steps: int) -> np.ndarray:
    """Memory written in a loop, with a path that the data choose."""
    state = state.copy()
    for step in range(steps):
        first = state[0]
        for i in range(len(state) - 1):
            state[i] = state[i] * np.cos(rate) + state[i + 1] * np.sin(rate)
        if first > 0.0:
            state[-1] = first * state[-1] + step
    return state


X = np.array([0.3, -0.2, 0.9, 0.4, 1.1])


@pytest.fixture(params=[False, "strict"], ids=["interpreted", "compiled"])
def native(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize(
    ("count", "length", "width"),
    [(1, 10, 1), (2, 10, 2), (5, 10, 3), (7, 10, 4), (9, 10, 3), (26, 10, 4), (26, 400, 2), (3, 400, 2), (26, 4000, 1)],
    ids=str,
)
def test_widths(count: int, length: int, width: int) -> None:
    assert width_of(count, length) == width


@pytest.mark.parametrize("count", [1, 2, 5])
def test_tangents(native: Any, count: int) -> None:
    ways = [(np.cos(lane + X), 0.1 * lane, None) for lane in range(count)]
    value, found = ad.jvps(rotation, (X, 0.7, 3), ways, native=native)
    np.testing.assert_allclose(value, rotation(X, 0.7, 3), rtol=1e-14)
    assert len(found) == count
    for way, derivative in zip(ways, found, strict=True):
        np.testing.assert_allclose(derivative, ad.jvp(rotation, (X, 0.7, 3), way)[1], rtol=1e-12)


@pytest.mark.parametrize("count", [1, 3, 5])
def test_cotangents(native: Any, count: int) -> None:
    _, pullback = ad.vjp(rotation, X, 0.7, 3, native=native)
    _, plain = ad.vjp(rotation, X, 0.7, 3)
    seeds = [np.sin(lane + X) for lane in range(count)]
    for _ in range(2):
        found = pullback.each(seeds)
        assert len(found) == count
        for seed, (of_state, of_rate, nothing) in zip(seeds, found, strict=True):
            expected = plain(seed)
            np.testing.assert_allclose(of_state, expected[0], rtol=1e-12)
            np.testing.assert_allclose(of_rate, expected[1], rtol=1e-12)
            assert nothing is None


def test_jacobian(native: Any) -> None:
    found = ad.jacobian(rotation, native=native)(X, 0.7, 3)
    step = 1e-30
    for column in range(len(X)):
        moved = X.astype(complex)
        moved[column] += 1j * step
        np.testing.assert_allclose(found[:, column], complex_rotation(moved, 0.7, 3).imag / step, rtol=1e-12)


def complex_rotation(state: np.ndarray, rate: float, steps: int) -> np.ndarray:
    state = state.copy()
    for step in range(steps):
        first = state[0]
        for i in range(len(state) - 1):
            state[i] = state[i] * np.cos(rate) + state[i + 1] * np.sin(rate)
        if first.real > 0.0:
            state[-1] = first * state[-1] + step
    return state


def energies(x: np.ndarray) -> np.ndarray:
    """Fewer results than arguments: rows are fewer than columns."""
    found = np.zeros(3)
    for i in range(len(x)):
        found[i % 3] += x[i] * x[i] * x[i - 1]
    return found


def test_jacobian_by_rows(native: Any) -> None:
    x = np.linspace(0.2, 1.4, 7)
    expected = np.zeros((3, 7))
    for i in range(7):
        expected[i % 3, i] += 2.0 * x[i] * x[i - 1]
        expected[i % 3, i - 1] += x[i] * x[i]
    np.testing.assert_allclose(ad.jacobian(energies, native=native)(x), expected, rtol=1e-13)


def test_hessian(native: Any) -> None:
    def total(x: np.ndarray) -> float:
        return np.sum(energies(x))

    x = np.linspace(0.2, 1.4, 6)
    expected = np.diag(2.0 * np.roll(x, 1))
    for i in range(6):
        expected[i, i - 1] += 2.0 * x[i]
        expected[i - 1, i] += 2.0 * x[i]
    np.testing.assert_allclose(ad.hessian(total, native=native)(x), expected, rtol=1e-13)


def test_arguments_that_are_written_are_as_after_one_call(native: Any) -> None:
    def doubled(x: np.ndarray) -> np.ndarray:
        x *= x
        return 3.0 * x

    x = np.array([1.0, 2.0, 3.0])
    value, found = ad.jvps(doubled, (x,), [(unit,) for unit in np.eye(3)], native=native)
    np.testing.assert_array_equal(x, [1.0, 4.0, 9.0])
    np.testing.assert_array_equal(value, [3.0, 12.0, 27.0])
    np.testing.assert_array_equal(found, np.diag([6.0, 12.0, 18.0]))


def test_directions_of_different_kinds(native: Any) -> None:
    def product(x: float, y: float) -> float:
        return x * y

    assert ad.jvps(product, (2.0, 3.0), [(1.0, None), (None, 1.0), (1.0, 1.0)], native=native) == (6.0, [3.0, 2.0, 5.0])


def test_single_precision_stays(native: Any) -> None:
    x = np.array([1.0, 2.0], np.float32)
    _, found = ad.jvps(energies_of_single, (x,), [(unit,) for unit in np.eye(2, dtype=np.float32)], native=native)
    assert [part.dtype for part in found] == [np.float32] * 2
    np.testing.assert_allclose(found, [[2.0, 0.0], [0.0, 4.0]])


def energies_of_single(x: np.ndarray) -> np.ndarray:
    return x * x


def test_a_direction_is_needed() -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0409"):
        ad.jvps(rotation, (X, 0.7, 3), [])


def test_wrong_structures_are_refused(native: Any) -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0409"):
        ad.jvps(rotation, (X, 0.7, 3), [(X, 1.0, None), (X[:2], 1.0, None)], native=native)
    _, pullback = ad.vjp(rotation, X, 0.7, 3, native=native)
    with pytest.raises(ad.DifferentiationError, match="AD0409"):
        pullback.each([X, 1.0])


def test_exceptions_come_out(native: Any) -> None:
    def checked(x: np.ndarray) -> np.ndarray:
        if x[0] < 0.0:
            raise ValueError("negative")
        return x * x

    with pytest.raises(ValueError, match="negative"):
        ad.jvps(checked, (-X,), [(X,), (X,)], native=native)


def test_results_share_nothing(native: Any) -> None:
    def first(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 2.0 * x

    def constant(x: np.ndarray) -> np.ndarray:
        return np.zeros(len(x))

    x = np.ones(3)
    _, pullback = ad.vjp(first, x, x.copy(), native=native)
    pulled = pullback.each([x, 2.0 * x])
    pulled[0][1][0] = 7.0
    np.testing.assert_array_equal(pulled[1][1], np.zeros(3))
    value, pushed = ad.jvps(constant, (x,), [(x,), (x,)], native=native)
    pushed[0][0] = 7.0
    np.testing.assert_array_equal(pushed[1], np.zeros(3))
    np.testing.assert_array_equal(value, np.zeros(3))


def test_matrices_again_and_again(native: Any) -> None:
    """What is kept between calls is of their kind only, and arguments are written as by one call."""

    def scaled(x: np.ndarray, k: float) -> Any:
        x *= k
        return np.sum(x * x * x) * k

    jacobian, hessian = ad.jacobian(scaled, native=native), ad.hessian(scaled, (0, 1), native=native)
    for k in (2.0, 3.0, 4.0, np.float32(2.0), 5.0):
        for start in (np.array([1.0, -2.0]), np.array([3.0]), np.array([0.5, 0.0, 1.0])):
            if native and isinstance(k, np.float32) and len(start) > 1:
                continue  # machine code for each number of directions; one is enough of each kind
            x = start.copy()
            np.testing.assert_allclose(jacobian(x, k), 3 * k**4 * start**2, rtol=1e-6)
            np.testing.assert_array_equal(x, k * start)
            x = start.copy()
            (by_x, mixed), (_, by_k) = hessian(x, k)
            np.testing.assert_allclose(by_x, np.diag(6 * k**4 * start), rtol=1e-6)
            np.testing.assert_allclose(mixed, 12 * k**3 * start**2, rtol=1e-6)
            np.testing.assert_allclose(by_k, 12 * k**2 * np.sum(start**3), rtol=1e-6)
            np.testing.assert_array_equal(x, k * start)


def test_a_choice_that_only_equals_an_index_is_refused() -> None:
    for wrt in (True, 1.0, (0, 0)):
        with pytest.raises(ad.DifferentiationError, match="AD0405"):
            ad.jacobian(lambda x, y: x * y, wrt)(2.0, 3.0)


@pytest.mark.parametrize(
    ("whole", "still"),
    [([1, 2], [None, None]), ((1, 2), (None, None)), ({0: 1, 1: 2}, {0: None, 1: None}), ([1.0, 2.0], [None, None])],
    ids=["list", "tuple", "dict", "floats"],
)
def test_a_direction_in_which_no_part_of_an_argument_moves(whole: Any, still: Any) -> None:
    def f(weights: Any, x: list[float]) -> float:
        return weights[0] * x[0] ** 2 + weights[1] * x[1]

    for _ in range(2):
        assert ad.jvp(f, (whole, [3.0, 4.0]), (still, [1.0, 2.0])) == (17.0, 10.0)
        assert ad.hvp(f, (whole, [3.0, 4.0]), (still, [1.0, 2.0])) == (None, [2.0, 0.0])
    assert ad.linearize(f, whole, [3.0, 4.0])[1](still, [1.0, 2.0]) == 10.0
