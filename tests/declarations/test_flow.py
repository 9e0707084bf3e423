"""Derivatives of values with respect to variables of the same function."""

import functools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused

compiled = functools.partial(ad.compile, native=False)
rng = np.random.default_rng(0)


def logarithm(x):
    y = math.log(x)
    return ad.derivative(y, wrt=x)


def test_the_whitepapers_example() -> None:
    assert compiled(logarithm)(2.0) == 0.5
    assert ad.source(compiled(logarithm), 2.0) == "def logarithm_compile(x):\n    return 1.0 / x\n"

    def of_a_constant():
        x = 2.0
        y = math.log(x)
        return ad.derivative(y, wrt=x)

    assert compiled(of_a_constant)() == 0.5


def test_they_are_differentiated() -> None:
    assert ad.grad(logarithm)(2.0) == -0.25
    assert ad.jvp(logarithm, (2.0,), (1.0,)) == (0.5, -0.25)
    assert ad.grad(ad.grad(logarithm))(2.0) == 0.25

    def several_times(x):
        y = x * x * x
        slope = ad.derivative(y, wrt=x)
        return slope, ad.derivative(slope, wrt=x)

    assert compiled(several_times)(2.0) == (12.0, 12.0)


def test_the_variable_counts_not_the_number() -> None:
    def product(x, z):
        y = x * z
        return ad.derivative(y, wrt=x)

    assert compiled(lambda t: product(t, t))(3.0) == 3.0
    assert ad.grad(lambda t: product(t, t))(3.0) == 1.0

    def under_another_name(x):
        z = x
        y = z * z
        return ad.derivative(y, wrt=x)

    assert compiled(under_another_name)(3.0) == 6.0

    def since_it_was_assigned(x):
        x = x * x
        y = 3.0 * x
        return ad.derivative(y, wrt=x)

    assert compiled(since_it_was_assigned)(5.0) == 3.0


def through_branches_and_loops(x, n):
    y = 1.0
    for i in range(n):
        if i % 2:
            y = y * x
        else:
            y = y + x * x
    while y < 100.0:
        y = y * x
    return ad.derivative(y, wrt=x)


def test_branches_and_loops() -> None:
    def value(x, n):
        y = 1.0
        for i in range(n):
            y = y * x if i % 2 else y + x * x
        while y < 100.0:
            y = y * x
        return y

    for n in (0, 1, 5):
        expected = ad.grad(value)(1.5, n)
        assert compiled(through_branches_and_loops)(1.5, n) == pytest.approx(expected)
        assert ad.grad(through_branches_and_loops)(1.5, n) == pytest.approx(ad.grad(ad.grad(value))(1.5, n))
    assert ad.compile(through_branches_and_loops)(1.5, 5) == pytest.approx(ad.grad(value)(1.5, 5))

    def inside_a_branch(x, way):
        y = x * x
        if way > 0.0:
            z = y * x
            slope = ad.derivative(z, wrt=x)
        else:
            slope = ad.derivative(y, wrt=x)
        return slope

    assert compiled(inside_a_branch)(2.0, 1.0) == 12.0
    assert compiled(inside_a_branch)(2.0, -1.0) == 4.0

    def assigned_in_branches(x):
        if x > 1.0:
            x = 2.0 * x
        else:
            x = 3.0 * x
        y = x * x
        return ad.derivative(y, wrt=x)

    assert compiled(assigned_in_branches)(2.0) == 8.0
    assert compiled(assigned_in_branches)(0.5) == 3.0


def test_inside_of_loops() -> None:
    def powers(x, n):
        y, slopes = 1.0, []
        for _ in range(n):
            y = y * x
            slopes.append(ad.derivative(y, wrt=x))
        return slopes

    assert compiled(powers)(2.0, 4) == [1.0, 4.0, 12.0, 32.0]

    def descent(x):
        for _ in range(3):
            loss = (x - 3.0) ** 2
            x = x - 0.25 * ad.derivative(loss, wrt=x)
        return x

    assert compiled(descent)(1.0) == 2.75
    assert ad.grad(descent)(1.0) == 0.125

    def each_iteration(x):
        total, i = 0.0, 0
        while i < 3:
            y = x**i
            total += ad.derivative(y, wrt=x)
            i += 1
        return total

    assert compiled(each_iteration)(2.0) == 5.0

    def through_memory(x):
        h, slopes = np.zeros(3), []
        for i in range(3):
            h[i] = x * (i + 1)
            slopes.append(ad.derivative(np.sum(h * h), wrt=x))
        return slopes

    assert compiled(through_memory)(2.0) == [4.0, 20.0, 56.0]

    def downwards(x, n):
        total, y = 0.0, 1.0
        for i in range(n, 0, -1):
            y = y * x * i
            total = total + ad.derivative(y, wrt=x)
        return total

    assert compiled(downwards)(2.0, 3) == 99.0
    assert ad.grad(downwards)(2.0, 3) == 84.0


def test_memory_of_each_iteration() -> None:
    def f(x):
        total = 0.0
        for i in range(3):
            h = np.zeros(2)
            h[0] = x * i
            h[1] = h[0] * x
            total += ad.derivative(h[1], wrt=x)
        return total

    assert compiled(f)(2.0) == 12.0


def test_memory_made_on_the_way() -> None:
    def f(x):
        h, items = np.zeros(3), []
        for i in range(3):
            h[i] = x * i
            items.append(x * i)
        y = np.sum(h * h) + sum(items) * x
        h[0] = 7.0
        items.append(5.0)
        return ad.derivative(y, wrt=x)

    assert compiled(f)(2.0) == 20.0 + 12.0


@dataclass
class Line:
    slope: float
    start: float


def test_structures() -> None:
    def f(line, x):
        y = (line.slope * x + line.start) ** 2
        return ad.derivative(y, wrt=line)

    found = compiled(f)(Line(2.0, 1.0), 3.0)
    assert (found.slope, found.start) == (42.0, 14.0)

    def g(w, b):
        h = np.tanh(2.0 * w + b)
        loss = np.sum(h * h)
        return ad.derivative(loss, wrt=(w, b))

    slopes = compiled(g)(np.ones(2), np.ones(2))
    np.testing.assert_allclose(slopes[0], 2.0 * slopes[1])

    def pair(x):
        x = [x, 2.0 * x]
        y = x[0] * x[1]
        return ad.derivative(y, wrt=x)

    assert compiled(pair)(3.0) == [6.0, 3.0]


def recursive(x, n):
    if n == 0:
        return x
    y = x * x
    return recursive(y, n - 1) + ad.derivative(y, wrt=x)


def test_recursion() -> None:
    x = 1.1
    assert compiled(lambda x: recursive(x, 3))(x) == pytest.approx(2 * x + 2 * x**2 + 2 * x**4 + x**8)
    assert ad.grad(lambda x: recursive(x, 3))(x) == pytest.approx(2 + 4 * x + 8 * x**3 + 8 * x**7)


def test_cotangents_changed_on_the_way() -> None:
    def f(x):
        y = ad.with_derivative(x * x, lambda ct: 10.0 * ct)
        return ad.derivative(3.0 * y, wrt=x)

    assert compiled(f)(2.0) == 120.0

    def behind_a_block(x):
        loss = x * x
        with ad.backward(x) as x_bar:
            print(x_bar)
        return ad.derivative(loss, wrt=x)

    assert compiled(behind_a_block)(2.0) == 4.0


def test_no_dependence() -> None:
    def f(x):
        y = 3.0
        return ad.derivative(y, wrt=x)

    with pytest.warns(ad.DifferentiationWarning, match=r"AD0501(.|\n)*nothing of 'x' reaches the value"):
        assert compiled(f)(2.0) == 0.0


def test_plain_python() -> None:
    problem = refused(lambda: logarithm(2.0)).diagnostics[0]
    assert problem.code == "AD0232"
    assert problem.labels[0].text == "the function around runs as plain Python, which keeps no flow"
    assert problem.labels[0].span.column == 11


def opaque(x):
    y = x
    for _ in range(3):
        y = y * rng.random()
    return ad.derivative(y, wrt=x)


def test_what_would_not_be_the_same_again_is_refused() -> None:
    assert refused(lambda: compiled(opaque)(2.0)).diagnostics[0].code in ("AD0232", "AD0201")

    def drawn_before(x):
        r = rng.random()
        y = x * r
        return ad.derivative(y, wrt=x) / r

    assert compiled(drawn_before)(2.0) == 1.0


def by_a_field(line):
    y = line.slope * line.slope
    return ad.derivative(y, wrt=line.slope)


def by_an_integer(n):
    y = 2.0 * n
    return ad.derivative(y, wrt=n)


def assigned_and_used_in_branches(x):
    if x > 0:
        y = x * x
        z = y * y
    else:
        y = x
        z = y
    return ad.derivative(z, wrt=y)


def assigned_in_one_branch(x):
    y = x
    z = y * y
    if x > 0:
        y = y + 1
    return ad.derivative(z * y, wrt=y)


def assigned_and_used_in_a_loop(x):
    y, total = x, 0.0
    for _ in range(3):
        y = y * x
        total = total + y
    return ad.derivative(y * y + total, wrt=y)


@pytest.mark.parametrize("f", [assigned_and_used_in_branches, assigned_in_one_branch, assigned_and_used_in_a_loop])
def test_what_is_computed_before_paths_meet_is_refused(f: Any) -> None:
    """It counted as a constant: of the last one, the derivative was that of ``y * y``."""
    problem = refused(lambda: compiled(f)(0.5)).diagnostics[0]
    assert problem.code == "AD0232"
    label = "the value is computed from the variable on one of the paths that assign it, which meet before this"
    assert problem.labels[0].text == label
    assert problem.helps == (
        "take the derivative on that path",
        "or compute the value behind the place where they meet",
    )


def test_what_is_computed_behind_the_place_where_paths_meet() -> None:
    def behind(x):
        y = x
        for _ in range(3):
            y = y * x
        if x > 0:
            z = y * y + x
        else:
            z = x
        return ad.derivative(z, wrt=y)

    assert compiled(behind)(0.5) == 0.125


def power_until(x):
    y, slopes = x, 0.0
    while y < 100.0:
        y = y * x
        slopes = 0.5 * slopes + ad.derivative(y, wrt=x)
    return slopes


def power_until_by_hand(x):
    y, n, slopes = x, 1, 0.0
    while y < 100.0:
        y, n = y * x, n + 1
        slopes = 0.5 * slopes + n * x ** (n - 1)
    return slopes


def left_on_several_paths(x):
    y, total, n = x, 0.0, 0
    while True:
        n += 1
        if n % 3 == 0:
            y = y + x
            continue
        y = math.sin(y) * x
        total = total + ad.derivative(y * y, wrt=x)
        if n > 6:
            break
    return total


def left_on_several_paths_by_hand(x):
    y, slope, total = x, 1.0, 0.0
    for n in range(1, 8):
        if n % 3 == 0:
            y, slope = y + x, slope + 1.0
            continue
        y, slope = math.sin(y) * x, math.cos(y) * slope * x + math.sin(y)
        total = total + 2.0 * y * slope
    return total


def in_nested_loops(x):
    a, total, i = np.ones(3) * x, 0.0, 0
    while i < 3:
        j = 0
        while j < 2:
            a[i] = a[i] * a[(i + 1) % 3]
            total = total + ad.derivative(np.sum(a), wrt=x)
            j += 1
        i += 1
    return total


def in_nested_loops_by_hand(x):
    a, slope, total = np.ones(3) * x, np.ones(3), 0.0
    for i in range(3):
        for _ in range(2):
            after = (i + 1) % 3
            slope[i] = slope[i] * a[after] + a[i] * slope[after]
            a[i] = a[i] * a[after]
            total = total + np.sum(slope)
    return total


@pytest.mark.parametrize(
    ("f", "by_hand", "x"),
    [
        (power_until, power_until_by_hand, 3.1),
        (left_on_several_paths, left_on_several_paths_by_hand, 0.8),
        (in_nested_loops, in_nested_loops_by_hand, 0.8),
    ],
)
def test_iterations_of_while_loops_are_run_again(f: Any, by_hand: Any, x: float) -> None:
    """What is read behind the loop makes no difference: a variable that is not was taken as a constant."""
    assert compiled(f)(x) == pytest.approx(by_hand(x))
    slope = ad.grad(by_hand)(x)
    assert ad.grad(f)(x) == pytest.approx(slope)
    assert ad.jvp(f, (x,), (1.0,))[1] == pytest.approx(slope)
    assert ad.grad(ad.grad(f))(x) == pytest.approx(ad.grad(ad.grad(by_hand))(x))


def test_a_while_loop_that_is_run_again_in_machine_code() -> None:
    assert ad.grad(power_until, native=True)(3.1) == pytest.approx(ad.grad(power_until_by_hand)(3.1))


def of_an_array(x):
    return ad.derivative(x * np.ones(3), wrt=x)


def of_a_closure(x):
    def inner():
        y = x * x
        return ad.derivative(y, wrt=x)

    return inner()


def of_memory_from_before(x, h):
    h[0] = x * x
    return ad.derivative(np.sum(h), wrt=x)


def in_an_iterator(x, factors):
    y, total = x, 0.0
    for factor in set(factors):
        y = y * x * factor
        total += ad.derivative(y, wrt=x)
    return total


def in_a_try(x):
    y = x * x
    try:
        slope = ad.derivative(y, wrt=x)
    except ValueError:
        slope = 0.0
    return slope


@pytest.mark.parametrize(
    ("f", "args", "code", "label"),
    [
        (by_a_field, (Line(2.0, 1.0),), "AD0232", "this is no variable"),
        (by_an_integer, (3,), "AD0232", "'n' is an integer, which does not vary"),
        (of_an_array, (3.0,), "AD0406", "this is the derivative of an array of rank 1, not of a number"),
        (of_a_closure, (3.0,), "AD0232", "'x' is a variable from outside of the function"),
        (of_memory_from_before, (3.0, np.ones(2)), "AD0232", "'h' is changed in place where the value is computed"),
        (in_an_iterator, (3.0, (1.0, 2.0)), "AD0232", "through earlier items of an iterator"),
        (in_a_try, (3.0,), "AD0232", "this stands in a 'try' or 'with' statement"),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)
def test_refusals(f: Any, args: tuple[Any, ...], code: str, label: str) -> None:
    problem = refused(lambda: compiled(f)(*args)).diagnostics[0]
    assert problem.code == code
    assert label in problem.labels[0].text
