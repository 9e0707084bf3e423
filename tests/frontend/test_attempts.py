"""How often a function is lowered from the start until all is known that its lowering depends on."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.diagnostics import diagnostic
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
    "dataclasses_.nested",
    "generators_resumed.event_loop",
    "generators_resumed.round_robin",
    "generators_resumed.yield_from_list",
    "growing_lists.in_function",
    "items_of_several_structures.attribute_that_is_none_at_first",
    "items_of_several_structures.cells_of_an_object",
    "items_of_several_structures.grouped",
    "items_of_several_structures.queue_of_pairs",
    "items_of_several_structures.terms_by_name",
    "linked_objects.bst_class",
    "linked_objects.doubly",
    "linked_objects.global_counter_nodes",
    "linked_objects.graph",
    "linked_objects.huffman",
    "linked_objects.list_copied",
    "linked_objects.list_of_heads",
    "linked_objects.lru",
    "linked_objects.segment_tree",
    "linked_objects.sorted_by_key",
    "linked_objects.tuples_of_nodes",
    "mutation.dict_of_lists",
    "numpy_joining.blocks",
    "operators_methods.in_place_by_functions",
    "optional_values.layers_made_in_steps_and_trained",
    "recursion_returning_memory.fourier_transform_of_lists",
    "recursion_returning_memory.permutations",
    "recursion_returning_memory.search_with_a_path",
)
"""Programs that take many attempts."""


@pytest.mark.parametrize(
    "case", [case for case in collect() if THOROUGH or case.name in MANY], ids=lambda case: case.name
)
def test_no_program_needs_more_than_a_few_attempts(case):
    try:
        found = entry.lower_operator("call", case.function, (), case.arguments(), {})
    except ad.DifferentiationError:
        pytest.skip("its result may be None: there is a derivative, but no other form of the function itself")
    assert found.attempts <= MOST


def test_programs_of_which_much_is_found_out_take_few_attempts():
    """Statements and calls are lowered again on their own; found out one by one, this took nine attempts each."""
    names = "numpy_joining.blocks", "recursion_returning_memory.product_of_nested_lists"
    cases = [case for case in collect() if case.name in names]
    found = [entry.lower_operator("call", case.function, (), case.arguments(), {}).attempts for case in cases]
    assert len(found) == 2 and max(found) <= 3


class Part:
    def __init__(self, value):
        self.value = value


def grown(xs, n):
    """Lists and objects of which only a loop behind them tells that they must exist, and what they hold."""
    a, b, c = [], [], Part(0.0)
    d, e, f = [1.0], {}, Part(None)
    for i in range(n):
        a.append(xs[i])
        b.append([xs[i]])
        c.value = c.value + xs[i]
        d.append(len(a))
        e[i] = [c.value]
        f.value = a
    for row in b:
        row.append(d[0])
    c.more = xs[0]
    return sum(a) * c.value + sum(sum(row) for row in b) + e[1][0] * len(f.value) + d[-1] * c.more


def test_attempts_do_not_grow_with_what_is_found_out():
    found = entry.lower_operator("call", grown, (), ([1.0, 2.0, 3.0], 3), {})
    assert found.attempts <= 3 < found.went_back
    ad.testing.check_grads(grown, ([1.0, 2.0, 3.0], 3))


def slopes(x, n):
    """Derivatives inside, each of a function of which much is found out."""

    def energy(y):
        terms, last = [], Part(None)
        for i in range(n):
            terms.append([y * i])
            last.value = terms[i][0] + (0.0 if last.value is None else last.value)
        return sum(term[0] ** 2 for term in terms) * last.value

    slope = ad.grad(energy)
    first = slope(x)
    second = slope(first * 1e-3)
    third = slope(second * 1e-3)
    return first + second * third


def test_attempts_do_not_grow_with_derivatives_inside():
    """Each derivative inside that found something out ended an attempt: this took six."""
    assert entry.lower_operator("call", slopes, (), (0.3, 3), {}).attempts <= 4
    ad.testing.check_grads(slopes, (0.3, 3), order=1)


def test_stages_tell_how_often_lowering_started_and_went_back():
    text = ad.stages(ad.grad(grown), [1.0, 2.0, 3.0], 3)
    assert "lowering was started 3 times, and went back " in text


def test_a_refusal_after_many_statements_begins_no_other_way(monkeypatch):
    begun = []

    def refused(build, settings):
        begun.append(settings.tagged)
        settings.lowered[0] += restarts.MOST_BEFORE_ANEW
        settings.beyond_links = True
        settings.mixed.add(None)
        settings.may_be_linked.add(Part)
        settings.often.add(None)
        raise ad.DifferentiationError(diagnostic("AD0402", None, "several structures"))

    monkeypatch.setattr(restarts, "_attempt", refused)
    with pytest.raises(ad.DifferentiationError, match="AD0402"):
        ad.grad(lambda x: x)(2.0)
    assert begun == [False]
