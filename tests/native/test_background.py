"""Derivatives run as Python until a child process has compiled them."""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.native.kept.background import started

X = np.linspace(0.1, 2.0, 7)


def energy(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += np.sin(x[i]) * x[i + 1] ** 2
    return total


def of_a_list(xs):
    """Rows of several lengths."""
    total = 0.0
    for row in xs:
        for x in row:
            total += x * x
    return total


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path / "cache"))


def is_compiled(derivative: Any, *args: Any) -> bool:
    compiled: bool = derivative.specialized(args, {}).call.is_compiled
    return compiled


def until_compiled(derivative: Any, *args: Any) -> Any:
    """The result once it is that of machine code."""
    for _ in range(6000):
        result = derivative(*args)
        if is_compiled(derivative, *args):
            return result
        time.sleep(0.02)
    raise AssertionError("the child did not end")


@pytest.mark.parametrize(("function", "args"), [(energy, (X,)), (of_a_list, ([[0.5, 1.5], [2.5]],))])
def test_results_come_at_once_and_machine_code_later(function: Any, args: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    derivative, expected = ad.value_and_grad(function, native="background"), ad.value_and_grad(function)(*args)
    first = derivative(*args)
    assert not is_compiled(derivative, *args)
    later = until_compiled(derivative, *args)
    for value, gradient in (first, later):
        assert value == pytest.approx(expected[0])
        for given, known in zip(gradient, expected[1], strict=True):
            np.testing.assert_allclose(given, known)
    children: list[Any] = []
    monkeypatch.setattr("adjoint.native.compile.core.started", children.append)
    again = ad.value_and_grad(function, native="background")
    again(*args)
    assert is_compiled(again, *args)
    assert not children  # the cache has it


def test_other_types_are_compiled_in_their_turn() -> None:
    derivative = ad.grad(energy, native="background")
    until_compiled(derivative, X)
    single = X.astype(np.float32)
    np.testing.assert_allclose(derivative(single), ad.grad(energy)(single), rtol=1e-5)
    np.testing.assert_allclose(until_compiled(derivative, single), ad.grad(energy)(single), rtol=1e-5)


def test_without_copies_of_processes_the_first_call_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    derivative = ad.grad(energy, native="background")
    np.testing.assert_allclose(derivative(X), ad.grad(energy)(X))
    assert is_compiled(derivative, X)


def test_what_a_child_could_not_compile_is_compiled_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise RuntimeError

    monkeypatch.setattr("adjoint.native.compile.core.started", lambda task: started(fails))
    derivative = ad.grad(energy, native="background")
    np.testing.assert_allclose(until_compiled(derivative, X), ad.grad(energy)(X))


def test_a_pullback_may_wait_for_its_halves() -> None:
    value, pullback = ad.vjp(energy, X, native="background")
    assert value == pytest.approx(energy(X))
    for _ in range(3):
        np.testing.assert_allclose(pullback(1.0)[0], ad.grad(energy)(X))
        time.sleep(0.1)


def test_it_is_one_of_the_ways_to_compile() -> None:
    with pytest.raises(ValueError, match="'background'"):
        ad.grad(energy, native="later")
