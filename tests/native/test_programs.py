"""Compiled derivatives agree with interpreted ones, for programs that each show something else.

All programs, modes and kinds of arrays: ``python -m native.campaign``.
"""

import numpy as np
import pytest

import adjoint as ad
from native.agreement import VARIANTS, compare
from programs.registry import collect

pytest.importorskip("llvmlite")

REVERSE = """
array_algorithms.prefix_sum classes.argument_object_changed dataclasses_.named_tuple indexing.gather_with_repeats
loops_while.fixed_point mutation.attribute_of_an_object_in_an_object numpy_linalg.batched_product own_types.tree_total
""".split()
FORWARD = ["kernels.lorenz", "loops_range.product_of_array"]
CASES = {case.name: case for case in collect()}


@pytest.mark.parametrize("name", REVERSE)
def test_reverse(name):
    outcome = compare(CASES[name].function, CASES[name].arguments())
    assert outcome.kind == "same", outcome.message


@pytest.mark.parametrize("name", FORWARD)
def test_forward(name):
    outcome = compare(CASES[name].function, CASES[name].arguments(), "forward")
    assert outcome.kind == "same", outcome.message


def relaxed(u, w):
    total = 0.0
    for i in range(1, u.shape[0]):
        for j in range(u.shape[1]):
            total = total + 0.5 * u[i, j] * w[j] - u[i - 1, j] * 2
    return total


def whole(u, w):
    return np.sum(np.tanh(0.3 * u) * w + 2 * u) + np.mean(w)


@pytest.mark.parametrize(("f", "variant"), [*[(relaxed, name) for name in VARIANTS], (whole, "single")])
def test_kinds_of_arrays(f, variant):
    rng = np.random.default_rng(5)
    outcome = compare(f, (rng.normal(size=(4, 3)), rng.normal(size=3)), variant=variant)
    assert outcome.kind == "same", outcome.message


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (0, 0)])
def test_extents(shape):
    rng = np.random.default_rng(5)
    f = whole if shape[1] else relaxed
    outcome = compare(f, (rng.normal(size=shape), rng.normal(size=shape[1])))
    assert outcome.kind == "same", outcome.message


def test_single_precision_gives_numbers_of_single_precision():
    x = np.array([1.0, 2.0], np.float32)
    value, gradient = ad.value_and_grad(lambda x: np.sum(0.5 * x * x), native="strict")(x)
    assert type(value) is np.float32 and gradient.dtype == np.float32


def test_sums_that_begin_as_numbers_of_python_and_end_as_numbers_of_numpy():
    def f(x):
        total = 0.0
        for i in range(len(x)):
            total = total + x[i] * 0.3
        return total

    x = np.array([1.0, 2.0], np.float32)
    assert type(ad.value_and_grad(f)(x)[0]) is type(ad.value_and_grad(f, native="strict")(x)[0]) is np.float32
