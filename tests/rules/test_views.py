"""What is a view in NumPy is declared as one: writes through it, and to what it is a view of, are seen through both."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import evaluate as ev

from adjoint.rules.kinds import Rule
from adjoint.rules.registry import all_definitions, all_rules
from adjoint.runtime.array_functions import places

RULES = [rule for rule in all_rules() if rule.cases]
DEFINITIONS = all_definitions()
OF_C_ORDER = (places.strided,)
"""What takes no other layout."""


def shared_places(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> set[int]:
    """The places of the arguments whose memory the result shares."""
    result = fn(*args, **kwargs)
    results = result if isinstance(result, (tuple, list)) else (result,)
    return {
        place
        for place, arg in enumerate(args)
        for part in results
        if isinstance(arg, np.ndarray) and isinstance(part, np.ndarray) and np.shares_memory(arg, part)
    }


def forms_of(arg: Any) -> list[Any]:
    """An array in each of the layouts that a function may take for another case."""
    if not isinstance(arg, np.ndarray) or not arg.ndim:
        return [arg]
    spaced = np.repeat(arg, 2, axis=0)[::2]
    return [arg, np.asfortranarray(arg), spaced]


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_rules_declare_views(rule: Rule) -> None:
    rng = np.random.default_rng(len(rule.name))
    for args, kwargs in ev.cases_of(rule, rng):
        for form in range(1 if rule.fn in OF_C_ORDER else 3):
            laid_out = tuple(forms_of(arg)[min(form, len(forms_of(arg)) - 1)] for arg in args)
            shared = shared_places(rule.fn, laid_out, kwargs)
            assert shared <= {rule.view_of}, f"{rule.name} gives a view of argument {shared}"


@pytest.mark.parametrize("entry", DEFINITIONS, ids=[getattr(entry.fn, "__name__", "?") for entry in DEFINITIONS])
def test_definitions_give_the_same_views(entry: Any) -> None:
    rng = np.random.default_rng(3)
    for case in entry.cases:
        args = tuple(ev.realise(arg, rng) for arg in case.args)
        kwargs = {name: ev.realise(arg, rng) for name, arg in case.kwargs.items()}
        assert shared_places(entry.fn, args, kwargs) == shared_places(entry.means, args, kwargs)
