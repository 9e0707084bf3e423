"""Matrices that are factorised once are right where something writes to them: through views, in loops, in functions."""

import numpy as np
import pytest

import adjoint as ad

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")


def part_of_a_stack(m, b):
    m = m.copy()
    a = m[0]
    x = np.linalg.solve(a, b)
    m[0, 0, 0] += 1.0
    return x @ np.linalg.solve(a, b * x)


def diagonal_filled(m, b):
    a = m[0].copy()
    x = np.linalg.solve(a, b)
    np.fill_diagonal(a, a[0, 1] + 5.0)
    return x @ np.linalg.solve(a, b * x)


def written_through_the_transpose(m, b):
    a = m[0].copy()
    x = np.linalg.solve(a, b)
    a.T[0, 1] += x[0]
    return x @ np.linalg.solve(a, b * x)


def written_through_flat_views(m, b):
    a = m[0].copy()
    x = np.linalg.solve(a, b)
    a.ravel()[1] += x[0]
    a.reshape(-1)[2] *= 2.0
    return x @ np.linalg.solve(a, b * x)


def written_as_out(m, b):
    a = m[0].copy()
    x = np.linalg.solve(a, b)
    np.add(a, np.eye(len(b)), out=a)
    return x @ np.linalg.solve(a, b * x)


def put(a, x):
    a[0] += x


def written_by_a_function(m, b):
    a = m[0].copy()
    x = np.linalg.solve(a, b)
    put(a, x)
    return x @ np.linalg.solve(a, b * x)


def matrices_in_a_list(m, b):
    both = [m[0].copy(), m[1].copy()]
    s = 0.0
    for i in range(4):
        a = both[i % 2]
        x = np.linalg.solve(a, b)
        s += x @ x
        both[(i + 1) % 2][0, 0] += x[0]
        s += np.sum(np.linalg.solve(a, x))
    return s


class Holder:
    pass


def matrix_in_an_object(m, b):
    o = Holder()
    o.a = m[0].copy()
    s = 0.0
    for i in range(3):
        s += np.sum(np.linalg.solve(o.a, b))
        o.a += np.eye(len(b))
        s += np.linalg.slogdet(o.a)[1]
    return s


def other_matrix_in_each_iteration(m, b):
    a = m[0].copy()
    for i in range(3):
        b = np.linalg.solve(a, b)
        a = a + np.outer(b, b)
        b = b + np.linalg.solve(a.T, b)
    return b @ b


def matrix_that_a_loop_changes(m, b):
    a = m[0].copy()
    for i in range(3):
        b = np.linalg.solve(a, b)
        a *= 1.1
        a += np.outer(b, b)
        b = b + np.linalg.solve(a.T, b)
    return b @ b


def each_of_a_stack(m, b):
    s = 0.0
    for a in m:
        s += np.sum(np.linalg.solve(a, b)) + np.linalg.slogdet(a)[1]
    return s


def singular_one_is_handled(m, b):
    s = 0.0
    for a in m:
        try:
            s += np.sum(np.linalg.solve(a - a[0, 0] * np.ones_like(a), b))
        except np.linalg.LinAlgError:
            s += np.sum(a)
        a = a + np.eye(len(b))
        s += np.linalg.slogdet(a)[1] * np.sum(np.linalg.inv(a))
    return s


def loop_on_one_path(m, b):
    a = m[0]
    if b[0] > 0:
        for _ in range(2):
            b = np.linalg.solve(a, b) + 1.0
    else:
        b = np.linalg.inv(a) @ b
    return np.sum(np.linalg.solve(a.T, b)) + np.linalg.slogdet(a)[0]


PROGRAMS = [
    part_of_a_stack,
    diagonal_filled,
    written_through_the_transpose,
    written_through_flat_views,
    written_as_out,
    written_by_a_function,
    matrices_in_a_list,
    matrix_in_an_object,
    other_matrix_in_each_iteration,
    matrix_that_a_loop_changes,
    each_of_a_stack,
    singular_one_is_handled,
    loop_on_one_path,
]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("n", [3, 70])
@pytest.mark.parametrize(("program", "sign"), [*((each, 1.0) for each in PROGRAMS), (loop_on_one_path, -1.0)])
def test_derivatives(program, n, native, sign):
    rng = np.random.default_rng(1)
    m, b = rng.normal(size=(2, n, n)) + 3 * np.sqrt(n) * np.eye(n), sign * rng.normal(size=n)
    v, w, h = rng.normal(size=m.shape), rng.normal(size=n), 1e-6
    gradient = ad.grad(program, wrt=(0, 1), native=native)
    found = gradient(m, b)
    assert all(map(np.array_equal, found, gradient(m, b)))
    slope = np.sum(found[0] * v) + found[1] @ w
    ahead, behind = (m + h * v, b + h * w), (m - h * v, b - h * w)
    np.testing.assert_allclose(slope, (program(*ahead) - program(*behind)) / (2 * h), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(ad.jvp(program, (m, b), (v, w), native=native)[1], slope, rtol=1e-8)
    products = ad.hvp(program, (m, b), (v, w), native=native)
    for product, one, other in zip(products, gradient(*ahead), gradient(*behind), strict=True):
        np.testing.assert_allclose(product, (one - other) / (2 * h), rtol=1e-3, atol=1e-5)
