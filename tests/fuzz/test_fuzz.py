"""A fixed number of random programs; ``make fuzz`` goes on from there."""

import pytest

from fuzz.check import check
from fuzz.programs import generate
from fuzz.shrink import shrink
from sampling import THOROUGH

PROGRAMS = 36 if THOROUGH else 8
CLAIMED = 0.9
"""The share of programs that must be differentiated, not refused; to be raised, never lowered."""


@pytest.fixture(scope="module")
def outcomes():
    return {seed: check(generate(seed).text, seed, processes=seed == 0) for seed in range(PROGRAMS)}


def test_no_program_gets_a_wrong_derivative(outcomes) -> None:
    failed = {seed: outcome.message for seed, outcome in outcomes.items() if outcome.kind == "failed"}
    assert not failed, "\n".join(f"seed {seed}: {message}" for seed, message in failed.items())


def test_few_programs_are_refused(outcomes) -> None:
    through = sum(not any(refusal.startswith("vjp") for refusal in outcome.refusals) for outcome in outcomes.values())
    assert through >= CLAIMED * PROGRAMS


def test_a_seed_gives_one_program() -> None:
    assert generate(3).text == generate(3).text != generate(4).text


def test_shrinking_keeps_what_fails() -> None:
    text = generate(5).text
    small = shrink(text, lambda candidate: "return" in candidate and "def f" in candidate, seconds=5.0)
    assert "def f" in small and len(small) < len(text) / 4
