"""Machine code is made for extents that agree as those of its first call, and made anew, for all, where others come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.codegen.python import emit
from adjoint.dispatch import specialize, targets
from adjoint.native.compile import core
from adjoint.native.compile.agreements import Agreement, agreements
from adjoint.records import replace
from adjoint.runtime.arithmetic import fused_loops

pytest.importorskip("llvmlite")


def advected(u: np.ndarray, v: np.ndarray) -> float:
    """The parts of the arguments may have a single row: then they are broadcast."""
    flow = u[1:-1, 1:] * v[1:-1, 1:] - (v[2:, 1:] - v[:-2, 1:]) * u[1:-1, :-1]
    return float(np.sum(flow * flow + v[1:-1, :-1]))


def in_a_halo(inside: np.ndarray, field: np.ndarray, rows: int) -> float:
    smooth = field[1 : rows + 3, :] - field[: rows + 2, :]
    return float(np.sum((smooth[1:-1] - smooth[2:]) * inside))


def written(u: np.ndarray, v: np.ndarray) -> float:
    u = u.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.1 * (v[2:] - v[:-2]) * u[1:-1]
    return float(np.sum(u * u))


def limited(inside: np.ndarray, field: np.ndarray, coefficient: np.ndarray) -> float:
    """Diffusion with a limited flux: the field has a halo, and the flux is chosen by elements."""
    rows, columns = inside.shape
    smooth = 4.0 * field[1 : rows + 3, 1 : columns + 3] - (
        field[2 : rows + 4, 1 : columns + 3] + field[: rows + 2, 1 : columns + 3]
    )
    steps = smooth[1:, 1 : columns + 1] - smooth[:-1, 1 : columns + 1]
    slopes = field[2 : rows + 3, 2 : columns + 2] - field[1 : rows + 2, 2 : columns + 2]
    flux = np.where(steps * slopes > 0, 0, steps)
    return float(np.sum((inside - coefficient * (flux[1:] - flux[:-1])) ** 2))


def relaxed(x: np.ndarray, start: np.ndarray, count: int) -> float:
    """A solver of which the arrays have a border, and which is told how many cells lie inside."""
    x = x.copy()
    for _ in range(3):
        neighbours = x[:count, 1:-1] + x[2:, 1:-1] + x[1:-1, :count] + x[1:-1, 2:]
        x[1:-1, 1:-1] = (start[1:-1, 1:-1] + 0.2 * neighbours) / 1.8
        x[0, 1:-1] = -x[1, 1:-1]
        x[-1, 1:-1] = x[count, 1:-1]
    return float(np.sum(x**2))


def traced_back(field: np.ndarray, flow: np.ndarray, count: int) -> float:
    """A semi-Lagrangian step: gathers at places that are computed."""
    rows, columns = np.indices((count, count))
    rows += 1
    columns += 1
    y = np.minimum(np.maximum(rows - 0.3 * flow[rows, columns], 0.5), count + 0.5)
    x = np.minimum(np.maximum(columns - 0.2 * flow[rows, columns], 0.5), count + 0.5)
    top, left = y.astype(int), x.astype(int)
    down, right = y - top, x - left
    upper = (1 - right) * field[top, left] + right * field[top, left + 1]
    lower = (1 - right) * field[top + 1, left] + right * field[top + 1, left + 1]
    field = field.copy()
    field[rows, columns] = (1 - down) * upper + down * lower
    return float(np.sum(field**2))


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    specialize.forget()


def test_what_agrees() -> None:
    found = agreements((drawn(5, 7), drawn(5, 1), 5, drawn(9, 12), 6, drawn(11, 12)))
    assert found == (
        Agreement((1, 0), (0, 0), 0),
        Agreement((3, 0), (1, 0), 4),  # a halo: the axis is the same
        Agreement((5, 0), (3, 0), 2),
        Agreement((5, 1), (3, 1), 0),
        Agreement((2, None), (0, 0), 0),
        Agreement((4, None), (0, 0), 1),
    )
    assert agreements((drawn(8, 7), 6)) == (Agreement((1, None), (0, 1), -1),)
    assert agreements((drawn(8, 8), 40)) == (Agreement((0, 1), (0, 0), 0),)
    assert agreements((drawn(5, 7), drawn(0, 7))) == ()
    assert agreements((drawn(5, 7), drawn(5, 7)), {(0, 0), (1, 0)}) == (Agreement((1, 0), (0, 0), 0),)


PROGRAMS = {
    "broadcast": (advected, [(drawn(6, 5), drawn(6, 5)), (drawn(6, 5), drawn(3, 5)), (drawn(3, 5), drawn(7, 5))]),
    "halo": (
        in_a_halo,
        [(drawn(4, 3), drawn(8, 3), 4), (drawn(6, 3), drawn(10, 3), 6), (drawn(1, 3), drawn(11, 3), 6)],
    ),
    "limited": (
        limited,
        [
            (drawn(4, 3), drawn(8, 7), drawn(4, 3)),
            (drawn(5, 6), drawn(9, 10), drawn(5, 6)),
            (drawn(4, 3), drawn(10, 8), drawn(4, 3)),
        ],
    ),
    "relaxed": (
        relaxed,
        [(drawn(6, 6), drawn(6, 6), 4), (drawn(9, 9), drawn(9, 9), 7), (drawn(6, 6), drawn(6, 6), 1)],
    ),
    "traced_back": (
        traced_back,
        [(drawn(6, 6), drawn(6, 6), 4), (drawn(9, 9), drawn(9, 9), 7), (drawn(6, 6), drawn(6, 6), 3)],
    ),
    "written": (written, [(drawn(6), drawn(6)), (drawn(9), drawn(9)), (drawn(9), drawn(3)), (drawn(6), drawn(6))]),
}


@pytest.mark.parametrize("skipped", [frozenset(), frozenset({"agreeing-extents"})], ids=["agreeing", "any"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_other_extents(name: str, skipped: frozenset[str], monkeypatch: pytest.MonkeyPatch) -> None:
    original = targets.target_of
    monkeypatch.setattr(targets, "target_of", lambda *given: replace(original(*given), skipped=skipped))
    function, calls = PROGRAMS[name]
    for again in range(2):  # the second time, machine code is found where it is kept
        specialize.forget()
        derivative = ad.grad(function, wrt=(0, 1), native="strict")
        for args in calls:
            expected = ad.grad(function, wrt=(0, 1))(*args)
            for one, other in zip(derivative(*args), expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, err_msg=f"{again} {args}")


@pytest.mark.parametrize(
    ("function", "agree", "differ"),
    [
        (advected, (drawn(6, 5), drawn(6, 5)), (drawn(6, 5), drawn(3, 5))),
        (limited, (drawn(4, 3), drawn(8, 7), drawn(4, 3)), (drawn(4, 3), drawn(10, 8), drawn(4, 3))),
        (relaxed, (drawn(6, 6), drawn(6, 6), 4), (drawn(6, 6), drawn(6, 6), 1)),
    ],
)
def test_loops_do_not_compare_what_agrees(
    function: Any, agree: tuple[Any, ...], differ: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[Any] = []
    made = core.Core._form
    monkeypatch.setattr(core.Core, "_form", lambda *given: texts.append(made(*given)) or texts[-1])
    derivative = ad.grad(function, wrt=(0, 1), native="strict")
    derivative(*agree)
    derivative(*differ)
    agreeing, general = (emit(each).text for each in texts)
    assert "rt.extents_agree(" in agreeing and "common_extent" not in agreeing and "step_along" not in agreeing
    assert "rt.extents_agree(" not in general and "step_along" in general
    assert agreeing.count("for ") < general.count("for ")


def test_a_check_says_what_it_is_for() -> None:
    x = np.zeros((5, 3))
    fused_loops.extents_agree(x, 3, among=(((0, 0), (0, 1), 2), ((1, None), (0, 1), 0), ((0, 0), None, 5)))
    for told in (((0, 0), (0, 1), 1), ((1, None), (0, 0), 0), ((0, 1), None, 5)):
        with pytest.raises(fused_loops.ExtentsDiffer):
            fused_loops.extents_agree(x, 3, among=(told,))


def test_shapes_that_do_not_fit_are_refused_as_by_numpy() -> None:
    derivative = ad.grad(advected, wrt=(0, 1), native="strict")
    derivative(drawn(6, 5), drawn(6, 5))
    with pytest.raises(ValueError, match="broadcast"):
        derivative(drawn(6, 5), drawn(8, 5))
