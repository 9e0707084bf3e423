"""Results take over the memory of what is read for the last time, and of nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.api.jvp_vjp import specialized_jvp
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.ir.verifier import verify
from adjoint.native.loops.storage_reuse import with_storage_reused

X = np.linspace(0.2, 0.9, 9).reshape(3, 3)


def last_read(x: np.ndarray) -> np.ndarray:
    y = np.matmul(x, x)
    z = np.empty(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            z[i, j] = y[i, j] * y[i, j]
    return z


def in_turn(x: np.ndarray) -> float:
    y = np.matmul(x, x)
    z = np.empty(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            z[i, j] = y[i, j] * 2.0
    w = np.empty(x.shape)
    for i in range(len(x)):
        total = 0.0
        for j in range(x.shape[1]):
            total += z[i, j] * z[i, 0]
        for j in range(x.shape[1]):
            w[i, j] = total * x[i, j]
    return np.sum(w @ x)


def read_later(x: np.ndarray) -> Any:
    y = np.matmul(x, x)
    z = np.empty(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            z[i, j] = y[i, j] * 2.0
    return z * y[0, 0] + y[1]


def handed_out(x: np.ndarray) -> Any:
    y = np.matmul(x, x)
    z = np.empty(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            z[i, j] = y[i, j] * 2.0
    return z, y


def turned(x: np.ndarray) -> np.ndarray:
    y = np.matmul(x, x)
    z = np.empty(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            z[i, j] = y[j, i] * 2.0
    return z


def read_in_the_next_row(x: np.ndarray) -> np.ndarray:
    y = np.matmul(x, x)
    z = np.empty(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            z[i, j] = y[i, j] * y[i - 1, j]
    return z


def read_after_its_row(x: np.ndarray) -> np.ndarray:
    y = np.matmul(x, x)
    z = np.empty(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            z[i, j] = y[i, j] * 2.0
        for j in range(x.shape[1]):
            z[i, j] += y[i, len(x) - 1 - j]
    return z


def stored_before_it_is_read(x: np.ndarray) -> np.ndarray:
    y = np.matmul(x, x)
    z = np.empty(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            z[i, j] = x[i, j]
            z[i, j] += y[i, j]
    return z


def read_where_the_loop_ends(x: np.ndarray) -> np.ndarray:
    y = np.matmul(x, x)
    z = np.empty(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            z[i, j] = x[i, j] * 2.0
            if j > 1:
                z[i, j] += y[i, j]
                break
    return z


def of_other_extents(x: np.ndarray) -> np.ndarray:
    y = np.matmul(x, x)
    z = np.empty((len(x) + 1, x.shape[1]))
    for i in range(len(x)):
        for j in range(x.shape[1]):
            z[i, j] = y[i, j] * 2.0
    z[len(x)] = 0.0
    return z


def seen_through_a_view(x: np.ndarray) -> np.ndarray:
    y = np.matmul(x, x)
    part = y[1:]
    z = np.empty(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            z[i, j] = y[i, j] * 2.0
    return z[1:] * part


def kept_over_iterations(x: np.ndarray) -> np.ndarray:
    y = np.matmul(x, x)
    for _ in range(3):
        z = np.empty(x.shape)
        for i in range(len(x)):
            for j in range(x.shape[1]):
                z[i, j] = y[i, j] * 2.0
        x = x + z
    return x


def in_each_iteration(x: np.ndarray) -> np.ndarray:
    for _ in range(3):
        y = np.matmul(x, x)
        z = np.empty(x.shape)
        for i in range(len(x)):
            for j in range(x.shape[1]):
                z[i, j] = y[i, j] * 2.0
        x = z
    return x


def handed_on_in_one_loop(x: np.ndarray) -> np.ndarray:
    y = np.matmul(x, x)
    between, after = np.empty(x.shape), np.empty(x.shape)
    for i in range(len(x)):
        for j in range(x.shape[1]):
            between[i, j] = y[i, j] * 2.0
            after[i, j] = between[i, j] * between[i, j]
    return after


def read_through_a_view(x: np.ndarray) -> Any:
    y = x @ x[0]
    part = y[1:]
    z = y * 2.0
    return np.sum(x @ z) + part @ part


@pytest.mark.usefixtures("machine_form")
def test_what_is_read_through_a_view_keeps_its_memory() -> None:
    expected = ad.value_and_grad(read_through_a_view)(X)
    found = ad.value_and_grad(read_through_a_view, native=True)(X)
    assert found[0] == pytest.approx(expected[0], rel=1e-14)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-13)


REUSED = dict.fromkeys((last_read, in_turn, in_each_iteration, handed_on_in_one_loop), True)
REUSED |= dict.fromkeys((read_later, handed_out, turned, read_in_the_next_row, read_after_its_row), False)
REUSED |= dict.fromkeys((stored_before_it_is_read, read_where_the_loop_ends, of_other_extents), False)
REUSED |= dict.fromkeys((seen_through_a_view, kept_over_iterations), False)


@pytest.mark.each_time
@pytest.mark.parametrize("function", REUSED)
def test_memory_is_taken_over_where_it_is_read_for_the_last_time(function: Any) -> None:
    compiled = specialized_jvp(function, (X,), (np.cos(X),))
    changed = with_storage_reused(compiled.function)
    verify(changed, "reuse-storage")
    text = emit(changed)
    fewer = emit(compiled.function).text.count("np.empty") - text.text.count("np.empty")
    assert (fewer > 0) == REUSED[function]
    for one, other in zip(load(text)(X, np.cos(X)), compiled.call(X, np.cos(X)), strict=True):
        for mine, theirs in zip(np.atleast_1d(one), np.atleast_1d(other), strict=True):
            np.testing.assert_array_equal(mine, theirs)
