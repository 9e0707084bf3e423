"""A fixed number of programs with every function kept, with all inlined, and as usual; ``make inlining`` goes on."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.frontend.functions import activations
from adjoint.target import PYTHON
from fuzz.inlining import KEPT, SETTINGS, Derivatives, check, repeating, subject_of
from programs.registry import collect
from sampling import THOROUGH

FIRST = len(collect())
SEEDS = range(FIRST, FIRST + (24 if THOROUGH else 2))


def slope(x):
    y = x * x
    return np.sin(y) * y


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_have_the_same_derivatives(seed: int) -> None:
    outcome = check(subject_of(seed), seed)
    assert outcome.kind != "failed", outcome.message


def test_settings_decide_what_stays_a_function() -> None:
    def total(x):
        return slope(slope(x))

    texts = {}
    for setting, most in SETTINGS.items():
        with repeating(most):
            texts[setting] = ad.source(ad.grad(total), 0.5)
    assert {setting for setting, text in texts.items() if "def slope" in text} == {KEPT}


def test_another_derivative_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = Derivatives._gradient
    monkeypatch.setattr(Derivatives, "_gradient", lambda self: usual(self) + 1e-6 * (activations.budget(PYTHON) == 0))
    place = next(place for place, case in enumerate(collect()) if case.name == "loops_range.rk4")
    outcome = check(subject_of(place), place)
    assert (outcome.kind, outcome.key) == ("failed", "kept: grad differs")
