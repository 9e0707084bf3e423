"""Array statements as machine code give what they give as Python."""

import warnings

import numpy as np
import pytest

import adjoint as ad
from native.fusion.complex_programs import PROGRAMS
from sampling import is_chosen

pytest.importorskip("llvmlite")


def arrays(shapes, extents, dtype=np.float64, order="C", seed=0):
    draw = np.random.default_rng(seed)
    found = []
    for shape in shapes:
        if not shape:
            found.append(float(draw.normal()))
            continue
        values = draw.normal(size=tuple(extents[letter] for letter in shape)).astype(dtype)
        if order == "strided":
            wide = np.zeros(tuple(2 * extent for extent in values.shape), dtype)
            part = wide[tuple(slice(None, None, 2) for _ in shape)]
            part[...] = values
            found.append(part)
        else:
            found.append(np.asarray(values, order=order))
    return tuple(found)


def outcome(function, args):
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore", RuntimeWarning)
            return function(*args)
    except (ValueError, IndexError, ZeroDivisionError) as failure:
        return type(failure)


def check(name, *inputs, tolerance=1e-11):
    function, shapes = PROGRAMS[name]
    smooth = tuple(range(len(shapes)))
    plain = ad.value_and_grad(function, wrt=smooth)
    native = ad.value_and_grad(function, wrt=smooth, native="strict")
    for args in inputs:
        expected = outcome(plain, args)
        if expected in (IndexError, ZeroDivisionError):
            continue  # machine code looks at no bounds, and divides as NumPy does
        found = outcome(native, args)
        if isinstance(expected, type):
            assert found is expected
            continue
        (value, gradients), (value_, gradients_) = found, expected
        np.testing.assert_allclose(value, value_, rtol=tolerance, atol=tolerance)
        for mine, theirs in zip(gradients, gradients_, strict=True):
            assert np.asarray(mine).dtype == np.asarray(theirs).dtype
            np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if is_chosen(name, 2)])
def test_doubles(name):
    shapes = PROGRAMS[name][1]
    sizes = [(2, 3, 5, 2), (40, 17, 2, 9), (0, 2, 3, 2), (2, 0, 2, 1)]
    check(name, *[arrays(shapes, dict(zip("ijkl", extents, strict=True))) for extents in sizes])


@pytest.mark.parametrize("name", ["log_softmax", "nearest", "chosen", "chosen_numbers", "resonances", "in_places"])
def test_single_precision(name):
    check(name, arrays(PROGRAMS[name][1], {"i": 7, "j": 4, "k": 3}, np.float32), tolerance=2e-4)


def test_complex_numbers_of_python_take_the_precision_of_arrays():
    def f(x, y):
        z = x - y * 2j
        return np.where(np.abs(z) > 1.0, z, 1j / z)

    x = np.array([0.3, -0.7], np.float32)
    value, pullback = ad.vjp(f, x, x, native="strict")
    assert value.dtype == f(x, x).dtype == np.complex64
    for mine, theirs in zip(pullback(value), ad.vjp(f, x, x)[1](value), strict=True):
        assert mine.dtype == theirs.dtype == np.float32
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


@pytest.mark.parametrize("order", ["F", "strided"])
@pytest.mark.parametrize("name", ["transposed", "written_rows", "in_places"])
def test_layouts(name, order):
    check(name, arrays(PROGRAMS[name][1], {"i": 6, "j": 5}, order=order))


@pytest.mark.parametrize("extents", [{"i": 1, "j": 3}, {"i": 3, "j": 1}, {"i": 1, "j": 1}])
def test_extents_of_one(extents):
    check("both_ways", arrays(PROGRAMS["both_ways"][1], extents))


def test_arguments_that_must_not_be_written():
    args = arrays(PROGRAMS["log_softmax"][1], {"i": 5, "j": 4})
    for arg in args:
        arg.flags.writeable = False
    check("log_softmax", args)


def test_what_is_not_a_number_stays_so():
    x = np.array([1.0, np.nan, 2.0, -np.inf])
    for name in ("log_sum_exp", "chosen", "polynomial"):
        count = len(PROGRAMS[name][1])
        check(name, (x,) * count)
