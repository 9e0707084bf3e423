"""Copies of own arrays that are all that is left of them are not made; others are."""

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.optimize.touch_up.redundant_copies import without_needless_copies
from ir.interpreter import run

X = ir.Var("x", ir.FLOAT)
OWN = ir.Var("a", ir.Array(np.dtype(float), ("many",), ir.Storage(written=True)))
VIEW = ir.Var("v", ir.Array(np.dtype(float), ("many",), OWN.type.storage))  # type: ignore[attr-defined]
COPY = ir.Var("b", ir.Array(np.dtype(float), ("many",)))
FILLED = (
    ir.Call((OWN,), np.zeros, (ir.Const(2),)),
    ir.Store(OWN, ir.Subscript((ir.Const(0),)), X),
)
COPIED = ir.Call((COPY,), np.copy, (OWN,))
LATER = ir.Store(OWN, ir.Subscript((ir.Const(1),)), X)
LOOK = ir.Load(VIEW, OWN, ir.Subscript((ir.Slice(ir.Const(None), ir.Const(1), ir.Const(None)),)))


@pytest.mark.parametrize(
    ("statements", "results", "goes"),
    [
        ((*FILLED, COPIED), (COPY,), True),
        ((*FILLED, COPIED, LATER), (COPY,), False),
        ((*FILLED, COPIED), (COPY, OWN), False),
        ((*FILLED, LOOK, COPIED), (COPY, VIEW), False),
    ],
    ids=["only the copy is left", "written later", "both are returned", "a view is returned"],
)
def test_a_copy_goes_where_nothing_else_is_left(statements: tuple, results: tuple, goes: bool) -> None:  # type: ignore[type-arg]
    function = ir.Function("f", (X,), ir.Block(statements, ir.Return(results)))
    changed = without_needless_copies(function)
    assert (COPIED not in changed.body.statements) == goes
    np.testing.assert_equal(run(changed, 1.5), run(function, 1.5))


@pytest.mark.parametrize(
    ("later", "results", "goes"),
    [((), (X,), True), ((ir.Store(COPY, ir.Subscript((ir.Const(0),)), X),), (X,), False), ((), (COPY,), False)],
    ids=["only read", "the copy is written", "the copy is returned"],
)
def test_a_copy_goes_where_nobody_writes(later: tuple, results: tuple, goes: bool) -> None:  # type: ignore[type-arg]
    given = ir.Var("given", ir.Array(np.dtype(float), ("many",)))
    copied, total = ir.Call((COPY,), np.copy, (given,)), ir.Call((ir.Var("s", ir.FLOAT),), np.sum, (COPY,))
    function = ir.Function("f", (given, X), ir.Block((copied, total, *later), ir.Return((*results, *total.targets))))
    changed = without_needless_copies(function)
    assert (copied not in changed.body.statements) == goes
    np.testing.assert_equal(run(changed, np.ones(2), 1.5), run(function, np.ones(2), 1.5))


@pytest.mark.parametrize(
    ("before", "after", "results", "goes"),
    [(False, True, (), True), (True, True, (), False), (False, True, (COPY,), False), (False, False, (), True)],
    ids=["written behind it", "written before", "the copy is returned", "nobody writes"],
)
def test_a_copy_of_a_copy_is_one_of_the_first_array(before: bool, after: bool, results: tuple, goes: bool) -> None:  # type: ignore[type-arg]
    given = ir.Var("given", ir.Array(np.dtype(float), ("many",)))
    first = ir.Call((OWN,), np.ndarray.copy, (given,))
    total = ir.Call((ir.Var("s", ir.FLOAT),), np.sum, (COPY,))
    statements = (first, *[LATER] * before, COPIED, *[LATER] * after, total)
    function = ir.Function("f", (given, X), ir.Block(statements, ir.Return((*results, *total.targets))))
    changed = without_needless_copies(function)
    assert (COPIED not in changed.body.statements) == goes
    np.testing.assert_equal(run(changed, np.ones(2), 1.5), run(function, np.ones(2), 1.5))


def test_what_is_kept_of_an_argument_that_was_copied_is_the_argument() -> None:
    def normalised(x, weights):
        x = x.copy()
        middle, deviation = np.mean(x, axis=0), np.std(x, axis=0)
        x -= middle
        x /= deviation
        return np.sum(x**3 * weights)

    x, weights = np.random.default_rng(0).normal(size=(2, 5, 3))
    assert ad.source(ad.grad(normalised), x, weights).count("copy(") == 3  # the argument, one residual, one cotangent
    ad.testing.check_grads(normalised, (x, weights))


def test_copies_for_writes_that_nobody_wants_go() -> None:
    def f(a, b):
        a = a.copy()
        part = np.reshape(a, (2, 3))
        total = np.sum(part @ b) + np.sum(part * part)
        a[:] = 0.0
        return total

    a, b = np.arange(6.0), np.ones((3, 2))
    assert "copy" not in ad.source(ad.grad(f, (0, 1)), a, b)
    for found, expected in zip(
        ad.grad(f, (0, 1))(a, b), (2.0 + 2.0 * a, np.repeat([[3.0], [5.0], [7.0]], 2, 1)), strict=True
    ):
        np.testing.assert_allclose(found, expected)
    np.testing.assert_equal(a, np.arange(6.0))


def test_what_is_made_only_for_zeros_like_it_is_not_made() -> None:
    def filled(v):
        n = len(v)
        square, table = np.eye(n), np.ones((n, 2), dtype=np.float32)
        for i in range(n):
            square[i] = v * v
            table[i, 1] = v[i] * 3.0
        return np.sum(square) + np.sum(table)

    v = np.array([0.5, 2.0, -1.5])
    source = ad.source(ad.grad(filled), v)
    assert "np.eye" not in source and "np.ones" not in source
    np.testing.assert_allclose(ad.grad(filled)(v), 6.0 * v + 3.0, rtol=1e-6)
    np.testing.assert_allclose(ad.grad(filled, native=True)(v), 6.0 * v + 3.0, rtol=1e-6)


def test_what_a_sum_along_an_axis_is_spread_to_is_memory_of_its_own() -> None:
    """The cotangent is written where the deviation was floored; what is spread of it is still computed by element."""

    def scaled(x):
        deviation = np.std(x, axis=0)
        deviation[deviation <= 0.1] = 1.0
        return np.sum((x / deviation) ** 2)

    x = np.random.default_rng(1).normal(size=(6, 3)) * np.array([1.0, 2.0, 1e-3])
    np.testing.assert_allclose(ad.grad(scaled, native=True)(x), ad.grad(scaled)(x))
    text = ad.stages(ad.grad(scaled), x, native=True).split("-- text")[1].split("-- llvm")[0]
    assert "spread" not in text
