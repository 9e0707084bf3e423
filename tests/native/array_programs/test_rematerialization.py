"""What loops keep is computed again from less, where that is cheaper; gradients stay what they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.analysis.closures import largest_closure
from adjoint.ir.walk import statements_in
from adjoint.native.array_programs.rematerialization import with_values_rematerialized
from native.agreement import compare
from native.array_programs import time_steppers

pytest.importorskip("llvmlite")


def limited(u: np.ndarray, rate: float) -> float:
    for _ in range(3):
        ahead = np.roll(u, -1, axis=1) - u
        behind = u - np.roll(u, 1, axis=1)
        limited = np.maximum(0.0, behind) * ahead
        u = u + rate * (limited - behind * limited) * u
    return float(np.sum(u * u))


def slow(u: np.ndarray, rate: float) -> float:
    for _ in range(3):
        lifted = np.exp(rate * u)
        u = u + 0.1 * np.sin(lifted) * lifted
    return float(np.sum(u * u))


def overwritten(u: np.ndarray, rate: float) -> float:
    for _ in range(3):
        force = rate * u * u
        work = force * u
        force *= 1.0 - 0.1 * work
        u = u + 0.2 * force * work
    return float(np.sum(u * u))


def in_memory_that_changes(u: np.ndarray, rate: float) -> float:
    field = u.copy()
    for _ in range(3):
        scaled = rate * field
        field += 0.1 * scaled * scaled
    return float(np.sum(field * field))


def indices_are_known(u: np.ndarray, rate: float) -> float:
    """Parts of what is not written are read again, at the indices of the sweep."""
    total = u.copy()
    for i in range(len(u)):
        after = i + 1
        for k in range(u.shape[1]):
            total[i, :after] += u[:after, k] * rate * u[i, k]
    return float(np.sum(total * total))


def turned_copies(u: np.ndarray, rate: float) -> float:
    """What is kept the other way round is seen in what is kept already."""
    y = np.copy(u[0])
    for k in range(1, len(y)):
        y[:k] += rate * np.dot(u[1, :k], y[:k]) * np.flip(y[:k])
    return float(np.sum(y))


def kept_by(function: Any) -> tuple[int, int]:
    """How many arrays each iteration of a gradient keeps, before and after."""
    u = np.random.default_rng(0).uniform(0.2, 0.9, (4, 5))
    made = ad.grad(function, wrt=(0, 1), native=True).specialized((u, 0.3), {}).function
    before, after = (_filled_with_arrays(each) for each in (made, with_values_rematerialized(made)))
    return before, after


def _filled_with_arrays(function: ir.Function) -> int:
    calls = [each for each in statements_in(function.body) if isinstance(each, ir.Call) and each.callee is list.append]
    return sum(isinstance(call.args[1], ir.Var) and isinstance(call.args[1].type, ir.Array) for call in calls)


@pytest.mark.parametrize(
    ("function", "before", "after"),
    [
        (limited, 7, 1),
        (overwritten, 7, 2),
        (slow, 3, 3),
        (in_memory_that_changes, 3, 1),
        (indices_are_known, 2, 0),
        (turned_copies, 2, 1),
    ],
    ids=lambda case: getattr(case, "__name__", None),
)
def test_only_what_is_dear_or_at_the_start_is_kept(function: Any, before: int, after: int) -> None:
    assert kept_by(function) == (before, after)


@pytest.mark.parametrize(
    "function", [limited, slow, overwritten, in_memory_that_changes, indices_are_known, turned_copies]
)
@pytest.mark.parametrize("mode", ["gradient", "forward"])
def test_machine_code_agrees(function: Any, mode: str) -> None:
    outcome = compare(function, (np.random.default_rng(0).uniform(0.2, 0.9, (4, 5)), 0.3), mode)
    assert outcome.kind == "same", outcome.message


@pytest.mark.parametrize("seed", [4, 14, 42, 48, *range(1000, 1092)])
def test_random_time_steppers_agree(seed: int) -> None:
    outcome = compare(time_steppers.program(seed), time_steppers.arguments(seed), "gradient")
    assert outcome.kind == "same", outcome.message


@pytest.mark.parametrize("seed", range(40))
def test_closures_are_of_largest_weight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 9))
    weights = {node: int(rng.integers(-6, 7)) for node in range(count)}
    requires = {node: [other for other in range(count) if other != node and rng.random() < 0.2] for node in weights}

    def is_closed(nodes: set[int]) -> bool:
        return all(other in nodes for node in nodes for other in requires[node])

    found = largest_closure(weights, requires)
    sets = [{node for node in range(count) if mask >> node & 1} for mask in range(2**count)]
    assert is_closed(found)
    assert sum(weights[node] for node in found) == max(sum(map(weights.get, each)) for each in sets if is_closed(each))
