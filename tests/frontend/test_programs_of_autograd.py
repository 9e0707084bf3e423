"""Programs that were written for HIPS autograd, as they stand: what it gives itself is the reference."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as onp
import pytest
import scipy.ndimage
import scipy.sparse.linalg
import scipy.special

import adjoint as ad

autograd = pytest.importorskip("autograd")

import autograd.numpy as np  # noqa: E402
from autograd import elementwise_grad, grad, hessian, hessian_vector_product, jacobian, value_and_grad  # noqa: E402
from autograd.extend import defjvp, defvjp, defvjp_argnum, defvjp_argnums, primitive  # noqa: E402
from autograd.misc.flatten import flatten, flatten_func  # noqa: E402
from autograd.misc.optimizers import sgd  # noqa: E402
from autograd.numpy.numpy_vjps import unbroadcast_f  # noqa: E402
from autograd.scipy import signal  # noqa: E402
from autograd.tracer import getval  # noqa: E402

X = onp.array([0.3, 0.5, 0.9])


def _agrees(f: Callable[[Any], Any], x: Any = X, *, forward: bool = True, second: bool = True) -> None:
    """Compares with autograd: interpreted, in machine code, forward, and along a second derivative."""
    expected = autograd.grad(f)(x)
    keep = onp.copy(x)
    for options in ({}, {"native": True}):
        gradient = ad.grad(f, **options)
        onp.testing.assert_allclose(gradient(x), expected, rtol=1e-9)
        onp.testing.assert_allclose(gradient(x), expected, rtol=1e-9)
    onp.testing.assert_array_equal(x, keep)
    direction = onp.linspace(1.0, 2.0, onp.size(x)).reshape(onp.shape(x))
    if forward:
        onp.testing.assert_allclose(ad.jvp(f, (x,), (direction,))[1], onp.sum(expected * direction), rtol=1e-9)
    if second:
        along = autograd.grad(lambda x: np.sum(autograd.grad(f)(x) * direction))(x)
        onp.testing.assert_allclose(ad.hvp(f, (x,), (direction,))[0], along, rtol=1e-9, atol=1e-12)


# Functions of arrays


def test_functions_that_autograd_wrote_anew_take_lists_of_any_length() -> None:
    def joined(x: Any) -> Any:
        rows = []
        for i in range(len(x)):
            rows.append(x * x[i])
        return np.sum(np.vstack(rows) ** 2) + np.sum(np.concatenate(rows) * np.hstack(rows)) + np.sum(np.stack(rows))

    _agrees(joined)


def test_convolutions_of_several_axes() -> None:
    def convolved(x: Any) -> Any:
        image, kernel = np.reshape(np.outer(x, x), (1, 1, 3, 3)), np.reshape(x[:2], (1, 1, 1, 2))
        axes, dots = ([2, 3], [2, 3]), ([1], [0])
        return np.sum(signal.convolve(image, kernel, axes=axes, dot_axes=dots, mode="valid") ** 2)

    _agrees(convolved, forward=False, second=False)


# Derivatives that users declared


@primitive
def root(a: Any, low: Any, high: Any) -> Any:
    """By bisection: in what this computes nothing depends smoothly on a."""
    for _ in range(60):
        middle = 0.5 * (low + high)
        if middle**3 + middle > a:
            high = middle
        else:
            low = middle
    return middle


defvjp(root, lambda y, a, low, high: lambda g: g / (3 * y**2 + 1), None, None)


def test_what_defvjp_declares_counts_instead_of_the_body() -> None:
    _agrees(lambda x: root(x[0], 0.0, 5.0) ** 2 * x[1])


@primitive
def kept(x: Any) -> Any:
    return x


defvjp(kept, lambda ans, x: lambda g: np.clip(g, -1.0, 1.0))


def test_pullbacks_that_are_not_linear() -> None:
    _agrees(lambda x: np.sum(kept(x) * np.array([10.0, 0.1, -5.0])), forward=False, second=False)


kv = primitive(scipy.special.kv)
defvjp(kv, None, lambda ans, n, x: lambda g: g * (-kv(n - 1, x) - kv(n + 1, x)) / 2.0)


def test_functions_of_scipy_for_which_users_declared_a_derivative() -> None:
    _agrees(lambda x: kv(1, x[0]) + kv(2, x[1] * x[2]), second=False)


@primitive
def scaled(x: Any, y: Any, k: float = 2.0) -> Any:
    return x * y * k


defvjp_argnum(scaled, lambda argnum, ans, args, kwargs: lambda g: g * args[1 - argnum] * kwargs.get("k", 2.0))


def test_derivatives_declared_for_any_argument() -> None:
    _agrees(lambda x: scaled(x[0], x[1], k=3.0) + scaled(x[1], x[2]))


@primitive
def waved(x: Any, y: Any) -> Any:
    return onp.sin(x) * y


def _of_waved(argnums: Any, ans: Any, args: Any, kwargs: Any) -> Any:
    x, y = args

    def vjp(g: Any) -> Any:
        return tuple({0: g * np.cos(x) * y, 1: g * np.sin(x)}[i] for i in argnums)

    return vjp


defvjp_argnums(waved, _of_waved)


def test_derivatives_declared_for_all_arguments_at_once() -> None:
    _agrees(lambda x: np.sum(waved(x, x**2)))
    _agrees(lambda x: np.sum(waved(np.ones(3), x**2)))


@primitive
def applied(matrix: Any, x: Any) -> Any:
    return matrix @ x


defvjp(applied, lambda ans, matrix, x: lambda g: np.outer(g, x), lambda ans, matrix, x: lambda g: matrix.T @ g)
defjvp(applied, "same", "same")


def test_functions_that_are_declared_to_be_linear() -> None:
    _agrees(lambda x: np.sum(applied(np.outer(x, x), x) ** 2))


def _power(n: int) -> Any:
    @primitive
    def power(x: Any) -> Any:
        return x**n

    def maker(n: int, ans: Any, x: Any) -> Any:
        return lambda g: g * n * x ** (n - 1)

    defvjp(power, partial(maker, n))
    return power


cube = _power(3)


def test_primitives_that_are_made_by_functions() -> None:
    _agrees(lambda x: np.sum(cube(x)))


@primitive
def partly(x: Any, y: Any) -> Any:
    return x * y


defvjp(partly, lambda ans, x, y: lambda g: g * y)


def test_arguments_of_which_nothing_is_declared_may_not_vary() -> None:
    _agrees(lambda x: np.sum(partly(x**2, 2.0)))
    with pytest.raises(ad.DifferentiationError, match="the derivative that is declared for 'partly' has none for it"):
        ad.grad(lambda x: np.sum(partly(x, x)))(X)


def test_what_is_declared_later_counts_from_then_on() -> None:
    @primitive
    def alone(x: Any) -> Any:
        return x * 1.0

    def f(x: Any) -> Any:
        return np.sum(alone(x))

    defvjp(alone, lambda ans, x: lambda g: 2.0 * g)
    gradient = ad.grad(f)
    assert gradient(X)[0] == 2.0
    defvjp(alone, lambda ans, x: lambda g: 3.0 * g)
    assert gradient(X)[0] == 3.0


def test_primitives_without_a_derivative_are_read() -> None:
    @primitive
    def square(x: Any) -> Any:
        return x**2

    onp.testing.assert_allclose(ad.grad(lambda x: np.sum(square(x)))(X), 2 * X)


def test_the_value_behind_getval_is_a_constant() -> None:
    _agrees(lambda x: np.sum(getval(x) * x), second=False)


def test_functions_that_are_not_followed_have_no_derivative() -> None:
    from autograd.extend import notrace_primitive

    @notrace_primitive
    def weights(x: Any) -> Any:
        return x**2

    _agrees(lambda x: np.sum(weights(x) * x), second=False)


@primitive
def filtered(x: Any, sigma: float) -> Any:
    return scipy.ndimage.gaussian_filter1d(x, sigma)


defvjp(filtered, lambda ans, x, sigma: lambda g: filtered(g, sigma))


@primitive
def solved(entries: Any, places: Any, b: Any) -> Any:
    return scipy.sparse.linalg.spsolve(scipy.sparse.coo_matrix((entries, places), shape=(3, 3)).tocsc(), b)


def _of_entries(ans: Any, entries: Any, places: Any, b: Any) -> Any:
    def vjp(g: Any) -> Any:
        adjoint = solved(entries, places[::-1], g)
        return -adjoint[places[0]] * ans[places[1]]

    return vjp


defvjp(solved, _of_entries, None, lambda ans, entries, places, b: lambda g: solved(entries, places[::-1], g))
PLACES = onp.array([[0, 1, 2, 0, 1], [0, 1, 2, 1, 2]])


def test_pullbacks_made_of_primitives_whose_own_do_not_depend_on_what_they_are_given() -> None:
    _agrees(lambda x: np.sum(filtered(x**2, 1.0) ** 2))
    _agrees(lambda x: np.sum(solved(np.concatenate([x + 2, x[:2]]), PLACES, x**2) ** 2))


@primitive
def squashed(x: Any) -> Any:
    return onp.tanh(x)


defvjp(squashed, lambda ans, x: lambda g: g * (1 - ans**2))


@primitive
def bent(x: Any) -> Any:
    return x


defvjp(bent, lambda ans, x: lambda g: squashed(g))


def test_pullbacks_made_of_primitives_whose_own_do() -> None:
    _agrees(lambda x: np.sum(squashed(x) ** 2))
    _agrees(lambda x: np.sum(bent(x) * x), forward=False, second=False)
    with pytest.raises(ad.DifferentiationError, match="the declared pullback of 'bent' is transposed"):
        ad.jvp(lambda x: np.sum(bent(x)), (X,), (X,))


@primitive
def crossing(f: Callable[[Any, Any], Any], x: Any, low: Any, high: Any) -> Any:
    for _ in range(70):
        y = 0.5 * (low + high)
        if f(x, y) > 0:
            high = y
        else:
            low = y
    return y


def _undefined(*given: Any) -> Any:
    raise TypeError("this may not vary")


def _of_crossing(y: Any, f: Callable[[Any, Any], Any], x: Any, low: Any, high: Any) -> Any:
    def vjp(g: Any) -> Any:
        return -grad(lambda x: f(x, y))(x) / grad(lambda y: f(x, y))(y) * g

    return vjp


defvjp(crossing, _undefined, _of_crossing, None, None)


def _excess(x: Any, y: Any) -> Any:
    return np.sum(np.tanh(x + y)) - 0.3


def test_primitives_that_are_handed_functions() -> None:
    def shifted(x: Any) -> Any:
        level = 0.3
        shift = crossing(lambda x, y: np.sum(np.tanh(x + y)) - level, x, -5.0, 5.0)
        return np.sum(np.sin(x + shift) * np.arange(3.0))

    _agrees(shifted)
    _agrees(lambda x: crossing(_excess, x, -5.0, 5.0))


def test_functions_handed_to_primitives_may_not_capture_what_varies() -> None:
    def shifted(x: Any) -> Any:
        level = np.sum(x)
        return crossing(lambda a, y: np.sum(np.tanh(a + y)) - level, x, -5.0, 5.0)

    with pytest.raises(ad.DifferentiationError, match="what argument 0 captures varies"):
        ad.grad(shifted)(X)


@primitive
def both(x: Any) -> tuple[onp.ndarray, onp.ndarray]:
    return onp.sum(x**2), onp.sin(x)


defvjp(both, lambda ans, x: lambda g: g[0] * 2 * x + g[1] * np.cos(x))


def test_primitives_that_return_a_tuple() -> None:
    def f(x: Any) -> Any:
        total, waves = both(x)
        return total * np.sum(waves)

    _agrees(f)
    _agrees(lambda x: both(x)[0])


eigh = primitive(onp.linalg.eigh)


def _of_eigh(ans: Any, matrix: Any) -> Any:
    _, vectors = ans

    def vjp(g: Any) -> Any:
        return np.dot(vectors * g[0], vectors.T)

    return vjp


defvjp(eigh, _of_eigh)


def test_functions_of_numpy_that_return_named_tuples() -> None:
    def spread(x: Any) -> Any:
        matrix = np.outer(x, x) + np.diag(x)
        values, _ = eigh(matrix)
        return np.sum(values * np.arange(3.0))

    expected = autograd.grad(spread)(X)
    onp.testing.assert_allclose(ad.grad(spread)(X), expected, rtol=1e-9)


class Factor:
    """Keeps what it was handed last."""

    def keep(self, matrix: Any) -> None:
        self.inverse = onp.linalg.inv(matrix)

    def solve(self, b: Any) -> Any:
        return self.inverse @ b


factor = Factor()


@primitive
def with_factor(matrix: Any, b: Any, factor: Factor) -> Any:
    factor.keep(matrix)
    return factor.solve(b)


defvjp(
    with_factor,
    lambda ans, matrix, b, factor: lambda g: -onp.outer(factor.solve(g), ans),
    lambda ans, matrix, b, factor: lambda g: factor.solve(g),
)


@primitive
def unboxed(x: Any) -> Any:
    return x**3


def _of_unboxed(ans: Any, x: Any) -> Any:
    x = getval(x)
    return lambda g: g * 3 * x**2


defvjp(unboxed, _of_unboxed)


def test_second_derivatives_are_refused_where_what_is_declared_forgets_what_it_depends_on() -> None:
    def by_factor(x: Any) -> Any:
        return np.sum(with_factor(np.diag(x) + 1.0, x, factor) ** 2)

    symmetric = autograd.grad(by_factor)(X)
    onp.testing.assert_allclose(ad.grad(by_factor)(X), symmetric, rtol=1e-9)
    _agrees(lambda x: np.sum(unboxed(x)), second=False)
    for f in (by_factor, lambda x: np.sum(unboxed(x))):
        with pytest.raises(ad.DifferentiationError, match="cannot differentiate through an opaque function"):
            ad.hvp(f, (X,), (X,))


# Derivatives by differences, as packages declare them


def _by_differences(f: Callable[..., Any], argnum: int = 0) -> Any:
    moved = lambda x, *others: f(*others[:argnum], x, *others[argnum:])

    def maker(_: Any, *args: Any) -> Any:
        x = args[argnum]
        others = args[:argnum] + args[argnum + 1 :]
        step = np.maximum(x * 1e-5, 1e-7)
        slope = (moved(x + step, *others) - moved(x - step, *others)) / (2 * step)
        return unbroadcast_f(x, lambda g: g * slope)

    return maker


gammainc = primitive(scipy.special.gammainc)
defvjp(gammainc, _by_differences(gammainc, argnum=0), _by_differences(gammainc, argnum=1))


def test_derivatives_by_differences_of_an_argument_of_any_number() -> None:
    _agrees(lambda x: np.sum(gammainc(x[0], x) * x), second=False)


# Operators inside of programs


def _cubes(y: Any) -> Any:
    return np.sum(y**3)


INSIDE: dict[str, Callable[[Any], Any]] = {
    "grad": lambda x: np.sum(grad(_cubes)(x) ** 2),
    "grad of the second argument": lambda x: np.sum(autograd.grad(lambda p, q: np.sum(p * q**2), 1)(x, 2 * x)),
    "grad of two arguments": lambda x: np.sum(grad(lambda p, q: np.sum(p * q**2), (0, 1))(x, 2 * x)[1]),
    "value_and_grad": lambda x: value_and_grad(_cubes)(x)[0] + np.sum(value_and_grad(_cubes)(x)[1]),
    "elementwise_grad": lambda x: np.sum(elementwise_grad(lambda y: np.tanh(y))(x) ** 2),
    "elementwise_grad of the second argument": lambda x: np.sum(elementwise_grad(lambda a, y: a * y**3, 1)(x[0], x)),
    "elementwise_grad twice": lambda x: np.sum(elementwise_grad(elementwise_grad(np.sin))(x)),
    "jacobian": lambda x: np.sum(jacobian(lambda y: y**2 * y[0])(x) ** 2),
    "hessian": lambda x: np.sum(hessian(_cubes)(x) * x),
    "hessian_vector_product": lambda x: np.sum(hessian_vector_product(_cubes)(x, x**2)),
    "tensor_jacobian_product": lambda x: np.sum(autograd.tensor_jacobian_product(np.sin)(x, x)),
    "make_vjp": lambda x: np.sum(autograd.make_vjp(lambda y: y**2)(x)[0](x)),
    "make_jvp": lambda x: np.sum(autograd.make_jvp(_cubes)(x)(np.ones(3))[1]),
    "make_hvp": lambda x: np.sum(autograd.make_hvp(_cubes)(x)[0](np.ones(3))),
    "deriv": lambda x: np.sum(autograd.deriv(lambda t: t**3)(x)) + autograd.deriv(np.sin)(x[0]),
    "grad_and_aux": lambda x: np.sum(autograd.grad_and_aux(lambda t: (np.sum(t**3), t))(x)[0]),
    "checkpoint": lambda x: np.sum(autograd.checkpoint(np.sin)(x)),
    "an optimizer": lambda x: np.sum(sgd(grad(lambda p, i: np.sum((p - x) ** 2)), np.zeros(3), num_iters=3)),
}


@pytest.mark.parametrize("name", INSIDE)
def test_operators_inside_of_programs(name: str) -> None:
    _agrees(INSIDE[name], second=name != "an optimizer")


MADE = {
    "grad": grad(_cubes),
    "the second argument": grad(lambda p, q: np.sum(p * q**2), 1),
    "elementwise_grad": elementwise_grad(np.tanh),
    "jacobian": jacobian(lambda y: y**2 * y[0]),
    "hessian_vector_product": hessian_vector_product(_cubes),
    "twice": grad(lambda x: np.sum(grad(_cubes)(x) ** 2)),
}


@pytest.mark.parametrize("name", MADE)
def test_derivatives_made_outside_of_programs(name: str) -> None:
    derivative = MADE[name]
    takes_two = name in ("the second argument", "hessian_vector_product")
    _agrees(lambda x: np.sum(derivative(x, 2 * x) if takes_two else derivative(x)))


class Trial:
    """A model with methods, one of which takes the derivative of another one."""

    def __init__(self) -> None:
        self.slope = elementwise_grad(self.value, 1)

    def value(self, weights: Any, t: Any) -> Any:
        return weights[0] * np.sin(weights[1] * t) + weights[2] * t

    def residual(self, weights: Any) -> Any:
        t = np.linspace(0.0, 1.0, 4)
        return np.sum((self.slope(weights, t) + self.value(weights, t)) ** 2)


def test_derivatives_kept_by_objects() -> None:
    trial = Trial()
    _agrees(lambda w: trial.residual(w))


# Flat vectors


def _model() -> dict[str, Any]:
    return {"layers": [(onp.ones((3, 2)), onp.zeros(2)), (onp.ones((2, 1)), onp.zeros(1))], "scale": 1.5}


def _loss(model: Any) -> Any:
    h = np.array([[0.1, 0.2, 0.3]])
    for weights, bias in model["layers"]:
        h = np.tanh(np.dot(h, weights) + bias)
    return np.sum(h) * model["scale"]


def test_structures_made_of_flat_vectors() -> None:
    flat, unflatten = flatten(_model())
    _agrees(lambda v: _loss(unflatten(v)), flat)
    alone, back = flatten(onp.ones((2, 2)))
    _agrees(lambda v: np.sum(back(v) @ back(v)), alone)


def test_structures_that_are_made_flat() -> None:
    _agrees(lambda x: np.sum(flatten({"a": x, "b": (x * 2, [x[0]])})[0] ** 2))
    objective, _, flat = flatten_func(_loss, _model())
    _agrees(lambda v: objective(v)[0], flat)


def test_other_structures_are_other_derivatives() -> None:
    gradients = []
    for shape in ((2, 3), (3, 2)):
        flat, unflatten = flatten(onp.ones(shape))
        gradients.append(ad.grad(lambda v, back=unflatten: np.sum(back(v)[0]))(flat))
    assert [float(onp.sum(each)) for each in gradients] == [3.0, 2.0]
