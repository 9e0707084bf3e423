"""The corpus with every call kept: functions that are inlined elsewhere are called, and both modes agree."""

from collections.abc import Iterator
from types import CodeType, FunctionType

import numpy as np
import pytest

import adjoint as ad
from adjoint import target
from adjoint.dispatch import specialize
from adjoint.frontend.entry.entry import lower_operator
from adjoint.testing import _forward, _indices, _Problem, _reverse
from programs.registry import Case, collect
from sampling import is_chosen

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")


def _calls_functions(case: Case) -> bool:
    code, home = case.function.__code__, case.function.__module__
    found = [case.function.__globals__.get(name) for name in code.co_names]
    inside = [each.co_name for each in code.co_consts if isinstance(each, CodeType)]
    is_ours = any(isinstance(each, (FunctionType, type)) and each.__module__ == home for each in found)
    return is_ours or not all(name.startswith("<") for name in inside)


CASES = [case for case in collect() if is_chosen(case.name, 2) and _calls_functions(case)]


@pytest.fixture(autouse=True)
def _every_call_is_kept() -> Iterator[None]:
    for statements in (0, target.INLINED):
        object.__setattr__(target.PYTHON, "inlined", statements)
        specialize.forget()
        if not statements:
            yield


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_modes_agree_with_every_call_kept(case: Case) -> None:
    args = case.arguments()
    problem = _Problem(case.function, args, _indices(args, case.options.get("wrt")), case.name)
    rng = np.random.default_rng(19770404)
    v, w = rng.normal(size=problem.size), rng.normal(size=len(problem.output))
    single = any(np.asarray(arg).dtype == np.float32 for arg in args if isinstance(arg, np.ndarray))
    forward, reverse = w @ _forward(problem, v), _reverse(problem, w) @ v
    assert np.isclose(forward, reverse, rtol=1e-4 if single else 1e-8, atol=1e-10, equal_nan=True)


@pytest.mark.parametrize("case", CASES[::3], ids=[case.name for case in CASES[::3]])
def test_gradients_are_no_memory_of_others(case: Case) -> None:
    """Who writes a gradient writes neither an argument nor another gradient."""
    args = case.arguments()
    try:
        gradients = ad.grad(case.function)(*args)
    except Exception:
        pytest.skip("it gives no gradient of a number with respect to the first argument")
    of_args, found = list(_arrays(args)), list(_arrays(gradients))
    others = [(one, other) for place, one in enumerate(found) for other in (*of_args, *found[:place])]
    assert not any(np.shares_memory(one, other) for one, other in others)
    assert all(each.flags.writeable for each in found)


def _arrays(value: object) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple, dict)) or hasattr(value, "__dict__"):
        inside = value if isinstance(value, (list, tuple)) else value if isinstance(value, dict) else vars(value)
        for part in inside.values() if isinstance(inside, dict) else inside:
            yield from _arrays(part)


def test_the_net_sees_calls() -> None:
    """That the corpus is run with calls, and not with everything inlined."""
    case = next(case for case in collect() if case.name == "calls.keywords")

    assert [kept.name for kept in lower_operator("call", case.function, (), case.arguments(), {}).kept] == ["affine"]
