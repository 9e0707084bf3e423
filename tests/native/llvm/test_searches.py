"""Searches in lists, ranges as objects, and questions for classes that numbers of Python and of NumPy answer alike."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import adjoint as ad

X = np.array([1.3, 0.7, 1.1, 1.9])


def nearest(x):
    distances = []
    for i in range(len(x)):
        distances.append((x[i] - 1.0) ** 2)
    least = min(distances)
    return x[distances.index(least)] * 3.0 + (x[0] if least in distances else 0.0)


def counted(x):
    kinds = []
    for i in range(len(x)):
        kinds.append(int(x[i] > 1.0))
    total = x[kinds.index(1)] * kinds.count(1) + x[kinds.index(0)] * kinds.count(7)
    return total + (x[1] if 2 in kinds else x[2]) + (x[3] if 1.0 in kinds else 0.0)


def none_is_itself(x):
    found = []
    for i in range(len(x)):
        found.append(x[i] * np.nan if i == 2 else x[i])
    return x[found.index(found[2])]


def pairs(x):
    total = 0.0
    for i, j in list(itertools.combinations(range(len(x)), 2)):
        total += x[i] * x[j] ** 2
    return total


def remaining(x, skipped):
    total = 0.0
    for i in sorted(set(range(len(x))) - {skipped}):
        total += x[i] ** 2
    return total


def angle(x):
    if isinstance(x, float):
        return x % 1.0
    return np.sum(x) * 2.0


def classes(x):
    parts = [x[0], x * 2.0, 3.0 * x[1]]
    total = 0.0
    for k in range(3):
        total += angle(parts[k])
    return total


@pytest.mark.parametrize(
    ("f", "args"),
    [(nearest, ()), (counted, ()), (none_is_itself, ()), (pairs, ()), (remaining, (1,)), (classes, ())],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_gradients_are_those_of_python(f, args, own):
    derivative = ad.value_and_grad(f, native="strict")
    for _ in range(2):
        value, slope = derivative(X, *args)
        np.testing.assert_allclose(value, f(X, *args))
        np.testing.assert_allclose(slope, ad.grad(f)(X, *args), rtol=1e-12)
    assert own


def test_what_is_not_there_is_an_error():
    def f(x):
        items = []
        for i in range(len(x)):
            items.append(x[i])
        return x[items.index(-5.0)]

    texts = []
    for derivative in (f, ad.grad(f), ad.grad(f, native="strict")):
        with pytest.raises(ValueError) as raised:
            derivative(X)
        texts.append(str(raised.value))
    assert texts[0] == texts[1] == texts[2]


def test_whole_numbers_and_truths_that_are_not_there(own):
    def f(x, items, wanted):
        seen = []
        for item in items:
            seen.append(item)
        return x[seen.index(wanted)]

    for items, wanted in (([3, 4], 5), ([True, True], False), ([0.5, 1.5], 2)):
        texts = []
        for derivative in (f, ad.grad(f), ad.grad(f, native="strict")):
            with pytest.raises(ValueError) as raised:
                derivative(X, items, wanted)
            texts.append(str(raised.value))
        assert texts[0] == texts[1] == texts[2]


def test_what_python_iterates_is_asked_for_items():
    """Also where the loop is left early, its iterator is used up later, or it carries what the body makes."""

    def f(x, names):
        places = iter(sorted(set(range(len(x))) - {2}))
        total, last = 0.0, None
        for i in places:
            if i > 0:
                break
            total += x[i] ** 2
        for i in places:
            total = total + x[i] * 5.0
            last = i
        for name in sorted({len(name) for name in names}):
            total = total + (x[name] if last is None else x[name] * x[last])
        return total

    for names in (["a", "bb", "c"], []):
        np.testing.assert_allclose(ad.grad(f, native="strict")(X, names), ad.grad(f)(X, names), rtol=1e-13)


def reshaped(weights, rank, axis):
    shape = [1] * rank
    shape[axis] = -1
    return np.reshape(weights, shape)


def test_lists_that_are_shapes_tell_no_rank():
    """One item fits most examples, so an array of one axis was announced, and others were errors in machine code."""

    def f(x, weights, rank):
        kernel = reshaped(weights, rank, 0)
        for axis in range(1, rank):
            kernel = kernel * reshaped([1, 2, 1], rank, axis)
        return np.sum(kernel * x) * x[0]

    for rank in (1, 2):
        expected = ad.grad(f)(X[:3], [1, 0, -1], rank)
        np.testing.assert_allclose(ad.grad(f, native="strict")(X[:3], [1, 0, -1], rank), expected, rtol=1e-12)


def test_lists_that_are_searched_before_anything_is_put_there():
    def f(x):
        seen, total = [], 0.0
        for i in range(len(x)):
            rounded = int(x[i])
            if rounded in seen:
                total += x[i] * (seen.index(rounded) + 1.0)
            else:
                seen.append(rounded)
        return total * x[0]

    np.testing.assert_allclose(ad.grad(f, native="strict")(X), ad.grad(f)(X), rtol=1e-13)
