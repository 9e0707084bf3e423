"""Extents in types of results hold for all arguments of the types, also of one row, of one column, and of nothing."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.rules.kinds import Rule
from adjoint.rules.registry import all_rules
from adjoint.rules.shapes import model_of
from adjoint.rules.typing import type_of_call
from adjoint.runtime.array_functions import sequences
from adjoint.runtime.numerical_methods.of_scipy import signal
from rules.evaluate import cases_of
from sampling import is_chosen

EXTENTS: dict[Any, tuple[int, ...]] = {"any": (0, 1, 2, 3), "many": (0, 2, 3), "one": (1,)}
FUNCTIONS: list[tuple[Callable[..., Any], dict[str, int], tuple[int, ...]]] = [
    (sequences.concatenate_of, {}, (1, 1)),
    (sequences.concatenate_of, {}, (1, 1, 1)),
    (sequences.concatenate_of, {"axis": 1}, (2, 2)),
    (sequences.vstack_of, {}, (2, 2)),
    (sequences.vstack_of, {}, (2, 1)),
    (sequences.hstack_of, {}, (2, 2)),
    (sequences.column_stack_of, {}, (2, 1)),
    (sequences.stack_of, {}, (1, 1)),
    (np.matmul, {}, (2, 2)),
    (np.matmul, {}, (2, 1)),
    (np.inner, {}, (2, 2)),
    (np.tensordot, {"axes": 1}, (2, 2)),
    (np.outer, {}, (1, 1)),
    (np.kron, {}, (1, 1)),
    (np.linalg.solve, {}, (2, 2)),
    (np.interp, {}, (1, 1, 1)),
    (np.where, {}, (1, 1, 1)),
    (np.multiply, {}, (2, 2)),
    (np.convolve, {}, (1, 1)),
    (np.searchsorted, {}, (1, 1)),
    (np.diff, {}, (2,)),
    (np.trace, {}, (3,)),
    (np.ravel, {}, (2,)),
]


def _calls(dims: tuple[tuple[Any, ...], ...]) -> Iterator[list[np.ndarray]]:
    """Arrays of all extents that the types allow."""
    for extents in itertools.product(*(EXTENTS[dim] for each in dims for dim in each)):
        rest = iter(extents)
        yield [np.ones(tuple(next(rest) for _ in each)) for each in dims]


@pytest.mark.parametrize(("function", "options", "ranks"), FUNCTIONS)
def test_extents_hold(function: Callable[..., Any], options: dict[str, int], ranks: tuple[int, ...]) -> None:
    named = tuple((name, ir.Const(value)) for name, value in options.items())
    checked = 0
    for dims in itertools.product(*(itertools.product(EXTENTS, repeat=rank) for rank in ranks)):
        args = [ir.Var("x", ir.Array(np.dtype(float), each)) for each in dims]
        (told,) = type_of_call(function, args, named)
        if not isinstance(told, ir.Array) or told.dims is None:
            continue
        for arrays in _calls(dims):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    shape = np.shape(function(*arrays, **options))
            except (ValueError, np.linalg.LinAlgError):
                continue
            checked += 1
            assert len(shape) == len(told.dims)
            for dim, extent in zip(told.dims, shape, strict=True):
                assert _fits(dim, extent), (dims, [array.shape for array in arrays], told)
    assert checked > 3


FITTED = (signal.kept,)
"""Functions whose arguments have to fit, which they do not check."""
RULES = [rule for rule in all_rules() if rule.pure and not rule.writes and rule.fn not in FITTED]
PUBLIC = [rule for rule in RULES if not rule.name.startswith("adjoint.")]
"""Others are given integers that follow from shapes."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule", [rule for rule in RULES if is_chosen(rule.name, 32)], ids=lambda rule: rule.name)
def test_extents_of_all_rules_hold(rule: Rule) -> None:
    """The same for the example calls of each rule, with arrays of other extents, of which there are some."""
    draws = np.random.default_rng(0)
    for args, kwargs in cases_of(rule, draws):
        places = [place for place, arg in enumerate(args) if isinstance(arg, np.ndarray) and arg.ndim]
        for _ in range(20 if places else 0):
            dims = {place: tuple(map(str, draws.choice(list(EXTENTS), args[place].ndim))) for place in places}
            arrays = {place: ir.Var("x", ir.Array(args[place].dtype, each)) for place, each in dims.items()}  # type: ignore[arg-type]
            atoms = [arrays.get(place, ir.Const(arg)) for place, arg in enumerate(args)]
            if model_of(rule.fn, atoms) is not None:
                return  # a cotangent that fits a value has its shape
            told = type_of_call(rule.fn, atoms, [(name, ir.Const(value)) for name, value in kwargs.items()])
            for _ in range(10):
                given = list(args)
                for place, each in dims.items():
                    shape = tuple(int(draws.choice([extent for extent in EXTENTS[dim] if extent])) for dim in each)
                    given[place] = np.resize(args[place], shape)
                try:
                    found = rule.fn(*given, **kwargs)
                except Exception:  # the extents do not fit, or the numbers do not
                    continue
                for type_, result in zip(told, found if rule.results > 1 else (found,), strict=False):
                    assert _is_of(result, type_), (dims, [np.shape(arg) for arg in given], type_)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("rule", [rule for rule in PUBLIC if is_chosen(rule.name, 32)], ids=lambda rule: rule.name)
def test_extents_hold_whatever_the_integers_are(rule: Rule) -> None:
    """Integers that are known when the program runs: lengths, places and axes, which differ from each other."""
    draws = np.random.default_rng(0)
    for args, kwargs in cases_of(rule, draws):
        places = [place for place, arg in enumerate(args) if isinstance(arg, np.ndarray) and arg.ndim]
        integers = [place for place, arg in enumerate(args) if type(arg) is int]
        names = [name for name, value in kwargs.items() if type(value) is int]
        for _ in range(10 if places and (integers or names) else 0):
            dims = {place: tuple(map(str, draws.choice(list(EXTENTS), args[place].ndim))) for place in places}
            known: dict[int, ir.Atom] = {
                place: ir.Var("x", ir.Array(args[place].dtype, each))  # type: ignore[arg-type]
                for place, each in dims.items()
            }
            known |= {place: ir.Var("n", ir.INT) for place in integers}
            named = [
                (name, ir.Var("n", ir.INT) if name in names else ir.Const(value)) for name, value in kwargs.items()
            ]
            told = type_of_call(rule.fn, [known.get(place, ir.Const(arg)) for place, arg in enumerate(args)], named)
            for _ in range(15):
                given, options = list(args), dict(kwargs)
                for place, each in dims.items():
                    shape = tuple(int(draws.choice([extent for extent in EXTENTS[dim] if extent])) for dim in each)
                    given[place] = np.resize(args[place], shape)
                for place in integers:
                    given[place] = int(draws.choice((args[place], -2, -1, 0, 1, 2, 3)))
                for name in names:
                    options[name] = int(draws.choice((kwargs[name], -2, -1, 0, 1, 2, 3)))
                try:
                    found = rule.fn(*given, **options)
                except Exception:  # the extents do not fit, or the numbers do not
                    continue
                for type_, result in zip(told, found if rule.results > 1 else (found,), strict=False):
                    assert _is_of(result, type_), (dims, given, options, type_, np.shape(result))


LENGTHS_AND_AXES: list[Callable[[np.ndarray, int, int], Any]] = [
    lambda t, n, k: _weighted(np.repeat(t, n, k)),
    lambda t, n, k: _weighted(np.real(np.fft.fft(t, n, k))) + np.sum(t),
    lambda t, n, k: _weighted(np.roll(t, n, k) * t),
    lambda t, n, k: _weighted(np.take(t, [n - 3, 0], k)),
    lambda t, n, k: _weighted(np.moveaxis(t, n - 3, k)),
    lambda t, n, k: _weighted(np.take_along_axis(t, np.zeros((n, t.shape[1]), int), k)),
]


def _weighted(y: Any) -> Any:
    return np.sum(y * np.arange(float(y.shape[-1])))


@pytest.mark.parametrize("f", LENGTHS_AND_AXES)
@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (1, 6), (4, 6)])
def test_lengths_and_axes_that_are_known_late(f: Any, shape: tuple[int, int]) -> None:
    t, step = np.random.default_rng(0).normal(size=shape), 1e-6
    for n, k in itertools.product((2, 3), (0, 1, -1)):
        try:
            f(t, n, k)
        except (ValueError, IndexError):
            continue
        found = ad.grad(f)(t, n, k)
        for place in np.ndindex(shape):
            unit = np.zeros(shape)
            unit[place] = step
            slope = (f(t + unit, n, k) - f(t - unit, n, k)) / (2.0 * step)
            assert found[place] == pytest.approx(slope, rel=1e-5, abs=1e-6), (n, k)


def _is_of(result: Any, type_: ir.Type) -> bool:
    if not isinstance(type_, ir.Array) or type_.dims is None:
        return not isinstance(type_, ir.Scalar) or not isinstance(result, np.ndarray)
    is_alike = isinstance(result, np.ndarray) and result.ndim == len(type_.dims)
    return is_alike and all(map(_fits, type_.dims, result.shape))


def _fits(dim: ir.Dim, extent: int) -> bool:
    return dim == "any" or (extent == 1) == (dim == "one")


def product_of_one_row(x: np.ndarray, n: int) -> Any:
    return np.sum((np.reshape(x, (n, 3)) @ np.outer(x, x)) * np.outer(x, x))


def rows_below_others(x: np.ndarray, n: int) -> Any:
    return np.sum(np.vstack([np.ones((n - 1, 3)), x]) * np.outer(x, x))


@pytest.mark.parametrize("f", [product_of_one_row, rows_below_others])
def test_cotangents_are_summed_over_rows_of_which_there_may_be_one(f: Callable[..., Any]) -> None:
    x, step = np.array([0.7, 1.4, -0.3]), 1e-6 * np.eye(3)
    expected = [(f(x + each, 1) - f(x - each, 1)) / 2e-6 for each in step]
    np.testing.assert_allclose(ad.grad(f)(x, 1), expected, rtol=1e-7)
