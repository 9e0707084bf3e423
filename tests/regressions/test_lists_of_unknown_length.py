"""Lists and tuples that are repeated as often as a number says of which the kind is not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right

MEASURED = [1.0, None, 2.0]


def controls_by_size(x, zs):
    controls = [None] * np.size(zs, 0)
    for z, control in zip(zs, controls, strict=True):
        if control is not None:
            x = x * 2
        if z is not None:
            x = x + z * x
    return x


def count_of(zs: Sequence[Any]) -> Any:
    return np.array(zs, dtype=object).size


def controls_of_unknown_count(x, zs):
    controls = [None] * count_of(zs)
    return x * len(controls) * (2 if controls[0] is None else 3)


def tuple_of_unknown_count(x, zs):
    controls = (None,) * count_of(zs)
    return x * len(controls) * (2 if controls[0] is None else 3)


def flags_of_unknown_count(x, zs):
    for flag in [True] * count_of(zs):
        if flag is True:
            x = x * x
    return x


def whole_numbers_of_unknown_count(x, zs):
    counts = [3] * count_of(zs)
    counts[0] += 1
    for count in counts:
        if isinstance(count, int):
            x = x * count
    return x


@pytest.mark.parametrize(
    "f",
    [
        controls_by_size,
        controls_of_unknown_count,
        tuple_of_unknown_count,
        flags_of_unknown_count,
        whole_numbers_of_unknown_count,
    ],
)
def test_what_repeated_lists_hold(f: Callable[..., Any]) -> None:
    value, slope = ad.value_and_grad(f)(1.5, MEASURED)
    assert value == f(1.5, MEASURED)
    assert slope == pytest.approx((f(1.5 + 1e-6, MEASURED) - f(1.5 - 1e-6, MEASURED)) / 2e-6)
    assert ad.jvp(f, (1.5, MEASURED), (1.0, None)) == (value, pytest.approx(slope))


def poses_in_place_of_lists(x, n):
    poses = [[None]] * n
    for i in range(n):
        poses[i] = np.stack([x * i, x])
    return np.sum(np.array(poses) ** 2) + np.sum(np.concatenate(poses)) * np.sum(poses[-1])


def numbers_in_place_of_lists(x, n):
    found = [[] for _ in range(n)]
    for i in range(n):
        found[i] = x[0] * i
    return np.array(found) @ np.arange(1.0, n + 1.0) + x[1] * np.sum(found)


def lists_in_place_of_none(x, n):
    found = [None] * n
    for i in range(n):
        found[i] = [x[0] * i, x[1]]
    return np.sum(np.array(found) ** 2) * x[0]


@pytest.mark.parametrize("f", [poses_in_place_of_lists, numbers_in_place_of_lists, lists_in_place_of_none])
def test_lists_stand_where_there_is_no_array_yet(f: Callable[..., Any]) -> None:
    right(f, np.array([1.2, 0.7]), 3)


def test_a_list_that_stays_where_an_array_belongs() -> None:
    def some(x, n):
        found = [[None]] * n
        for i in range(1, n):
            found[i] = x * i
        return np.sum(np.array(found))

    with pytest.raises(TypeError, match="lies among the items"):
        ad.grad(some)(np.array([1.2, 0.7]), 3)
