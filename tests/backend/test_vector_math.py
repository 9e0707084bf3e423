"""Our own mathematical functions: accuracy over the whole range, special values, and where they are called."""

import math

import numpy as np
import pytest

import adjoint as ad
import adjoint.runtime.vector_math

numba = pytest.importorskip("numba")
mpmath = pytest.importorskip("mpmath")

from adjoint.backend import vector_math  # noqa: E402

SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, -1e308, 1.0]
EDGES = [709.782712893384, 709.7827128933841, -708.4, -745.1332191019411, -745.1332191019412, -746.0, 22.0, 800.0]
FLAGS = [{}, {"fastmath": {"reassoc", "contract", "arcp", "nsz"}}]


def over_arrays(function, flags):
    @numba.njit(error_model="numpy", **flags)
    def fill(x, y):
        for i in range(x.size):
            y[i] = function(x[i])

    def apply(x):
        y = np.empty_like(x)
        fill(x, y)
        return y

    return apply


def samples(name):
    draw = np.random.default_rng(0)
    tiny = 10.0 ** draw.uniform(-320, 0, 500)
    if name == "exp":
        return np.concatenate([draw.uniform(-745.2, 709.78, 3000), draw.uniform(-1, 1, 2000), tiny, -tiny])
    if name == "log":
        near_one = 1 + draw.normal(size=2000) * 10.0 ** draw.uniform(-12, -1, 2000)
        return np.concatenate([draw.uniform(0, 3, 2000), near_one, np.exp(draw.uniform(-744, 709, 3000)), tiny])
    return np.concatenate([draw.uniform(-25, 25, 2000), draw.uniform(-1, 1, 3000), tiny, -tiny])


@pytest.mark.parametrize("flags", FLAGS, ids=["exact", "fast"])
@pytest.mark.parametrize(("name", "most"), [("exp", 2), ("log", 2), ("tanh", 4)])
def test_accuracy(name, most, flags):
    x = samples(name)
    y = over_arrays(getattr(vector_math, name), flags)(x)
    with mpmath.workprec(120):
        exact = [getattr(mpmath, name)(mpmath.mpf(float(value))) for value in x]
        errors = [
            float(abs(mpmath.mpf(float(got)) - true) / mpmath.mpf(math.ulp(float(true))))
            for got, true in zip(y, exact, strict=True)
        ]
    worst = int(np.argmax(errors))
    assert errors[worst] <= most, f"{name}({x[worst]!r}) is wrong by {errors[worst]} units in the last place"


@pytest.mark.parametrize("flags", FLAGS, ids=["exact", "fast"])
@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_special_values(name, flags):
    x = np.array(SPECIAL + EDGES)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x)
    got = over_arrays(getattr(vector_math, name), flags)(x)
    np.testing.assert_allclose(got, expected, rtol=1e-15, atol=5e-324)
    known = ~np.isnan(expected)
    assert (np.signbit(got) == np.signbit(expected))[known].all()


@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_single_precision_is_correctly_rounded_nearly_always(name):
    x = np.random.default_rng(1).uniform(0.01, 20, 2000).astype(np.float32)
    got = over_arrays(getattr(vector_math, name), {})(x)
    expected = getattr(np, name)(x.astype(np.float64)).astype(np.float32)
    assert got.dtype == np.float32
    assert (got == expected).mean() > 0.999


@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_loops_become_vector_code(name):
    function = getattr(vector_math, name)

    @numba.njit(error_model="numpy")
    def fill(x, y):
        for i in range(x.size):
            y[i] = function(x[i])

    fill(np.ones(3), np.ones(3))
    assembly = "".join(fill.inspect_asm().values())
    assert any(instruction in assembly for instruction in ("vmulpd", "mulpd", "fmul\tv", "fmul.2d"))


def side_by_side(x):
    total = 0.0
    for i in range(len(x)):
        total += math.exp(-x[i]) * math.tanh(x[i]) + math.log(1.0 + x[i] * x[i])
    return total


def one_after_the_other(x):
    y = 0.5
    for i in range(len(x)):
        y = math.exp(-y) * x[i]
    return y


def through_memory(x):
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i + 1] = math.exp(-y[i]) * x[i]
    return y[len(x)]


def text_of(f, *args):
    """The compiled text of a gradient."""
    return ad.grad(f, native="strict").specialized(args, {}).call.emitted.text


@pytest.mark.parametrize("f", [side_by_side, one_after_the_other, through_memory])
def test_derivatives_agree(f):
    x = np.random.default_rng(2).uniform(0.1, 1, 17)
    np.testing.assert_allclose(ad.grad(f, native="strict")(x), ad.grad(f)(x), rtol=1e-13)


def test_only_iterations_that_do_not_wait_call_our_own():
    x = np.linspace(0.1, 1, 5)
    assert "rt.vector_exp" in text_of(side_by_side, x)
    assert "math." not in text_of(side_by_side, x)
    assert "math.exp" in text_of(one_after_the_other, x)
    assert "math.exp" in text_of(through_memory, x)


@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_interpreted_and_compiled_forms_agree(name):
    function = getattr(adjoint.runtime.vector_math, f"vector_{name}")
    compiled = numba.njit(lambda x: function(x))
    for x in (0.3, 20.0, math.inf, 0.0, 2):
        assert compiled(x) == pytest.approx(function(x), rel=1e-15)
