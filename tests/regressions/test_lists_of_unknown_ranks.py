"""What NumPy makes of a list of which it is not known whether it holds numbers or arrays has no known rank."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import adjoint as ad
from adjoint.testing import check_grads as check_all
from sampling import check_grads

STACK = np.array([[[2.0, 0.3], [0.1, 1.5]], [[1.0, -0.4], [0.2, 3.0]]])


def ranks_of_arrays(b):
    parts = [b[place] for place in np.ndindex(2)]
    return np.sum(np.array(parts) ** 2) * np.array(parts).ndim


def stacked_in_tuples(b):
    parts = []
    for place in np.ndindex((2,)):
        parts.append((b[place] @ b[place],))
    whole = np.stack(list(zip(*parts))[0])
    return np.sum(np.reshape(whole, (1, 2) + whole.shape[1:]) ** 2)


def rows_beside_each_other(b):
    parts = [b[place] for place in np.ndindex(2)]
    return np.sum(np.concatenate(parts, axis=-1) ** 3) * len(np.concatenate(parts, axis=-1))


def basis_of_each(b):
    return np.sum(linalg.orth(b) * STACK)


def as_scipy_does_for_each(b):
    return np.sum(linalg.expm_frechet(b, b * 2.0)[1] ** 2) + np.sum(linalg.khatri_rao(b, b) ** 2)


@pytest.mark.parametrize(
    "function",
    [ranks_of_arrays, stacked_in_tuples, rows_beside_each_other, basis_of_each, as_scipy_does_for_each],
)
def test_their_ranks_are_found_when_it_runs(function: Callable[[Any], Any]) -> None:
    assert ad.value_and_grad(function)(STACK)[0] == pytest.approx(function(STACK), rel=1e-12)
    check_grads(function, (STACK,), order=1)


def products(b):
    columns = [np.ones(len(b))]
    for number in range(1, 3):
        for places in itertools.combinations_with_replacement(range(np.shape(b)[1]), number):
            product = np.ones(len(b))
            for place in places:
                product = product * b[:, place]
            columns.append(product)
    return columns


JOINED = {
    "stack": lambda columns: np.stack(columns, axis=1),
    "concatenate": lambda columns: np.concatenate(columns),
    "vstack": lambda columns: np.vstack(columns),
    "hstack": lambda columns: np.hstack(columns),
    "column_stack": lambda columns: np.column_stack(columns),
    "array": lambda columns: np.array(columns),
    "twice": lambda columns: np.stack(columns + columns[::-1]) * columns[1],
}


@pytest.mark.parametrize("name", JOINED)
def test_second_derivatives_of_what_is_joined(name: str) -> None:
    """The cotangent of a list that a pullback gave is the list that its shadow holds: such ones were refused."""
    check_all(lambda b: JOINED[name](products(b)) ** 2, (STACK[0],), order=2, modes=("rev",))
