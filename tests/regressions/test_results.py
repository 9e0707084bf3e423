"""What a derivative hands out: structure, types, freshness, values; and what it leaves alone."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad

pytestmark = pytest.mark.filterwarnings("ignore::adjoint.diagnostics.DifferentiationWarning")


@dataclass
class Point:
    x: float
    y: float
    label: str = "p"


@dataclass(frozen=True)
class Guarded:
    value: float

    def __post_init__(self):
        if self.value < 1.0:
            raise ValueError("must be at least 1")


class Pair(NamedTuple):
    first: float
    second: float


def test_gradient_of_a_float_is_a_float() -> None:
    assert type(ad.grad(lambda x: x * x)(3.0)) is float


def test_gradient_of_an_array_has_its_shape_and_type() -> None:
    gradient = ad.grad(lambda x: np.sum(x * x))(np.ones((2, 3)))
    assert isinstance(gradient, np.ndarray)
    assert gradient.shape == (2, 3)
    assert gradient.dtype == np.float64


def test_single_precision_stays_single() -> None:
    x = np.ones(3, dtype=np.float32)
    assert ad.grad(lambda a: np.sum(np.sin(a) * 2.0))(x).dtype == np.float32
    value, pullback = ad.vjp(lambda a: a * a, x)
    assert value.dtype == np.float32
    assert pullback(np.ones(3, dtype=np.float32))[0].dtype == np.float32
    assert ad.jvp(lambda a: a * a, (x,), (x,))[1].dtype == np.float32


def test_single_precision_argument_beside_a_double() -> None:
    a, b = np.ones(3, dtype=np.float32), np.ones(3)
    da, db = ad.grad(lambda p, q: np.sum(p * q), wrt=(0, 1))(a, b)
    assert da.dtype == np.float32
    assert db.dtype == np.float64


def test_gradient_of_containers_has_their_structure() -> None:
    def f(p):
        return p["a"] * p["b"][0] + p["b"][1]["c"]

    assert ad.grad(f)({"a": 2.0, "b": (3.0, {"c": 4.0}), "n": 3, "s": "x"}) == {
        "a": 3.0,
        "b": (2.0, {"c": 1.0}),
        "n": None,
        "s": None,
    }


def test_gradient_of_a_list() -> None:
    assert ad.grad(lambda xs: xs[0] * xs[1])([2.0, 3.0]) == [3.0, 2.0]
    assert isinstance(ad.grad(lambda p: p[0] * p[1])((2.0, 3.0)), tuple)


def test_gradient_of_a_dataclass_has_its_field_names() -> None:
    gradient = ad.grad(lambda p: p.x * p.y)(Point(2.0, 3.0))
    assert (gradient.x, gradient.y) == (3.0, 2.0)


def test_gradient_does_not_run_the_users_constructor() -> None:
    gradient = ad.grad(lambda g: 0.5 * g.value)(Guarded(2.0))
    assert gradient.value == 0.5


def test_gradient_of_a_named_tuple() -> None:
    gradient = ad.grad(lambda p: p.first * p.second)(Pair(2.0, 3.0))
    assert tuple(gradient) == (3.0, 2.0)


def test_gradient_of_what_is_not_used_is_zero() -> None:
    assert ad.grad(lambda x, y: x, wrt=1)(2.0, 3.0) == 0.0
    np.testing.assert_array_equal(ad.grad(lambda x, y: y, wrt=0)(np.ones(3), 3.0), np.zeros(3))
    gradient = ad.grad(lambda p: 1.0)(Point(2.0, 3.0))
    assert (gradient.x, gradient.y) == (0.0, 0.0)


def test_gradient_of_a_constant_function() -> None:
    assert ad.grad(lambda x: 4.0)(2.0) == 0.0
    assert ad.jvp(lambda x: 4.0, (2.0,), (1.0,)) == (4.0, 0.0)


def test_value_and_grad() -> None:
    assert ad.value_and_grad(lambda x: x * x)(3.0) == (9.0, 6.0)
    value, (dx, dy) = ad.value_and_grad(lambda x, y: x * y, wrt=(0, 1))(3.0, 4.0)
    assert (value, dx, dy) == (12.0, 4.0, 3.0)


def test_wrt_by_name() -> None:
    def f(x, rate=2.0):
        return x * rate

    assert ad.grad(f, wrt="rate")(3.0, rate=5.0) == 3.0


def test_keyword_arguments_and_defaults() -> None:
    def f(x, y=2.0, *, power=2):
        return x**power * y

    assert ad.grad(f)(3.0) == 12.0
    assert ad.grad(f)(3.0, y=1.0) == 6.0
    assert ad.grad(f)(3.0, power=3) == 54.0


def test_pullback_gives_one_entry_per_positional_argument() -> None:
    value, pullback = ad.vjp(lambda x, n, y: x**n * y, 2.0, 3, 5.0)
    assert value == 40.0
    assert pullback(1.0) == (60.0, None, 8.0)


def test_pullback_called_twice() -> None:
    def f(x):
        ys = [x[0]]
        for i in range(3):
            ys.append(ys[-1] * x[1])
        return ys[-1] * x[0]

    _, pullback = ad.vjp(f, np.array([2.0, 3.0]))
    first = pullback(1.0)[0]
    second = pullback(1.0)[0]
    np.testing.assert_array_equal(first, second)
    assert not np.shares_memory(first, second)
    np.testing.assert_allclose(pullback(2.0)[0], 2.0 * first)


def test_pullback_after_the_argument_was_overwritten() -> None:
    x = np.array([2.0, 3.0])
    _, pullback = ad.vjp(lambda a: np.sum(np.sin(a) * a * a), x)
    expected = pullback(1.0)[0].copy()
    x[:] = 0.0
    np.testing.assert_array_equal(pullback(1.0)[0], expected)


def test_pullback_after_a_list_argument_was_changed() -> None:
    xs = [2.0, 3.0]
    _, pullback = ad.vjp(lambda a: a[0] * a[1], xs)
    xs[0] = 100.0
    assert pullback(1.0)[0] == [3.0, 2.0]


def test_pullback_after_an_object_argument_was_changed() -> None:
    p = Point(2.0, 3.0)
    _, pullback = ad.vjp(lambda q: q.x * q.y, p)
    p.x = 100.0
    assert pullback(1.0)[0].y == 2.0


def test_gradient_is_fresh_and_writable() -> None:
    x = np.array([2.0, 3.0])
    for f in (lambda a: a, lambda a: a.T, lambda a: a[:], lambda a: a.reshape(2), lambda a: np.broadcast_to(a, (2,))):
        seed = np.ones(2)
        _, pullback = ad.vjp(f, x)
        (gradient,) = pullback(seed)
        assert gradient.flags.writeable
        gradient[:] = 100.0
        np.testing.assert_array_equal(seed, np.ones(2))
        np.testing.assert_array_equal(x, [2.0, 3.0])
        np.testing.assert_array_equal(pullback(np.ones(2))[0], np.ones(2))


def test_two_gradients_share_no_memory() -> None:
    _, pullback = ad.vjp(lambda a, b: a + b, np.ones(3), np.ones(3))
    da, db = pullback(np.ones(3))
    da[:] = 5.0
    np.testing.assert_array_equal(db, np.ones(3))


def test_sum_gradient_is_writable() -> None:
    gradient = ad.grad(lambda a: np.sum(a))(np.zeros((2, 2)))
    gradient += 1.0
    np.testing.assert_array_equal(gradient, np.full((2, 2), 2.0))


def test_tangent_result_is_fresh() -> None:
    x, t = np.ones(3), np.ones(3)
    _, tangent = ad.jvp(lambda a: a, (x,), (t,))
    tangent[:] = 7.0
    np.testing.assert_array_equal(t, np.ones(3))


def test_value_is_not_an_alias_of_kept_memory() -> None:
    value, pullback = ad.vjp(lambda a: np.exp(a), np.zeros(2))
    value[:] = 100.0
    np.testing.assert_array_equal(pullback(np.ones(2))[0], np.ones(2))


def test_inputs_are_unchanged() -> None:
    x = np.array([2.0, 3.0])
    params = {"w": x, "b": [1.0]}
    ad.grad(lambda p: np.sum(p["w"] ** 2) * p["b"][0])(params)
    np.testing.assert_array_equal(x, [2.0, 3.0])
    assert params["w"] is x
    assert params["b"] == [1.0]


def test_integer_argument_is_an_error_that_proposes_a_float() -> None:
    with pytest.raises((ad.DifferentiationError, TypeError), match=r"3\.0"):
        ad.grad(lambda x: x * x)(3)


def test_integer_array_argument_is_an_error() -> None:
    with pytest.raises((ad.DifferentiationError, TypeError)):
        ad.grad(lambda x: np.sum(x * x))(np.array([1, 2]))


def test_string_argument_is_an_error() -> None:
    with pytest.raises((ad.DifferentiationError, TypeError)):
        ad.grad(lambda x: 1.0)("abc")


def test_result_that_is_no_scalar_is_an_error() -> None:
    with pytest.raises((ad.DifferentiationError, TypeError), match=r"vjp|jacobian"):
        ad.grad(lambda x: x * x)(np.ones(3))
    with pytest.raises((ad.DifferentiationError, TypeError)):
        ad.grad(lambda x: (x, x))(2.0)
    with pytest.raises((ad.DifferentiationError, TypeError)):
        ad.grad(lambda x: None)(2.0)


def test_size_one_array_is_a_scalar() -> None:
    np.testing.assert_array_equal(ad.grad(lambda x: x * x)(np.array([3.0])), [6.0])
    np.testing.assert_array_equal(ad.grad(lambda x: np.sum(x, keepdims=True))(np.ones((1, 2))), np.ones((1, 2)))


def test_list_arguments_of_different_lengths() -> None:
    g = ad.grad(lambda xs: sum(x * x for x in xs))
    assert g([1.0, 2.0]) == [2.0, 4.0]
    assert g([1.0, 2.0, 3.0]) == [2.0, 4.0, 6.0]
    assert g([]) == []


def test_gradient_at_different_types_of_argument() -> None:
    g = ad.grad(lambda x: (x * x).sum() if isinstance(x, np.ndarray) else x * x)
    assert g(3.0) == 6.0
    np.testing.assert_array_equal(g(np.array([1.0, 2.0])), [2.0, 4.0])


def test_numpy_scalar_argument() -> None:
    assert ad.grad(lambda x: x * x)(np.float64(3.0)) == 6.0
    assert ad.grad(lambda x: x * x)(np.float32(3.0)) == 6.0


def test_jacobian_and_hessian() -> None:
    x = np.array([1.0, 2.0])
    np.testing.assert_allclose(ad.jacobian(lambda a: a * a)(x), np.diag([2.0, 4.0]))
    np.testing.assert_allclose(ad.hessian(lambda a: a[0] ** 2 * a[1])(x), [[4.0, 2.0], [2.0, 0.0]])


def test_hessian_vector_product() -> None:
    product = ad.hvp(lambda x, y: x * x * y + y**3, (2.0, 3.0), (1.0, -1.0))
    assert tuple(product) == pytest.approx((2.0, -14.0))


def test_higher_orders_of_a_cube() -> None:
    f = lambda x: x * x * x
    expected = [48.0, 24.0, 6.0, 0.0]
    for value in expected:
        f = ad.grad(f)
        assert f(4.0) == pytest.approx(value)


def test_callables_that_are_no_functions() -> None:
    import functools

    class Model:
        def __init__(self, w):
            self.w = w

        def __call__(self, x):
            return self.w * x * x

        def predict(self, x):
            return self.w * x

    assert ad.grad(math.sin)(0.0) == 1.0
    assert ad.grad(np.sin)(0.0) == 1.0
    assert ad.grad(Model(3.0))(2.0) == 12.0
    assert ad.grad(Model(3.0).predict)(2.0) == 3.0
    assert ad.grad(functools.partial(lambda k, x: k * x, 5.0))(2.0) == 5.0


def test_non_contiguous_and_fortran_arguments() -> None:
    base = np.arange(12.0).reshape(3, 4)
    for x in (base.T, base[:, ::2], np.asfortranarray(base), base[::-1]):
        np.testing.assert_allclose(ad.grad(lambda a: np.sum(a * a))(x), 2 * x)


def test_empty_array() -> None:
    assert ad.grad(lambda a: np.sum(a * a))(np.zeros(0)).shape == (0,)
    assert ad.grad(lambda a: np.sum(a * a))(np.zeros((3, 0))).shape == (3, 0)


def test_nothing_is_printed_twice(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        print("called")
        return x * x

    ad.grad(f)(2.0)
    assert capsys.readouterr().out == "called\n"


def test_the_gradient_of_an_array_without_axes_is_one():
    def loss(p, x):
        return np.sum(np.tanh(x @ p["w"] + p["b"]))

    gradient = ad.grad(loss)({"w": np.ones((2, 2)), "b": np.array(1.0)}, np.ones((3, 2)))
    assert isinstance(gradient["b"], np.ndarray) and gradient["b"].shape == ()


def test_none_raises_where_the_function_does() -> None:
    def f(x, n):
        found = None
        for i in range(n):
            found = (x * i, x)
        return found[0] * found[1]

    assert ad.grad(f)(0.5, 3) == 2.0
    with pytest.raises(TypeError, match="'NoneType' object is not subscriptable"):
        ad.grad(f)(0.5, 0)
