"""Every operator and every inspection of every program: a result, or a refusal that is no internal error.

`test_programs` takes vjp, jvp and second derivatives of each; here is what it does not take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad
from adjoint.testing import clone, leaves
from programs.registry import Case, collect
from sampling import THOROUGH

pytestmark = pytest.mark.filterwarnings("ignore")

CASES = collect()
SHARE = 6 if THOROUGH else 18
"""One of so many programs is taken, each by another part of its topic: all take too long for every run."""


def result_or_refusal(run: Callable[[], Any]) -> None:
    try:
        run()
    except ad.DifferentiationError as refusal:
        assert all(problem.code != "AD0901" for problem in refusal.diagnostics), refusal


@pytest.mark.parametrize("case", CASES[::SHARE], ids=[case.name for case in CASES[::SHARE]])
def test_result_or_refusal(case: Case) -> None:
    wrt = tuple(i for i, argument in enumerate(case.arguments()) if leaves(argument))
    gradient = ad.grad(case.function, wrt)
    for run in (
        lambda args: ad.value_and_grad(case.function, wrt)(*args),
        lambda args: ad.stages(gradient, *args),
        lambda args: ad.source(gradient, *args),
        lambda args: ad.tape_report(case.function, *args),
    ):
        result_or_refusal(lambda run=run: run(clone(case.arguments())))
