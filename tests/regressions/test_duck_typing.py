"""A program asks whether a value can be iterated over by trying it: numbers cannot, whoever looks at the items."""

import numpy as np
import pytest

from regressions.differences import right


def summed(x):
    try:
        iter(x)
    except TypeError:
        return x * x
    return sum(item**3 for item in x)


def one_or_more(x):
    try:
        items = iter(x)
    except TypeError:
        items = iter([x])
    return sum(item * item for item in items)


def numbered(x):
    try:
        rows = enumerate(x, 1)
    except TypeError:
        return 3.0 * x * x
    return sum(k * item for k, item in rows)


def paired(x):
    try:
        pairs = zip(x, [1.0, 2.0])
    except TypeError:
        return 5.0 * x * x
    return sum(a * b for a, b in pairs)


def backwards(x):
    try:
        items = reversed(x)
    except TypeError:
        return 7.0 * x * x
    return sum(items) * 2.0


def counted(x):
    try:
        steps = range(x)
    except TypeError:
        return 11.0 * x * x
    return len(steps) * 1.0


@pytest.mark.parametrize("f", [summed, one_or_more, numbered, paired, backwards, counted])
def test_numbers_are_no_iterables(f) -> None:
    right(f, 0.7)
    right(f, np.float64(0.7))


@pytest.mark.parametrize("f", [summed, one_or_more, numbered, paired, backwards])
def test_arrays_are(f) -> None:
    right(f, np.array([0.7, 0.4]))


def by_length(x):
    try:
        count = len(x)
    except TypeError:
        return x * x
    return sum(x) * count


def by_a_loop(x):
    total = 0.0
    try:
        for item in x:
            total += item * item
    except TypeError:
        total = 3.0 * x * x
    return total


@pytest.mark.parametrize("f", [by_length, by_a_loop])
def test_numbers_are_no_sequences(f) -> None:
    for x in (0.7, np.float64(0.7), np.array([0.7, 0.4])):
        right(f, x)
