"""Signs move out of products to where terms are added, and change nothing but the sign of a zero."""

import math
import operator

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.ir.printer import format_function
from adjoint.ir.verifier import verify
from adjoint.optimize.touch_up.outer_signs import signs_outside
from adjoint.runtime.arithmetic.numbers import quotient
from ir.building import build, vector
from ir.interpreter import run
from sampling import check_grads

FIRST = ir.Subscript((ir.Const(0),))
neg, add, sub, mul = operator.neg, operator.add, operator.sub, operator.mul


def lines(write, *types):
    result = signs_outside(build(write, *types))
    verify(result)
    return [line[2:] for line in format_function(result).splitlines()[1:]]


def test_a_negative_term_is_subtracted():
    def write(b, x, y, z):
        return b.call(add, x, b.call(mul, b.call(neg, y), z))

    assert lines(write, ir.FLOAT, ir.FLOAT, ir.FLOAT)[1:] == [
        "%t.1 = mul(%y, %z)",
        "%t.2 = sub(%x, %t.1)",
        "return %t.2",
    ]


def test_a_term_that_comes_first_is_subtracted_from_the_other():
    def write(b, x, y, z):
        return b.call(add, b.call(quotient, y, b.call(neg, z)), x)

    assert lines(write, ir.FLOAT, ir.FLOAT, ir.FLOAT)[-2] == "%t.2 = sub(%x, %t.1)"


def test_signs_pass_through_differences_into_stores():
    def write(b, x, y, z):
        b.store(x, FIRST, b.call(sub, b.call(mul, b.call(neg, y), y), z), "add")
        return z

    assert lines(write, vector(written=True), ir.FLOAT, ir.FLOAT)[1:-1] == [
        "%t.1 = mul(%y, %y)",
        "%t.2 = add(%t.1, %z)",
        "%x[0] -= %t.2",
    ]


def test_two_negations_go():
    def write(b, x, y, z):
        return b.call(neg, b.call(mul, b.call(neg, x), y))

    assert lines(write, ir.FLOAT, ir.FLOAT, ir.FLOAT) == ["%t = neg(%x)", "%t.1 = mul(%x, %y)", "return %t.1"]


def test_a_negative_keeps_its_name_where_it_is_read_in_two_places_without_a_sum():
    def write(b, x, y, z):
        negative = b.call(neg, x)
        return b.call(mul, negative, y), b.call(mul, negative, z), b.call(add, y, b.call(mul, negative, z))

    kept = build(write, ir.FLOAT, ir.FLOAT, ir.FLOAT)
    assert signs_outside(kept) is kept


def test_a_square_of_a_negative_stays():
    def write(b, x, y):
        negative = b.call(neg, x)
        return b.call(add, y, b.call(mul, negative, negative))

    kept = build(write, ir.FLOAT, ir.FLOAT)
    assert signs_outside(kept) is kept


def test_what_is_no_float_stays():
    def write(b, x, y):
        negative, term, total = (ir.Var("t", ir.INT) for _ in range(3))
        b.emit(ir.Call((negative,), neg, (x,)))
        b.emit(ir.Call((term,), mul, (negative, y)))
        b.emit(ir.Call((total,), add, (y, term)))
        return total

    kept = build(write, ir.INT, ir.INT)
    assert signs_outside(kept) is kept


@pytest.mark.parametrize("between", [True, False])
def test_an_array_that_is_written_before_its_negative_is_read(between):
    def write(b, x, y, z):
        negative = b.call(neg, x)
        if between:
            b.store(x, FIRST, z, "set")
        term = b.call(mul, negative, y)
        b.store(x, FIRST, z, "set")
        return b.call(add, y, term)

    kept = build(write, vector(written=True), vector(), ir.FLOAT)
    assert (signs_outside(kept) is kept) == between


VALUES = (0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, math.nan, 1e-310)


@pytest.mark.parametrize("seed", range(60))
def test_random_sums_of_products_are_the_same(seed):
    def write(b, *params):
        rng = np.random.default_rng(seed)
        known = list(params)
        for _ in range(14):
            callee = (neg, neg, add, sub, mul, quotient)[rng.integers(6)]
            args = [known[rng.integers(max(0, len(known) - 6), len(known))] for _ in range(1 if callee is neg else 2)]
            known.append(b.call(callee, *args))
        return known[-1], known[-3]

    function = build(write, ir.FLOAT, ir.FLOAT, ir.FLOAT, ir.FLOAT)
    verify(function)
    result = signs_outside(function)
    verify(result)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        args = [VALUES[rng.integers(len(VALUES))] for _ in range(4)]
        np.testing.assert_array_equal(run(result, *args), run(function, *args))


def damped(k, x, c):
    return math.exp(-k * x) * math.cos(x) / (1.0 + k * k) - c / x


def test_derivatives_with_signs_outside_are_right():
    check_grads(damped, (0.5, 0.7, 1.3))
    text = ad.source(ad.grad(damped, wrt=(0, 1, 2)), 0.5, 0.7, 1.3)
    assert "+ -" not in text and "* -" not in text
