"""Every rule and definition of arrays: operands given as lists, of unknown rank, and from where nobody looked."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from adjoint.rules.operands import operands_of
from fuzz.call_forms import Form, callees, check_form
from fuzz.call_forms.spelling import cases_of, is_taken, literal, module_text
from fuzz.check import Skipped
from sampling import is_chosen

CALLEES = callees()


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype.kind in "fciub"


def _varies(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype.kind in "fc")


def _check(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], varying: int, listed: int) -> None:
    """Checks a call in which the argument at one place varies and the one at a place is a list."""
    try:
        texts = [literal(arg) for arg in args]
    except Skipped:  # a function that has no text
        return
    texts[varying] = "x"
    plain = _form(name, texts, kwargs, args[varying])
    texts[listed] = _listed(args[listed]) if listed == varying else repr(args[listed].tolist())
    form = _form(name, texts, kwargs, args[varying])
    if not is_taken(form.text):
        return
    outcome = check_form(form)
    if outcome.kind == "refused" and check_form(plain).kind == "refused":
        return
    assert outcome.kind in ("ok", "skipped"), f"{form.text}\n{outcome.kind} {outcome.key}\n{outcome.message}"


def _form(name: str, texts: list[str], kwargs: dict[str, Any], point: Any) -> Form:
    named = [f"{key}={literal(value)}" for key, value in kwargs.items()]
    return Form(name, module_text(name, ", ".join([*texts, *named]), literal(point)))


def _listed(array: np.ndarray) -> str:
    return "x.tolist()" if array.ndim < 3 else "list(x)"


SOME = [entry for entry in CALLEES if is_chosen(entry[0], 2)]


@pytest.mark.parametrize(("name", "fn", "declared"), SOME, ids=[name for name, _, _ in SOME])
def test_operands_as_lists(name: str, fn: Any, declared: Any) -> None:
    operands = operands_of(fn)
    cases = [case for case in cases_of(declared, np.random.default_rng(0)) if any(map(_is_array, case[0]))]
    for args, kwargs in cases[:1]:
        for listed in range(len(args)):
            if not operands.has(listed) or not _is_array(args[listed]):
                continue
            if _varies(args[listed]):
                _check(name, args, kwargs, listed, listed)
            beside = next((k for k in range(len(args)) if k != listed and operands.has(k) and _varies(args[k])), None)
            if beside is not None:
                _check(name, args, kwargs, beside, listed)


UNKNOWN_RANK = ["", "", "def unsure(a):", "    return np.squeeze(a[: len(a)])"]
SAMPLE = [entry for place, entry in enumerate(CALLEES) if place % 4 == 0 or entry[0] == "np.polyval"]


@pytest.mark.parametrize(("name", "fn", "declared"), SAMPLE, ids=[name for name, _, _ in SAMPLE])
def test_operands_of_unknown_rank(name: str, fn: Any, declared: Any) -> None:
    """A rule takes its general way, or the call is refused: nothing breaks inside."""
    for args, kwargs in cases_of(declared, np.random.default_rng(0))[:1]:
        for place, array in enumerate(args):
            if not (_is_array(array) and _varies(array)) or 1 in array.shape:
                continue
            texts = [*map(literal, args[:place]), "unsure(x)", *map(literal, args[place + 1 :])]
            named = [f"{key}={literal(value)}" for key, value in kwargs.items()]
            form = Form(name, module_text(name, ", ".join([*texts, *named]), literal(array), UNKNOWN_RANK))
            outcome = check_form(form)
            assert outcome.kind != "failed", f"{form.text}\n{outcome.key}\n{outcome.message}"


UNSEEN = ["import pickle", "from numpy import dtype"]
SHARE = [entry for entry in CALLEES if is_chosen(f"unseen {entry[0]}", 4)]


@pytest.mark.parametrize(("name", "fn", "declared"), SHARE, ids=[name for name, _, _ in SHARE])
def test_operands_that_nobody_looked_at(name: str, fn: Any, declared: Any) -> None:
    """What varies beside arrays that a file might hold: right, or refused."""
    for args, kwargs in cases_of(declared, np.random.default_rng(0))[:3]:
        given = {**dict(enumerate(args)), **kwargs}
        for varying in [key for key, value in given.items() if _varies(value)][:2]:
            if not any(key != varying and _is_array(value) for key, value in given.items()):
                continue
            try:
                texts = {key: "x" if key == varying else _unseen(value) for key, value in given.items()}
            except Skipped:  # a function that has no text
                continue
            call = ", ".join([text if isinstance(key, int) else f"{key}={text}" for key, text in texts.items()])
            form = Form(name, module_text(name, call, literal(given[varying]), UNSEEN))
            outcome = check_form(form)
            assert outcome.kind != "failed", f"{form.text}\n{outcome.key}\n{outcome.message}"


def _unseen(value: Any) -> str:
    return f"pickle.loads({pickle.dumps(value)!r})" if _is_array(value) else literal(value)
