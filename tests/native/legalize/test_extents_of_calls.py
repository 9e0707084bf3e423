"""What the extents of arguments have in common at all calls is known in functions that stay functions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.analysis.shapes.extents import Extents
from adjoint.differentiation.definitions import called_by
from adjoint.ir.walk import statements_in
from adjoint.native.legalize import form
from adjoint.runtime.arithmetic import fused_loops
from fuzz.inlining import repeating
from sampling import check_grads

pytest.importorskip("llvmlite")

COMPARED = (fused_loops.common_extent, fused_loops.same_extent, fused_loops.fits_extent, fused_loops.step_along)


def rate(a, b, c, k):
    left, right = b - a, c - b
    slope = 0.5 * (left + right)
    bend = (right - left) / (1.0 + slope * slope)
    return k * bend - 0.1 * b * slope + 0.01 * b * (1.0 - b * b)


def two_stages(u, k):
    u = u.copy()
    for _ in range(3):
        half = u.copy()
        half[1:-1] += 0.05 * rate(u[:-2], u[1:-1], u[2:], k)
        u[1:-1] += 0.1 * rate(half[:-2], half[1:-1], half[2:], k)
    return np.sum(u * u)


def padded(a, b):
    wide = np.zeros((a.shape[0] + 2, a.shape[1]))
    wide[1:-1] = a * b
    return wide


def of_made_arrays(a, b):
    """The callee's result is as much larger as one argument is than the other."""
    return np.sum(padded(a, b)[2:] * padded(b, a)[1:-1] * a)


def windows(a, n):
    return a[1 : n + 1] * a[:n] - a[2 : n + 2]


def by_number(a, n):
    """A number that is told is an extent at one call, and at the other as much less."""
    return np.sum(windows(a, n - 2)) + np.sum(windows(a * a, n - 2))


def summed(a, b):
    total = a + b
    return np.sum(total * total)


def calls_that_differ(a, b):
    """The arguments have one shape at one call only: at the other, one is a row."""
    return summed(a, b) + summed(a[:3], b[:1])


X, Y = np.random.default_rng(0).normal(size=(2, 6, 5))

PROGRAMS = {
    two_stages: (X[:, 0] + 1.0, 0.3),
    of_made_arrays: (X, Y),
    by_number: (X[:, 1], 6),
    calls_that_differ: (X, Y),
}


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What is kept is told apart by what users can set, which budgets of inlining are not."""
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))


def _form(function: Any, args: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> ir.Function:
    """What machine code was made of for the gradient of a function."""
    made: list[ir.Function] = []
    usual = form.run

    def run(pipeline: Any, whole: ir.Function, context: Any) -> ir.Function:
        made.append(usual(pipeline, whole, context))
        return made[-1]

    monkeypatch.setattr(form, "run", run)
    ad.grad(function, native=True, keep_writes=False)(*args)
    return made[-1]


def _inside(function: ir.Function) -> list[ir.Function]:
    return [each.function for each in called_by(function) if each.function is not None]


@pytest.mark.parametrize("function", PROGRAMS, ids=[function.__name__ for function in PROGRAMS])
@pytest.mark.parametrize("most", [0, None], ids=["kept", "as_usual"])
def test_derivatives(function: Any, most: int | None) -> None:
    args, wrt = PROGRAMS[function], 0 if function is by_number else (0, 1)
    with repeating(most):
        check_grads(function, args)
        expected = ad.value_and_grad(function, wrt=wrt)(*args)
        found = ad.value_and_grad(function, wrt=wrt, native=True)(*args)
    assert found[0] == pytest.approx(expected[0], rel=1e-12)
    for mine, theirs in zip(*(each if wrt else (each,) for each in (found[1], expected[1])), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10)


def test_other_extents_are_taken() -> None:
    with repeating(0):
        derivative = ad.grad(two_stages, native=True)
        for size in (6, 9, 3):
            x = np.linspace(0.5, 1.5, size)
            np.testing.assert_allclose(derivative(x, 0.3), ad.grad(two_stages)(x, 0.3), rtol=1e-12)
        with pytest.raises(ValueError, match="broadcast"):
            ad.grad(calls_that_differ, native=True)(X, Y[:, :3])


@pytest.mark.parametrize("function", [two_stages, of_made_arrays], ids=lambda function: function.__name__)
def test_extents_that_agree_at_all_calls_are_not_compared(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with repeating(0):
        inside = _inside(_form(function, PROGRAMS[function], monkeypatch))
    assert inside
    calls = [each for body in inside for each in statements_in(body.body) if isinstance(each, ir.Call)]
    assert any(each.callee is fused_loops.extents_agree for each in calls)
    assert not any(each.callee in COMPARED for each in calls)


def test_extents_that_differ_at_one_call_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    with repeating(0):
        inside = _inside(_form(calls_that_differ, PROGRAMS[calls_that_differ], monkeypatch))
    calls = [each for body in inside for each in statements_in(body.body) if isinstance(each, ir.Call)]
    assert any(each.callee in COMPARED for each in calls)


def test_extents_of_what_a_function_gives_are_terms_of_its_arguments() -> None:
    a, b = (ir.Var(name, ir.Array(None, ("any",))) for name in "ab")
    part, total = (ir.Var(name, ir.Array(None, ("any",))) for name in ("part", "total"))
    inner = ir.Function(
        "inner",
        (a,),
        ir.Block(
            (ir.Load(part, a, ir.Subscript((ir.Slice(ir.Const(2), ir.Const(None), ir.Const(None)),))),),
            ir.Return((part,)),
        ),
    )
    body = ir.Block((ir.Call((total,), ir.Definition("inner", inner), (b,)),), ir.Return((total,)))
    assert Extents(ir.Function("outer", (b,), body)).of(total) == (("less", ("extent", b, 0), 2),)
