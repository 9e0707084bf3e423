"""What is stored in arrays of a function's own, and never read from there, is not stored."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.dispatch import specialize, targets
from adjoint.records import replace


def result_in_an_array(c: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    c = c.copy()
    c[:] = 2.0 * (a @ b) + 3.0 * c
    return float(np.sum(c))


def rows_of_a_product(a: np.ndarray, b: np.ndarray) -> float:
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        out[i] = a[i] @ b
    return float(np.sum(out))


def one_row_is_read(a: np.ndarray, b: np.ndarray) -> float:
    """Of what is stored the next iteration reads a part."""
    out = np.ones((a.shape[0] + 1, b.shape[1]))
    for i in range(a.shape[0]):
        out[i + 1] = (a[i] @ b) * out[i]
    return float(np.sum(out))


def read_through_a_view(a: np.ndarray) -> float:
    work = a.copy()
    part = work[1:]
    work[:] = a * a
    return float(np.sum(part * part))


def read_on_one_path(a: np.ndarray, wanted: bool) -> float:
    work = a.copy()
    work[:] = np.sin(a)
    if wanted:
        return float(np.sum(work * a))
    return float(np.sum(a * a))


def read_in_a_handler(a: np.ndarray) -> float:
    work = a.copy()
    try:
        work[:] = a * a
        if a[0] > -100.0:
            raise ValueError
        work[:] = 0.0
    except ValueError:
        return float(np.sum(work * a))
    return 0.0


def in_two_lists(a: np.ndarray) -> float:
    work = a.copy()
    held = [work, a]
    work[:] = a * a * a
    return float(np.sum(held[0] * held[1]))


def reshaped(a: np.ndarray, m: np.ndarray) -> float:
    a = a.copy()
    a[:] = np.reshape(np.reshape(a, (2, 3, 1, 4)) @ m, (2, 3, 4))
    return float(np.sum(a))


def counted(a: np.ndarray, b: np.ndarray) -> float:
    """The loop ends by what it computes."""
    total = 0.0
    k = 0
    while total < 4.0 and k < a.shape[0]:
        total += float(np.sum(a[k] @ b[:, k:]))
        k += 1
    return total


def carried_by_numbers(a: np.ndarray) -> float:
    """Each iteration reads places that the one before wrote."""
    w = np.zeros(3)
    w[1] = a[0]
    for i in range(3):
        w[0] = w[1] * a[i] + 0.1 * i
        w[2] = w[0] * w[1] + w[2]
        w[1] = w[2] * a[0]
    return float(w[0] * w[2] + w[1])


def made_in_each_iteration(a: np.ndarray) -> float:
    total = 0.0
    for i in range(3):
        w = np.zeros(3)
        w[0] = a[i] * a[0]
        w[1] = w[0] * a[1]
        w[0] = w[1] * w[0]
        total += w[0] * w[1] + w[2]
    return float(total)


def sliding_view(a: np.ndarray) -> float:
    """What is the first place in one iteration was the second in the one before."""
    work = a * 1.0
    for i in range(3):
        part = work[i:]
        part[1] = part[0] * a[i] + part[1]
        part[0] = part[1] * a[0]
    return float(np.sum(work))


def carried_view(a: np.ndarray) -> float:
    work = np.concatenate((a, a))
    part = work[:]
    for i in range(3):
        part[1] = part[0] * a[i] + part[1]
        part[0] = part[1] * a[0]
        part = part[1:]
    return float(part[0] * part[1] + work[0] * work[1])


def exchanged(a: np.ndarray) -> float:
    one, other = a * 1.0, a * 2.0
    for i in range(3):
        one[0] = other[1] * a[i] + one[1]
        one[1] = one[0] * other[0]
        one, other = other, one
    return float(one[0] * other[1] + one[1])


def from_both_ends(a: np.ndarray) -> float:
    w = np.zeros(2)
    w[-1] = a[0] * a[1]
    w[0] = w[1] * a[2]
    w[1] = w[0] * w[-1]
    w[-2] = w[1] * w[0]
    return float(w[0] * w[-1])


def rows_and_places(a: np.ndarray) -> float:
    m = np.zeros((2, 2))
    m[0, 1] = a[0] * a[1]
    m[1] = m[0] * a[2]
    m[0, 0] = m[1, 1] * m[0, 1]
    m[0, 1] = m[0, 0] * a[1]
    return float(m[0, 0] * m[1, 1] + np.sum(m[0]))


def reset_in_a_handler(a: np.ndarray) -> float:
    w = np.zeros(2)
    try:
        w[0] = a[0] * a[1]
        w[1] = w[0] * a[2]
        if w[1] > -1.0:
            raise ValueError
        w[0] = 0.0
    except ValueError:
        w[1] = w[0] * w[1]
    return float(w[0] * w[1])


pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")

A, B = np.random.default_rng(0).uniform(0.2, 0.9, (3, 4)), np.random.default_rng(1).uniform(0.2, 0.9, (4, 5))
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (result_in_an_array, (np.ones((3, 5)), A, B)),
    (rows_of_a_product, (A, B)),
    (one_row_is_read, (A, B)),
    (read_through_a_view, (A,)),
    (read_on_one_path, (A, True)),
    (read_on_one_path, (A, False)),
    (read_in_a_handler, (A[0],)),
    (in_two_lists, (A[0],)),
    (reshaped, (np.arange(24.0).reshape(2, 3, 4), B[:, :4])),
    (counted, (A, B)),
    (carried_by_numbers, (A[0],)),
    (made_in_each_iteration, (A[0],)),
    (sliding_view, (A[0],)),
    (carried_view, (A[0],)),
    (exchanged, (A[0],)),
    (from_both_ends, (A[0],)),
    (rows_and_places, (A[0],)),
    (reset_in_a_handler, (A[0],)),
]


def _leave_out(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    original = targets.target_of
    monkeypatch.setattr(targets, "target_of", lambda *given: replace(original(*given), skipped=frozenset(names)))
    specialize.forget()


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(("function", "args"), PROGRAMS, ids=lambda each: getattr(each, "__name__", ""))
def test_gradients_are_the_same(
    function: Callable[..., Any], args: tuple[Any, ...], native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if native:
        pytest.importorskip("llvmlite")
    wrt = tuple(place for place, arg in enumerate(args) if isinstance(arg, np.ndarray))
    specialize.forget()
    found = ad.grad(function, wrt=wrt, native=native)(*args)
    _leave_out(monkeypatch, "dead-stores", "shape-only-results")
    for one, other in zip(found, ad.grad(function, wrt=wrt)(*args), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("function", [result_in_an_array, rows_of_a_product, reshaped])
def test_products_for_a_shape_are_not_computed(function: Callable[..., Any]) -> None:
    specialize.forget()
    args = next(args for other, args in PROGRAMS if other is function)
    derivative = ad.grad(function, wrt=tuple(range(len(args))))
    primal = ad.source(derivative, *args).split("_bar")[0]
    assert " @ " not in primal


@pytest.mark.parametrize(("function", "reset"), [(made_in_each_iteration, ["0"]), (from_both_ends, ["-2", "1", "0"])])
def test_places_that_nobody_reads_again_are_not_reset(function: Callable[..., Any], reset: list[str]) -> None:
    specialize.forget()
    text = ad.source(ad.grad(function), A[0])
    assert re.findall(r"w_bar\[(.*)\] = 0.0", text) == reset


def test_what_a_pullback_hands_out_is_stored() -> None:
    def doubled(a: np.ndarray) -> np.ndarray:
        out = np.zeros_like(a)
        out[:] = 2.0 * a
        return out

    value, _ = ad.vjp(doubled, A)
    np.testing.assert_array_equal(value, 2.0 * A)
