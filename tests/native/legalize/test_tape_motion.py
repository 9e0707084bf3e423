"""Pushes go to the end of their blocks, pops to the start; what is computed stays the same."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.dispatch import specialize, targets
from adjoint.ir.walk import statements_in
from adjoint.native.legalize.tape_motion import with_tapes_moved
from adjoint.records import replace


def relaxed(u: np.ndarray, v: np.ndarray, rounds: int) -> float:
    u, v = u.copy(), v.copy()
    k = 0
    while k < rounds:
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - u[:-2]) ** 2
        v[1:-1] = v[1:-1] * u[2:] + 0.1 * (v[2:] - v[:-2]) ** 2
        for _ in range(2):
            u[1:-1] = u[1:-1] * v[1:-1] - u[2:] * u[:-2]
        k += 1
    return float(np.sum(u * v))


def retried(u: np.ndarray, rounds: int) -> float:
    u = u.copy()
    total = 0.0
    k = 0
    while k < rounds:
        k += 1
        if u[k] > 0.6:
            u[1:-1] = np.sin(u[1:-1]) * u[2:]
            continue
        u[:] = u * u[k]
        total += float(np.sum(u))
    return total


def given(size: int = 7) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.uniform(0.2, 0.9, size) for _ in range(2)]


def test_pushes_are_last_and_pops_are_first() -> None:
    made = ad.grad(relaxed, wrt=(0, 1), native=True).specialized((*given(), 3), {}).function
    moved = with_tapes_moved(made)

    def runs(function: object) -> int:
        """How often pushes or pops stand beside other statements."""
        callees = [each.callee if isinstance(each, ir.Call) else None for each in statements_in(function.body)]  # type: ignore[attr-defined]
        of_tapes = [callee in (list.append, list.pop) for callee in callees]
        return sum(one and not other for one, other in pairwise(of_tapes))

    assert runs(moved) < runs(made)
    count = lambda function, callee: sum(
        isinstance(each, ir.Call) and each.callee is callee for each in statements_in(function.body)
    )
    assert all(count(made, callee) == count(moved, callee) for callee in (list.append, list.pop))


@pytest.mark.parametrize("skipped", ["", "tape-motion"], ids=["moved", "where they were"])
def test_machine_code_agrees(skipped: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    specialize.forget()
    original = targets.target_of
    monkeypatch.setattr(
        targets, "target_of", lambda *given: replace(original(*given), skipped=frozenset(filter(None, [skipped])))
    )
    for function, args, wrt in ((relaxed, (*given(), 3), (0, 1)), (retried, (given()[0], 4), (0,))):
        derivative = ad.grad(function, wrt=wrt, native="strict")
        for one, other in zip(derivative(*args), ad.grad(function, wrt=wrt)(*args), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
