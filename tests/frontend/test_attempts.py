"""How often a function is lowered from the start until all is known that its lowering depends on."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.frontend.entry import entry, restarts
from programs.registry import collect
from sampling import THOROUGH


def arrays(x, n):
    rows = [np.ones(3) * x * i for i in range(n)]
    return rows[0] @ rows[1] + rows[1] @ rows[2]


def truth_values(x, n):
    return x * [i > 1 for i in range(n)][2]


def nested(x, n):
    rows = [[x * k for k in range(i)] for i in range(n)]
    return rows[2][1] * rows[3][2]


@pytest.mark.parametrize(("f", "most"), [(arrays, 1), (truth_values, 1), (nested, 2)])
def test_lists_whose_items_were_guessed_are_lowered_again_by_themselves(f, most, monkeypatch):
    attempts = []
    usual = restarts._attempt

    def counted(build, settings):
        found = usual(build, settings)
        attempts.append(found.attempts)
        return found

    monkeypatch.setattr(restarts, "_attempt", counted)
    step = 1e-6
    slope = (f(2.0 + step, 4) - f(2.0 - step, 4)) / (2 * step)
    assert ad.grad(f)(2.0, 4) == pytest.approx(slope)
    assert 0 < max(attempts) <= most


MOST = 6
MANY = (
    "collections_.lists_of_groups",
    "generators.zip_of_several_generators",
    "iterators.itertools_over_an_array_that_changes",
    "mutation.dict_of_lists",
    "numpy_joining.blocks",
    "recursion_returning_memory.fourier_transform_of_lists",
    "recursion_returning_memory.list_that_each_call_makes_longer",
    "recursion_returning_memory.objects_that_get_more",
    "recursion_returning_memory.paths_that_grow",
    "recursion_returning_memory.permutations",
    "recursion_returning_memory.product_of_nested_lists",
    "recursion_returning_memory.products_of_subsets",
    "recursion_returning_memory.search_with_a_path",
    "tuples_lists_dicts.dicts_of_run_time_keys_copied_and_merged",
)
"""Programs that take many attempts."""


@pytest.mark.parametrize(
    "case", [case for case in collect() if THOROUGH or case.name in MANY], ids=lambda case: case.name
)
def test_no_program_needs_more_than_a_few_attempts(case):
    assert entry.lower_operator("call", case.function, (), case.arguments(), {}).attempts <= MOST


def test_programs_of_which_much_is_found_out_take_few_attempts():
    """Statements and calls are lowered again on their own; found out one by one, this took nine attempts each."""
    names = "numpy_joining.blocks", "recursion_returning_memory.product_of_nested_lists"
    cases = [case for case in collect() if case.name in names]
    found = [entry.lower_operator("call", case.function, (), case.arguments(), {}).attempts for case in cases]
    assert len(found) == 2 and max(found) <= 5
