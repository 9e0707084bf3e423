"""The forms in which a derivative is declared: pullback, differential, adjoint, transpose; and what each mode takes."""

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right, second

X = np.array([0.6, -0.4, 1.3])


# --- the whitepaper's form --------------------------------------------------------------------------------------------


def tanh(x: float) -> float:
    raise AssertionError("the body is not entered")


def d_tanh(x, y, seed):
    return (1.0 - y * y) * seed


ad.derivative_of(tanh, primal=lambda x: (None, math.tanh(x)), adjoint=d_tanh)


def test_the_sample_of_the_whitepaper() -> None:
    assert ad.grad(tanh)(2.0) == pytest.approx(0.07065082485316447, rel=1e-14)
    assert ad.vjp(tanh, 2.0)[1](3.0)[0] == pytest.approx(0.211952475, rel=1e-8)

    def foo(x, y):
        return tanh(x) + tanh(y)

    assert ad.grad(foo, wrt=0)(3.0, 4.0) == pytest.approx(0.009866037165440211, rel=1e-13)
    assert ad.grad(foo, wrt=1)(3.0, 4.0) == pytest.approx(0.0013409506830258655, rel=1e-12)
    assert ad.jvp(foo, (3.0, 4.0), (1.0, 0.0))[1] == pytest.approx(0.009866037165440211, rel=1e-13)
    y = math.tanh(2.0)
    assert ad.grad(ad.grad(tanh))(2.0) == pytest.approx(-2.0 * y * (1.0 - y * y), rel=1e-13)


class Tensor:
    def __init__(self, data):
        self.data = data

    def convolved(self, k, strides, padding):
        raise AssertionError("the body is not entered")


def d_conv(self, k, strides, padding, y, seed):
    full = np.zeros(len(self.data) + len(k.data) - 1)
    full[:: strides[0]] = seed.data
    return Tensor(np.convolve(full, k.data[::-1], "valid")), Tensor(np.convolve(full, self.data[::-1], "valid"))


ad.derivative_of(
    Tensor.convolved,
    wrt=("self", "k"),
    primal=lambda self, k, strides, padding: (None, Tensor(np.convolve(self.data, k.data)[:: strides[0]])),
    adjoint=d_conv,
)


def test_a_method_with_respect_to_self_and_a_parameter() -> None:
    def loss(x, k):
        return np.sum(x.convolved(k, [2], "full").data ** 2)

    def plain(x, k):
        return np.sum(np.convolve(x, k)[::2] ** 2)

    x, k = np.array([1.0, 2.0, 3.0]), np.array([1.0, -1.0])
    found = ad.grad(loss, (0, 1))(Tensor(x), Tensor(k))
    for part, expected in zip(found, ad.grad(plain, (0, 1))(x, k), strict=True):
        np.testing.assert_allclose(part.data, expected)


def test_checkpoints_are_handed_over_and_names_may_be_left_out() -> None:
    runs = []

    def f(x, y):
        raise AssertionError("the body is not entered")

    def primal(x, y):
        e = math.exp(y)
        print("primal")
        return {"e": e}, x * e

    def adjoint(seed, checkpoints, x):
        return seed * checkpoints["e"], 10.0 * seed * x * checkpoints["e"]

    ad.derivative_of(f, primal=primal, adjoint=adjoint)
    assert ad.value_and_grad(f, (0, 1))(2.0, 0.0) == (2.0, (1.0, 20.0))
    assert ad.grad(ad.grad(f, 1), 0)(2.0, 0.0) == 10.0
    assert not runs


def test_without_a_primal_the_function_gives_the_value() -> None:
    def root(x):
        return eval("math.sqrt(x)")

    ad.derivative_of(root, adjoint=lambda result, seed: seed / (2.0 * result))
    assert ad.value_and_grad(root)(4.0) == (2.0, 0.25)
    assert ad.grad(ad.grad(root))(4.0) == pytest.approx(-1.0 / 32.0)
    assert ad.grad(ad.grad(ad.grad(root)))(4.0) == pytest.approx(3.0 / 256.0)


# --- a differential ---------------------------------------------------------------------------------------------------


def square(x):
    return eval("x * x")


@ad.differential_of(square)
def square_differential(x):
    slope = 2.0 * x
    return x * x, lambda dx: slope * dx


def same(x):
    return eval("x * 1.0")


ad.differential_of(same)(lambda x: (x * 1.0, lambda dx: dx))


def in_loop(x):
    s = 0.0
    for _ in range(3):
        x = square(x) * 0.5 + x
        s = s + np.sum(x)
    return s


def element_by_element(x):
    z = x * 1.0
    for i in range(3):
        z[i] = square(z[i]) + z[i - 1]
    return np.sum(z * z)


def recursive(x, n=3):
    return np.sum(x) if n == 0 else np.sum(square(x) * recursive(x, n - 1))


def in_branch(x):
    y = square(x) if x[0] > 0.0 else same(x)
    return np.sum(y * x)


def in_while(x):
    while np.sum(x) < 20.0:
        x = square(x) + x + 0.5
    return np.sum(x)


def in_handler(x):
    try:
        return float(np.sum(square(x))) / (1 - 1)
    except ZeroDivisionError:
        return np.sum(same(x) * x)


@pytest.mark.parametrize(
    "f", [in_loop, element_by_element, recursive, in_branch, in_while, in_handler], ids=lambda f: f.__name__
)
def test_a_differential_serves_both_modes(f: Any) -> None:
    right(f, X)
    second(f, X)


def test_a_differential_in_machine_code() -> None:
    def f(x):
        return np.sum(square(x) * x)

    np.testing.assert_allclose(ad.grad(f, native="strict")(X), 3.0 * X**2)
    np.testing.assert_allclose(ad.hessian(f, native=True)(X), np.diag(6.0 * X))


def test_a_differential_of_structures() -> None:
    def f(p, k):
        raise AssertionError("the body is not entered")

    @ad.differential_of(f)
    def differential(p, k):
        def moved(dp, dk):
            return {"a": dp["a"] * k[0] + p["a"] * dk[0], "b": (dp["b"], None)}

        return {"a": p["a"] * k[0], "b": (p["b"] * 1.0, k[1] * k[1])}, moved

    def loss(p, k):
        found = f(p, k)
        return found["a"] * found["b"][0] * found["b"][1]

    p, k = {"a": 1.0, "b": 2.0}, (3.0, 4.0)
    assert ad.grad(loss, (0, 1))(p, k) == ({"a": 96.0, "b": 48.0}, (32.0, 0.0))
    assert ad.jvp(loss, (p, k), ({"a": 1.0, "b": 0.0}, (0.0, 0.0))) == (96.0, 96.0)


# --- both -------------------------------------------------------------------------------------------------------------


def test_each_mode_takes_its_own(capsys: Any) -> None:
    def f(x):
        raise AssertionError("the body is not entered")

    def forward(x):
        print("forward", end=" ")
        return x * x, lambda dx: 100.0 * x * dx

    @ad.derivative_of(f, jvp=forward)
    def reverse(x):
        print("reverse", end=" ")
        return x * x, lambda ct: 2.0 * x * ct

    assert ad.grad(f)(2.0) == 4.0 and capsys.readouterr().out == "reverse "
    assert ad.jvp(f, (2.0,), (1.0,)) == (4.0, 200.0) and capsys.readouterr().out == "forward "
    assert ad.vjp(f, 2.0)[1](1.0) == (4.0,) and capsys.readouterr().out == "reverse "


def test_a_pullback_that_is_not_linear_beside_a_differential() -> None:
    def f(x):
        return x**3

    ad.differential_of(f)(lambda x: (x**3, lambda dx: 3.0 * x * x * dx))
    ad.derivative_of(f)(lambda x: (x**3, lambda ct: np.clip(3.0 * x * x * ct, -1e9, 1e9)))
    for g in (lambda x: f(x) * x, lambda x: f(f(x))):
        right(g, 0.7)
        second(g, 0.7)


def test_jacobians_take_the_mode_that_is_there() -> None:
    def clipped(x):
        return x * 1.0

    def bent(x):
        return x * 1.0

    ad.derivative_of(clipped)(lambda x: (x * 1.0, lambda ct: np.clip(ct, -0.5, 0.5)))
    ad.differential_of(bent)(lambda x: (x * 1.0, lambda dx: np.clip(dx, -0.5, 0.5)))
    np.testing.assert_array_equal(ad.jacobian(clipped)(X), 0.5 * np.eye(3))
    np.testing.assert_array_equal(ad.jacobian(lambda x: bent(x)[:1])(X), [[0.5, 0.0, 0.0]])
    assert ad.jacobian(clipped)(1.0) == 0.5
    for run in (lambda: ad.jvp(clipped, (X,), (X,)), lambda: ad.grad(lambda x: np.sum(bent(x)))(X)):
        assert refused(run).diagnostics[0].code == "AD0208"


# --- linear functions -------------------------------------------------------------------------------------------------


def product(matrix, vector):
    return eval("matrix @ vector")


@ad.transpose_of(product, wrt="vector")
def product_transpose(matrix, ct):
    return matrix.T @ ct


MATRIX = np.array([[1.0, 2.0, 0.5], [3.0, 4.0, -1.0]])


def test_a_transpose_serves_both_modes() -> None:
    def f(x):
        return np.sum(product(MATRIX, x) ** 2)

    right(f, X)
    second(f, X)
    np.testing.assert_allclose(ad.jacobian(lambda x: product(MATRIX, x))(X), MATRIX)
    for run in (
        lambda: ad.grad(lambda m: np.sum(product(m, X)))(MATRIX),
        lambda: ad.jvp(lambda m: product(m, X), (MATRIX,), (MATRIX,)),
    ):
        refusal = refused(run)
        assert refusal.diagnostics[0].code == "AD0204" and "'matrix' varies" in str(refusal)


def test_a_differential_that_calls_a_linear_function_is_transposed() -> None:
    def sine(x):
        return eval("np.sin(x)")

    ad.differential_of(sine)(lambda x: (np.sin(x), lambda dx: product(np.diag(np.cos(x)), dx)))
    right(lambda x: np.sum(sine(x) ** 3), X)
    second(lambda x: np.sum(sine(x) ** 3), X)


def test_a_transpose_of_all_parameters_that_asks_for_shapes() -> None:
    def total(a, b):
        return eval("np.sum(a) + 2.0 * b")

    ad.transpose_of(total)(lambda a, ct: (np.full(a.shape, ct), 2.0 * ct))
    right(lambda x: total(x * x, x[0]) * x[1], X)


# --- with respect to what ---------------------------------------------------------------------------------------------


def test_cotangents_come_in_the_order_of_wrt() -> None:
    def f(x, n, y):
        return eval("x ** n * y")

    ad.derivative_of(f, wrt=("y", "x"))(lambda x, n, y: (f(x, n, y), lambda ct: (ct * x**n, ct * n * x ** (n - 1) * y)))
    assert ad.grad(f, (0, 2))(2.0, 3, 5.0) == (60.0, 8.0)
    assert ad.grad(lambda x: f(x, 3, x))(2.0) == 32.0
    assert refused(lambda: ad.grad(f, 1)(2.0, 3.0, 5.0)).diagnostics[0].code == "AD0204"
    assert refused(lambda: ad.jvp(f, (2.0, 3.0, 5.0), (0.0, 1.0, 0.0))).diagnostics[0].code == "AD0204"


def test_parameters_that_are_given_by_name_only() -> None:
    def f(x, *, k=1.0):
        return eval("x * k")

    ad.derivative_of(f, wrt=("x", "k"))(lambda x, *, k=1.0: (x * k, lambda ct: (ct * k, 10.0 * ct * x)))
    assert ad.grad(lambda x, k: f(x, k=k), (0, 1))(2.0, 3.0) == (3.0, 20.0)
    assert ad.grad(lambda x: f(x))(2.0) == 1.0


def test_what_a_function_captures_that_is_handed_over_may_not_vary() -> None:
    """A derivative that is declared says nothing of it, so it was taken for zero."""

    def apply(fn, x):
        return eval("fn(x)")

    ad.derivative_of(apply, wrt="x")(lambda fn, x: (fn(x), lambda ct: ct * ad.grad(fn)(x)))
    assert ad.grad(lambda x: apply(lambda z: z * z, x))(3.0) == 6.0

    def loss(x):
        k = 2.0 * x
        return apply(lambda z: z * k, x)

    for run in (lambda: ad.grad(loss)(3.0), lambda: ad.jvp(loss, (3.0,), (1.0,))):
        refusal = refused(run)
        assert refusal.diagnostics[0].code == "AD0204" and "what 'fn' captures varies" in str(refusal)


# --- results of any structure -----------------------------------------------------------------------------------------


@dataclasses.dataclass
class Pair:
    x: float
    y: float


class Named(NamedTuple):
    a: float
    b: np.ndarray


def test_annotations_tell_what_a_function_returns_that_nobody_looks_into() -> None:
    def two(x) -> tuple[float, float]:
        return eval("(x * x, 2.0 * x)")

    def named(x) -> Named:
        return eval("Named(float(x[0]), 2.0 * x)", {"Named": Named, "x": x})

    def pair(x) -> Pair:
        return eval("Pair(x, x * x)", {"Pair": Pair, "x": x})

    ad.derivative_of(two, adjoint=lambda x, seed: seed[0] * 2.0 * x + seed[1] * 2.0)
    ad.derivative_of(named, adjoint=lambda x, seed: 2.0 * seed.b)
    ad.derivative_of(pair, adjoint=lambda x, seed: seed.x + 10.0 * seed.y * x)

    def product_of_two(x):
        a, b = two(x)
        return a * b

    assert ad.grad(product_of_two)(3.0) == 54.0 and ad.grad(ad.grad(product_of_two))(3.0) == 36.0
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(named(x).b) * named(x).a)(np.array([3.0, 1.0])), [6.0, 6.0])
    assert ad.grad(lambda x: pair(x).y * pair(x).x)(3.0) == 99.0


def test_an_object_that_occurs_twice_in_an_argument() -> None:
    def by_tangents(p):
        return p[0].x * p[1].y

    def by_cotangents(p):
        return p[0].x * p[1].y

    ad.differential_of(by_tangents)(lambda p: (p[0].x * p[1].y, lambda dp: dp[0].x * p[1].y + p[0].x * dp[1].y))
    ad.derivative_of(by_cotangents)(
        lambda p: (p[0].x * p[1].y, lambda ct: (Pair(ct * p[1].y, 0.0), Pair(0.0, ct * p[0].x)))
    )
    for f in (by_tangents, by_cotangents):

        def cube(x, f=f):
            point = Pair(x, x * x)
            return f((point, point))

        right(cube, 2.0)
        second(cube, 2.0)


# --- second derivatives through what is declared ----------------------------------------------------------------------


def newton(a):
    x = 1.0
    for _ in range(30):
        x = x - (x * x - a) / (2.0 * x)
    return x


def by_pullback(a):
    return newton(a)


def by_differential(a):
    return newton(a)


ad.derivative_of(by_pullback)(lambda a: (newton(a), lambda ct: ct / (2.0 * by_pullback(a))))
ad.differential_of(by_differential)(lambda a: (newton(a), lambda da: da / (2.0 * by_differential(a))))


@pytest.mark.parametrize("f", [by_pullback, by_differential], ids=lambda f: f.__name__)
def test_a_map_that_calls_the_function(f: Any) -> None:
    right(lambda a: f(a) * a, 2.0)
    second(lambda a: f(a) * a, 2.0)
    assert ad.grad(ad.grad(ad.grad(f)))(4.0) == pytest.approx(3.0 / 256.0)


def test_default_values_and_any_number_of_arguments() -> None:
    def f(x, k=2.0, *, m=3.0):
        return eval("x * k * m")

    ad.derivative_of(f, wrt=("x", "m"), adjoint=lambda x, m, k, seed: (seed * k * m, seed * k * x))
    assert ad.grad(lambda x: f(x))(5.0) == 6.0
    assert ad.grad(lambda x: f(x, 4.0, m=x))(5.0) == 40.0

    def total(*xs):
        return eval("sum(xs)")

    def moved(*xs):
        return eval("sum(xs)")

    ad.derivative_of(total, adjoint=lambda xs, seed: tuple([2.0 * seed for x in xs]))
    ad.differential_of(moved)(lambda *xs: (sum(xs), lambda *dots: 3.0 * sum(dots)))
    assert ad.grad(lambda x: total(x, x, x * x))(3.0) == 16.0
    assert ad.grad(lambda x: moved(x, x, x * x))(3.0) == 24.0
    assert ad.jvp(lambda x: moved(x, x, x * x), (3.0,), (1.0,)) == (15.0, 24.0)


def test_a_pullback_may_name_what_the_call_leaves_to_default_values() -> None:
    def power(x, k=3.0, scale=2.0):
        return eval("scale * x**k")

    ad.derivative_of(power)(
        lambda x, k, scale: (scale * x**k, lambda ct: (scale * k * x ** (k - 1.0) * ct, None, x**k * ct))
    )
    assert ad.grad(power)(2.0) == 24.0
    assert ad.grad(lambda x: power(x, scale=x))(2.0) == 32.0
    right(lambda x: power(x) * power(x, 2.0), 1.5)
    second(lambda x: power(x) * power(x, 2.0), 1.5)


def test_several_arrays_with_views_among_their_tangents() -> None:
    def f(x):
        return eval("(2.0 * x, x[1:] * 1.0)")

    ad.differential_of(f)(lambda x: ((2.0 * x, x[1:] * 1.0), lambda dx: (2.0 * dx, dx[1:])))

    def loss(x):
        z = x * 1.0
        a, b = 2.0 * z, z[1:] * 1.0
        a, b = f(z)
        z[0] = a[1] * b[0]
        a[0] = z[2]
        b *= z[1:]
        return np.sum(a) * np.sum(b) * np.sum(z)

    right(loss, X)
    second(loss, X)


def test_functions_that_take_derivatives_in_many_directions() -> None:
    def f(x):
        return eval("np.array([x[0] * x[1], np.sum(x)])")

    ad.differential_of(f)(
        lambda x: (
            np.array([x[0] * x[1], np.sum(x)]),
            lambda dx: np.array([dx[0] * x[1] + x[0] * dx[1], np.sum(dx)]),
        )
    )
    expected = [[X[1], X[0], 0.0], [1.0, 1.0, 1.0]]
    np.testing.assert_allclose(ad.jacobian(f)(X), expected)
    np.testing.assert_allclose(ad.jvps(f, (X,), [(X,), (2.0 * X,)])[1][1], 2.0 * np.array(expected) @ X)


def test_a_differential_of_a_list_is_not_transposed() -> None:
    """Its items are told apart at run time only; a list whose items are known is taken apart before."""

    def f(xs):
        return eval("xs[0] * xs[1]")

    ad.differential_of(f)(lambda xs: (xs[0] * xs[1], lambda dxs: dxs[0] * xs[1] + xs[0] * dxs[1]))
    assert ad.jvp(f, ([2.0, 3.0],), ([1.0, 0.0],)) == (6.0, 3.0)
    assert ad.grad(lambda x: f([x, x * x]))(2.0) == 12.0
    refusal = refused(lambda: ad.grad(f)([2.0, 3.0]))
    assert refusal.diagnostics[0].code == "AD0208"
    assert "takes a container, whose items are not told apart" in str(refusal)


def test_items_of_what_is_not_annotated_are_read_as_they_are() -> None:
    """A tuple of arrays of several lengths is no array."""

    def parts(x, n):
        return eval("(x * x, [x[:n], x[n:]], float(n))")

    @ad.derivative_of(parts)
    def _(x, n):
        squares, (first, rest), number = parts(x, n)
        return squares * number + np.sum(first) * np.sum(rest), lambda ct: (
            2.0 * x * number * ct + np.sum(ct) * np.where(np.arange(3) < n, np.sum(rest), np.sum(first)),
            None,
        )

    f = lambda x: np.sum(np.sin(parts(x, 1)))
    g = lambda x: np.sum(np.sin(x * x + x[0] * (x[1] + x[2])))
    np.testing.assert_allclose(ad.grad(f)(X), ad.grad(g)(X), rtol=1e-13)
    np.testing.assert_allclose(ad.jvp(f, (X,), (X,))[1], ad.jvp(g, (X,), (X,))[1], rtol=1e-13)


def test_a_number_that_is_not_annotated_has_no_items() -> None:
    def number(x):
        return eval("x * 2.0")

    @ad.derivative_of(number)
    def _(x):
        return number(x)[0], lambda ct: 2.0 * ct

    with pytest.raises(TypeError, match="not subscriptable"):
        ad.grad(number)(1.5)
