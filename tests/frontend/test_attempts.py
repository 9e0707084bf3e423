"""How often a function is lowered from the start until all is known that its lowering depends on."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.frontend.entry import entry
from programs.registry import collect


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
    usual = entry._attempt

    def counted(build, settings):
        found = usual(build, settings)
        attempts.append(found.attempts)
        return found

    monkeypatch.setattr(entry, "_attempt", counted)
    step = 1e-6
    slope = (f(2.0 + step, 4) - f(2.0 - step, 4)) / (2 * step)
    assert ad.grad(f)(2.0, 4) == pytest.approx(slope)
    assert 0 < max(attempts) <= most


MOST = {
    "iterators.itertools_over_an_array_that_changes": 5,
    "recursion_returning_memory.fourier_transform_of_lists": 8,
    "recursion_returning_memory.list_that_each_call_makes_longer": 5,
    "recursion_returning_memory.objects_that_get_more": 7,
    "recursion_returning_memory.paths_that_grow": 7,
    "recursion_returning_memory.search_with_a_path": 7,
}
"""Of programs that take many, the attempts."""


@pytest.mark.parametrize("name", MOST)
def test_what_lists_hold_in_recursions_is_found_out_in_few_attempts(name):
    case = next(case for case in collect() if case.name == name)
    assert entry.lower_operator("call", case.function, (), case.arguments(), {}).attempts <= MOST[name]
