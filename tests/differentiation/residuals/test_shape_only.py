"""Nothing is kept for its shape alone, and what is broadcast is summed all the same."""

import contextlib
import io

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


def kept(f, *args):
    """How many values each loop keeps, and the text of the derivative."""
    with contextlib.redirect_stdout(io.StringIO()):
        report = ad.tape_report(ad.grad(f), *args)
    return [len(loop.kept) for loop in report.loops]


def heat(u, dt):
    for _ in range(3):
        u[1:-1] += dt * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def burgers(u, dt):
    u = u.copy()
    for _ in range(3):
        u[1:] -= dt * u[1:] * (u[1:] - u[:-1])
    return np.sum(u**2)


def test_a_linear_stencil_keeps_nothing() -> None:
    assert kept(heat, np.ones(6), 0.1) == [0]


def test_a_stencil_keeps_the_factors_of_its_products() -> None:
    assert kept(burgers, np.ones(6), 0.1) == [2]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("f", [heat, burgers])
def test_whatever_the_size(f, size) -> None:
    check_grads(f, (np.linspace(0.3, 1.2, size), 0.1))


def first_row_added(a):
    for _ in range(2):
        a[1:] = a[1:] * a[:1] + a[0]
    return np.sum(a * a)


def outer_by_new_axes(u, v):
    total = 0.0
    for k in range(2):
        t = u[:, None] * v[None, :] + u[k]
        total += np.sum(t * t)
    return total


def a_part_of_extent_one(u):
    u = u * 1.0
    for _ in range(2):
        u[1:] = u[1:] * u[:1] - u[-1:]
    return np.sum(u**2)


def changing_shapes(u):
    t = u * 2.0
    while len(t) > 2:
        t = t[1:] * t[:-1] + t[:1]
    return np.sum(t)


def by_steps(u):
    for _ in range(2):
        u[::2] += u[1::2] * u[::2]
    return np.sum(u**2)


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (first_row_added, (np.arange(6.0).reshape(3, 2) / 5.0,)),
        (first_row_added, (np.arange(2.0).reshape(2, 1) / 5.0 + 0.3,)),
        (outer_by_new_axes, (np.array([0.3, -0.2]), np.array([0.1, 0.7, 0.4]))),
        (outer_by_new_axes, (np.array([0.3, -0.2]), np.array([0.1]))),
        (a_part_of_extent_one, (np.array([0.3, -0.2, 0.5]),)),
        (a_part_of_extent_one, (np.array([0.3, -0.2]),)),
        (changing_shapes, (np.array([0.3, -0.2, 0.5, 0.9]),)),
        (by_steps, (np.array([0.3, -0.2, 0.5, 0.9]),)),
    ],
)
def test_broadcasting(f, args) -> None:
    check_grads(f, args)


def test_a_pullback_keeps_no_more() -> None:
    _, pullback = ad.vjp(heat, np.ones(6), 0.1)
    assert ad.source(pullback).count("_kept") == 2  # for the derivative by dt: a parameter, and where it is read


def attracted(pos, mass):
    """What is spread over several axes has the shape of what is kept for its values."""
    for _ in range(3):
        d = pos[None, :, :] - pos[:, None, :]
        pull = np.sum(d / (np.sum(d * d, axis=2, keepdims=True) + 0.1), axis=1)
        pos = pos + 0.1 * mass * pull
    return np.sum(pos.T @ pos)


def test_sums_over_axes_keep_no_shapes() -> None:
    pos = np.random.default_rng(4).normal(size=(4, 3))
    check_grads(attracted, (pos, 0.3))
    text = ad.source(ad.grad(attracted), pos, 0.3)
    assert "d * d" not in text.split("reversed")[1]
    assert text.count(".append(") == 2  # d, and what it is divided by


def swept(u, n):
    for j in range(1, n - 1):
        u[1 : n - 1, j] = 0.5 * u[0 : n - 2, j] + u[1 : n - 1, j - 1] - u[2:n, j]
    return np.sum(u**2)


def fields(u, v, steps):
    for _ in range(steps):
        u[1:, :] -= 0.5 * (v[1:, :] - v[:-1, :])
        v[:-1, :] += 0.3 * (u[1:, :] + v[1:, :])
    return np.sum(u * v)


def in_branches(u, v, steps):
    for k in range(steps):
        if k % 2:
            for j in range(2):
                u[j:] += 0.3 * (u[j:] + v) * u[0]
        else:
            u += v
    return np.sum(u * v)


def test_slices_with_equal_bounds_have_one_shape() -> None:
    u = np.random.default_rng(0).uniform(0.5, 1.5, (6, 6))
    text = ad.source(ad.grad(swept), u, 6)
    assert "append" not in text
    for n in (1, 2, 3, 5, 6, 9):
        if n - 1 <= 6:
            check_grads(lambda u, n=n: swept(u, n), (u,))


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_the_last_array_has_the_shape_of_all(rows, steps) -> None:
    rng = np.random.default_rng(1)
    u, v = rng.uniform(0.5, 1.5, (5, 3)), rng.uniform(0.5, 1.5, (rows, 3))
    if rows == 5:
        assert "append" not in ad.source(ad.grad(fields), u, v, steps)
        check_grads(lambda u, v: fields(u, v, steps), (u, v))
    check_grads(lambda u, v: in_branches(u, v, steps), (u, v[0] if rows == 1 else np.array(0.3)))


def grown(u, steps):
    total = 0.0
    for k in range(steps):
        t = u[:k] * u[0] + u[1]
        total += np.sum(t + np.sin(u[1]))
    return total


def test_shapes_that_differ_are_all_kept() -> None:
    check_grads(lambda u: grown(u, 4), (np.linspace(0.2, 0.9, 5),))
