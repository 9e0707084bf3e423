"""Loops over scalars mean what the array statements meant that they were made of."""

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adjoint as ad
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.ir.verifier import verify
from adjoint.native.fusion import fuse
from native.fusion.complex_programs import PROGRAMS
from sampling import THOROUGH

EXTENTS = [0, 1, 1, 2, 3, 5]
VALUES = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]


@st.composite
def arguments(draw, shapes):
    """Arrays of these shapes: of two dtypes, contiguous in either order or not, with and without special values."""
    extents = {letter: draw(st.sampled_from(EXTENTS)) for letter in sorted(set("".join(shapes)))}
    generator = np.random.default_rng(draw(st.integers(0, 1000)))
    special = draw(st.integers(0, 5)) == 0
    dtype = draw(st.sampled_from([np.float64, np.float64, np.float32]))
    return tuple(made(draw, tuple(extents[c] for c in shape), dtype, generator, special) for shape in shapes)


def made(draw, shape, dtype, generator, special):
    if not shape:
        return float(generator.normal())
    layout = draw(st.sampled_from(["C", "F", "strided", "backwards"]))
    values = generator.normal(size=shape)
    if special:
        values[generator.random(shape) < 0.2] = generator.choice(VALUES)
    values = values.astype(dtype)
    if layout == "strided":
        wide = np.zeros(tuple(2 * extent for extent in shape), dtype)
        wide[tuple(slice(None, None, 2) for _ in shape)] = values
        return wide[tuple(slice(None, None, 2) for _ in shape)]
    if layout == "backwards":
        return np.ascontiguousarray(values[::-1])[::-1]
    return np.asarray(values, order=layout)


def fused(operator, function, args, **options):
    """The loops of a derivative, run as Python."""
    loops = fuse(operator(function, native=True, **options).specialized(args, {}).function)
    verify(loops, "fusion")
    return load(emit(loops))


def outcome(function, args):
    """What a call gives, or the class of what it raises."""
    try:
        with np.errstate(all="ignore"):
            result = function(*[arg.copy("K") if isinstance(arg, np.ndarray) else arg for arg in args])
    except (ValueError, IndexError, ZeroDivisionError) as failure:
        return type(failure)
    return result


def same(mine, theirs, dtype):
    if isinstance(theirs, type) or isinstance(mine, type):
        assert mine is theirs
        return
    if isinstance(theirs, tuple):
        for one, other in zip(mine, theirs, strict=True):
            same(one, other, dtype)
        return
    tolerance = 3e-4 if dtype == np.float32 else 1e-10
    assert np.shape(mine) == np.shape(theirs)
    assert not isinstance(theirs, np.ndarray) or mine.dtype == theirs.dtype
    np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_array_statements(name):
    function, shapes = PROGRAMS[name]
    smooth = tuple(range(len(shapes)))

    @settings(max_examples=15 if THOROUGH else 8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(args=arguments(shapes))
    def check(args):
        derivative = ad.value_and_grad(function, wrt=smooth)
        expected = outcome(derivative, args)
        try:
            loops = fused(ad.value_and_grad, function, args, wrt=smooth)
        except ad.DifferentiationError:
            return
        found = outcome(loops, args)
        if IndexError is expected or ZeroDivisionError is found:
            return  # machine code looks at no bounds, and divides as NumPy does
        same(found, expected, args[0].dtype)

    check()


def text_of(name, *args):
    function, shapes = PROGRAMS[name]
    derivative = ad.grad(function, wrt=tuple(range(len(shapes))))
    return emit(fuse(derivative.specialized(args, {}).function)).text


def test_a_chain_is_one_loop():
    text = text_of("polynomial", np.ones(4))
    assert text.count("for ") == 1
    assert text.count("np.empty") == 1
    assert "np.sum" not in text


def test_loops_that_a_later_one_joins_are_one():
    text = text_of("quotient_of_polynomials", *[np.ones(4)] * 3)
    assert text.count("for ") == 1
    assert text.count("np.empty") == 3  # the results


def spread_over_pairs(a, b):
    return np.sum(a * b + np.exp(a))


def test_what_is_asked_for_its_shape_is_not_stored():
    args = [np.ones((4, 1)), np.ones(3)]
    derivative = ad.grad(spread_over_pairs, wrt=(0, 1))
    assert "rt.empty_sum" in ad.source(derivative, *args)
    assert "empty_sum" not in emit(fuse(derivative.specialized(args, {}).function)).text


def test_rows_that_are_others_do_not_wait_for_each_other():
    def eliminated(a):
        a = a.copy()
        for i in range(len(a) - 1):
            factors = a[i + 1 :, i] / a[i, i]
            a[i + 1 :, i:] -= np.outer(factors, a[i, i:])
        return a

    def mixed(a):
        a = a.copy()
        for i in range(len(a) - 1):
            a[i:, i:] -= np.outer(a[i:, i], a[i, i:])
        return a

    x = np.random.default_rng(0).normal(size=(5, 5)) + 4.0 * np.eye(5)
    for function, stored in (eliminated, 0), (mixed, 1):
        loops = fused(ad.compile, function, (x,))
        np.testing.assert_allclose(loops(x), function(x), rtol=1e-14)
        text = emit(fuse(ad.compile(function, native=True).specialized((x,), {}).function)).text
        assert len(re.findall(r"np.empty\(\(\w+, \w+\)\)", text)) == stored


def test_sums_into_neighbouring_rows_share_the_loop_over_rows():
    def variation(a):
        return np.sum(np.sqrt((a[1:, :-1] - a[:-1, :-1]) ** 2 + (a[:-1, 1:] - a[:-1, :-1]) ** 2 + 1.0))

    def read_between(a, b):
        a = a.copy()
        a[:-1] += b
        c = np.sin(a[1:]) * b
        a[1:] -= c
        return a * np.sum(c)

    x = np.random.default_rng(0).normal(size=(5, 4))
    text = emit(fuse(ad.grad(variation, native=True).specialized((x,), {}).function)).text
    assert len(re.findall(r"^    for ", text, re.M)) == 1
    assert not re.search(r"np.empty\(\(\w+, \w+\)\)", text)
    loops = fused(ad.grad, variation, (x,))
    np.testing.assert_allclose(loops(x), ad.grad(variation)(x), rtol=1e-13)
    loops = fused(ad.compile, read_between, (x, x[1:]))
    np.testing.assert_allclose(loops(x, x[1:]), read_between(x, x[1:]), rtol=1e-13)


def test_rows_are_looked_at_together():
    text = text_of("nearest", np.ones((4, 3)), np.zeros((2, 3)))
    assert not re.search(r"np.empty\(\(\w+, \w+, \w+\)\)", text)
    assert "None" not in text


def test_products_of_matrices_stay_calls():
    assert "@" in text_of("linear_model", np.ones((4, 3)), np.ones(3), np.ones(4))


def add(x, y):
    return np.sum(x + y)


def test_shapes_that_do_not_fit_raise():
    loops = fused(ad.grad, add, (np.ones(3), np.ones(3)))
    with pytest.raises(ValueError, match="could not be broadcast together"):
        loops(np.ones(3), np.ones(4))


def in_a_part(x, y, n, m):
    x[:n] = y[:m]
    return x


def test_what_is_stored_in_a_part_fits_or_is_one():
    loops = fused(ad.compile, in_a_part, (np.zeros(4), np.ones(5), 2, 2))
    outcomes = []
    for n in range(5):
        for m in range(5):
            args = np.zeros(4), np.arange(1.0, 6.0), n, m
            outcomes.append(outcome(in_a_part, args))
            same(outcome(loops, args), outcomes[-1], np.float64)
    assert sum(found is ValueError for found in outcomes) == 16


def greatest(x):
    return np.max(x * 2.0)


def test_nothing_has_no_maximum():
    with pytest.raises(ValueError, match="zero-size array"):
        fused(ad.grad, greatest, (np.ones(3),))(np.ones(0))


def test_long_sums_are_accurate():
    x = np.full(1_000_001, 0.1)
    value, _ = fused(ad.value_and_grad, polynomial_of_one, (x,))(x)
    assert value == pytest.approx(100000.1, rel=5e-14)


def polynomial_of_one(x):
    return np.sum(x * 1.0)


def test_shapes_of_what_loops_hand_out_are_known():
    """The result of the last iteration, which the loop hands out for its shape: cotangents of it are not fitted."""

    def relaxed(u, steps):
        u, v = u.copy(), np.sin(u)
        for _ in range(steps):
            met = u[1:-1] * v[1:-1] ** 2
            new_u, new_v = u[:-2] + u[2:] - met, 0.5 * v[1:-1] + met
            u[1:-1], v[1:-1] = new_u, new_v
        return np.sum(u * v)

    x = np.random.default_rng(0).normal(size=6) * 0.3
    assert "unbroadcast" not in emit(fuse(ad.grad(relaxed, native=True).specialized((x, 3), {}).function)).text
    for steps in (0, 3):
        found = fused(ad.grad, relaxed, (x, steps))(x, steps)
        np.testing.assert_allclose(found, ad.grad(relaxed)(x, steps), rtol=1e-12)


def test_sums_that_keep_their_axis_are_loops():
    def normalized(scores, places):
        shifted = scores - np.max(scores, axis=1, keepdims=True)
        return np.sum(shifted[places, places] * np.log(np.sum(np.exp(shifted), axis=1)[places]))

    x, places = np.random.default_rng(0).normal(size=(4, 4)), np.array([0, 2, 2])
    derivative = ad.grad(normalized)
    assert "keepdims=True)" in ad.source(derivative, x, places)
    text = emit(fuse(derivative.specialized((x, places), {}).function)).text
    assert "np.sum" not in text
    np.testing.assert_allclose(fused(ad.grad, normalized, (x, places))(x, places), derivative(x, places), rtol=1e-12)
