"""A fixed number of spelled calls; ``make call-forms`` goes on from there."""

from collections import Counter

import pytest

from fuzz.call_forms import callees, check, generate
from sampling import THOROUGH

CALLS = 700 if THOROUGH else 90
RIGHT = 0.6
"""The share of calls that must be differentiated, not refused; to be raised, never lowered."""
SKIPPED = 0.1 if THOROUGH else 0.15
"""The share of calls that may tell nothing: of few calls it is that of all only by and large."""


@pytest.fixture(scope="module")
def outcomes():
    return {seed: check(seed) for seed in range(CALLS)}


def test_no_call_gets_a_wrong_derivative_or_raises_from_inside(outcomes) -> None:
    failed = {seed: outcome for seed, outcome in outcomes.items() if outcome.kind == "failed"}
    assert not failed, "\n".join(f"seed {seed}: {outcome.key}\n{outcome.message}" for seed, outcome in failed.items())


def test_few_calls_are_refused(outcomes) -> None:
    kinds = Counter(outcome.kind for outcome in outcomes.values())
    assert kinds["ok"] >= RIGHT * CALLS and kinds["skipped"] <= SKIPPED * CALLS, kinds


def test_a_seed_gives_one_call() -> None:
    assert generate(3) == generate(3) != generate(4)


def test_what_has_a_rule_is_called() -> None:
    names = {name for name, _, _ in callees()}
    assert {"np.where", "np.linalg.solve", "scipy.special.erf", "np.add.reduce", "scipy.stats.norm.logpdf"} <= names
    assert len(names) > 300
