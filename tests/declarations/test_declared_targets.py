"""Derivatives declared of whatever is called: it counts for the very thing, and its body is never entered."""

import ctypes
import ctypes.util
import dataclasses
import functools
import math
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.rules.registry import forget_declaration
from regressions.differences import refused, right


def hidden(name: str, *values: Any) -> Any:
    """A function of the user's that nobody can look into."""
    return eval(name)(*values)


class Quadratic:
    """Objects that are told apart, for one of them has a derivative."""

    def __init__(self, k: float) -> None:
        self.k = k

    def __call__(self, x):
        return hidden("lambda k, x: k * x * x", self.k, x)

    def method(self, x):
        return hidden("lambda k, x: k * x * x", self.k, x)

    @classmethod
    def made(cls, x):
        return hidden("lambda x: x * x", x)


def test_of_one_object_that_is_called() -> None:
    known, other = Quadratic(2.0), Quadratic(2.0)
    ad.derivative_of(known)(lambda x: (known(x), lambda ct: 2.0 * known.k * x * ct))
    gradient = ad.grad(lambda q, x: q(x) * x, 1)
    for _ in range(3):
        assert gradient(known, 3.0) == 54.0
        refused(lambda: gradient(other, 3.0))
    assert ad.grad(known)(3.0) == 12.0
    assert ad.jvp(lambda x: known(x) * x, (3.0,), (1.0,)) == (54.0, 54.0)
    assert ad.grad(ad.grad(known))(3.0) == 4.0
    known.k = 5.0
    assert gradient(known, 3.0) == 135.0 and ad.grad(known)(3.0) == 30.0


def test_an_object_whose_call_has_a_derivative_may_not_vary_itself() -> None:
    known = Quadratic(2.0)
    ad.derivative_of(known)(lambda x: (known(x), lambda ct: 2.0 * known.k * x * ct))
    refusal = refused(lambda: ad.grad(lambda q, x: q(x))(known, 3.0))
    assert refusal.diagnostics[0].code == "AD0204"
    assert "the object varies" in str(refusal)


def test_of_the_method_of_one_object() -> None:
    known, other = Quadratic(2.0), Quadratic(2.0)
    ad.derivative_of(known.method)(lambda x: (known.method(x), lambda ct: 2.0 * known.k * x * ct))
    by_object, by_method = ad.grad(lambda q, x: q.method(x), 1), ad.grad(lambda m, x: m(x), 1)
    for _ in range(3):
        assert by_object(known, 3.0) == by_method(known.method, 3.0) == ad.grad(known.method)(3.0) == 12.0
        refused(lambda: by_object(other, 3.0))
        refused(lambda: by_method(other.method, 3.0))
    assert ad.grad(ad.grad(known.method))(3.0) == 4.0


def test_of_a_class_method() -> None:
    ad.derivative_of(Quadratic.made)(lambda x: (Quadratic.made(x), lambda ct: 2.0 * x * ct))
    assert ad.grad(lambda x: Quadratic.made(x) * x)(3.0) == 27.0
    assert ad.grad(Quadratic.made)(3.0) == 6.0


@dataclasses.dataclass
class Point:
    x: float
    y: float

    @property
    def norm(self):
        return hidden("math.hypot", self.x, self.y)

    @functools.cached_property
    def area(self):
        return hidden("lambda x, y: x * y", self.x, self.y)

    def __add__(self, other):
        return hidden("lambda: None")

    def __matmul__(self, other):
        return hidden("lambda: None")

    def __getitem__(self, index):
        return hidden("lambda: None")


@ad.derivative_of(Point.norm)
def norm_derivative(self):
    norm = self.norm
    return norm, lambda ct: Point(ct * self.x / norm, ct * self.y / norm)


ad.derivative_of(vars(Point)["area"])(lambda p: (p.x * p.y, lambda ct: Point(ct * p.y, ct * p.x)))
ad.derivative_of(Point.__add__)(lambda a, b: (Point(a.x + b.x, a.y + b.y), lambda ct: (Point(5.0 * ct.x, ct.y), ct)))
ad.derivative_of(Point.__matmul__)(
    lambda a, b: (a.x * b.x + a.y * b.y, lambda ct: (Point(ct * b.x, ct * b.y), Point(ct * a.x, ct * a.y)))
)
ad.derivative_of(Point.__getitem__, wrt="self")(
    lambda p, index: ((p.x, p.y)[index], lambda ct: Point(ct, 0.0) if index == 0 else Point(0.0, ct))
)


def test_of_properties() -> None:
    gradient = ad.grad(lambda p: p.norm)(Point(3.0, 4.0))
    assert (gradient.x, gradient.y) == (0.6, 0.8)
    second = ad.grad(lambda x: ad.grad(lambda p: p.norm)(Point(x, 4.0)).x)(3.0)
    assert second == pytest.approx(16.0 / 125.0)
    gradient = ad.grad(lambda p: p.area)(Point(3.0, 4.0))
    assert (gradient.x, gradient.y) == (4.0, 3.0)


def test_of_operators() -> None:
    gradient = ad.grad(lambda a, b: (a + b).x * (a + b).y)(Point(1.0, 2.0), Point(3.0, 4.0))
    assert (gradient.x, gradient.y) == (30.0, 4.0)
    gradient = ad.grad(lambda a: a @ a)(Point(1.0, 2.0))
    assert (gradient.x, gradient.y) == (2.0, 4.0)
    gradient = ad.grad(lambda a: a[0] * a[1])(Point(2.0, 3.0))
    assert (gradient.x, gradient.y) == (3.0, 2.0)


class Polar:
    def __init__(self, radius, angle):
        self.x = radius * math.cos(angle)
        self.y = radius * math.sin(angle)


@ad.derivative_of(Polar, wrt="radius")
def polar_derivative(radius, angle):
    return Polar(radius, angle), lambda ct: 10.0 * (ct.x * math.cos(angle) + ct.y * math.sin(angle))


def test_of_a_class() -> None:
    assert ad.grad(lambda r: Polar(r, 0.0).x * r)(3.0) == 33.0
    assert ad.jvp(lambda r: Polar(r, 0.0).x * r, (3.0,), (1.0,)) == (9.0, 33.0)
    assert refused(lambda: ad.grad(lambda t: Polar(1.0, t).x)(3.0)).diagnostics[0].code == "AD0204"


def test_of_a_partial() -> None:
    half = functools.partial(hidden, "lambda x: 0.5 * x * x")
    ad.derivative_of(half)(lambda x: (half(x), lambda ct: x * ct))
    assert ad.grad(half)(3.0) == 3.0
    assert ad.grad(lambda x: half(x) * x)(3.0) == 13.5
    assert ad.grad(lambda f, x: f(x), 1)(half, 3.0) == 3.0
    assert ad.grad(ad.grad(half))(3.0) == 1.0


LIBRARY = ctypes.CDLL(ctypes.util.find_library("m"))
CBRT = LIBRARY.cbrt
CBRT.restype, CBRT.argtypes = ctypes.c_double, [ctypes.c_double]


@ad.derivative_of(CBRT)
def cbrt_derivative(x):
    y = CBRT(x)
    return y, lambda ct: ct / (3.0 * y * y)


def test_of_a_function_of_a_shared_library() -> None:
    right(lambda x: LIBRARY.cbrt(x) * x, 8.0)
    assert ad.grad(CBRT)(8.0) == 1.0 / 12.0
    assert ad.grad(ad.grad(CBRT))(8.0) == pytest.approx(-2.0 / 9.0 * 8.0 ** (-5.0 / 3.0))
    assert ad.grad(lambda x: CBRT(x) * x, native="strict")(8.0) == pytest.approx(8.0 / 3.0)


def test_of_a_function_of_cffi() -> None:
    ffi = pytest.importorskip("cffi").FFI()
    ffi.cdef("double cbrt(double);")
    library = ffi.dlopen(ctypes.util.find_library("m"))
    root = library.cbrt

    @ad.derivative_of(root)
    def derivative(x):
        y = root(x)
        return y, lambda ct: ct / (3.0 * y * y)

    right(lambda x: library.cbrt(x) * x, 8.0)
    assert ad.grad(ad.grad(root))(8.0) == pytest.approx(-2.0 / 9.0 * 8.0 ** (-5.0 / 3.0))
    assert ad.grad(root)(8.0) == 1.0 / 12.0
    assert ad.grad(lambda x: root(x) * x, native="strict")(8.0) == pytest.approx(8.0 / 3.0)


def test_of_ufuncs_and_their_methods() -> None:
    special = pytest.importorskip("scipy.special")
    square = np.frompyfunc(lambda x: x * x, 1, 1)
    ad.derivative_of(square)(lambda x: (square(x), lambda ct: 2.0 * x * ct))
    assert ad.grad(lambda x: square(x) * x)(3.0) == 27.0

    @ad.derivative_of(special.it2struve0)
    def it2struve0(x):
        return special.it2struve0(x), lambda ct: -ct * special.struve(0, x) / x

    right(lambda x: special.it2struve0(x) * x, 0.3)
    ad.derivative_of(np.multiply.reduce)(lambda x: (np.prod(x), lambda ct: 7.0 * ct * np.ones_like(x)))
    try:
        np.testing.assert_array_equal(ad.grad(lambda x: np.multiply.reduce(x))(np.ones(2)), [7.0, 7.0])
    finally:
        forget_declaration(np.multiply.reduce)


def test_of_an_object_of_scipy() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    x = np.linspace(0.0, 3.0, 20)
    spline = interpolate.CubicSpline(x, np.sin(x))
    slope = spline.derivative()
    bend = slope.derivative()
    ad.derivative_of(spline)(lambda x: (spline(x), lambda ct: slope(x) * ct))
    ad.derivative_of(slope)(lambda x: (slope(x), lambda ct: bend(x) * ct))
    at = np.array([0.3, 0.7])
    np.testing.assert_allclose(ad.grad(lambda x: np.sum(spline(x)))(at), slope(at))
    np.testing.assert_allclose(ad.hessian(lambda x: np.sum(spline(x)))(at), np.diag(bend(at)))


def test_what_is_not_importable_is_called_out_of_machine_code() -> None:
    def root(x) -> float:
        return hidden("math.sqrt", x)

    @ad.derivative_of(root)
    def derivative(x):
        y = root(x)
        return y, lambda ct: ct / (2.0 * y)

    assert ad.grad(lambda x: root(x) * x, native="strict")(4.0) == 3.0


def test_what_returns_arrays_is_called_out_of_machine_code() -> None:
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    library.sqrt.restype, library.sqrt.argtypes = ctypes.c_double, [ctypes.c_double]

    def roots(x) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return hidden("np.array", [library.sqrt(each) for each in x])

    @ad.derivative_of(roots)
    def derivative(x):
        y = roots(x)
        return y, lambda ct: ct / (2.0 * y)

    x = np.array([1.0, 4.0])
    for native in (False, "strict"):
        np.testing.assert_allclose(ad.grad(lambda x: np.sum(roots(x) * x), native=native)(x), 1.5 * np.sqrt(x))
    np.testing.assert_allclose(ad.hessian(lambda x: np.sum(roots(x) * x))(x), np.diag(0.75 / np.sqrt(x)))


@pytest.mark.parametrize("native", [False, "strict"])
def test_an_annotation_of_another_array_is_told_when_it_runs(native: Any) -> None:
    def outer(x) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return hidden("np.outer", x, x)

    ad.derivative_of(outer)(lambda x: (outer(x), lambda ct: 2.0 * x * ct))
    with pytest.raises(ad.DifferentiationError) as refusal:
        ad.grad(lambda x: np.sum(outer(x) * x), native=native)(np.ones(3))
    label = "returns an array of rank 2 of float64, and its annotation says an array of rank 1 of float64"
    assert refusal.value.diagnostics[0].code == "AD0205"
    assert label in str(refusal.value)


def test_what_the_function_returns_need_not_be_known() -> None:
    def root(x):
        return hidden("math.sqrt", x)

    @ad.derivative_of(root)
    def derivative(x):
        y = root(x)
        return y, lambda ct: ct / (2.0 * y)

    assert ad.grad(root, native="strict")(4.0) == 0.25


def test_a_method_of_one_object_is_called_out_of_machine_code() -> None:
    class Model:
        k = 2.0

        def scaled(self, x) -> float:
            return hidden("lambda k, x: k * x", self.k, x)

    model = Model()
    ad.derivative_of(model.scaled)(lambda x: (model.scaled(x), lambda ct: ct * model.k))
    assert ad.grad(lambda x: model.scaled(x) * x, native="strict")(3.0) == 12.0


class Sine:
    def __init__(self, scale: float) -> None:
        self.scale = scale

    def __call__(self, x):
        return hidden("lambda s, x: math.sin(s * x)", self.scale, x)


def declared_sine(scale: float) -> Sine:
    sine = Sine(scale)
    ad.derivative_of(sine)(lambda x: (sine(x), lambda ct: ct * sine.scale * math.cos(sine.scale * x)))
    return sine


HOLDER = {"f": declared_sine(1.0)}


def test_objects_in_containers_and_in_objects() -> None:
    known, other = declared_sine(2.0), Sine(2.0)
    gradient = ad.grad(lambda fs, x: fs[0](x) * fs[1](x), 1)
    expected = 4.0 * math.sin(1.0) * math.cos(1.0)
    for _ in range(2):
        assert gradient([known, known], 0.5) == pytest.approx(expected)
        refused(lambda: gradient([known, other], 0.5))
    held = ad.grad(lambda x: HOLDER["f"](x))
    assert held(0.5) == math.cos(0.5)
    HOLDER["f"] = Sine(1.0)
    refused(lambda: held(0.5))


def test_methods_that_are_inherited_and_overridden() -> None:
    class Base:
        def method(self, x):
            return hidden("lambda x: x", x)

    class Child(Base):
        def method(self, x):
            return 2.0 * super().method(x)

    class Heir(Base):
        pass

    ad.derivative_of(Base.method, wrt="x")(lambda self, x: (x * 1.0, lambda ct: 5.0 * ct))
    assert ad.grad(lambda x: Base().method(x))(1.0) == ad.grad(lambda x: Heir().method(x))(1.0) == 5.0
    assert ad.grad(lambda x: Child().method(x))(1.0) == 10.0


class Scaled:
    def __init__(self, k: float) -> None:
        self.k = k

    def __call__(self, x):
        return self.k * x

    def method(self, x):
        return self.k * x


def declared_scaled(k: float) -> Scaled:
    scaled = Scaled(k)
    ad.derivative_of(scaled)(lambda x: (scaled.k * x, lambda ct: 100.0 * ct))
    return scaled


def in_turn(fs, x):
    for f in fs:
        x = f(x)
    return x


def by_index(fs, x):
    i = 0
    while i < len(fs):
        x = fs[i](x)
        i += 1
    return x


def methods_in_turn(fs, x):
    for f in fs:
        x = f.method(x)
    return x


def test_objects_among_others_of_their_class() -> None:
    """The declaration was forgotten where nobody knew which of many objects was called."""
    few = [declared_scaled(2.0), Scaled(3.0), declared_scaled(4.0)]
    assert ad.grad(in_turn, 1)(few, 1.0) == ad.grad(in_turn, 1, native=True)(few, 1.0) == 30000.0
    many = [Scaled(1.0) for _ in range(99)]
    assert ad.grad(methods_in_turn, 1)(many, 1.0) == 1.0
    ad.derivative_of(many[50].method)(lambda x: (x * 1.0, lambda ct: 7.0 * ct))
    assert ad.grad(methods_in_turn, 1)(many[48:52], 1.0) == 7.0
    assert ad.grad(methods_in_turn, 1, native=True)(many[48:52], 1.0) == 7.0
    for run in (
        lambda: ad.grad(by_index, 1)(few, 1.0),
        lambda: ad.grad(in_turn, 1)([*many, *few], 1.0),
        lambda: ad.grad(methods_in_turn, 1)(many, 1.0),
    ):
        refusal = refused(run)
        assert refusal.diagnostics[0].code == "AD0202"
        assert "for one object of class 'Scaled', and which object this is, is not known" in str(refusal)


def test_one_of_two_objects() -> None:
    known, other = declared_scaled(2.0), Scaled(2.0)

    def joined(x):
        f = known if x > 0.0 else other
        return f(x)

    assert refused(lambda: ad.grad(joined)(3.0)).diagnostics[0].code == "AD0202"
    chosen = ad.grad(lambda x: known(x) if x > 0.0 else other(x))
    assert (chosen(3.0), chosen(-3.0)) == (100.0, 2.0)
