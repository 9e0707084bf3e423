"""Every definition of the library: differentiated to second order at its example calls, as a user calls it."""

from __future__ import annotations

import importlib.util
import inspect
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).parent))
import evaluate as ev

import adjoint as ad
from adjoint.rules.kinds import Case, Sample
from adjoint.rules.registry import UNKNOWN, Definition, all_definitions, definition_of
from adjoint.testing import leaves
from sampling import THOROUGH, check_by_turns, is_chosen

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")

DEFINITIONS = [entry for entry in all_definitions() if not ev.is_of_messages(entry.means)]
SECOND_ORDERS = 2
"""Of each definition so many calls, the first in which something varies, are differentiated twice each time."""


class _Text:
    """An example call as a user writes it: parameters for what varies, names for the rest."""

    def __init__(self, case: Case) -> None:
        self.specs: list[Sample] = []
        self.constants: dict[str, Any] = {}
        parts = [self._of(arg) for arg in case.args]
        parts += [f"{name}={self._of(arg)}" for name, arg in case.kwargs.items()]
        names = ", ".join(f"a{place}" for place in range(len(self.specs)))
        self.text = f"def call({names}):\n    return function({', '.join(parts)})\n"

    def _of(self, spec: Any) -> str:
        if isinstance(spec, Sample):
            self.specs.append(spec)
            return f"a{len(self.specs) - 1}"
        if isinstance(spec, (list, tuple)) and spec:
            parts = ", ".join(map(self._of, spec))
            return f"[{parts}]" if isinstance(spec, list) else f"({parts},)"
        if isinstance(spec, (int, str, bool, type(None))):
            return repr(spec)
        self.constants[f"c{len(self.constants)}"] = spec
        return f"c{len(self.constants) - 1}"


def _calls() -> Iterator[Any]:
    """The example calls as text, with their order, where something varies: elsewhere differences do not tell.

    Each structure of the results of a definition is seen each time, of half of the definitions.
    """
    for entry in DEFINITIONS:
        texts = [(place, _Text(case)) for place, case in enumerate(entry.cases)]
        varying = [(place, text) for place, text in texts if text.specs]
        structures = set()
        for count, (place, text) in enumerate(varying):
            order = 2 if THOROUGH or count < SECOND_ORDERS else 1
            name = f"{getattr(entry.fn, '__name__', '')}-{place}"
            structure = tuple(str(path) for path, _ in leaves(_result(entry.fn, text)))
            is_left_to_shares = structure in structures or not is_chosen(f"{name} as in {text.text}", 2)
            marks = () if is_left_to_shares else (pytest.mark.each_time,)
            structures.add(structure)
            yield pytest.param(name, entry, text, order, id=name, marks=marks)


def _result(function: Any, text: _Text) -> Any:
    names: dict[str, Any] = {**text.constants, "function": function}
    exec(text.text, names)
    rng = np.random.default_rng(5)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return names["call"](*(ev.realise(spec, rng) for spec in text.specs))


def _module(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "entry", "text", "order"), list(_calls()))
def test_definitions_can_be_differentiated(
    name: str, entry: Definition, text: _Text, order: int, tmp_path: Path
) -> None:
    path = tmp_path / "program.py"
    path.write_text(text.text)
    module = _module(path)
    vars(module).update(text.constants, function=entry.fn)
    rng = np.random.default_rng(5)
    check_by_turns(name, module.call, tuple(ev.realise(spec, rng) for spec in text.specs), order)
    theirs, mine = (_arrays(_result(function, text)) for function in (entry.fn, entry.means))
    assert theirs == mine or len(theirs) != len(mine)  # of an object, a definition gives what has a derivative


def _arrays(result: Any) -> list[bool]:
    """Which results are arrays: those without axes, too, and no numbers."""
    return [isinstance(leaf, np.ndarray) for _, leaf in leaves(result)]


@pytest.mark.parametrize(
    ("x", "n"), [([1, 2, 1], 4), ([1, 1, 1], 4), ([-1, 4, 1], 4), ([[1, 2, 1], [0, 3, 1], [1.5, 2.0, 0.5]], 4)]
)
@pytest.mark.parametrize("name", ["logpmf", "pmf"])
def test_counts_that_cannot_be(name: str, x: Any, n: Any) -> None:
    """Of these, probabilities are zero, whatever the parameters are; with one row of them for each, too."""
    function = getattr(stats.multinomial, name)
    for p in (np.array([0.2, 0.3, 0.5]), np.array([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1], [0.4, 0.2, 0.4]])):
        value, pullback = ad.vjp(lambda p: function(x, n, p), p)
        theirs = function(x, n, p)
        assert type(value) is type(theirs)
        np.testing.assert_allclose(value, theirs)
        along = np.broadcast_to([0.3, -0.1, -0.2], p.shape)
        is_finite = np.isfinite(theirs)
        there, here = (function(x, n, p + step * along) for step in (1e-6, -1e-6))
        expected = np.sum(np.where(is_finite, there - here, 0.0)) / 2e-6 if np.any(is_finite) else 0.0
        seed = np.where(is_finite, 1.0, 0.0) if isinstance(value, np.ndarray) else np.float64(1.0)
        assert np.sum(pullback(seed)[0] * along) == pytest.approx(expected, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(("name", "at"), [("logpdf", -np.inf), ("pdf", 0.0)])
def test_variances_that_cannot_be(name: str, at: float) -> None:
    function = getattr(stats.normal_inverse_gamma, name)
    value, pullback = ad.vjp(lambda s2, mu: function(0.2, s2, mu, 1.5, 2.5, 0.8), -1.3, 0.4)
    assert (value, pullback(np.float64(1.0))) == (at, (0.0, 0.0))
    value, pullback = ad.vjp(lambda lmbda: function(0.2, 1.3, 0.4, lmbda), -1.0)
    assert np.isnan([value, pullback(np.float64(1.0))[0]]).all()


OF_EARLIER_RELEASES = {"iprint", "disp"}
"""Arguments that SciPy 1.18 has no more."""


@pytest.mark.parametrize("entry", DEFINITIONS, ids=[repr(entry.fn).split(" at ")[0] for entry in DEFINITIONS])
def test_definitions_take_the_arguments_of_what_they_define(entry: Definition) -> None:
    """By the same names, in the same order, with the same defaults: what they do not take is refused."""
    try:
        theirs = inspect.signature(entry.fn).parameters
    except ValueError:
        pytest.skip("Python does not know its parameters")
    mine = inspect.signature(entry.means).parameters
    if any(p.kind is p.VAR_KEYWORD for p in mine.values()):
        pytest.skip("it takes all arguments, to refuse them")
    if any(p.kind is p.VAR_KEYWORD for p in theirs.values()):
        pytest.skip("Python does not know its parameters")
    for name, parameter in mine.items():
        if name not in theirs:
            assert parameter.kind is parameter.KEYWORD_ONLY and name in OF_EARLIER_RELEASES
            continue
        default = theirs[name].default
        if isinstance(default, (int, float, str, tuple)):
            assert parameter.default == default or default != default, name  # or not a number
    by_place = [p.name for p in mine.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    assert by_place == list(theirs)[: len(by_place)]


def test_no_definition_hides_another() -> None:
    """A later one of the same calls was taken for all that the first one covers, and covered less."""
    hidden = []
    for entry in DEFINITIONS:
        for example in entry.cases:
            args = [UNKNOWN if isinstance(arg, Sample) else arg for arg in example.args]
            named = {name: UNKNOWN if isinstance(arg, Sample) else arg for name, arg in example.kwargs.items()}
            found = definition_of(entry.fn, args, named)
            if getattr(found, "__code__", found) is not getattr(entry.means, "__code__", entry.means):
                hidden.append((entry.fn, example))
    assert not hidden
