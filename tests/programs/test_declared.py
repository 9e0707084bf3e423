"""Programs whose functions have declared derivatives in place of the library's rules: right in the same ways."""

import math
from collections.abc import Iterator

import numpy as np
import pytest

import adjoint as ad
from adjoint.rules.registry import forget_declaration
from programs.registry import Case, collect
from sampling import check_grads

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")


def sine(x):
    return math.cos(x - math.pi / 2.0), lambda ct: ct * math.cos(x)


def exponential(x):
    y = math.pow(math.e, x)

    def pullback(ct):
        return ct * y

    return y, pullback


def root(x):
    y = math.pow(x, 0.5)
    return y, lambda ct: ct / (2.0 * y)


def sines(x):
    return np.cos(x - np.pi / 2.0), lambda ct: ct * np.cos(x)


def exponentials(x):
    y = np.power(np.e, x)

    def pullback(ct):
        return ct * y

    return y, pullback


DECLARED = {math.sin: sine, math.exp: exponential, math.sqrt: root, np.sin: sines, np.exp: exponentials}
MODULES = """
    array_aliases branches closures dataclasses_ exceptions lists_append loops_exits loops_while mutation nested
    read_write_order recursion recursion_on_memory stores_augmented tuples_lists_dicts views work_arrays
"""
EACH = 3


def uses(case: Case) -> bool:
    """Whether a program calls one of these functions by its name."""
    names = case.function.__code__.co_names
    return any(function.__name__ in names for function in DECLARED)


CASES = [case for case in collect() if case.name.partition(".")[0] in MODULES.split() and uses(case)][::EACH]


@pytest.fixture(scope="module", autouse=True)
def declarations() -> Iterator[None]:
    for function, derivative in DECLARED.items():
        ad.derivative_of(function)(derivative)
    yield
    for function in DECLARED:
        forget_declaration(function)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_declared(case: Case) -> None:
    check_grads(case.function, case.arguments(), **case.options)
