"""Every rule of SciPy and of what definitions are written with, to second order: at its example calls."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import evaluate as ev
from programs_in_files import module_of

import adjoint as ad
from adjoint.rules.kinds import Constant, General, NoDerivative, Rule
from adjoint.rules.registry import all_rules, exchanges
from sampling import check_by_turns, check_grads

pytestmark = [
    pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]


def _is_of_scipy(rule: Rule) -> bool:
    home = getattr(rule.fn, "__module__", None) or type(rule.fn).__module__
    return home.partition(".")[0] == "scipy" or getattr(ev.scipy.special, rule.name, None) is rule.fn


SCIPY = [
    rule
    for rule in all_rules()
    if _is_of_scipy(rule) and not isinstance(rule, (Constant, NoDerivative)) and not rule.functional
]
OWN = [
    rule
    for rule in all_rules()
    if isinstance(rule, General) and not rule.functional and getattr(rule.fn, "__module__", "").startswith("adjoint.")
    if not exchanges(rule.fn)
]
"""What definitions are written with; messages take processes."""
ONCE = ("mathieu_a", "mathieu_b", "pro_cv", "obl_cv")
"""Characteristic values: their slopes are means over functions that have no derivatives by their parameters."""


def _varies(value: Any) -> bool:
    return isinstance(value, (float, complex)) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc")


def _check(rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any], path: Path, check: Callable[..., None]) -> None:
    given = dict(rule.settings(len(args)))
    names = [f"a{k}" if k not in given and _varies(arg) else f"c{k}" for k, arg in enumerate(args)]
    varying = {name: arg for name, arg in zip(names, args, strict=True) if name.startswith("a")}
    named = [f"{name}=k_{name}" for name in kwargs]
    module = module_of(path, f"def call({', '.join(varying)}):\n    return function({', '.join([*names, *named])})\n")
    vars(module).update({name: arg for name, arg in zip(names, args, strict=True) if name.startswith("c")})
    vars(module).update({f"k_{name}": arg for name, arg in kwargs.items()}, function=rule.fn)
    if varying:
        check(module.call, tuple(varying.values()))


@pytest.mark.parametrize("rule", SCIPY, ids=[rule.name for rule in SCIPY])
def test_rules_as_called(rule: Rule, tmp_path: Path) -> None:
    if rule.fn is ev.scipy.linalg.logm:
        pytest.skip("SciPy gives other last digits at each call")
    rng = np.random.default_rng(7)
    for place, (args, kwargs) in enumerate(ev.cases_of(rule, rng)):
        order = 1 if rule.name in ONCE else 2
        check = partial(check_by_turns, f"{rule.name} {place}", order=order, tol=ev.TO_FEW_DIGITS.get(rule.name))
        _check(rule, args, kwargs, tmp_path / f"program{place}.py", check)


@pytest.mark.parametrize("name", ONCE)
def test_second_derivatives_of_characteristic_values_are_refused(name: str) -> None:
    fn, orders = getattr(ev.scipy.special, name), (1,) if name.startswith("mathieu") else (1, 2)
    with pytest.raises(ad.DifferentiationError, match="no derivative for this argument"):
        ad.grad(ad.grad(lambda q: fn(*orders, q)))(1.5)


@pytest.mark.parametrize("rule", OWN, ids=[rule.name for rule in OWN])
def test_own_rules_as_called(rule: Rule, tmp_path: Path) -> None:
    """Their products are differentiated, too: each time, as no program of the corpora has to reach them."""
    args, kwargs = ev.cases_of(rule, np.random.default_rng(7))[0]
    _check(rule, args, kwargs, tmp_path / "program.py", check_grads)


def test_what_libraries_remember_of_modules_is_known() -> None:
    """SciPy asks a function with a memo whether the namespace of its arrays is NumPy."""
    memo = pytest.importorskip("scipy._lib._array_api")

    def loss(x):
        array = memo._asarray(x, subok=True, xp=memo.array_namespace(x))
        return np.sum(memo.xp_promote(array, force_floating=True, xp=np) ** 2)

    check_grads(loss, (np.array([0.5, 1.2]),))


def test_arrays_that_scipy_makes_by_its_own_names_are_written() -> None:
    xp = pytest.importorskip("scipy._lib._array_api").np_compat

    def f(x):
        moved = xp.empty(x.shape, dtype=xp.result_type(x))
        moved[..., 0] = x[..., 1]
        moved[..., 1:] = x[..., :2]
        like, full, ones = xp.zeros_like(x), xp.full((2, 3), x[0, 0]), xp.ones((3,))
        like[0], full[1], ones[0] = x[1], x[0], x[0, 0]
        return moved * like * full + ones * xp.linspace(x[0, 0], 1.0, 3)

    check_grads(f, (np.array([[0.3, 1.2, -0.7], [2.2, 0.1, 0.4]]),))
