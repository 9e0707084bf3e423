"""Our own mathematical functions: accuracy over the whole range, special values, and where they are called."""

import math
import operator
import re

import numpy as np
import pytest

import adjoint as ad
import adjoint.runtime.arithmetic.vector_math

pytest.importorskip("llvmlite")
mpmath = pytest.importorskip("mpmath")

from adjoint.native.llvm.engine import engine  # noqa: E402
from adjoint.native.options import Options  # noqa: E402
from native.own_code import own_code  # noqa: E402

NAMES = ["exp", "log", "tanh", "sin", "cos"]
FUNCTIONS = {name: getattr(math, name) for name in NAMES} | {"power": operator.pow}
OURS = ("vector-math",)
"""The pass by which they are computed in our own way."""

SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 2.0**-1022, 1.7976931348623157e308, -1e308, 1.0]
EDGES = [709.782712893384, 709.7827128933841, -708.4, -745.1332191019411, -745.1332191019412, -746.0, 22.0, 800.0]
LIMITS = [s * x for s in (-1, 1) for x in (2.0**20, np.nextafter(2.0**20, 0), np.nextafter(2.0**20, 9e9))]
FLAGS = [Options(), Options("reassoc contract arcp nsz")]


def over_arrays(function, flags):
    def fill(x, y):
        for i in range(x.size):
            y[i] = function(x[i])

    compiled = own_code(fill, flags, OURS)

    def apply(x):
        y = np.empty_like(x)
        compiled(x, y)
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
    if name in ("sin", "cos"):
        whole_quarters = np.round(draw.uniform(-6e5, 6e5, 2000)) * (math.pi / 2)
        far = draw.choice([-1.0, 1.0], 500) * 10.0 ** draw.uniform(5, 308, 500)
        few_quarters = np.arange(-500, 500) * (math.pi / 2)
        return np.concatenate([draw.uniform(-10, 10, 2000), whole_quarters, few_quarters, far, tiny, -tiny, LIMITS])
    return np.concatenate([draw.uniform(-25, 25, 2000), draw.uniform(-1, 1, 3000), tiny, -tiny])


@pytest.mark.parametrize("flags", FLAGS, ids=["exact", "fast"])
@pytest.mark.parametrize(("name", "most"), [("exp", 2), ("log", 2), ("tanh", 4), ("sin", 4), ("cos", 4)])
def test_accuracy(name, most, flags):
    x = samples(name)
    y = over_arrays(FUNCTIONS[name], flags)(x)
    with mpmath.workprec(1300 if name in ("sin", "cos") else 120):
        exact = [getattr(mpmath, name)(mpmath.mpf(float(value))) for value in x]
        errors = [
            float(abs(mpmath.mpf(float(got)) - true) / mpmath.mpf(math.ulp(float(true))))
            for got, true in zip(y, exact, strict=True)
        ]
    worst = int(np.argmax(errors))
    assert errors[worst] <= most, f"{name}({x[worst]!r}) is wrong by {errors[worst]} units in the last place"


@pytest.mark.parametrize("flags", FLAGS, ids=["exact", "fast"])
@pytest.mark.parametrize("name", NAMES)
def test_special_values(name, flags):
    x = np.array(SPECIAL + EDGES)
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x)
    got = over_arrays(FUNCTIONS[name], flags)(x)
    np.testing.assert_allclose(got, expected, rtol=1e-15, atol=5e-324)
    known = ~np.isnan(expected)
    assert (np.signbit(got) == np.signbit(expected))[known].all()


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_is_correctly_rounded_nearly_always(name):
    x = np.random.default_rng(1).uniform(0.01, 20, 2000).astype(np.float32)
    got = over_arrays(FUNCTIONS[name], Options())(x)
    expected = getattr(np, name)(x.astype(np.float64)).astype(np.float32)
    assert got.dtype == np.float32
    assert (got == expected).mean() > 0.999


def assembly_of(function, *args):
    """The assembly of a function that is compiled."""
    texts, made = [], engine()
    usual = made.machine

    class Showing:
        def __getattr__(self, name):
            return getattr(usual, name)

        def emit_object(self, module):
            texts.append(usual.emit_assembly(module))
            return usual.emit_object(module)

    made.machine = Showing()
    try:
        own_code(function, passes=OURS)(*args)
    finally:
        made.machine = usual
    return "".join(texts)


@pytest.mark.parametrize("name", [*NAMES, "power"])
def test_loops_become_vector_code(name):
    function = FUNCTIONS[name]

    def of_pairs(x, y):
        for i in range(x.size):
            y[i] = function(x[i], y[i])

    def of_numbers(x, y):
        for i in range(x.size):
            y[i] = function(x[i])

    assembly = assembly_of(of_pairs if name == "power" else of_numbers, np.ones(3), np.ones(3))
    assert re.search(r"v?mulpd|vfmadd\d+pd|fmul\tv|fmla\tv|fm(ul|la)\.2d", assembly)


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_far_angles_are_as_the_c_library_has_them(name):
    x = np.array([1.0, 1e7, 2.0, -1e300, 3.0, 6381956970095103 * 2.0**797, 0.5, 4.0, 5.0, math.nan, 2e6])
    got = over_arrays(FUNCTIONS[name], Options())(x)
    far = np.abs(x) > 2.0**20
    np.testing.assert_array_equal(got[far], [getattr(math, name)(angle) for angle in x[far]])
    np.testing.assert_allclose(got, getattr(np, name)(x), rtol=1e-15)


def powers(x, y, flags):
    power = operator.pow

    def fill(x, y, z):
        for i in range(x.size):
            z[i] = power(x[i], y[i])

    z = np.empty_like(x)
    own_code(fill, flags, OURS)(x, y, z)
    return z


def pairs_for_powers():
    """Numbers and exponents with results over the whole range, and near one."""
    draw = np.random.default_rng(3)
    x = np.concatenate([10.0 ** draw.uniform(-323, 308, 2000), draw.uniform(0.5, 2, 2000)])
    x = np.concatenate([x, 1 + draw.normal(size=2000) * 10.0 ** draw.uniform(-15, -1, 2000)])
    x = x[x != 1]
    by_range = np.clip(draw.uniform(-745, 709.7, x.size) / np.log(x), -1e300, 1e300)
    whole = np.round(draw.uniform(-12, 12, 2000))
    return np.concatenate([x, draw.uniform(-9, 9, 2000)]), np.concatenate([by_range, whole])


@pytest.mark.parametrize("flags", FLAGS, ids=["exact", "fast"])
def test_accuracy_of_powers(flags):
    x, y = pairs_for_powers()
    z = powers(x, y, flags)
    with mpmath.workprec(200):
        exact = [mpmath.power(mpmath.mpf(float(a)), mpmath.mpf(float(b))) for a, b in zip(x, y, strict=True)]
        errors = [
            float(abs(mpmath.mpf(float(got)) - true) / mpmath.mpf(math.ulp(float(true))))
            for got, true in zip(z, exact, strict=True)
        ]
    worst = int(np.argmax(errors))
    assert errors[worst] <= 4, f"{x[worst]!r} ** {y[worst]!r} is wrong by {errors[worst]} units in the last place"


@pytest.mark.parametrize("flags", FLAGS, ids=["exact", "fast"])
def test_special_values_of_powers(flags):
    odd, even = 2.0**53 - 1, 2.0**53
    plain = [
        1.0,
        2.0,
        3.0,
        0.5,
        2.5,
        0.99999999999,
        1.0000000001,
        5e-324,
        1e-300,
        1e300,
        odd,
        even,
        even / 2 + 1,
        2.0**51 + 0.5,
    ]
    values = [sign * value for value in [0.0, math.inf, *plain] for sign in (1, -1)] + [math.nan]
    x, y = (part.ravel().copy() for part in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        expected = np.power(x, y)
    got = powers(x, y, flags)
    np.testing.assert_allclose(got, expected, rtol=1e-15, atol=5e-324)
    known = ~np.isnan(expected)
    assert (np.signbit(got) == np.signbit(expected))[known].all()


def test_powers_of_whole_numbers_are_exact():
    x, y = (part.ravel().copy() for part in np.meshgrid(np.arange(-20.0, 21.0), np.arange(12.0)))
    np.testing.assert_array_equal(powers(x, y, Options()), x**y)


def test_powers_of_single_precision():
    x, y = np.random.default_rng(4).uniform(0.1, 9, (2, 500)).astype(np.float32)
    got = powers(x, y, Options())
    assert got.dtype == np.float32
    expected = np.power(x.astype(np.float64), y).astype(np.float32)
    np.testing.assert_array_max_ulp(got, expected, 1)  # those of the C library
    assert (got == expected).mean() > 0.99


@pytest.mark.parametrize("name", ["vector_power", "vector_power_to_infinity"])
def test_interpreted_and_compiled_powers_agree(name):
    function = getattr(adjoint.runtime.arithmetic.vector_math, name)
    compiled = own_code(lambda x, y: function(x, y))
    for x in (0.0, -0.0, 2.5, -3.0, math.inf):
        for y in (-1.0, 0.0, 2.0, 0.5, 3):
            assert compiled(x, y) == pytest.approx(function(x, y), rel=1e-15, nan_ok=True)


def waves_and_powers(x):
    total = 0.0
    for i in range(len(x)):
        total += math.sin(x[i]) * math.cos(3.0 * x[i]) + x[i] ** 2.7 + x[i] ** 2 + x[i] ** x[i]
    return total


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


def in_place(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] * x[i]
        y[i] = math.exp(-y[i]) + y[i]
    return np.sum(y)


def text_of(f, *args):
    """The compiled text of a gradient."""
    return ad.grad(f, native="strict").specialized(args, {}).call.emitted.text


@pytest.mark.parametrize("f", [waves_and_powers, side_by_side, one_after_the_other, through_memory, in_place])
def test_derivatives_agree(f):
    x = np.random.default_rng(2).uniform(0.1, 1, 17)
    np.testing.assert_allclose(ad.grad(f, native="strict")(x), ad.grad(f)(x), rtol=1e-13)


def test_only_iterations_that_do_not_wait_call_our_own():
    x = np.linspace(0.1, 1, 5)
    assert "rt.vector_exp" in text_of(side_by_side, x)
    assert "math." not in text_of(side_by_side, x)
    assert "math.exp" in text_of(one_after_the_other, x)
    assert "math.exp" in text_of(through_memory, x)
    assert "math.exp" not in text_of(in_place, x)


def sines_beside_parts(x, y, out):
    for i in range(len(x)):
        out[i, :2] = y
        out[i, 2] = math.sin(x[i])
    return out


def sines_beside_elements(x, y, out):
    for i in range(len(x)):
        out[i, 0] = y[0]
        out[i, 2] = math.sin(x[i])
    return out


def test_a_loop_with_a_loop_in_it_has_no_vectors():
    x, y, out = np.linspace(0.1, 1, 5), np.ones(2), np.zeros((5, 3))
    texts = []
    for f in (sines_beside_parts, sines_beside_elements):
        compiled = ad.compile(f, native="strict")
        np.testing.assert_allclose(compiled(x, y, out.copy()), f(x, y, out.copy()), rtol=1e-15)
        texts.append(compiled.specialized((x, y, out), {}).call.emitted.text)
    assert "math.sin" in texts[0] and "rt.vector_sin" not in texts[0]
    assert "math.sin" not in texts[1] and "rt.vector_sin" in texts[1]


def test_powers_that_are_products_stay_what_they_are():
    text = text_of(waves_and_powers, np.linspace(0.1, 1, 5))
    assert "rt.vector_power" in text
    assert "rt.vector_sin" in text
    assert "math." not in text
    assert "+ 2.0 * t" in text
    assert "rt.vector_power(t, t)" in text


@pytest.mark.parametrize("name", NAMES)
def test_interpreted_and_compiled_forms_agree(name):
    function = getattr(adjoint.runtime.arithmetic.vector_math, f"vector_{name}")
    compiled = own_code(lambda x: function(x))
    for x in (0.3, 20.0, math.inf, 0.0, 2):
        assert compiled(x) == pytest.approx(function(x), rel=1e-15, nan_ok=True)
