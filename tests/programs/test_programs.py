"""Every program: right in both modes, to second order, and the same text each time."""

import pytest

import adjoint as ad
from adjoint.dispatch import specialize
from adjoint.testing import clone, leaves
from programs.registry import Case, collect
from sampling import check_by_turns, is_chosen

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")

CASES = collect()
SOME = [case for case in CASES if is_chosen(case.name, 16)]
by_name = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def test_names_are_unique() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


@by_name
def test_derivatives(case: Case) -> None:
    check_by_turns(case.name, case.function, case.arguments(), **case.options)


@pytest.mark.parametrize("case", SOME, ids=[case.name for case in SOME])
def test_text_is_the_same_each_time(case: Case) -> None:
    args = case.arguments()
    if not isinstance(case.function(*clone(args)), float):
        pytest.skip("grad needs a scalar result")
    wrt = tuple(i for i, arg in enumerate(args) if leaves(arg))
    first = ad.source(ad.grad(case.function, wrt=wrt), *clone(args))
    specialize.forget()
    assert ad.source(ad.grad(case.function, wrt=wrt), *clone(args)) == first
