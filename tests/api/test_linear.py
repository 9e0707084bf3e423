"""Differentials as linear maps, and transposes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import adjoint as ad
from api.chaotic import chaotic


def written(model, x):
    s = np.tanh(x @ model["w"]) + model["b"]
    for i in range(len(s)):
        s[i] = s[i] * s[i - 1]
    return s, {"sum": s.sum()}


def layers(weights, x):
    for w in weights:
        x = np.tanh(w @ x)
    return x


def squared(x, bound):
    while x < bound:
        x = x * x
    return x


def recursive(x, n):
    return x if n == 0 else math.sin(recursive(x, n - 1) * x)


def growing(x, n):
    items = []
    for i in range(n):
        items.append(x * i)
    return items


MODEL = {"w": np.ones(3), "b": 0.5}
X = np.arange(6.0).reshape(2, 3) / 10
A = np.arange(9.0).reshape(3, 3) / 5 - 0.7
CASES = [
    (chaotic, (1.2, 0.7), (1.0, 2.0)),
    (chaotic, (1.2, 0.7), (1.0, None)),
    (written, (MODEL, X), ({"w": np.arange(3.0), "b": 1.0}, None)),
    (written, (MODEL, X), ({"w": None, "b": 1.0}, X)),
    (layers, ([np.eye(2) / 2, np.ones((2, 2))], np.ones(2)), ([np.ones((2, 2)), np.eye(2)], np.ones(2))),
    (squared, (1.5, 10.0), (1.0, None)),
    (recursive, (1.5, 3), (1.0, None)),
    (ad.grad(chaotic), (1.2, 0.7), (1.0, 2.0)),
    (lambda x: math.acos(x) * math.atan(x), (0.3,), (2.0,)),
    (lambda x: (x ** (x - 0.5), x), (1.3,), (2.0,)),
    (lambda x: np.sum(np.arcsin(x) ** 2), (X,), (X,)),
    (growing, (2.0, 3), (1.0, None)),
    (lambda x: x[1:][:, 1:][0] * x[0, 0], (A,), (A,)),
    (lambda x: x, (2.0,), (3.0,)),
    (lambda x: x[1:], (X,), (X,)),
    (lambda x: 1.0 * np.ones(2), (2.0,), (1.0,)),
]


def flat(value):
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        return np.concatenate([flat(each) for each in value])
    return np.ravel(np.asarray(value, dtype=float))


def smooth(u, c):
    u = u.copy()
    for i in range(1, len(u)):
        u[i] = u[i] + c * u[i - 1] * u[i]
    return u @ u


def blocks(x):
    view = x[1:][:, 1:]
    return np.sum(view[0] * x[0, 0]) + view[1, 1] * x[2, 2] ** 2


def spread(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** 3 * x[(i + 1) % len(x)]
    return total


@pytest.mark.parametrize(
    ("f", "point", "direction"),
    [(smooth, (np.arange(4.0), 0.3), (np.ones(4), 2.0)), (blocks, (A,), (A * A,)), (spread, (A[0],), (A[1],))],
)
def test_pullbacks_that_write_cotangents_of_elements_are_transposed(f, point, direction):
    _, differential = ad.linearize(f, *point)
    assert "_differential(" in ad.source(differential)
    expected = ad.jvp(f, point, direction)[1]
    for _ in range(2):
        np.testing.assert_allclose(differential(*direction), expected)
    pulled = ad.transpose(differential)(1.0)
    assert sum(np.sum(bar * dot) for bar, dot in zip(pulled, direction, strict=True)) == pytest.approx(expected)


def test_the_transpose_does_not_run_the_pullback():
    _, differential = ad.linearize(spread, A[0])
    assert "_bar" not in ad.source(differential)


class TestTheDifferential:
    @pytest.mark.parametrize(("f", "point", "direction"), CASES)
    def test_agrees_with_forward_mode(self, f, point, direction):
        value, differential = ad.linearize(f, *point)
        expected, tangent = ad.jvp(f, point, direction)
        np.testing.assert_allclose(flat(value), flat(expected))
        np.testing.assert_allclose(flat(differential(*direction)), flat(0.0 if tangent is None else tangent))

    @pytest.mark.parametrize(("f", "point", "direction"), CASES[:6])
    def test_is_the_transpose_of_the_pullback(self, f, point, direction):
        value, differential = ad.linearize(f, *point)
        for one, other in zip(ad.transpose(differential)(value), ad.vjp(f, *point)[1](value), strict=True):
            if other is not None:
                np.testing.assert_allclose(flat(one), flat(other))

    def test_natively(self):
        _, differential = ad.linearize(chaotic, 1.2, 0.7, native="strict")
        assert differential(1.0, 2.0) == pytest.approx(ad.jvp(chaotic, (1.2, 0.7), (1.0, 2.0))[1])

    def test_computes_what_is_not_linear_once(self):
        text = ad.source(ad.linearize(lambda x, y: math.exp(x) * math.sin(y), 0.5, 1.0)[1])
        assert "exp" not in text

    def test_reads_as_one_would_write_it(self):
        assert ad.source(ad.linearize(chaotic, 1.2, 0.7)[1]) == (
            "def chaotic_differential(z_kept, x, y, t, x_dot, y_dot):\n"
            "    z_dot = y_dot * t + x_dot * t * y\n"
            "    for i in range(3):\n"
            "        z = z_kept[i]\n"
            "        if z > 1:\n"
            "            z_dot = (x_dot * z + z_dot * x) * math.cos(z * x)\n"
            "        else:\n"
            "            z_dot = z_dot * z * 2.0\n"
            "    return z_dot\n"
        )

    def test_keeps_nothing_of_an_argument_that_changes_afterwards(self):
        x = np.ones(2)
        _, differential = ad.linearize(lambda x: x * x, x)
        x[:] = 5.0
        np.testing.assert_array_equal(differential(np.ones(2)), [2.0, 2.0])

    def test_shares_no_memory_with_the_tangent(self):
        x_dot = np.ones(2)
        y_dot = ad.linearize(lambda x: x, np.ones(2))[1](x_dot)
        assert not np.shares_memory(x_dot, y_dot)


class TestTransposes:
    def test_of_linear_functions(self):
        transposed = ad.transpose(lambda x, y: (2 * x + y, x[::-1]), np.zeros(3), np.zeros(3))
        x_bar, y_bar = transposed((np.ones(3), np.arange(3.0)))
        np.testing.assert_array_equal(x_bar, [4.0, 3.0, 2.0])
        np.testing.assert_array_equal(y_bar, np.ones(3))

    @pytest.mark.parametrize(
        ("f", "like", "said"),
        [
            (lambda x: x * x, (2.0,), "this is not linear in the arguments"),
            (lambda x: x + 1.0, (2.0,), "this is not linear in the arguments"),
            (lambda x, y: x if y > 0 else y, (2.0, 1.0), "linear"),
            (math.sin, (2.0,), "linear"),
            (lambda x: (x, 1.0), (2.0,), "what this returns is not a linear combination of the arguments"),
            (lambda x: x, (), "ad.transpose needs arguments of the shapes that the function is to be transposed for"),
            (ad.vjp(math.sin, 1.0)[1], (1.0,), "a pullback is the transpose of the differential"),
        ],
    )
    def test_of_others_are_refused(self, f, like, said):
        with pytest.raises(ad.DifferentiationError) as refusal:
            ad.transpose(f, *like)
        assert "error[AD0425]: ad.transpose needs a linear function" in str(refusal.value)
        assert said in str(refusal.value)


class TestMisuse:
    def test_as_many_tangents_as_arguments(self):
        _, differential = ad.linearize(chaotic, 1.2, 0.7)
        with pytest.raises(ad.DifferentiationError, match="2 arguments, but 1 tangents"):
            differential(1.0)

    def test_a_tangent_of_another_structure(self):
        _, differential = ad.linearize(lambda x: x * x, np.ones(2))
        with pytest.raises(ad.DifferentiationError, match="tangent 0: expected an array of shape"):
            differential(np.ones(3))

    def test_in_code_that_is_differentiated(self):
        with pytest.raises(ad.DifferentiationError, match=r"ad\.linearize inside other code is not covered"):
            ad.grad(lambda x: ad.linearize(chaotic, x, 3.0)[0])(1.0)


GRID = np.array([1.0, 2.0, 4.0])
STEPS = 2


def over_a_grid(x):
    a = x * GRID
    for i in range(STEPS):
        if a[i] > 0.0:
            a[i] = a[i] * a[i + 1]
    return np.sum(a * a)


def recursive_over_a_grid(x, n):
    return x * np.sum(GRID * GRID) if n < STEPS else recursive_over_a_grid(x * x, n - 1) * GRID[0]


class TestCapturedData:
    @pytest.mark.parametrize(("f", "args"), [(over_a_grid, (X[0],)), (recursive_over_a_grid, (1.5, 4))])
    def test_may_change_after_a_function_was_linearized(self, f, args):
        expected = ad.jvp(f, args, (args[0], *[None] * (len(args) - 1)))[1]
        _, differential = ad.linearize(f, *args)
        GRID[:] *= 3.0
        try:
            found = differential(args[0], *[None] * (len(args) - 1))
        finally:
            GRID[:] /= 3.0
        assert found == pytest.approx(expected, rel=1e-14)

    def test_must_stay_of_its_kind(self, monkeypatch):
        _, differential = ad.linearize(recursive_over_a_grid, 1.5, 4)
        monkeypatch.setitem(globals(), "GRID", np.ones((2, 3)))
        with pytest.raises(ad.DifferentiationError) as refusal:
            differential(1.0, None)
        assert str(refusal.value) == (
            "error[AD0427]: what the function captures is of another kind than when it was linearized\n"
            "  = help: linearize again: y, differential = ad.linearize(f, *args)"
        )
