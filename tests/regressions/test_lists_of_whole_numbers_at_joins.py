"""A list of whole numbers that a reference may be, beside a list of what varies: it has a shadow of zeros."""

from __future__ import annotations

import pytest

import adjoint as ad


def picked(x, ys, n):
    zs = ys if n > 0 else [x, x * x, 0.5]
    return zs[0] * x + zs[1]


def lengthened(x, ys, n):
    if n > 0:
        ys.append(2)
        zs = ys
    else:
        zs = [x, x * x, 0.5, x]
    return zs[0] * x + zs[3] * x


def lengthened_later(x, ys, n):
    zs = ys if n > 0 else [x, x * x, 0.5]
    zs.append(x)
    return zs[0] * x + zs[3] * x


def stored_into(x, ys, n):
    zs = ys if n > 0 else [x, x * x, 0.5]
    zs[1] = zs[1] * x
    return zs[0] * x + zs[1]


def carried(x, ys, n):
    zs = ys
    for i in range(n):
        zs = [z * x + i for z in zs]
    return sum(zs)


def from_a_dict(x, ys, n):
    lists = {"own": [x, x * x, 0.5], "given": ys}
    zs = lists["given"] if n > 0 else lists["own"]
    return zs[0] * x + zs[1]


FUNCTIONS = [picked, lengthened, lengthened_later, stored_into, carried, from_a_dict]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_are_right(function, n, native):
    x, step = 1.5, 1e-5
    ways = [function(x + sign * step, [1, 2, 3], n) for sign in (1, -1)]
    value, slope = ad.value_and_grad(function, native=native)(x, [1, 2, 3], n)
    assert value == pytest.approx(function(x, [1, 2, 3], n))
    assert slope == pytest.approx((ways[0] - ways[1]) / (2 * step), rel=1e-7)
    _, tangent = ad.jvp(function, (x, [1, 2, 3], n), (1.0, None, None), native=native)
    assert tangent == pytest.approx(slope)


@pytest.mark.parametrize("n", [0, 1, 2])
@pytest.mark.parametrize("function", [picked, carried, from_a_dict])
def test_second_derivatives_are_right(function, n):
    x, step = 1.5, 1e-5
    ways = [ad.grad(function)(x + sign * step, [1, 2, 3], n) for sign in (1, -1)]
    assert ad.grad(ad.grad(function))(x, [1, 2, 3], n) == pytest.approx((ways[0] - ways[1]) / (2 * step), abs=1e-5)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_lists_are_left_as_the_function_leaves_them(function):
    ours, own = [1, 2, 3], [1, 2, 3]
    ad.grad(function)(1.5, ours, 1)
    function(1.5, own, 1)
    assert ours == own


def made_on_two_paths(x, n):
    if n > 1:
        quotients = [0] * n
        while n > 1:
            n -= 1
            last = quotients[n] = x * x / n
    else:
        last, quotients = x, [1]
    quotients.append(2)
    return sum(quotients) * last * quotients[0] + quotients[-2] * x


def made_in_loops(x, n):
    rows = {"a": [1, 2]}
    for i in range(n):
        if i % 2:
            rows["b"] = rows["a"]
        rows["a"] = [x * v + i for v in rows["a"]]
    return x * rows["a"][0] * rows.get("b", [3])[0]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("function", [made_on_two_paths, made_in_loops])
def test_lists_that_the_program_makes(function, n, native):
    assert ad.grad(function, native=native)(1.5, n) == pytest.approx(
        (function(1.5 + 1e-5, n) - function(1.5 - 1e-5, n)) / 2e-5, rel=1e-7
    )
    if not native:
        ad.testing.check_grads(lambda x: function(x, n), (1.5,))
