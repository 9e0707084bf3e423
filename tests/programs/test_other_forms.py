"""Some of the programs by the other forms of their derivatives: jets, differentials, primal and adjoint."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import clone, leaves
from programs.registry import Case, collect

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")

CASES = collect()[::80]
by_name = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def flat(value: Any) -> list[Any]:
    """The numbers and arrays of a structure, in order."""
    if isinstance(value, (list, tuple)):
        return [leaf for part in value for leaf in flat(part)]
    if isinstance(value, dict):
        return flat(list(value.values()))
    is_number = isinstance(value, (float, complex, np.number))
    return [np.asarray(value)] if is_number or (isinstance(value, np.ndarray) and value.dtype.kind in "fc") else []


def check(found: Any, expected: Any) -> None:
    for one, other in zip(flat(found), flat(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)


@by_name
def test_forward(case: Case) -> None:
    args = case.arguments()
    direction = tuple(ad.tangents.scale(arg, 0.5) if flat(arg) else None for arg in args)
    try:
        value, tangent = ad.jvp(case.function, clone(args), direction)
    except ad.DifferentiationError:
        pytest.skip("an argument is an object, or there is no derivative along it")
    _, differential = ad.linearize(case.function, *clone(args))
    check(differential(*direction), tangent)
    with suppress(ad.DifferentiationError):  # jets do not cover everything
        check(ad.jet(case.function, clone(args), direction, order=1), (value, tangent))


@by_name
def test_reverse(case: Case) -> None:
    args = case.arguments()
    wrt = tuple(i for i, arg in enumerate(args) if leaves(arg))
    if not wrt or not isinstance(case.function(*clone(args)), float):
        pytest.skip("grad needs a scalar result")
    derivative = ad.grad(case.function, wrt=wrt)
    checkpoints, value = derivative.primal(*clone(args))
    check(derivative.adjoint(checkpoints, value), derivative(*clone(args)))
