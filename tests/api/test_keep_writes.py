"""``keep_writes=False``: arguments stay as they are, and what is computed for writes only is left out."""

import copy

import numpy as np
import pytest

import adjoint as ad


def relaxed(a, x):
    """Its value needs what it writes."""
    x[:] = x * a
    x[0] = 3.0
    for i in range(1, len(x)):
        x[i] = x[i] * x[i - 1]
    return np.sum(x * x)


def logged(a, x, log):
    """Its value needs nothing of what it writes to ``log``."""
    for i in range(len(x)):
        log[i] = np.exp(x[i] * a)
    return a * np.sum(x)


def shared(x, y):
    x[:] = x * 2.0
    return np.sum(x * y)


def appended(a, items):
    items.append(a)
    return a * items[0] * items[-1]


def in_dict(a, state):
    state["u"][:] = state["u"] * a
    return np.sum(state["u"] ** 2)


def entry_of_dict(a, state):
    state["total"] = a
    return a * state["total"]


def advanced(u, steps):
    """Its value needs nothing of what it writes: the gradient does not either."""
    total = 0.0
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        total += u[3]
    return total


POINTS = [
    (relaxed, (0, 1), (1.5, np.array([1.0, -2.0, 0.5]))),
    (logged, (0, 1), (1.5, np.array([1.0, -2.0, 0.5]), np.zeros(3))),
    (shared, (0, 1), (np.array([1.0, 2.0]), np.array([3.0, -1.0]))),
    (appended, (0,), (2.0, [1.0, 5.0])),
    (in_dict, (0,), (2.0, {"u": np.array([1.0, 5.0])})),
    (entry_of_dict, (0,), (2.0, {"total": 0.0})),
    (advanced, (0,), (np.array([1.0, 3.0, 2.0, -1.0, 4.0]), 3)),
]


@pytest.mark.parametrize(("function", "wrt", "args"), POINTS, ids=[point[0].__name__ for point in POINTS])
def test_arguments_stay_and_gradients_are_the_same(function, wrt, args):
    expected = ad.value_and_grad(function, wrt=wrt)(*copy.deepcopy(args))
    derivative = ad.value_and_grad(function, wrt=wrt, keep_writes=False)
    given = copy.deepcopy(args)
    for _ in range(2):  # the second call begins with what the first was given
        value, gradient = derivative(*given)
        np.testing.assert_allclose(value, expected[0])
        for mine, theirs in zip(gradient, expected[1], strict=True):
            np.testing.assert_allclose(mine, theirs)
        np.testing.assert_equal(given, args)


def test_gradients_agree_with_differences():
    gradient = ad.grad(relaxed, wrt=1, keep_writes=False)
    x, h = np.array([1.0, -2.0, 0.5]), 1e-6
    for i, step in enumerate(np.eye(3) * h):
        slope = (relaxed(1.5, x + step) - relaxed(1.5, x - step)) / (2.0 * h)
        assert gradient(1.5, x)[i] == pytest.approx(slope, rel=1e-6)


def test_what_is_computed_for_writes_only_is_left_out():
    args = 1.5, np.ones(3), np.zeros(3)
    assert "exp" in ad.source(ad.grad(logged), *args)
    text = ad.source(ad.grad(logged, keep_writes=False), *args)
    assert "exp" not in text
    assert "for" not in text
    text = ad.source(ad.grad(advanced, keep_writes=False), np.ones(5), 3)
    assert text.count("for ") == 1  # the reverse sweep


def test_nothing_is_warned_of(recwarn):
    def doubled(x):
        x *= 2.0
        return np.sum(x * x)

    assert np.array_equal(ad.grad(doubled, keep_writes=False)(np.ones(2)), [8.0, 8.0])
    assert not recwarn.list
    ad.grad(doubled)(np.ones(2))
    assert ["AD0505" in str(each.message) for each in recwarn.list] == [True]


def test_it_is_differentiated_again():
    def slope(x, y):
        return np.sum(ad.grad(shared, keep_writes=False)(x, y * y) * x)

    x, y = np.array([1.0, 2.0]), np.array([3.0, -1.0])
    dx, dy = ad.grad(slope, wrt=(0, 1))(x, y)
    np.testing.assert_allclose(dx, 2.0 * y * y)
    np.testing.assert_allclose(dy, 4.0 * x * y)
    np.testing.assert_equal(x, [1.0, 2.0])


def test_primal_and_adjoint_know_it():
    derivative = ad.grad(shared, keep_writes=False)
    x, y = np.array([1.0, 2.0]), np.array([3.0, -1.0])
    checkpoints, value = derivative.primal(x, y)
    assert value == 2.0 * x @ y
    np.testing.assert_allclose(derivative.adjoint(checkpoints, value), 2.0 * y)
    np.testing.assert_equal(x, [1.0, 2.0])


@pytest.mark.parametrize(
    ("call", "label"),
    [
        (lambda: ad.grad(entry_of_dict, keep_writes=False)(1.0, {"total": 0.0, "u": np.ones(2)}), "an entry of a dict"),
        (lambda: ad.grad(shared, keep_writes=False)(*[np.ones(3)] * 2), "arguments 0 and 1 share memory"),
        (lambda: ad.grad(lambda x: np.sum(ad.grad(shared, keep_writes=False)(x, x)))(np.ones(2)), "may share memory"),
    ],
)
def test_what_cannot_be_left_out_is_refused(call, label):
    with pytest.raises(ad.DifferentiationError, match="AD0303") as caught:
        call()
    assert label in str(caught.value)


def test_other_values_are_refused():
    with pytest.raises(ValueError, match="True or False"):
        ad.grad(relaxed, keep_writes="yes")


def test_machine_code_leaves_them_out_too():
    pytest.importorskip("llvmlite")
    log = np.zeros(3)
    assert ad.grad(logged, keep_writes=False, native="strict")(1.5, np.ones(3), log) == 3.0
    np.testing.assert_equal(log, 0.0)
