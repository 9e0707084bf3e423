"""Layout is part of meaning: which memory a view of a result is decides what writes through it reach."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import evaluate as ev

import adjoint as ad
from adjoint.analysis.memory.array_layout import VIEWS_AT_NEED
from adjoint.rules.kinds import Constant, NoDerivative
from adjoint.rules.registry import all_definitions, all_rules
from adjoint.runtime.copies import copy_as_it_lies
from sampling import is_chosen

MOST_CASES = 2
CALLEES = [
    *((rule.name, rule.fn, rule.cases or None, rule) for rule in all_rules()),
    *((getattr(entry.fn, "__name__", "?"), entry.fn, entry.cases, None) for entry in all_definitions()),
]


def layouts(array: Any) -> Iterator[Any]:
    """An array laid out by rows, by columns, with its outer axes swapped, backwards, and with gaps."""
    yield np.ascontiguousarray(array)
    if array.ndim > 1:
        yield np.asfortranarray(array)
        yield np.ascontiguousarray(array.swapaxes(0, 1)).swapaxes(0, 1)
    if array.ndim:
        yield np.ascontiguousarray(array[::-1])[::-1]
        yield np.repeat(array, 2, axis=-1)[..., ::2]


def _is_smooth(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype == np.float64 and x.ndim > 0


def _forms(args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The arguments with every array in each layout, and with each array alone by columns."""
    arrays = [list(layouts(arg)) for arg in args if isinstance(arg, np.ndarray)]
    for form in range(max(map(len, arrays), default=1)):
        yield tuple(_laid_out(arg, form) for arg in args)
    for place, arg in enumerate(args):
        if isinstance(arg, np.ndarray) and arg.ndim > 1:
            yield (*args[:place], np.asfortranarray(arg), *args[place + 1 :])


def _laid_out(arg: Any, form: int) -> Any:
    if not isinstance(arg, np.ndarray):
        return arg
    found = list(layouts(arg))
    return found[min(form, len(found) - 1)]


def _strides(y: Any) -> Any:
    """How the elements of results lie; of one axis there is nothing to tell."""
    if hasattr(y, "pvalue"):
        return (_strides(y.statistic), _strides(y.pvalue))
    if isinstance(y, (tuple, list)):
        return tuple(map(_strides, y))
    if not isinstance(y, np.ndarray) or y.ndim < 2:
        return None
    return tuple(stride for stride, extent in zip(y.strides, y.shape, strict=True) if extent > 1)


def _calls(cases: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    rng = np.random.default_rng(11)
    for case in cases:
        args = tuple(ev.realise(arg, rng) for arg in case.args)
        yield args, {name: ev.realise(arg, rng) for name, arg in case.kwargs.items()}


DEFINITIONS = all_definitions()


@pytest.mark.parametrize("entry", DEFINITIONS, ids=[getattr(entry.fn, "__name__", "?") for entry in DEFINITIONS])
def test_definitions_lay_their_results_out_alike(entry: Any) -> None:
    for args, kwargs in _calls(entry.cases):
        for form in _forms(args):
            try:
                expected = entry.fn(*form, **kwargs)
                found = entry.means(*form, **kwargs)
            except ValueError:
                continue  # SciPy takes some matrices in one layout only, and `as_strided` is followed in one
            assert _strides(found) == _strides(expected), [np.shape(arg) for arg in args]


def test_whose_views_depend_on_layout_is_known() -> None:
    """Of what gives a view of an array in one layout and a copy in another, all are told."""
    for rule in all_rules():
        shares = set()
        calls = _calls(rule.cases) if rule.view_of is not None else ()
        for args, kwargs in calls:
            found = set()
            for form in layouts(args[rule.view_of]) if isinstance(args[rule.view_of], np.ndarray) else ():
                given = (*args[: rule.view_of], form, *args[rule.view_of + 1 :])
                try:
                    result = rule.fn(*given, **kwargs)
                except ValueError:
                    continue  # as_strided is followed in one layout only
                found.add(isinstance(result, np.ndarray) and np.shares_memory(result, form))
            shares.add(len(found))
        assert max(shares, default=0) < 2 or rule.fn in VIEWS_AT_NEED or _is_of_cotangents(rule.fn), rule.name


def _is_of_cotangents(fn: Any) -> bool:
    """Whether only derivatives call it, which do not write what it gives."""
    return (getattr(fn, "__module__", None) or "").startswith("adjoint.runtime")


def _written_through(fn: Any, lead: tuple[Any, ...], tail: tuple[Any, ...], kwargs: dict[str, Any], w: Any) -> Any:
    def by_rows(x: Any) -> Any:
        y = fn(*lead, x, *tail, **kwargs)
        r = y.reshape(-1)
        r[:2] *= 5.0
        return (y * w).sum()

    def by_columns(x: Any) -> Any:
        y = fn(*lead, x, *tail, **kwargs)
        r = np.ravel(y.T)
        r[:2] = r[:2] * r[1:3]
        return (y * w).sum()

    return by_rows, by_columns


def _differences(f: Callable[[Any], Any], x: Any, direction: Any) -> Iterator[float]:
    for step in (1e-4, 1e-5, 1e-6):
        ahead, behind = copy_as_it_lies(x), copy_as_it_lies(x)
        ahead += step * direction
        behind -= step * direction
        yield (f(ahead) - f(behind)) / (2 * step)


def _check(f: Callable[[Any], Any], x: Any) -> None:
    direction = np.random.default_rng(5).normal(size=x.shape)
    try:
        f(copy_as_it_lies(x))
    except ValueError:
        return  # what is read-only in NumPy
    try:
        reverse = (ad.grad(f)(copy_as_it_lies(x)) * direction).sum()
        forward = ad.jvp(f, (copy_as_it_lies(x),), (direction,))[1]
    except ad.DifferentiationError as refusal:
        assert all(problem.code != "AD0901" for problem in refusal.diagnostics), refusal
        return
    try:
        wanted = list(_differences(f, x, direction))
    except ValueError:
        return  # numbers that may not move, such as the leading ones of sections of a filter
    for found in (reverse, forward):
        assert any(np.isclose(found, want, rtol=3e-5, atol=3e-5, equal_nan=True) for want in wanted), (found, wanted)


SMOOTH = [
    callee
    for callee in CALLEES
    if is_chosen(callee[0], 2)
    and not isinstance(callee[3], (Constant, NoDerivative))
    and not _is_of_cotangents(callee[1])
]


@pytest.mark.parametrize(("name", "fn", "cases", "rule"), SMOOTH, ids=[name for name, *_ in SMOOTH])
def test_writes_through_views_of_results(name: str, fn: Any, cases: Any, rule: Any) -> None:
    calls = list(_calls(cases)) if cases is not None else ev.cases_of(rule, np.random.default_rng(len(name)))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tried = 0
        for args, kwargs in calls:
            for place, arg in enumerate(args):
                if tried < MOST_CASES and _is_smooth(arg):
                    tried += _check_layouts(fn, args, kwargs, place)


def _check_layouts(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], place: int) -> bool:
    """Checks an argument in all layouts but the first; whether the result has axes enough to tell."""
    lead, tail = args[:place], args[place + 1 :]
    for form, x in enumerate(layouts(args[place])):
        try:
            y = fn(*lead, x, *tail, **kwargs)
        except ValueError:
            continue
        if not _is_smooth(y) or y.ndim < 2 or y.size < 3 or np.isnan(y).any():
            return False
        programs = _written_through(fn, lead, tail, kwargs, np.random.default_rng(3).normal(size=y.shape))
        _check(programs[form % 2], x)
    return True
