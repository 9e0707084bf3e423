"""Indices with arrays of places, masks and slices in machine code: which elements, and that Python is not asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.dispatch import specialize
from adjoint.native.llvm.rules.of_python import calls
from native.agreement import compare
from texts import run_text

pytest.importorskip("llvmlite")

LOADS = {
    "rows": "y = b[i]",
    "rows and whole axes": "y = b[i, :]",
    "columns": "y = b[:, i]",
    "rows and parts": "y = b[i, 1:]",
    "rows, backwards": "y = b[i, ::-2]",
    "one of each row": "y = b[i, 0]",
    "pairs": "y = b[i, j]",
    "rows of two axes": "y = b[k]",
    "a middle axis": "y = c[:, i]",
    "arrays apart": "y = c[i, :, 0]",
    "arrays apart, last": "y = c[0, :, i]",
    "arrays side by side": "y = c[:, i, 1]",
    "arrays that are broadcast": "y = c[k, 1:, i[:2]]",
    "places in all of them": "y = c[1:, k, j[0]]",
    "from the end": "y = b[i - 4, 1:]",
    "rows under a mask": "y = b[m]",
    "a column under a mask": "y = b[m, 0]",
    "columns under a mask": "y = c[:, m]",
    "elements under a mask": "y = b[b > 0.4]",
    "where": "y = a[np.where(a > 0.4)]",
    "the first of where": "y = a[np.where(a > 0.4)[0]]",
    "nonzero of two axes": "y = b[np.nonzero(b > 0.4)]",
    "argwhere": "y = b[np.argwhere(b > 0.4)[:, 0]]",
    "flatnonzero": "y = a[np.flatnonzero(a > 0.4)]",
    "where beside a number": "y = b[np.where(a > 0.4), 0]",
    "another axis": "y = np.expand_dims(b, 1) * np.expand_dims(b.T, -1)[:, 0]",
    "take rows": "y = np.take(b, i, axis=0)",
    "take columns": "y = np.take(b, i, axis=-1)",
    "a written list": "y = b[[0, 2, 1], :]",
    "parts of rows": "y = b[i][:, 0]",
}
STORES = {
    "rows": "b[i] = 2.0 * b[j]",
    "rows of a number": "b[i, :] = a[0]",
    "columns": "b[:, i] = b[:, i] * b[:, j]",
    "one of each row": "b[i, 0] = a[j] * a[i]",
    "added rows": "b[i] += b[j]",
    "added to parts": "b[i, 1:] -= 0.5 * b[j, :-1]",
    "rows under a mask": "b[m] = 0.5 * b[m]",
    "a column under a mask": "b[m, 1] *= a[m]",
    "where beside a number": "b[np.where(a > 0.4), 0] *= -1.0",
    "a middle axis": "c[:, i] = c[:, j] * c[0, 1, 2]",
    "broadcast": "c[i, :, 0] = a",
    "repeated places": "b[p] = b[i[:2]]",
    "add at": "np.add.at(b, p, b[i[:2]])",
    "add at parts": "np.add.at(b, (p, slice(1, 3)), b[i[:2], 1:3])",
    "add at columns": "np.add.at(b[:, 0], p, a[i[:2]])",
}
ERRORS = {
    "a row that is not there": "y = b[i + 2]",
    "a column that is not there": "y = b[:, i + 2]",
    "a mask of another extent": "y = c[:, m[:3]]",
    "arrays that do not fit": "y = b[i, p]",
    "values that do not fit": "b[i] = c[:2]; y = b",
    "taken outside": "y = np.take(b, i + 3, axis=0)",
}


def function_of(statement: str) -> Callable[..., Any]:
    text = f"""import numpy as np
def function(a, b, c, i, j, k, m, p):
    a = a * 1.0; b = b * 1.0; c = c * 1.0
    {statement}
    return np.sum(y * y) + np.sum(a * a) + np.sum(b * b * b) + np.sum(c)
"""
    found: Callable[..., Any] = run_text(text, f"<gather {statement}>")["function"]
    return found


def arguments() -> tuple[Any, ...]:
    rng = np.random.default_rng(0)
    places = (np.array([0, 2, 1]), np.array([1, 3, 0]), np.array([[0, 1], [2, 3]]))
    mask, repeated = np.array([True, False, True, True]), np.array([2, 2])
    return rng.random(4), rng.random((4, 4)), rng.random((4, 4, 4)), *places, mask, repeated


@pytest.mark.parametrize("variant", ["plain", "fortran", "strided"])
@pytest.mark.parametrize("statement", LOADS.values(), ids=LOADS)
def test_what_is_read_is_what_numpy_reads(statement: str, variant: str) -> None:
    outcome = compare(function_of(statement), arguments(), "gradient", variant)
    assert outcome.kind == "same", outcome.message


@pytest.mark.parametrize("variant", ["plain", "fortran", "strided"])
@pytest.mark.parametrize("statement", STORES.values(), ids=STORES)
def test_what_is_written_is_what_numpy_writes(statement: str, variant: str) -> None:
    outcome = compare(function_of(f"{statement}; y = b"), arguments(), "gradient", variant)
    assert outcome.kind == "same", outcome.message


@pytest.mark.parametrize("statement", ERRORS.values(), ids=ERRORS)
def test_what_numpy_refuses_raises(statement: str) -> None:
    function = function_of(statement)
    with pytest.raises((IndexError, ValueError)) as expected:
        function(*arguments())
    with pytest.raises(type(expected.value)):
        ad.grad(function, wrt=(0, 1, 2), native=True)(*arguments())


@pytest.mark.parametrize("statement", [*LOADS.values(), *[f"{each}; y = b" for each in STORES.values()]])
def test_python_is_not_asked(statement: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    specialize.forget()
    asked: list[str] = []
    usual = calls._noted
    monkeypatch.setattr(calls, "_noted", lambda e, callback: asked.append(callback.emitted.text) or usual(e, callback))
    ad.grad(function_of(statement), wrt=(0, 1, 2), native=True)(*arguments())
    assert not asked
