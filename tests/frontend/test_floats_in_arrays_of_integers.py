"""A float that is stored into an array of integers is cut off, as NumPy does it: refused where it varies."""

import numpy as np
import pytest

import adjoint as ad


def constants(x, y):
    a = np.array([1, 2, 3])
    a[0] = 2.7
    a[1:] = [-1.5, 2.9]
    return x * a[0] + x * x * a.sum()


def computed(x, y):
    a = np.zeros((3, 3), dtype=int)
    for i in range(3):
        a[i] = y * np.arange(3)
        a[i, 1] += y
        a[i, 2] -= 1.5
    return x * a.sum() + x * x * a[1, 1]


def filled(x, y):
    a = np.zeros(3, dtype=int)
    a.fill(y)
    a[a > 1] = 7.9
    flags = np.zeros(3, dtype=bool)
    flags[1], flags[2] = y, 0.0
    small = np.zeros(3, dtype=np.uint8)
    small[0], small[1] = 30.7, y
    return x * a.sum() * flags.sum() * small.sum()


def through_a_view(x, y):
    a = np.arange(6).reshape(2, 3)
    row = a[1]
    row[0] = y
    row[1:] = np.array([y, -2 * y])
    a[0, [0, 1]] = y * 3
    np.add.at(a, (0, [0, 0, 2]), y)
    return x * a.sum() + x * x * row[0]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("f", [constants, computed, filled, through_a_view])
@pytest.mark.filterwarnings("ignore:.*AD0601")
def test_constants_are_cut_off(f, native):
    x, y = 1.3, 2.9
    h = 1e-4
    value, slope = ad.value_and_grad(f, native=native)(x, y)
    assert value == pytest.approx(f(x, y), rel=1e-14)
    assert slope == pytest.approx((f(x + h, y) - f(x - h, y)) / (2 * h), rel=1e-6)
    forward = ad.jvp(lambda x: f(x, 2.9), (x,), (1.0,))
    assert forward == pytest.approx((value, slope))


def test_what_varies_is_refused():
    with pytest.raises(ad.DifferentiationError, match="AD0408"):
        ad.grad(computed, wrt=1)(1.3, 2.9)
    with pytest.raises(ad.DifferentiationError, match="AD0408"):
        ad.jvp(through_a_view, (1.3, 2.9), (1.0, 0.0))


def part_in_place(x, y):
    a = np.zeros(3, dtype=int)
    a[:2] += y
    return x * a.sum()


def whole_in_place(x, y):
    a = np.zeros(3, dtype=int)
    a *= y
    return x * a.sum()


@pytest.mark.parametrize("f", [part_in_place, whole_in_place])
def test_arrays_in_place_raise_as_in_numpy(f):
    with pytest.raises(TypeError):
        f(1.3, 2.9)
    with pytest.raises(ad.DifferentiationError, match="AD0213"):
        ad.grad(f)(1.3, 2.9)


def no_number(x, y):
    a = np.zeros(3, dtype=int)
    a[0] = y
    return x * a.sum()


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize(("y", "raised"), [(float("nan"), ValueError), (float("inf"), OverflowError)])
def test_numbers_that_are_none_raise(native, y, raised):
    with pytest.raises(raised):
        no_number(1.3, y)
    with pytest.raises(raised):
        ad.value_and_grad(no_number, native=native)(1.3, y)
