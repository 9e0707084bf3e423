"""Which results of functions are memory of their own, and what their callers make of it."""

import math

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.frontend.entry import entry
from adjoint.ir.walk import statements_in
from frontend.kept_functions import as_usual_and_kept
from fuzz.inlining import repeating
from sampling import check_grads

TABLE = np.ones(3)


def product(x, n):
    return np.sin(x) * x


def either(x, n):
    if n > 2:
        y = np.exp(x)
    else:
        y = x * 2.0
    return y


def in_a_loop(x, n):
    y = x * 1.5
    for _ in range(n):
        y = y * x
    return y


def filled(x, n):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x[i] * n
    return out


def pair(x, n):
    y = x * x
    return y, y + n


def itself(x, n):
    return x if n > 2 else x * 2.0


def constant(x, n):
    return TABLE if n > 2 else x * 2.0


def carried(x, n):
    y = x
    for _ in range(n):
        y = y * 2.0
    return y


def part(x, n):
    return x[n:]


def twice(x, n):
    y = x * n
    return y, y


def view_beside(x, n):
    y = x * n
    return y, y[1:]


def calls(x, n):
    return product(x, n) if n > 2 else itself(x, n)


def calls_what_makes_memory(x, n):
    return product(x, n) if n > 2 else in_a_loop(x, n)


@pytest.mark.parametrize(
    ("f", "own"),
    [
        (product, (0,)),
        (either, (0,)),
        (in_a_loop, (0,)),
        (filled, (0,)),
        (pair, (0, 1)),
        (calls_what_makes_memory, (0,)),
        (itself, ()),
        (constant, ()),
        (carried, ()),
        (part, ()),
        (twice, ()),
        (view_beside, ()),
        (calls, ()),
    ],
)
def test_results_of_their_own(f, own):
    with repeating(0):
        lowered = entry.lower_operator("call", lambda x, n: f(x, n), (), (np.ones(3), 3), {}).function
    (call,) = [each for each in statements_in(lowered.body) if isinstance(each, ir.Call) and _is_of(each, f)]
    facts = effects_of(call)
    assert facts.own == own
    assert facts.hands_on is (len(own) < len(call.targets))


def _is_of(call, f):
    return isinstance(call.callee, ir.Definition) and call.callee.name == f.__name__


def shifted(x):
    return x + 1.0


def weighted(x, w):
    return np.sum(w * shifted(shifted(x)))


def shifted_both(x, w):
    return x + 1.0, w + 1.0


def weighted_both(x, w):
    a, b = shifted_both(x, w)
    return np.sum(a * b * w)


@as_usual_and_kept
def test_gradients_are_no_memory_of_the_arguments(most):
    """A pullback may give the very cotangent that it is given: here the weights themselves."""
    x, w, ct = np.ones(3), np.arange(3.0), np.ones(3)
    with repeating(most):
        found = [ad.grad(weighted)(x, w), *ad.grad(weighted_both, (0, 1))(x, w), ad.vjp(shifted, x)[1](ct)]
        check_grads(weighted, (x, w))
        check_grads(weighted_both, (x, w))
    assert not any(np.shares_memory(one, other) for one in found for other in (x, w, ct))
    assert not any(np.shares_memory(one, other) for one in found for other in found if one is not other)


def squared(x):
    y = np.sin(x) * x + np.exp(x)
    return y * np.cos(x)


def used_twice(x):
    r = squared(x)
    return np.sum(1.0 * r + 1.0 * r) + math.exp(-np.sum(squared(r)))


def test_what_callers_make_of_it():
    """No copy of a gradient that nobody else has; a factor of one goes; a call that nobody needs goes."""
    with repeating(0):
        text = ad.source(ad.grad(used_twice), np.ones(3))
        check_grads(used_twice, (np.full(3, 0.3),))
    assert "owned" not in text and "1.0 * r" not in text


def iterated(x, n):
    for _ in range(n):
        x = np.sin(x) + x
    return x


def total(x, n):
    return np.sum(iterated(x, n))


@as_usual_and_kept
def test_gradients_of_loops_need_no_copy(most):
    x, ct = np.array([0.3, 0.7]), np.ones(2)
    with repeating(most):
        assert "owned" not in ad.source(ad.grad(total), x, 2)
        found = [ad.grad(total)(x, 2), *(ad.vjp(lambda x, n=n: iterated(x, n), x)[1](ct) for n in (0, 2))]
    assert not any(np.shares_memory(one, other) for one in found for other in (x, ct))
