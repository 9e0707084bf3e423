"""Each program of the corpus: values, both modes beside differences, and arrays that lie in memory in other ways.

Every definition of a function of SciPy has an example call, or is called here.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.rules.registry import all_definitions
from adjoint.testing import flatten
from sampling import check_grads, is_chosen
from scipy_calls import elsewhere, interpolation, matrices, signals, statistics, tutorials

pytestmark = [
    pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

MODULES = (statistics, interpolation, signals, matrices, elsewhere, tutorials)
PROGRAMS = {
    f"{module.__name__.rpartition('.')[2]}.{name}": program
    for module in MODULES
    for name, program in module.corpus.programs.items()
}
COARSE = {
    "statistics.gamma_fit0",
    "statistics.boxcox_fit",
    "matrices.solve_bvp",
    "matrices.solve_ivp",
    "elsewhere.curve_fit_cov",
    "tutorials.fit_exp",
}
"""What SciPy finds to fewer digits than differences need."""


@pytest.mark.parametrize("name", [name for name in PROGRAMS if is_chosen(name, 5)])
def test_calls(name: str) -> None:
    program, args = PROGRAMS[name]
    check_grads(program, args, order=1, tol=1e-3 if name in COARSE else None)


def _laid_out(args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The same arrays by columns, and as every second row of larger ones."""
    for form in (lambda a: np.asfortranarray(a), lambda a: np.repeat(a, 2, axis=0)[::2]):
        yield tuple(form(arg) if isinstance(arg, np.ndarray) and arg.ndim > 0 else arg for arg in args)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if is_chosen(f"{name} in memory", 8)])
def test_arrays_that_lie_in_other_ways(name: str) -> None:
    program, args = PROGRAMS[name]
    value, pullback = ad.vjp(program, *args)
    cotangents = pullback(value)
    for form in _laid_out(args):
        before = [np.array(arg) for arg in form]
        again, of_form = ad.vjp(program, *form)
        np.testing.assert_allclose(flatten(again), flatten(value), rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(flatten(of_form(value)), flatten(cotangents), rtol=1e-5, atol=1e-7)
        for arg, same in zip(form, before, strict=True):
            np.testing.assert_array_equal(arg, same)


ALWAYS = ("statistics.zscore",)
"""Of what SciPy's older namespaces have, too: nobody is told that these are deprecated who does not use them."""


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name in ALWAYS or is_chosen(f"{name} natively", 12)])
def test_machine_code(name: str) -> None:
    program, args = PROGRAMS[name]
    value, pullback = ad.vjp(program, *args)
    native = ad.vjp(program, *args, native=True)[1]
    np.testing.assert_allclose(flatten(native(value)), flatten(pullback(value)), rtol=1e-6, atol=1e-9)


# --- which definitions are called -----------------------------------------------------------------------------------

INSIDE = ("scipy.array_api", "scipy.stats.distributions.moments", "scipy.stats.distributions.formulas")
"""Homes of definitions that SciPy itself calls, or that are made by tables, of which the tables have examples."""
ELSEWHERE = {
    "make_splrep": "tests/rules/test_scattered.py",
    "expectile": "src/adjoint/rules/scipy/stats/samples.py",
    "poly1d": "tests/regressions/test_polynomial_objects.py",
}
"""Definitions that other tests call, by name."""
REFUSED = ("epps_singleton_2samp", "lmoment", "shapiro", "siegelslopes", "mode")
"""What SciPy's decorator is understood of, and not what it decorates."""


def _names_called() -> set[str]:
    found: set[str] = set()
    for module in MODULES:
        tree = ast.parse(Path(inspect.getfile(module)).read_text())
        found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return found


def _takes_all(function: Any) -> bool:
    """Whether a definition takes all arguments, to refuse them."""
    parameters = inspect.signature(function).parameters.values()
    return all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def test_every_definition_has_an_example() -> None:
    called = _names_called()
    missing = []
    for entry in all_definitions():
        home = entry.means.__module__.removeprefix("adjoint.rules.")
        names = getattr(entry.fn, "__qualname__", "").split(".")
        if entry.cases or home in INSIDE or not home.startswith("scipy."):
            continue
        if any(name.startswith("_") for name in names if name != "__call__"):
            continue
        if (
            names[-1] in (*ELSEWHERE, *REFUSED)
            or names[-1].endswith(("Result", "ResultBase"))
            or names[-1] in called
            or "".join(names).endswith("__call__")
        ):
            continue
        if not (_takes_all(entry.means) and home != "scipy.stats.hypotheses"):
            missing.append((home, ".".join(names)))
    assert missing == []
