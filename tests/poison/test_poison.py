"""Memory that others still read, in a part of all programs; ``make poison`` takes all of them."""

from __future__ import annotations

from zlib import crc32

import numpy as np
import pytest

from adjoint import ir
from ir import interpreter
from poison import inside, outside, trials
from poison.memory import shared, spoil
from poison.outside import Poisoned

EVERY = 499
"""One trial of so many, by its title: what is added to the corpus changes no other choice."""
FOUND = (
    "numbers_of_kinds.slope_of_what_writes gradient plain inside",
    "numbers_of_kinds.slope_of_what_writes hvp strided inside",
    "arrays_made.parts_of_a_tuple_written linearize fortran inside",
)
"""Once they read what had changed."""
SAMPLE = [trial for trial in trials() if crc32(trial.title.encode()) % EVERY == 0 or trial.title in FOUND]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("trial", SAMPLE, ids=lambda trial: trial.title)
def test_nobodys_numbers_change(trial) -> None:
    outcome = trial.run()
    assert not outcome.startswith(("poisoned", "failed")), outcome


def square(x):
    return x * x


def test_a_derivative_that_shares_memory_is_found(monkeypatch) -> None:
    """Where results are not copied, the gradient of a sum is the seed itself."""
    monkeypatch.setattr(outside.ad, "vjp", lambda f, x: (x * x, lambda seed: (seed,)))
    with pytest.raises(Poisoned, match="the cotangents: memory is shared with the seed"):
        outside.check(square, (np.ones(3),), "vjp")


def test_a_pullback_that_keeps_what_it_was_given_is_found(monkeypatch) -> None:
    monkeypatch.setattr(outside.ad, "vjp", lambda f, x: (x * x, lambda seed: (2.0 * seed * x,)))
    with pytest.raises(Poisoned, match="with all else overwritten"):
        outside.check(square, (np.ones(3),), "vjp")


def test_a_value_that_changes_before_it_is_read_is_found() -> None:
    x, part, total = (
        ir.Var("x", ir.Array(np.dtype(float), None)),
        ir.Var("part", ir.Array(np.dtype(float), None)),
        ir.Var("y", ir.FLOAT),
    )
    view = ir.Call((part,), np.transpose, (x,))
    store = ir.Store(x, ir.Subscript((ir.Const(0),)), ir.Const(5.0))
    body = ir.Block((view, store, ir.Call((total,), np.sum, (part,))), ir.Return((total,)))
    with pytest.raises(Poisoned, match="%part was"):
        interpreter.run(ir.Function("f", (x,), body), np.ones(2), env=inside._Watched())


def test_values_that_are_spoilt() -> None:
    kept = np.ones(3)
    value = {"a": [kept[1:], 2.0], "b": (1, kept)}
    assert shared(value, kept) == {(("a", 0), ()), (("b", 1), ())}
    spoil(value)
    assert np.isnan(kept).all() and np.isnan(value["a"][1]) and value["b"][0] == 1
