"""What is read or written through an array of places, or a mask, is that of the moment: nobody reads it again later."""

import operator

import numpy as np
import pytest

import adjoint as ad
from programs.read_write_order import places_change_between_reads
from regressions.changing_indices import wrong
from sampling import IN_DEPTH, THOROUGH

X = np.array([1.0, -0.5, 2.0, 0.7])


def read_twice(x):
    m = np.array([True, False, False, False])
    few = x[m]
    m[2:] = True
    return np.sum(few * x[m] * x[m])


def places_read_twice(x):
    i = np.array([0, 1])
    a = x[i]
    i[1] = 3
    return np.sum(a * x[i])


def masks_changed_in_turns(x):
    m = x > 0.8
    z = x * 2.0
    for k in range(3):
        z[m] = z[m] * x[m]
        m[k] = not m[k]
    return np.sum(z * x)


def views_of_places(x):
    i = np.array([0, 1, 2])
    j = i[1:]
    z = x * x
    a = z[j]
    i[2] = 0
    return np.sum(a * z[j])


def lists_of_places(x):
    i = [0, 1, 2]
    z = x * x
    a = z[i]
    i[2] = 0
    b = z[i]
    i.append(3)
    return np.sum(a * b) + np.sum(z[i])


def pairs_of_places(x):
    t = (np.array([0, 1]), np.array([1, 0]))
    z = np.outer(x, x)
    a = z[t]
    t[0][0] = 2
    return np.sum(a * z[t])


def on_both_sides(x):
    i = np.array([0, 1])
    total = 0.0
    for k in range(3):
        a = x[i]
        if k > 0:
            i[0] = k
            total += np.sum(x[i] * a)
        else:
            total += np.sum(x[i] * x[k])
    return total


PROGRAMS = (
    read_twice,
    places_read_twice,
    places_change_between_reads,
    masks_changed_in_turns,
    views_of_places,
    lists_of_places,
    pairs_of_places,
    on_both_sides,
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program):
    value, gradient = ad.value_and_grad(program)(X)
    assert value == pytest.approx(program(X), rel=1e-14)
    units = np.eye(len(X))
    slopes = np.array([(program(X + 1e-6 * unit) - program(X - 1e-6 * unit)) / 2e-6 for unit in units])
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-7)
    tangents = [ad.jvp(program, (X,), (unit,))[1] for unit in units]
    np.testing.assert_allclose(gradient, tangents, rtol=1e-12, atol=1e-12)
    rows = [ad.hvp(program, (X,), (unit,))[0] for unit in units]
    np.testing.assert_allclose(rows, ad.jacobian(ad.grad(program))(X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("program", [places_change_between_reads, masks_changed_in_turns])
def test_compiled(program):
    pytest.importorskip("llvmlite")
    value, gradient = ad.value_and_grad(program, native=True)(X)
    assert value == pytest.approx(program(X), rel=1e-14)
    np.testing.assert_allclose(gradient, ad.grad(program)(X), rtol=1e-13)


@pytest.mark.parametrize("seed", range(300 if THOROUGH else 6))
def test_random_programs(seed):
    assert wrong(seed) is None


@IN_DEPTH
@pytest.mark.parametrize("seed", range(300, 324))
def test_random_programs_compiled(seed):
    pytest.importorskip("llvmlite")
    assert wrong(seed, native=True) is None


def through_an_opaque_function(x):
    i = np.array([0, 3, 1])
    places = np.trim_zeros(i, "b")  # a view
    a = x[places]
    i[0] = 2
    return np.sum(x[places] * a)


def through_an_index_of_their_own(x):
    i = np.array([0, 3, 1])
    z = x * 1.2
    np.put_along_axis(z, i, x[i] * 0.5, 0)
    i[0] = 2
    return np.sum(z * x)


def through_a_function_of_operators(x):
    i = np.array([0, 3, 1])
    places = operator.getitem(i, slice(1, None))
    a = operator.getitem(x, places)
    i[1] = 2
    return np.sum(np.ndarray.__getitem__(x, places) * a)


@pytest.mark.parametrize("program", [through_an_index_of_their_own, through_a_function_of_operators])
def test_views_of_places(program):
    test_programs(program)


def test_views_that_nobody_knows_of_are_refused():
    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.grad(through_an_opaque_function)(X)
