"""What a selection left out is known across calls: derivatives with every function kept, and with all inlined, agree.

At the places where slopes are infinite, both give the same numbers, and are not numbers for the same reasons.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.target import ALL_INLINED
from adjoint.testing import check_grads, clone
from fuzz.inlining import repeating

X = np.array([0.0, 4.0, -1.0])


def root(v):
    return np.sqrt(v)


def square(v):
    return v * v


def positive(v, y):
    return np.where(v > 0, y, 0.0)


def guarded_before(x):
    return np.sum(square(root(np.where(x > 0, x, 1.0))) + positive(x, root(x)))


def guarded_after(x):
    return np.sum(square(positive(x, root(x))))


def squares_of_roots(x):
    return np.sum(square(root(x)))


def overflowing(v):
    return np.exp(v * 400.0)


def left_out_where_it_overflows(x):
    return np.sum(np.where(x > 1.0, 0.0, overflowing(x)))


def scaled(v, w):
    a = np.sqrt(v) * w
    return a * a + np.sin(w) * a


def two_results(v):
    return np.sqrt(v), v * 3.0


def of_two_results(x):
    a, b = two_results(x)
    c, d = two_results(b)
    return np.sum(np.where(x > 0, a * c, b)) + np.sum(square(d))


def in_a_loop(x):
    total = 0.0
    y = x
    for k in range(3):
        y = positive(x, scaled(y, k + 0.5))
        total += np.sum(y)
    return total


def written(v, out):
    for i in range(len(v)):
        out[i] = math.sqrt(abs(v[i]))


def picked(v, out):
    for i in range(len(v)):
        if v[i] > 0:
            out[i] *= v[i]
        else:
            out[i] = 0.5


def into_memory(x):
    out = np.zeros(3)
    written(x, out)
    picked(x, out)
    return np.sum(out * out)


def into_memory_all_read(x):
    out = np.zeros(3)
    written(x, out)
    total = 0.0
    for i in range(3):
        total += square(out[i])
    return total


def appended(ys, v):
    ys.append(math.sqrt(abs(v)))


def into_a_list(x):
    ys = [0.0]
    for i in range(3):
        appended(ys, x[i])
    ys[1] = 2.0
    total = 0.0
    for y in ys:
        total += square(y)
    return total


def entries(table, x):
    for i in range(3):
        table[i] = math.sqrt(abs(x[i]))


def into_a_dict(x):
    table = {0: 0.0}
    entries(table, x)
    return sum(square(table[i]) for i in range(1, 3))


class State:
    def __init__(self, y):
        self.y = y

    def take(self, v):
        self.y = self.y + math.sqrt(abs(v))

    def drop(self):
        self.y = 1.0


def into_an_object(x):
    states = [State(0.5 * i) for i in range(3)]
    for i in range(3):
        states[i].take(x[i])
    states[0].drop()
    return sum(square(state.y) for state in states)


def layered(v, depth):
    if depth == 0:
        return np.sqrt(v)
    return positive(v, layered(v, depth - 1) * 2.0)


def recursive(x):
    return np.sum(square(layered(x, 3)))


def outer_layer(v):
    return positive(v, inner_layer(v) + 1.0)


def inner_layer(v):
    return root(v) * square(root(v))


def nested(x):
    return np.sum(outer_layer(x) * outer_layer(x * 2.0))


def norm(v):
    return math.sqrt(np.sum(v * v))


def norms_of_rows(x):
    rows = [x * 0.0, x, x - 4.0]
    total = 0.0
    for row in rows:
        n = norm(row)
        total += n if n > 0 else 0.0
    return total


def largest(x):
    return np.sum(np.maximum(root(np.abs(x)), 0.5)) + np.max(positive(x, scaled(x, x)))


def by_a_mask(x):
    y = np.zeros(3)
    mask = x > 0
    y[mask] = root(x)[mask]
    return np.sum(square(y))


def one_element(x):
    return root(x)[1] * square(root(x))[1]


PROGRAMS = [
    *(guarded_before, guarded_after, squares_of_roots, left_out_where_it_overflows, of_two_results, in_a_loop),
    *(into_memory, into_memory_all_read, into_a_list, into_a_dict, into_an_object, recursive, nested, norms_of_rows),
    *(largest, by_a_mask, one_element),
]


def derivatives(f: Callable[..., Any], **options: Any) -> dict[str, Any]:
    found = {"grad": ad.grad(f, **options)(X), "vjp": ad.vjp(f, X, **options)[1](1.0)[0]}
    for number, direction in enumerate((np.ones(3), np.array([0.0, 1.0, 0.5]), np.array([1.0, 0.0, 0.0]))):
        found[f"jvp {number}"] = ad.jvp(f, (X,), (direction,), **options)[1]
    return found


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_same_with_calls(f: Callable[..., Any]) -> None:
    with np.errstate(all="ignore"):
        with repeating(ALL_INLINED):
            expected = derivatives(f)
        with repeating(0):
            found = derivatives(f)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12, err_msg=name)


def test_a_recursion_of_unknown_depth_tells_what_was_left_out() -> None:
    def f(x: Any, depth: int) -> Any:
        return np.sum(np.where(x > 0, layered(np.sqrt(x), depth), 0.0))

    with np.errstate(all="ignore"):
        for depth in (0, 1, 3):
            expected = [0.0, 2.0**depth * 0.25 * 4.0**-0.75, 0.0]  # of fourth roots
            np.testing.assert_allclose(ad.grad(f)(X, depth), expected)
            np.testing.assert_allclose(ad.vjp(f, X, depth)[1](1.0)[0], expected)
            np.testing.assert_allclose(ad.jvp(f, (X, depth), (np.ones(3), None))[1], expected[1])
            np.testing.assert_allclose(ad.grad(f, native=True)(X, depth), expected)


@pytest.mark.parametrize("f", [in_a_loop, into_memory, largest, recursive])
def test_the_same_with_calls_in_machine_code(f: Callable[..., Any]) -> None:
    with np.errstate(all="ignore"), repeating(0):
        found = ad.vjp(f, X, native=True)[1](1.0)[0]
    np.testing.assert_allclose(found, ad.grad(f)(X), rtol=1e-12)


def checkpointed_where_a_support_is_an_array(x: float) -> float:
    root = ad.implicit(lambda a: math.sqrt(a + 2), lambda z, a: z * z - a - 2)(x) * x

    def scaled(y: float) -> float:
        np.linalg.matrix_power(np.array([[y, 0.3], [0.59, x]]), 3)
        return y * 0.47 + root * y

    return ad.checkpoint(scaled)(root) + ad.checkpoint(scaled)(x)


def test_supports_that_are_arrays_go_through_checkpoints() -> None:
    with repeating(0):
        check_grads(checkpointed_where_a_support_is_an_array, (0.59,), order=2)


def writes_and_leaves_out(x: float, v: Any, w: Any) -> float:
    v += w
    return np.nansum(root(w * x)) + np.sum(v) * x


def writes_and_recurses(x: float, v: Any, w: Any) -> float:
    v *= 2.0
    return np.sum(layered(w * x, 2)) + np.sum(v * w)


@pytest.mark.parametrize("f", [writes_and_leaves_out, writes_and_recurses])
def test_derivatives_of_derivatives_that_write_arguments_tell_what_was_left_out(f: Callable[..., Any]) -> None:
    point, direction = (0.33, np.array([0.3, 0.4]), np.array([-0.5, 0.7])), (0.4, np.array([-0.3, 0.4]), np.ones(2))
    found = []
    for most in (ALL_INLINED, 0):
        with np.errstate(all="ignore"), repeating(most):
            found.append(ad.hvp(f, clone(point), direction))
            found.append(ad.jvp(ad.grad(f, (0, 1, 2)), clone(point), direction)[1])
    for product in found:
        for mine, others in zip(product, found[0], strict=True):
            np.testing.assert_allclose(mine, others, rtol=1e-12)
            assert np.isfinite(mine).all()
