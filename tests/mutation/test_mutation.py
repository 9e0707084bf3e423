"""The mutants that ``make mutate`` makes: a few of them, and what becomes of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from adjoint.rules.registry import rule_for
from mutation import rules
from mutation.mutants import mutants

TESTS = Path(__file__).parents[1]


def slope(ct, a, b, axis=0):
    if axis > 0:
        return -ct
    return ct * a - b


def test_each_place_is_changed_once_and_the_function_stays_what_it_is() -> None:
    found = list(mutants(slope))
    assert {mutant.kind for mutant in found} >= {
        "a sign",
        "a factor",
        "a dropped term",
        "a condition",
        "swapped branches",
    }
    texts = [mutant.text for mutant in found]
    assert len(set(texts)) == len(texts)
    assert slope(2.0, 3.0, 1.0) == 5.0


def test_captured_variables_stay() -> None:
    factor = 3.0
    scaled = lambda x: factor * x + 1.0
    (dropped,) = [mutant for mutant in mutants(scaled) if mutant.text.endswith("factor * x")]
    own, scaled.__code__ = scaled.__code__, dropped.code
    assert scaled(2.0) == 6.0
    scaled.__code__ = own
    assert scaled(2.0) == 7.0


@pytest.mark.parametrize("fn", [np.tanh, np.cumsum, np.linalg.solve])
def test_broken_rules_are_noticed(fn: object) -> None:
    rule = rule_for(fn)
    assert rule is not None
    own = [part for part in rules.parts([rule]) if part.function.__module__.startswith("adjoint.rules")]
    fates = [result.fate for part in own for result in rules.tried(part)]
    assert fates.count("killed") >= 1 and "survived" not in fates
    rules.test_library.test_derivatives_agree(rule)


def test_a_broken_transform_is_noticed() -> None:
    code = (
        "from mutation import transforms\n"
        "transforms.preload()\n"
        "change = next(c for c in transforms.changes() if c.module.endswith('reverse.region'))\n"
        "print(transforms.tried(change).fate)"
    )
    path = os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert done.stdout == "killed\n", done.stderr
