"""Values and gradients as C functions: what they give, what they refuse, and what a call costs."""

import ctypes
import time

import numpy as np
import pytest

pytest.importorskip("nutpie")
from numba import njit

import adjoint as ad
from adjoint.interop.c_functions import CFunction, Data, variables_of
from interop import densities as models

SCHOOLS = {"mean": (), "log_width": (), "z": 8}
SCHOOLS_DATA = {"errors": models.ERRORS, "effects": models.EFFECTS}


def made(f, variables, data, **options):
    known = variables_of(variables)
    return CFunction(f, known, Data(f, data, len(known.names)), **options)


def test_values_and_gradients():
    x = np.linspace(-0.4, 0.6, 10)
    for data in (SCHOOLS_DATA, (models.EFFECTS, models.ERRORS)):
        value, gradient = made(models.eight_schools, SCHOOLS, data)(x)
        args = x[0], x[1], x[2:], models.EFFECTS, models.ERRORS
        expected, slopes = ad.value_and_grad(models.eight_schools, (0, 1, 2))(*args)
        assert value == pytest.approx(expected, rel=1e-14)
        np.testing.assert_allclose(gradient, np.hstack(slopes), rtol=1e-13)


def test_matrices_and_whole_numbers():
    variables = {"means": 2, "log_widths": (2,), "z": (2, 5), "log_noise": ()}
    x = np.sin(np.arange(15.0))
    f = made(models.regression, variables, (models.GROUP, models.PLACES, models.SEEN))
    args = x[:2], x[2:4], x[4:14].reshape(2, 5), x[14], models.GROUP, models.PLACES, models.SEEN
    expected, slopes = ad.value_and_grad(models.regression, (0, 1, 2, 3))(*args)
    value, gradient = f(x)
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(gradient, np.hstack([np.ravel(slope) for slope in slopes]), rtol=1e-11)


def test_what_goes_wrong():
    def f(x, y, scale):
        if y < 0.0:
            raise ValueError("negative")
        return x / y * scale

    compiled = made(f, {"x": (), "y": ()}, {"scale": 2.0})
    assert compiled(np.array([3.0, 2.0]))[0] == 3.0
    for x, status in (([1.0, -1.0], 1), ([1.0, 0.0], 1), ([np.inf, 1.0], 3), ([1.0, 2.0, 3.0], -1)):
        with pytest.raises(ArithmeticError, match=str(status)):
            compiled(np.array(x))
    with pytest.raises(TypeError, match=r"the data of 'f' are \['scale'\]"):
        made(f, {"x": (), "y": ()}, {"size": 2.0})


@njit
def _calls(f, count, x, gradient, value, data):
    total = 0.0
    for _ in range(count):
        f(x.size, x.ctypes, gradient.ctypes, value.ctypes, data.ctypes)
        total += value[0] + gradient[0] + gradient[1] + gradient[5]
    return total


def test_a_call_costs_little_more_than_the_compiled_derivative():
    f = made(models.eight_schools, SCHOOLS, SCHOOLS_DATA)
    derivative = ad.value_and_grad(models.eight_schools, (0, 1, 2), native=True)

    @njit
    def bare(count, x, effects, errors):
        total = 0.0
        for _ in range(count):
            value, slopes = derivative(x[0], x[1], x[2:], effects, errors)
            total += value + slopes[0] + slopes[1] + slopes[2][3]
        return total

    pointer = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_void_p] * 4)(f.address)
    x, gradient, value = np.linspace(-0.4, 0.6, 10), np.empty(10), np.empty(1)
    took = {"c": [], "bare": []}
    for _ in range(20):
        for name, call in (
            ("c", lambda n: _calls(pointer, n, x, gradient, value, f.data.addresses)),
            ("bare", lambda n: bare(n, x, models.EFFECTS, models.ERRORS)),
        ):
            call(1)
            start = time.perf_counter()
            call(20_000)
            took[name].append(time.perf_counter() - start)
    assert min(took["c"]) <= 1.5 * min(took["bare"])
