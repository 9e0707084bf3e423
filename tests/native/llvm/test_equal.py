"""Machine code beside Python: values, arguments afterwards, exceptions, layouts."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import adjoint as ad


def same(one, other):
    if isinstance(one, (tuple, list)):
        assert type(one) is type(other)
        for a, b in zip(one, other, strict=True):
            same(a, b)
        return
    assert type(one) is type(other)
    np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype


def quotients(x, n):
    total = 0.0
    for i in range(-n, n):
        k = i // 3 + i % 3 + (i % -4) + (-i) // 5
        total += k * x + x % 0.7 - x // -0.3 + (-x) % 2.0
    return total * x


def floor_quotient(x, y):
    return x // y + 0.0 * x


def floor_remainder(x, y):
    return x % y


@pytest.mark.parametrize("function", [floor_quotient, floor_remainder], ids=lambda f: f.__name__)
def test_quotients_that_are_rounded_down(function, own):
    run = ad.compile(function, native="strict")
    numbers = [0.5, -0.5, 3.0, -3.0, 1e308, -1e308, float("inf"), -float("inf"), 5e-324, 0.0, -0.0]
    for x in numbers:
        for y in filter(None, numbers):
            np.testing.assert_array_equal([run(x, y), np.copysign(1.0, run(x, y))], _signed(function(x, y)))
    assert own


def _signed(value):
    return [value, np.copysign(1.0, value)]


def added(a, b):
    return np.add(a, b)


def multiplied(a, b):
    return a * b


@pytest.mark.parametrize("function", [added, multiplied], ids=lambda f: f.__name__)
def test_arithmetic_of_truth_values_gives_truth_values(function):
    a, b = np.array([True, False, True]), np.array([True, True, False])
    found = ad.compile(function, native="strict")(a, b)
    assert found.dtype == np.bool_
    np.testing.assert_array_equal(found, function(a, b))


def powers(x, n):
    total = x**3 + x**-2 + x**0.5 + 2.0**x
    for k in range(-3, n):
        total += (x + 1.0) ** k + k**2 * x
    return total


def bits(x, n):
    total = 0.0
    for k in range(n):
        if (k & 1 and not k ^ 3 == 0) or k << 2 > 40 or k >> 1 == 2:
            total += x * (k | 8)
    return total + x * x


def choices(x, y):
    total = 0.0
    for i in range(len(x)):
        total += max(x[i], y[i], 0.5) * min(x[i], 2.0) + abs(y[i] - x[i])
        if x[i] > y[i] and not (x[i] == 1.0 or y[i] != y[i]):
            total -= float(i) * x[i] / 3
    return total


def until(x):
    steps = 0
    while x > 1.5:
        x = x / 2.0 + 0.1
        steps += 1
        if steps == 40:
            break
    return x * steps


def kept_arrays(x, n):
    states = []
    for k in range(n):
        y = np.zeros(len(x))
        for i in range(len(x)):
            y[i] = np.sin(x[i]) * (k + 1)
        states.append(y)
        x = y
    total = 0.0
    for y in states:
        total += np.sum(y * y)
    return total


def backwards(x, step):
    total = 0.0
    for i in range(len(x) - 1, -1, -2):
        total += x[i] ** 2
    for i in range(0, len(x), step):
        total += x[-i - 1] * x[i]
    return total


def views(x):
    x = x.copy()
    top, left = x[:2], x[:, 1]
    top[1, 0] = top[0, 1] * 2.0
    left[-1] += left[0]
    x[1:3, ::2] = x[0, 0]
    x.T[1, 0] -= 3.0
    return np.sum(x * x)


def products(a, b, v):
    c = a @ b
    w = c.T @ v
    return w @ w + np.sum(a.T @ c) + (v @ c) @ w


def writes(x, y):
    for i in range(len(x)):
        y[i] = x[i] * y[i]
    return np.sum(y)


def truths(x, mask):
    chosen = np.zeros(len(x), dtype=bool)
    total = 0.0
    for i in range(len(x)):
        chosen[i] = mask[i] and x[i] > 0.6
        if chosen[i]:
            total += x[i] ** 2
    return total


def single(x):
    total = np.float32(0.0)
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


def halves(x, lo, hi):
    if hi - lo == 1:
        return x[lo] ** 2
    middle = (lo + hi) // 2
    return halves(x, lo, middle) * 0.5 + halves(x, middle, hi)


def tree(x):
    return halves(x, 0, len(x))


def weighted(weights, x):
    for k in range(len(weights)):
        x = np.tanh(weights[k] @ x)
    return np.sum(x)


def drawn(*shape):
    return np.random.default_rng(0).uniform(0.5, 1.5, size=shape)


PROGRAMS = [
    (quotients, (0, 0), (1.3, 7)),
    (powers, (0,), (1.3, 4)),
    (bits, (0,), (1.3, 12)),
    (choices, (0, 1), (drawn(9), drawn(9)[::-1].copy())),
    (until, (0,), (37.0,)),
    (kept_arrays, (0,), (drawn(5), 4)),
    (backwards, (0,), (drawn(7), 3)),
    (views, (0,), (drawn(4, 5),)),
    (products, (0, 1, 2), (drawn(4, 3), drawn(3, 4), drawn(4))),
    (writes, (0, 1), (drawn(6), drawn(6))),
    (truths, (0,), (drawn(6), np.array([True, False, True, True, False, True]))),
    (single, (0,), (drawn(6).astype(np.float32),)),
    (tree, (0,), (drawn(8),)),
    (weighted, (0, 1), ([drawn(3, 3), drawn(3, 3)], drawn(3))),
]


@pytest.mark.parametrize(("function", "wrt", "args"), PROGRAMS, ids=lambda part: getattr(part, "__name__", ""))
def test_calls_agree(function, wrt, args, own):
    wrt = tuple(dict.fromkeys(wrt))
    given = copy.deepcopy(args)
    found = ad.value_and_grad(function, wrt, native="strict")(*given)
    assert own
    again = copy.deepcopy(args)
    same(found, ad.value_and_grad(function, wrt, native="strict")(*again))
    same(list(given), list(again))


@pytest.mark.parametrize(("function", "wrt", "args"), PROGRAMS, ids=lambda part: getattr(part, "__name__", ""))
def test_interpreted_derivatives_agree(function, wrt, args):
    wrt = tuple(dict.fromkeys(wrt))
    given, others = copy.deepcopy(args), copy.deepcopy(args)
    found = ad.value_and_grad(function, wrt, native="strict")(*given)
    expected = ad.value_and_grad(function, wrt)(*others)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)
    for one, other in zip(found[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-12)
    for one, other in zip(given, others, strict=True):
        np.testing.assert_allclose(one, other)


def raising(x, n):
    total = 0.0
    kept = []
    for i in range(n):
        y = np.zeros(3)
        y[0] = x
        kept.append(y)
        total += x / (n - 3 - i)
    return total * kept[0][0]


def of_the_domain(x):
    return x * __import__("math").sqrt(x - 2.0)


def refusing(x, n):
    if n < 0:
        raise ValueError("n is negative")
    return x * n


@pytest.mark.parametrize(
    ("function", "args", "kind", "said"),
    [
        (raising, (1.5, 5), ZeroDivisionError, "float division by zero"),
        (refusing, (1.5, -1), ValueError, "n is negative"),
    ],
    ids=["a division after arrays were made", "an exception of the program"],
)
def test_exceptions_are_those_of_python(function, args, kind, said, own):
    derivative = ad.grad(function, native="strict")
    for _ in range(3):
        with pytest.raises(kind, match=said):
            derivative(*args)
    assert own


def scaled(x, factor):
    y = x.copy()
    for i in range(len(y)):
        y[i] *= factor
    return np.sum(y * y)


def test_arguments_of_other_kinds_have_code_of_their_own(own):
    derivative = ad.grad(scaled, native="strict")
    x = np.arange(6.0)
    expected = ad.grad(scaled)(x, 2.0)
    frozen = x.copy()
    frozen.flags.writeable = False
    apart = np.zeros(12)[::2]
    apart[:] = x
    for given, factor in ((x, 2.0), (apart, 2.0), (frozen, 2), (x, np.float64(2.0)), (x, 2.0)):
        np.testing.assert_allclose(derivative(given, factor), expected)
    assert len(own) >= 3


def itself(x):
    return x


def test_arguments_that_are_handed_back_are_the_same_objects():
    x = np.arange(3.0)
    assert ad.compile(itself, native="strict")(x) is x


def test_results_outlive_the_call():
    derivative = ad.grad(kept_arrays, native="strict")
    x = drawn(2000)
    found = [derivative(x, 3) for _ in range(20)]
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])
    part = found[0][5:9]
    del found
    assert np.isfinite(part).all()


def grows(x, n):
    total = 0.0
    for _ in range(n):
        y = np.empty(1000)
        for i in range(1000):
            y[i] = x * i
        total += y[999]
    return total


def test_arrays_of_an_iteration_are_freed_in_it():
    import resource

    program = ad.compile(grows, native="strict")
    program(1.5, 10)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    program(1.5, 40_000)  # 320 MB, if they all stayed
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def solved(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


def factor_and_inverse(a):
    return np.sum(np.linalg.cholesky(a) ** 3) + np.sum(np.linalg.inv(a) * a.T)


def matrices():
    a = drawn(5, 5)
    lower = np.tril(a) + 5 * np.eye(5)
    return {"full": a, "lower": lower, "upper": lower.T.copy(), "by columns": np.asfortranarray(a)}


@pytest.mark.parametrize("name", matrices())
@pytest.mark.parametrize("shape", [(5,), (5, 3)], ids=["a vector", "columns"])
def test_linear_systems(name, shape, own):
    a, b = matrices()[name], drawn(*shape)
    found = ad.grad(solved, (0, 1), native="strict")(a, b)
    for one, other in zip(found, ad.grad(solved, (0, 1))(a, b), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert own


def test_factors_and_inverses(own):
    a = drawn(4, 4)
    a = a @ a.T + 4 * np.eye(4)
    found = ad.grad(factor_and_inverse, native="strict")(a)
    np.testing.assert_allclose(found, ad.grad(factor_and_inverse)(a), rtol=1e-9, atol=1e-12)
    assert own


@pytest.mark.parametrize("function", [solved, factor_and_inverse])
def test_singular_matrices_are_refused(function):
    args = (np.zeros((3, 3)), np.ones(3))[: 2 if function is solved else 1]
    for native in ("strict", False):
        with pytest.raises(np.linalg.LinAlgError):
            ad.grad(function, native=native)(*args)


def places(x, index, mask):
    y = x[index] ** 2
    z = x.copy()
    z[mask] = 0.5 * y[0]
    return np.sum(y) + np.sum(z[mask] * x[mask]) + np.sum(np.cumsum(x))


def test_places_and_masks(own):
    args = drawn(6), np.array([0, 5, 5, -1]), np.array([True, False, True, True, False, False])
    found = ad.grad(places, native="strict")(*args)
    np.testing.assert_allclose(found, ad.grad(places)(*args), rtol=1e-12)
    assert own
    with pytest.raises(IndexError):
        ad.grad(places, native="strict")(args[0], np.array([7]), args[2])


def times(x, n):
    return x * n


def test_whole_numbers_beyond_64_bits_are_objects_of_python():
    derivative = ad.grad(times, native="strict")
    assert derivative(2.0, 3) == 3.0
    assert derivative(2.0, 2**70) == float(2**70)
    assert derivative(2.0, 5) == 5.0


def test_lists_that_are_handed_back_are_the_same_objects():
    values = [1.0, 2.0]
    assert ad.compile(itself, native=True)(values) is values
