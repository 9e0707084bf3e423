"""What stands for a deque, a counter or an array of records is not put where others see it: it is none to them."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import types
from collections import Counter, deque

import numpy as np
import pytest

import adjoint as ad

KEPT: list[object] = []


def into_a_list(x, thing):
    seen = Counter()
    seen["a"] += 1
    KEPT.append(seen)
    return x * x


def into_an_object(x, thing):
    thing.recent = deque([x, x * x])
    return sum(thing.recent)


def into_a_dict_within(x, thing):
    records = np.zeros(2, "f8,f8")
    records["f0"] = x
    thing.parts["records"] = [records]
    return np.sum(records["f0"])


@pytest.mark.parametrize(
    ("function", "kind"),
    [(into_a_list, "Counter"), (into_an_object, "deque"), (into_a_dict_within, "structured array")],
)
def test_they_are_refused(function, kind):
    thing = types.SimpleNamespace(recent=None, parts={"a": 1.0})
    with pytest.raises(ad.DifferentiationError, match=f"a '{kind}' that is made inside the function is handed out"):
        ad.grad(function)(1.5, thing)
    assert not KEPT and thing.recent is None and [*thing.parts] == ["a"]


def test_inside_they_may_lie_in_other_containers():
    def f(x):
        kept = [deque([x]), deque([x * x])]
        kept[0].append(x**3)
        table = {"a": deque([x])}
        return sum(sum(each) for each in kept) * table["a"][0]

    assert ad.grad(f)(1.5) == pytest.approx(2 * 1.5 + 3 * 1.5**2 + 4 * 1.5**3)
