"""Emitted text computes what the IR says: random programs against a direct interpreter."""

from __future__ import annotations

from typing import Any

import pytest

from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.ir import nodes
from adjoint.ir.verifier import verify
from codegen.random_programs import Journal, Stop, Writer
from ir.interpreter import Limited, TooLong
from ir.interpreter import run as interpret

ARGUMENTS = [(2.0, 5.0, 0), (3.0, -1.0, 1), (7.0, 7.0, 4)]


def outcome(run: Any, journal: Journal, x: float, y: float, n: int) -> Any:
    memory = [1.0, 2.0, 3.0, 4.0]
    journal.entries.clear()
    try:
        result = run(x, y, memory, n)
    except Stop as stop:
        result = ("stopped", stop.args)
    return result, memory, list(journal.entries)


def check(seed: int, **options: Any) -> None:
    journal = Journal()
    function: nodes.Function = Writer(seed, journal, **options).function()
    verify(function)
    emitted = emit(function)
    emit_again = emit(function)
    assert emitted.text == emit_again.text
    run = load(emitted)
    for arguments in ARGUMENTS:
        try:
            expected = outcome(lambda *args: interpret(function, *args, env=Limited()), journal, *arguments)
        except TooLong:
            continue
        assert outcome(run, journal, *arguments) == expected, f"seed {seed}\n{emitted.text}"


@pytest.mark.parametrize("first", range(0, 600, 100))
def test_programs(first: int) -> None:
    for seed in range(first, first + 100):
        check(seed)


@pytest.mark.parametrize("first", range(10_000, 10_400, 100))
def test_pure_programs(first: int) -> None:
    for seed in range(first, first + 100):
        check(seed, impure=False, guards=False)


@pytest.mark.parametrize("first", range(20_000, 20_800, 100))
def test_order_of_effects(first: int) -> None:
    for seed in range(first, first + 100):
        check(seed, dense=True)
