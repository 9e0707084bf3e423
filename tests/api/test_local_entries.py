"""Entries of functions whose loops read and store a few elements: equal to the dense matrices, without sweeps."""

import math
import operator
import threading

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.api.sparse import local
from adjoint.dispatch import specialize
from adjoint.ir import walk
from adjoint.native.kept import known_objects
from adjoint.native.llvm import unit


def branches(x, first, second, weight):
    r = np.zeros(2 * len(first))
    for k in range(len(first)):
        i, j = first[k], second[k]
        r[2 * k] = weight[k] * math.sin(x[i] - x[j]) * x[i]
        r[2 * k + 1] -= x[i] * x[i] / x[j]
        r[j] += x[-1]
    return r


def overwritten(x, places):
    r = np.zeros(len(x))
    for k in range(len(places)):
        r[places[k]] += x[k] ** 3
        r[places[k]] = x[k] * x[k - 1]
    r[0] = 1.0
    return r


def grid(x):
    y = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if i > 0 and j < x.shape[1] - 1:
                y[i, j] += x[i - 1, j + 1] * x[i, j] ** 2
            if i == 0:
                continue
            y[-1, j] += math.exp(x[i - 1, -1])
    return y


def softened(x):
    r = np.zeros(len(x) - 1)
    for i in range(len(x) - 1):
        d = x[i + 1] - x[i]
        if d > 0.0:
            e = d * d
        else:
            e = -3.0 * x[i] if d < -1.0 else x[i + 1]
        r[i] = e * x[0]
    return r


def with_scalars(x, scale):
    r = np.empty(3)
    for i in range(3):
        r[i] = scale * max(x[i], 0.5) + min(x[i + 1], 2.0 * x[i])
    return r


def sides_with_entries(x, first):
    r = np.zeros(len(x))
    for k in range(len(first)):
        if x[first[k]] > 0.0:
            r[k] += x[first[k]] * x[k]
            r[first[k]] -= x[k] ** 2
        else:
            r[0] += x[k + 1]
    return r


def packed(x, count):
    """Variables one behind the other, and results: slices of slices, one of them a matrix."""
    heights, rest = x[:count], x[count:]
    slopes = rest[:-6]
    table = rest[-6:].reshape(2, 3)
    r = np.zeros(2 * count + 3)
    first, second = r[:count], r[count : 2 * count]
    for i in range(count):
        first[i] = heights[i] * slopes[i - 1]
        second[i] += heights[-1] * table[1, i % 3] ** 2
        second[i] -= slopes[i]
    last = r[-3:]
    for j in range(3):
        last[j] = table[0, j] * table[-1, -j]
    return r


def rows_of_tables(x):
    """Rows of matrices, parts of rows, and a row chosen in a branch."""
    r = np.zeros((3, 4))
    for i in range(x.shape[0]):
        row, out = x[i], r[i, 1:]
        for j in range(3):
            out[j] += row[j] * row[j + 1]
        if i > 0:
            above = x[i - 1, 2:]
            out[0] += above[1] ** 2
    lower = x[1:]
    r[0, 0] = lower[1, 3] * x.ravel()[5]
    return r


def parts_in_branches(x):
    r = np.zeros(len(x))
    for i in range(len(x) - 2):
        if x[i] > 0.0:
            part, out = x[i:], r[i:]
            out[1] += part[2] * x[i]
        else:
            r[i] -= x[i : i + 2][1]
    return r


def changed_orders(x):
    """What is not in one piece is coloured."""
    r = np.zeros(3)
    other = x[::2]
    for i in range(3):
        r[i] = other[i] ** 2
    return r


RNG = np.random.default_rng(4)
FIRST, SECOND = RNG.integers(0, 7, 9), RNG.integers(0, 7, 9)
CASES = {
    "branches": (branches, (RNG.uniform(0.5, 2.0, 7), FIRST, SECOND, RNG.normal(size=9))),
    "overwritten": (overwritten, (RNG.normal(size=5), np.array([1, 3, 1, 0, 3]))),
    "grid": (grid, (RNG.normal(size=(4, 3)),)),
    "softened": (softened, (2.0 * RNG.normal(size=9),)),
    "sides_with_entries": (sides_with_entries, (RNG.normal(size=6), np.array([3, 0, 3, 5, 1]))),
    "packed": (packed, (RNG.normal(size=14), 4)),
    "rows_of_tables": (rows_of_tables, (RNG.normal(size=(3, 4)),)),
    "parts_in_branches": (parts_in_branches, (RNG.normal(size=8),)),
    "with_scalars": (with_scalars, (RNG.uniform(0.2, 1.0, 4), 1.5)),
}


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_jacobians(name, native):
    if native and name not in ("branches", "grid", "packed"):
        pytest.skip("machine code is made of some")
    f, args = CASES[name]
    jacobian = ad.jacobian(f, sparsity="auto", native=native)
    at = jacobian.at(*args)
    assert (at.method, at.why) == ("local", "")
    assert jacobian.sweeps == 0
    for shift in (0.0, 0.3, -0.4):
        moved = (args[0] + shift, *args[1:])
        dense = np.reshape(ad.jacobian(f)(*moved), at.shape)
        np.testing.assert_allclose(jacobian(*moved).toarray(), dense, rtol=1e-13, atol=1e-13)
        out = np.full(len(at.cols), np.nan)
        assert at.values(*moved, out=out, check=False) is out
        np.testing.assert_allclose(out, dense[at.rows, at.cols], rtol=1e-13, atol=1e-13)


def energy(x, first, second):
    total = 0.0
    for k in range(len(first)):
        d = x[first[k]] - 2.0 * x[second[k]]
        e = math.cosh(d) if d < 1.0 else d * d
        total += e * e * e
    return total


def lagrangian(x, weights, first, second):
    r = np.zeros(len(first))
    for k in range(len(first)):
        r[k] = x[first[k]] * x[second[k]] ** 2
    total = 0.0
    for k in range(len(r)):
        total += weights[k] * r[k]
    return total


def energy_of_parts(x):
    """The gradient writes to parts of its result."""
    places, speeds = x[:3], x[3:]
    total = 0.0
    for i in range(3):
        total += places[i] * speeds[i + 1] ** 2 + math.sin(places[i] * places[i - 1])
    return total


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (energy, (FIRST, SECOND)),
        (lagrangian, (RNG.normal(size=9), FIRST, SECOND)),
        (energy_of_parts, ()),
    ],
)
def test_hessians(f, args):
    hessian = ad.hessian(f, sparsity="auto")
    x = RNG.normal(size=7)
    dense = ad.hessian(f)(x, *args)
    np.testing.assert_allclose(hessian(x, *args).toarray(), dense, rtol=1e-12, atol=1e-12)
    assert hessian.at(x, *args).method == "local"


def recurrence(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] += 0.5 * y[i - 1]
    return y


def carried(x):
    r = np.zeros(len(x))
    s = 0.0
    for i in range(len(x)):
        s = math.sin(s + x[i])
        r[i] = s
    return r


def of_floats(x, threshold):
    r = np.zeros(3)
    for i in range(3):
        if threshold[i] > 0.0:
            r[i] = x[i]
    return r


@pytest.mark.parametrize(
    ("f", "args", "why"),
    [
        (recurrence, (), "whole"),
        (carried, (), "carried"),
        (changed_orders, (), "not an element of the argument"),
        (lambda x: np.sin(x), (), "stored element by element"),
        (of_floats, (np.array([1.0, -1.0, 2.0]),), "is set"),
    ],
)
def test_what_is_not_local_is_coloured(f, args, why):
    x = RNG.normal(size=5)
    jacobian = ad.jacobian(f, sparsity="auto")
    at = jacobian.at(x, *args)
    assert at.method == "colouring"
    assert why in at.why
    np.testing.assert_allclose(jacobian(x, *args).toarray(), ad.jacobian(f)(x, *args), rtol=1e-13)


def test_other_whole_numbers_have_other_entries():
    f, (x, first, second, weight) = CASES["branches"]
    jacobian = ad.jacobian(f, sparsity="auto")
    for pair in ((first, second), (second, first), (first[:3], second[:3])):
        dense = ad.jacobian(f)(x, *pair, weight)
        np.testing.assert_allclose(jacobian(x, *pair, weight).toarray(), dense, rtol=1e-13, atol=1e-14)


def test_results_go_where_machine_code_may_write():
    f, args = CASES["grid"]
    at = ad.jacobian(f, sparsity="auto", native=True).at(*args)
    expected = at.values(*args)
    between = np.zeros(2 * len(expected))
    at.values(*args, out=between[::2], check=False)
    np.testing.assert_array_equal(between[::2], expected)
    assert not between[1::2].any()
    singles = np.zeros(len(expected), np.float32)
    at.values(*args, out=singles, check=False)
    np.testing.assert_allclose(singles, expected, rtol=1e-6)
    for length in (len(expected) - 1, len(expected) + 1):
        with pytest.raises(ValueError):
            at.values(*args, out=np.zeros(length), check=False)


def test_results_do_not_overwrite_what_is_read():
    f, (x, *rest) = CASES["branches"]
    at = ad.jacobian(f, sparsity="auto").at(x, *rest)
    expected = at.values(x, *rest)
    memory = np.zeros(max(len(expected), len(x)))
    memory[: len(x)] = x
    at.values(memory[: len(x)], *rest, out=memory[: len(expected)], check=False)
    np.testing.assert_array_equal(memory[: len(expected)], expected)


@pytest.mark.parametrize("name", ["grid", "branches"])
def test_patterns_and_entries_are_found_by_machine_code(name, monkeypatch):
    made = []
    compiled = unit.compiled
    monkeypatch.setattr(known_objects, "known_object", lambda entry: None)
    specialize.forget()
    monkeypatch.setattr(unit, "compiled", lambda *args, **kwargs: made.append(compiled(*args, **kwargs)) or made[-1])
    f, args = CASES[name]
    ad.jacobian(f, sparsity="auto", native=True)(*args)
    assert made
    assert not [callback.symbol for each in made for callback in each.callbacks]


def test_threads():
    f, (x, *rest) = CASES["branches"]
    at = ad.jacobian(f, sparsity="auto").at(x, *rest)
    expected = [at.values(x + k, *rest).copy() for k in range(4)]
    found = [None] * 4

    def work(k):
        found[k] = [at.values(x + k, *rest, check=False) for _ in range(20)]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        for values in found[k]:
            np.testing.assert_array_equal(values, expected[k])


def through_one_number(x, first):
    """What eight elements meet in, and eight results are made of."""
    r = np.zeros((len(first), 8))
    for k in range(len(first)):
        i = first[k]
        s = x[i] * x[i + 1] + x[i + 2] * x[i + 3] + x[i + 4] * x[i + 5] + x[i + 6] * x[i + 7]
        t = math.exp(s) / (1.0 + s * s)
        for j in range(4):
            r[k, j] += t * t
        r[k, 4] -= t
        r[k, 5] = math.sin(t) - t
        r[k, 6] = 2.0 * t
        r[k, 7] = t * x[i]
    return r


def test_products_go_through_what_paths_have_in_common(monkeypatch):
    made = []
    specialization = local.specialization
    monkeypatch.setattr(local, "specialization", lambda *args: made.append(specialization(*args)) or made[-1])
    x, first = RNG.normal(size=9), np.array([0, 1])
    found = ad.jacobian(through_one_number, sparsity="auto")(x, first)
    np.testing.assert_allclose(
        found.toarray(), np.reshape(ad.jacobian(through_one_number)(x, first), (16, 9)), rtol=1e-13, atol=1e-13
    )
    calls = [each for each in walk.statements_in(made[-1].function.body) if isinstance(each, ir.Call)]
    products = sum(each.callee is operator.mul for each in calls)
    assert products < 70, "forward mode has 8 for each of the nine operations that t goes through"


def roots(x, first):
    r = np.zeros(len(first))
    for k in range(len(first)):
        s = math.sqrt(x[first[k]] * x[first[k]]) + 2.0 * x[k]
        r[k] = s * s
    return r


def test_partial_derivatives_that_are_infinite():
    """Tangents that are zero stay so."""
    x, first = np.array([0.0, 1.0, 4.0]), np.array([0, 1, 0])
    found = ad.jacobian(roots, sparsity="auto")
    assert found.at(x, first).method == "local"
    np.testing.assert_array_equal(found(x, first).toarray(), [[0.0, 0.0, 0.0], [0.0, 18.0, 0.0], [0.0, 0.0, 32.0]])


@pytest.mark.parametrize("native", [False, True])
def test_entries_that_have_places_of_their_own(native):
    def f(x):
        r = np.zeros(2 * len(x))
        for i in range(len(x) - 1):
            y = x[i] * x[i + 1]
            r[2 * i] -= y / (1.0 + x[i] ** 2)
            if y > 0.0:
                r[2 * i + 1] -= math.cos(y)
        return r

    x = np.array([1.0, 2.0, -3.0, -4.0, 5.0])
    at = ad.jacobian(f, sparsity="auto", native=native).at(x)
    assert at.method == "local"
    for point in (x, -x[::-1].copy(), np.abs(x)):
        expected = ad.jacobian(f)(point)
        np.testing.assert_allclose(at.matrix(point).toarray(), expected, rtol=1e-13, atol=1e-15)
        out = at.values(point, out=np.full(len(at.cols), np.nan), check=False)
        np.testing.assert_allclose(out, expected[at.rows, at.cols], rtol=1e-13, atol=1e-15)
