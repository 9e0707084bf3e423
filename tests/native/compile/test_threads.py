"""Derivatives whose outermost loops run in chunks, side by side."""

import math
import pickle
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")

from adjoint.native.compile import threads


@pytest.fixture(autouse=True)
def _short_loops_too(monkeypatch):
    monkeypatch.setattr(threads, "FEWEST_IN_THREADS", 2)


@pytest.fixture
def chunks(monkeypatch):
    """How many chunks loops ran in."""
    found = []
    side_by_side = threads.side_by_side

    def counted(function, calls):
        found.append(len(calls))
        return side_by_side(function, calls)

    monkeypatch.setattr(threads, "side_by_side", counted)
    return found


def drawn(*shape):
    return np.random.default_rng(3).normal(size=shape)


def mixture(weights, means, points):
    total = 0.0
    for i in range(len(points)):
        density = 0.0
        for k in range(len(weights)):
            distance = 0.0
            for j in range(points.shape[1]):
                distance += (points[i, j] - means[k, j]) ** 2
            density += math.exp(weights[k] - 0.5 * distance)
        total += math.log(density)
    return total


def log_sum_exp(x):
    largest = np.max(x)
    return largest + math.log(np.sum(np.exp(x - largest)))


def with_rows_of_its_own(x):
    y = np.zeros((len(x), 3))
    for i in range(len(x)):
        for k in range(3):
            y[i, k] = math.sin((k + 1.0) * x[i])
    total = 0.0
    for i in range(len(x)):
        total += y[i, 0] * y[i, 1] * y[i, 2]
    return total


def histogram(x, places):
    counts = np.zeros(4)
    for i in range(len(x)):
        counts[places[i]] += x[i] * x[i]
    return np.sum(counts * counts)


def with_lists_and_branches(x):
    total = 0.0
    for i in range(1, len(x) - 1):
        kept = []
        for k in range(3):
            kept.append(x[i - 1 + k] * (k + 1.0))
        if kept[0] > 0.0:
            total -= kept[0] * kept[1]
        else:
            total -= math.tanh(kept[2])
    return total


def in_two_loops(x, scale):
    mean = 0.0
    for i in range(len(x)):
        mean += x[i] / len(x)
    total = 0.0
    for i in range(len(x)):
        total += scale * math.cos(x[i] - mean)
    return total


def with_sums_in_inner_loops(x):
    total, product = 0.0, 0.0
    for i in range(len(x)):
        if x[i] > 1.5:
            continue
        for k in range(3):
            if x[i] > k - 1.0:
                total += math.exp(x[i]) * k
            else:
                product -= x[i] * x[i]
    return total * product


CASES = {
    "with_sums_in_inner_loops": (with_sums_in_inner_loops, 0, (drawn(12),)),
    "mixture": (mixture, (0, 1, 2), (drawn(4), drawn(4, 3), drawn(11, 3))),
    "log_sum_exp": (log_sum_exp, 0, (drawn(700),)),
    "with_rows_of_its_own": (with_rows_of_its_own, 0, (drawn(9),)),
    "histogram": (histogram, 0, (drawn(13), np.arange(13) % 4)),
    "with_lists_and_branches": (with_lists_and_branches, 0, (drawn(12),)),
    "in_two_loops": (in_two_loops, (0, 1), (drawn(10), 1.5)),
}


def numbers(found):
    return np.concatenate([np.ravel(part) for part in (found if isinstance(found, tuple) else (found,))])


def flat(found):
    value, gradient = found
    return np.append(value, numbers(gradient))


@pytest.mark.parametrize("threads", [2, 3, 64])
@pytest.mark.parametrize("name", CASES)
def test_the_same_but_for_roundings(name, threads, chunks):
    f, wrt, args = CASES[name]
    given = [np.copy(arg) for arg in args]
    slope = ad.value_and_grad(f, wrt, native="strict", threads=threads)
    found = slope(*args)
    assert max(chunks) > 1
    np.testing.assert_allclose(flat(found), flat(ad.value_and_grad(f, wrt)(*args)), rtol=1e-12, atol=1e-14)
    for _ in range(5):
        np.testing.assert_array_equal(flat(slope(*args)), flat(found))
    for before, after in zip(given, args, strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", CASES)
def test_one_thread_is_what_it_was(name, chunks):
    f, wrt, args = CASES[name]
    one, plain = ad.grad(f, wrt, native="strict", threads=1), ad.grad(f, wrt, native="strict")
    np.testing.assert_array_equal(numbers(one(*args)), numbers(plain(*args)))
    assert one.native == plain.native
    assert not chunks


@pytest.mark.parametrize("length", [0, 1, 2, 3])
def test_loops_shorter_than_the_number_of_threads(length):
    args = drawn(4), drawn(4, 3), drawn(length, 3)
    found = ad.value_and_grad(mixture, (0, 1, 2), native="strict", threads=4)(*args)
    expected = ad.value_and_grad(mixture, (0, 1, 2))(*args)
    np.testing.assert_allclose(flat(found), flat(expected), rtol=1e-12, atol=1e-14)


def refusing(x):
    total = 0.0
    for i in range(len(x)):
        for k in range(2):
            total += math.log(x[i]) / float(x[i] - 3.0) + k * math.exp(x[i])
    return total


@pytest.mark.parametrize(("first", "second"), [(-1.0, 3.0), (3.0, -1.0), (1000.0, 0.0), (0.0, 1000.0)])
def test_the_exception_is_that_of_the_first_iteration(first, second, chunks):
    x = np.abs(drawn(40)) + 4.0
    x[5], x[35] = first, second
    with pytest.raises((ArithmeticError, ValueError)) as expected:
        ad.value_and_grad(refusing)(x)
    with pytest.raises(type(expected.value), match=str(expected.value)):
        ad.value_and_grad(refusing, native="strict", threads=3)(x)
    assert max(chunks) == 3


def raising(x):
    total = 0.0
    for i in range(len(x)):
        for k in range(2):
            if x[i] < 0.0:
                raise KeyError("negative")
            total += x[i] * x[i] * k
    return total


def test_what_the_program_raises_comes_out_of_chunks():
    x = np.ones(20)
    slope = ad.grad(raising, native="strict", threads=3)
    np.testing.assert_allclose(slope(x), 2.0 * x)
    x[15] = -1.0
    with pytest.raises(KeyError, match="negative"):
        slope(x)
    x[15] = 1.0
    np.testing.assert_allclose(slope(x), 2.0 * x)


def test_threads_of_the_user_call_it_at_once():
    f, wrt, args = CASES["mixture"]
    slope = ad.value_and_grad(f, wrt, native="strict", threads=3)
    expected = flat(slope(*args))
    before = threading.active_count()
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: flat(slope(*args)), range(40)):
            np.testing.assert_array_equal(found, expected)
    assert threading.active_count() == before


def test_kinds_of_arrays():
    slope = ad.value_and_grad(mixture, (0, 1, 2), native="strict", threads=2)
    weights, means, points = CASES["mixture"][2]
    expected = ad.value_and_grad(mixture, (0, 1, 2))(weights, means, points)
    wide = np.zeros((11, 6))
    wide[:, ::2] = points
    for other in (np.asfortranarray(points), wide[:, ::2], points):
        found = slope(weights, means, other)
        np.testing.assert_allclose(flat(found), flat(expected), rtol=1e-12)


def writes_what_it_is_given(x, y):
    total = 0.0
    for i in range(len(x)):
        for k in range(2):
            total += x[i] * k
    for i in range(len(x)):
        for k in range(2):
            y[i, k] = math.log(x[i]) * (k + 1.0)
    return total * y[0, 0] * y[1, 1]


def test_what_others_see_is_written_in_order():
    x, y, expected = np.abs(drawn(12)), np.zeros((12, 2)), np.zeros((12, 2))
    slope = ad.grad(writes_what_it_is_given, native="strict", threads=3)
    np.testing.assert_allclose(slope(x, y), ad.grad(writes_what_it_is_given)(x, expected))
    np.testing.assert_allclose(y, expected)
    x[5] = -1.0
    y[...] = 0.0
    with pytest.raises(ValueError, match="math domain error"):
        slope(x, y)
    assert y[4].all() and not y[5:].any()


def from_the_end(x):
    y = np.zeros((len(x), 2))
    for i in range(-2, len(x)):
        for k in range(2):
            y[i, k] = x[i] * x[k]
    return np.sum(y * y)


def test_indices_that_count_from_the_end(chunks):
    x = drawn(7)
    found = ad.grad(from_the_end, native="strict", threads=3)(x)
    np.testing.assert_allclose(found, ad.grad(from_the_end)(x), rtol=1e-12)


def waits_for_the_one_before(x):
    y = 0.0
    for i in range(len(x)):
        y = math.tanh(y + x[i])
    return y


def reads_what_others_write(x):
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        for _ in range(2):
            y[i + 1] = y[i] * 0.5 + x[i] * x[i]
    return y[len(x)]


@pytest.mark.parametrize("f", [waits_for_the_one_before, reads_what_others_write])
def test_a_warning_where_nothing_runs_in_chunks(f, chunks):
    x = drawn(9)
    slope = ad.grad(f, native="strict", threads=2)
    with pytest.warns(ad.DifferentiationWarning, match="AD0504") as caught:
        found = slope(x)
    assert "iterations share more than what they add to" in str(caught[0].message) and " --> " in str(caught[0].message)
    np.testing.assert_allclose(found, ad.grad(f)(x), rtol=1e-12)
    assert not chunks
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slope(x)


@pytest.mark.parametrize("bad", [0, -2, 1.5, True, "2", None])
def test_bad_numbers_of_threads_are_refused(bad):
    for operator in (ad.grad, ad.value_and_grad):
        with pytest.raises(ValueError, match=r"threads=.*: it is a whole number from 1"):
            operator(mixture, native=True, threads=bad)


def test_threads_compile_without_being_told_to():
    slope = ad.grad(mixture, threads=2)
    assert slope.native.threads == 2
    assert "threads=2" in repr(slope)
    assert pickle.loads(pickle.dumps(slope)).native == slope.native


def leaves_machine_code(x):
    total = 0.0
    for i in range(len(x)):
        for k in range(2):
            total += math.exp(x[i]) * k
    return total * np.sum(x[np.ix_([0, 2])])


def test_what_cannot_be_compiled_runs_as_python():
    x = drawn(5)
    slope = ad.grad(leaves_machine_code, native=True, threads=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = slope(x)
    np.testing.assert_allclose(found, ad.grad(leaves_machine_code)(x), rtol=1e-12)


def until_small(x):
    total = 0.0
    for i in range(len(x)):
        y = x[i] * x[i] + 1.0
        while y > 1.1:
            y = math.sqrt(y)
        total += y
    return total


def sums_that_are_read(x):
    total = 0.0
    for i in range(len(x)):
        for k in range(2):
            total += x[i] * k
        if total > 1.0:
            total += x[i] * x[i]
    return total


def sums_that_start_again(x):
    total = 0.0
    for i in range(len(x)):
        for k in range(2):
            total = total + x[i] * k if x[i] > 0.0 else x[i] * 2.0
    return total


@pytest.mark.parametrize("f", [until_small, sums_that_are_read, sums_that_start_again])
def test_inner_loops_and_branches(f):
    x = drawn(15)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ad.value_and_grad(f, native="strict", threads=4)(x)
    np.testing.assert_allclose(flat(found), flat(ad.value_and_grad(f)(x)), rtol=1e-12)
