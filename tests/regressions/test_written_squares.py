"""Squares whose memory is written before a root is taken: what was zero in a tangent may not be so later."""

import numpy as np
import pytest

import adjoint as ad

X = np.array([1.0, 3.0, 2.0])


def replaced(x):
    d = x * x
    d[0] = x[1] * x[1]
    return np.sqrt(d)


def through_a_view(x):
    d = x * x
    first = d[:2]
    first[0] = x[1] * x[1]
    return np.sqrt(d)


def in_order(x):
    d = x * x
    d.sort()
    return np.sqrt(d)


def added(x):
    d = x * x
    d[1:] += x[:-1] * x[:-1]
    return np.log(d)


def added_up(x):
    d = x * x
    for i in range(2):
        d[i + 1] += d[i]
    return np.sqrt(d)


def exchanged(x):
    d = x * x
    d[[0, 1]] = d[[1, 0]]
    return np.sqrt(d)


def copied_over(x):
    d = x * x
    np.copyto(d, np.roll(x, 1) ** 2)
    return np.sqrt(d)


def out(x):
    d = x * x
    np.add(d, np.roll(x, 1) ** 2, out=d)
    return np.sqrt(d)


def one_of_two(x):
    d = x * x
    e = d if x[0] > 0.0 else x * 3.0
    e[0] = x[1] * x[1]
    return np.sqrt(d)


def in_an_inner_function(x):
    def put(a):
        a[0] = x[1] * x[1]

    d = x * x
    put(d)
    return np.sqrt(d)


def scaled_in_place(x):
    d = x * x
    d *= x[0]
    d[0] = x[1] * x[2]
    return np.sqrt(d)


def of_products(x):
    d = np.outer(x, x)
    d[0, 1] = x[2] * x[2]
    return np.sqrt(d)


def zeros_put_in(x):
    d = x * x
    d[0] = 0.0
    return np.sqrt(d)


def zeros_beside(x):
    return np.sqrt(np.concatenate([np.zeros(1), x * x]))


def zeros_above(x):
    return np.sqrt(np.stack([np.zeros(3), x * x]))


AT_ZERO = zeros_put_in, zeros_beside, zeros_above
PROGRAMS = [
    *(replaced, through_a_view, in_order, added, added_up, exchanged, copied_over, out, one_of_two),
    *(in_an_inner_function, scaled_in_place, of_products, *AT_ZERO),
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_tangents_in_each_direction(program) -> None:
    value, pullback = ad.vjp(program, X)
    rows = [pullback(unit.reshape(value.shape))[0] for unit in np.eye(value.size)]
    for k, direction in enumerate(np.eye(3)):
        tangent = ad.jvp(program, (X,), (direction,))[1]
        assert np.allclose(np.ravel(tangent), [row[k] for row in rows], rtol=1e-12)
        if program not in AT_ZERO:
            moved = program(X + 1e-6 * direction) - program(X - 1e-6 * direction)
            assert np.allclose(tangent, moved / 2e-6, rtol=1e-7)


@pytest.mark.parametrize("program", [replaced, in_order, added_up, of_products])
def test_products_with_hessians(program) -> None:
    def total(x):
        return np.sum(program(x) ** 3)

    for direction in np.eye(3):
        moved = ad.grad(total)(X + 1e-6 * direction) - ad.grad(total)(X - 1e-6 * direction)
        assert np.allclose(ad.hvp(total, (X,), (direction,))[0], moved / 2e-6, rtol=1e-6, atol=1e-6)


def test_zeros_by_chance_are_no_zeros() -> None:
    for program in (replaced, zeros_put_in, zeros_beside):
        value, pullback = ad.vjp(program, np.zeros(3))
        rows = np.array([pullback(unit)[0] for unit in np.eye(value.size)])
        tangents = np.array([ad.jvp(program, (np.zeros(3),), (unit,))[1] for unit in np.eye(3)])
        assert np.array_equal(rows, tangents.T, equal_nan=True) and np.any(np.isnan(rows))
