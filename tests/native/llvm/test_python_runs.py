"""Statements that run as Python in a row are one call, and arrays that they compute are machine code's again."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.dispatch import specialize
from adjoint.ir.walk import statements_in
from adjoint.native.kept import known_objects
from adjoint.native.legalize.as_python import computed_by
from adjoint.native.llvm import callbacks
from adjoint.native.llvm.writing.emission import LeftAlone
from adjoint.native.llvm.writing.python_runs import with_runs_joined
from ir.building import build

X = np.array([0.3, 0.7, 1.1, 1.9])


def of_several_ranks(x, rounds):
    """Items of one list have one, two and no axes, so nothing is known of their ranks."""
    parts = [x, np.outer(x, x), np.sum(x)]
    total = 0.0
    for k in range(rounds):
        part = parts[k % 3] * 2.0
        turned = np.transpose(part) + k
        part = turned * turned
        total += np.sum(part) * x[k % 4]
        parts[k % 3] = turned / np.sum(part)
    return total


def written_in_a_row(x, rounds):
    table = {"a": np.outer(x, x), "b": x.copy()}
    for k in range(rounds):
        name = "a" if k % 2 else "b"
        item = table[name]
        item[0] += x[1] * k
        view = item.T
        view[..., 1] *= 0.5
        table[name] = item + view.sum()
    return np.sum(table["a"] ** 2) + np.sum(table["b"])


def chosen_in_a_loop(x, rounds):
    kept = [x * 1.0, 2.0 * np.outer(x, x)]
    for k in range(rounds):
        if k % 2:
            kept[k % 2] = np.tanh(kept[k % 2]) * 1.5
        else:
            kept.append(kept[-1] * x[0])
    return sum(np.sum(part * part) for part in kept)


def elements_behind(x, rounds):
    """What Python computes is read by loops over elements."""
    rows = [x, None, np.outer(x, x)]
    total = 0.0
    for k in range(rounds):
        a = np.linalg.pinv(rows[2] + np.eye(4) * (k + 1.0))
        b = a * a + np.sin(a) * rows[0]
        total += np.sum(b) + (0.0 if rows[1] is None else np.sum(rows[1]))
        rows[1] = b[0]
    return total


PROGRAMS = [of_several_ranks, written_in_a_row, chosen_in_a_loop, elements_behind]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("rounds", [0, 1, 6])
def test_gradients_are_those_of_python(f, rounds, own):
    x = X.copy()
    derivative = ad.value_and_grad(f, native="strict")
    for _ in range(2):
        value, slope = derivative(x, rounds)
        np.testing.assert_allclose(value, f(X, rounds), rtol=1e-12)
        np.testing.assert_allclose(slope, ad.grad(f)(X, rounds), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(
        ad.jvp(f, (x, rounds), (np.ones(4), None), native="strict")[1], np.sum(slope), rtol=1e-10, atol=1e-12
    )
    assert own and np.array_equal(x, X)


def test_what_stands_in_a_row_is_one_call(asked):
    ad.grad(of_several_ranks, native="strict")(X, 4)
    assert sum("steps" in text for text in asked) >= 3


def test_runs_are_kept_for_other_processes(monkeypatch, tmp_path):
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    units = []
    loaded = known_objects.known_object
    monkeypatch.setattr(known_objects, "known_object", lambda entry: units.append(loaded(entry)) or units[-1])
    for _ in range(2):
        specialize.forget()
        ad.grad(of_several_ranks, native="strict")(X, 4)
    found = [unit for unit in units if unit is not None]
    assert any("steps" in callback.emitted.text for unit in found for callback in unit.callbacks)
    for callback in found[-1].callbacks:
        again = callbacks.of_plain(callback.plain())
        assert again.symbol == callback.symbol and again.load()


def joined(function: ir.Function, left) -> ir.Function:
    return with_runs_joined(function, [LeftAlone(each, False, frozenset()) for each in left])


def test_what_nobody_else_reads_stays_inside():
    def write(b, x, y):
        turned = b.call(np.transpose, x)
        product = b.call(np.dot, turned, y)
        return b.call(np.sum, product)

    function = build(write, ir.Array(None, None), ir.Array(None, None))
    calls = statements_in(function.body)
    found = statements_in(joined(function, calls[:2]).body)
    assert [len(each.targets) for each in found] == [1, 1]
    assert joined(function, calls[:1]) is function


def test_what_may_be_none_is_no_array():
    """Shadows that are not there are None, where the type says that they are arrays: nobody reads them."""
    matrix = ir.Array(np.dtype(float), ("many", "many"))
    x, y = ir.Var("x", matrix), ir.Var("y", matrix)
    assert computed_by(ir.Call((y,), np.dot, (x, x))) == (True,)
    assert computed_by(ir.Call((y,), np.transpose, (x,))) == (True,)
    assert computed_by(ir.Call((y,), np.zeros_like, (x,))) == (False,)
    assert computed_by(ir.Call((y,), list.pop, (x,))) == (False,)
    assert computed_by(ir.Load(y, x, ir.Attribute("wg"))) == (False,)
    one, other = ir.Load(y, x, ir.Attribute("wg")), ir.Call((ir.Var("z", matrix),), np.dot, (y, y))
    body = ir.Block((one, other), ir.Return((y, other.targets[0])))
    left = [LeftAlone(one, False, frozenset()), LeftAlone(other, False, frozenset(other.targets))]
    (call,) = with_runs_joined(ir.Function("f", (x,), body), left).body.statements
    assert call.callee.computed == (False, True)


def chosen(x, other):
    """A choice between two products that run as Python, and between one of them and an array of machine code."""
    matrix = ir.Array(np.dtype(float), ("many", "many"))
    one, two, result, beside = (ir.Var(name, matrix) for name in ("one", "two", "result", "beside"))
    first, second = ir.Call((one,), np.dot, (x, x)), ir.Call((two,), np.dot, (x, other))
    sides = (ir.Block((call,), ir.Yield((call.targets[0], given))) for call, given in ((first, one), (second, other)))
    return first, second, ir.If(ir.Const(True), *sides, (result, beside))


def test_choices_of_which_all_results_are_arrays_are_one_call():
    matrix = ir.Array(np.dtype(float), ("many", "many"))
    x, other = ir.Var("x", matrix), ir.Var("other", matrix)
    *calls, choice = chosen(x, other)
    result, beside = choice.targets

    def together(returned, are_arrays):
        arrays = [frozenset(each.targets) if are_arrays else frozenset() for each in calls]
        left = [LeftAlone(each, False, own) for each, own in zip(calls, arrays, strict=True)]
        body = ir.Block((choice,), ir.Return(returned))
        return with_runs_joined(ir.Function("f", (x, other), body), left).body.statements

    assert together((result, beside), True) == (choice,)  # what machine code made would be an object
    (call,) = together((result, beside), False)
    assert call.callee.computed == (False, False)


def test_choices_between_what_python_computes(own):
    def f(a, b, count, inverts):
        total = 0.0
        for k in range(count):
            if inverts > 0:
                x = np.linalg.inv(a + k)
            else:
                x = np.linalg.solve(a + k, b)
            total += np.sum(np.abs(x) ** 2)
        return total

    generator = np.random.default_rng(0)
    a, b = (generator.normal(size=(3, 3)) + 1j * generator.normal(size=(3, 3)) for _ in range(2))
    for inverts in (0, 1):
        derivative = ad.grad(f, (0, 1), native="strict")
        for found, expected in zip(derivative(a, b, 3, inverts), ad.grad(f, (0, 1))(a, b, 3, inverts), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_what_is_computed_of_columns_lies_by_rows(asked):
    """Whether the extents are 1 is known at run time, so loops over elements are not fused."""

    def distances(positions, mass):
        x, y = positions[:, 0:1], positions[:, 1:2]
        dx, dy = x.T - x, y.T - y
        squares = dx**2 + dy**2 + 0.1
        squares[squares > 1.0] = squares[squares > 1.0] ** -1.5
        return np.sum((dx * squares) @ mass + (dy * squares) @ mass)

    positions, mass = np.random.default_rng(0).normal(size=(4, 3)), np.ones((4, 1))
    np.testing.assert_allclose(
        ad.grad(distances, native="strict")(positions, mass), ad.grad(distances)(positions, mass), rtol=1e-12
    )
    assert not any("sub(" in text or "product(" in text for text in asked)


def test_who_asks_how_arrays_lie_is_told_as_numpy_lays_them_out():
    def f(x):
        y = np.sin(x[:, :2].T) + x[:, :2].T
        return np.sum(y * y) if y.flags.f_contiguous else np.sum(y)

    x = np.random.default_rng(0).normal(size=(4, 3))
    for lies in (x, np.asfortranarray(x)):
        np.testing.assert_allclose(ad.grad(f, native="strict")(lies), ad.grad(f)(lies), rtol=1e-12)
