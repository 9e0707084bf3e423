"""Operators inside code, with options: what they give there is what a plain call of the code gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.7, 1.3])
M = np.array([[0.7, 1.3], [0.2, 0.4]])
CHOSEN = 1


def power(a, k=2):
    return a**k


def pair(a):
    return a * a, a[0] * 3.0


def energy(a):
    return np.sum(a**3), a * 2.0


def bilinear(a, b):
    return np.sum(a**3 * b) + np.sum(b**2)


class Gain:
    def __init__(self, k):
        self.k = k

    def times(self, x):
        return self.k * x * x


def scaled_in_place(y):
    y *= 2.0
    return y * y


PROGRAMS: dict[str, tuple[Callable[..., Any], Any]] = {
    "jacobian, an argument by name": (lambda x: ad.jacobian(power)(x, k=3), X),
    "jacobian, all arguments by name": (lambda x: ad.jacobian(power)(k=3, a=x), X),
    "jacobian, by what can only be named": (lambda x: ad.jacobian(lambda a, *, k: a**k)(x, k=3), X),
    "hessian, an argument by name": (lambda x: ad.hessian(lambda a, k=2: np.sum(a**k))(x, k=3), X),
    "jacobian, beside it": (lambda x: ad.jacobian(pair, has_aux=True)(x), X),
    "hessian, beside it": (lambda x: ad.hessian(energy, has_aux=True)(x), X),
    "jacobian, two, beside it": (lambda x: ad.jacobian(lambda a, b: (a * b, b), (0, 1), has_aux=True)(x, x * x), X),
    "jacobian, two": (lambda x: ad.jacobian(lambda a, b: a * b, ("a", 1))(x, x * x), X),
    "hessian, two": (lambda x: ad.hessian(bilinear, (0, 1))(x, x * x), X),
    "hessian, two of unlike shapes": (lambda x: ad.hessian(lambda a, b: np.sum(a**3) * b**2, (0, 1))(x, x[0]), X),
    "jacobian, by a matrix": (lambda x: ad.jacobian(lambda a: a @ a)(x), M),
    "jacobian, by an array without axes": (lambda x: ad.jacobian(lambda a: a * a)(x), np.array(1.5)),
    "jacobian, of single precision": (lambda x: ad.jacobian(lambda a: a * a)(x), X.astype(np.float32)),
    "jacobian, by a complex array": (lambda x: ad.jacobian(lambda a: a * a)(x), X * (1.0 + 2.0j)),
    "jacobian, of a dict": (lambda x: ad.jacobian(lambda a: {"r": a * a, "n": 3, "s": a[0]})(x), X),
    "jacobian, of a list": (lambda x: ad.jacobian(lambda a: [a * a, (a[0], None)])(x), X),
    "jacobian, by a dict": (lambda x: ad.jacobian(lambda d: d["a"] * d["b"])({"a": x, "n": 3, "b": x * x}), X),
    "jacobian, by a dict, of a dict": (lambda x: ad.jacobian(lambda d: {"q": d["a"] * d["b"]})({"a": x, "b": 2.0}), X),
    "hessian, by a tuple": (lambda x: ad.hessian(lambda t: np.sum(t[0] ** 3) * t[1])((x, 2.0)), X),
    "jacobian, of what writes": (lambda x: ad.jacobian(scaled_in_place)(x * 1.0), X),
    "jacobian, in a mode": (lambda x: ad.jacobian(lambda a: a * a, mode="reverse")(x), X),
    "jacobian, of a bound method": (lambda x: ad.jacobian(Gain(2.0).times)(x), X),
    "jacobian, by the object's array": (lambda x: ad.jacobian(lambda k: Gain(k).times(x))(x), X),
    "vjp, beside it": (lambda x: [part for part in ad.vjp(pair, x, has_aux=True)[1](x)], X),
    "vjp, with options": (lambda x: ad.vjp(power, x, native=False, k=3)[1](x), X),
    "pullback, each": (lambda x: ad.vjp(power, x)[1].each([x, 2.0 * x]), X),
    "jvp, beside it": (lambda x: ad.jvp(pair, (x,), (x,), has_aux=True), X),
    "jvps": (lambda x: ad.jvps(power, (x,), [(x,), (2.0 * x,)]), X),
    "jvps, beside it": (lambda x: ad.jvps(pair, (x,), [(x,), (2.0 * x,)], has_aux=True), X),
    "jvps, of what writes": (lambda x: ad.jvps(scaled_in_place, (x * 1.0,), [(x,), (2.0 * x,)]), X),
    "hvp, beside it": (lambda x: ad.hvp(energy, (x,), (x,), has_aux=True), X),
    "hvp, of an argument that stays": (lambda x: ad.hvp(bilinear, (x, x * x), (None, x)), X),
    "hvp, beside an integer": (lambda x: ad.hvp(lambda a, n: np.sum(a**n), (x, 3), (x, None)), X),
    "grad, of what a global names": (lambda x: ad.grad(bilinear, wrt=CHOSEN)(x, x * x), X),
    "grad, of each": (lambda x: [ad.grad(bilinear, wrt=k)(x, x * x) for k in range(2)], X),
    "ravel": (lambda x: ad.ravel({"a": x, "n": 3, "b": (2.0, x * x)})[0], X),
    "ravel, and back": (lambda x: ad.ravel({"a": x, "n": 3, "b": (2.0, x * x)})[1](np.append(x[0] * x, np.ones(3))), X),
}


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for key in value for leaf in [key, *leaves(value[key])]]
    if isinstance(value, (list, tuple)):
        return [type(value), *(leaf for part in value for leaf in leaves(part))]
    return [value]


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_what_a_plain_call_gives(name: str) -> None:
    program, x = PROGRAMS[name]
    expected, found = leaves(program(x)), leaves(ad.compile(program, native=False)(x))
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        if isinstance(other, np.ndarray) or isinstance(other, float):
            assert np.shape(one) == np.shape(other) and np.asarray(one).dtype == np.asarray(other).dtype
            np.testing.assert_allclose(one, other, rtol=1e-6)
        else:
            assert one == other


def total(value: Any) -> Any:
    if isinstance(value, dict):
        return sum([total(part) for part in value.values()])
    if isinstance(value, (list, tuple)):
        return sum([total(part) for part in value])
    return 0.0 if value is None or isinstance(value, int) else np.sum(value * value)


@pytest.mark.parametrize("name", [name for name, (_, x) in PROGRAMS.items() if x is X or x is M])
def test_it_is_differentiated(name: str) -> None:
    program, x = PROGRAMS[name]
    found = ad.grad(lambda x: total(program(x)))(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        difference = (total(program(x + step)) - total(program(x - step))) / 2e-6
        np.testing.assert_allclose(found[place], difference, rtol=1e-5, atol=1e-8)


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "an option that is not there": (
        lambda x: ad.grad(lambda a: np.sum(a), foo=3)(x),
        "unexpected keyword argument 'foo'",
    ),
    "a mode that is not there": (lambda x: ad.jacobian(power, mode="up")(x), "mode='up'"),
    "options that contradict each other": (lambda x: ad.grad(energy, result=0, has_aux=True)(x), "AD0421"),
    "a matrix with zeros": (
        lambda x: ad.jacobian(power, sparsity="auto")(x).nnz,
        "ad.jacobian inside other code has no",
    ),
    "a matrix by an object": (
        lambda x: ad.jacobian(lambda g: g.times(x))(Gain(2.0)),
        "ad.jacobian inside other code takes",
    ),
    "a matrix of an object": (lambda x: ad.jacobian(lambda a: Gain(a))(x), "the fields of the object"),
    "a matrix by an integer": (lambda x: ad.jacobian(lambda n: n * x)(3), "AD0403"),
    "a pattern": (lambda x: ad.sparsity(power)(x).nnz, "ad.sparsity inside other code"),
    "a text": (lambda x: ad.source(ad.grad(lambda a: a * a), 2.0), "ad.source inside other code"),
    "a vector of an object": (lambda x: ad.ravel(Gain(x))[0], "the fields of the object"),
    "a vector of integers": (lambda x: ad.ravel(3)[0] * x, "AD0403"),
    "complex numbers in a structure": (lambda x: ad.ravel({"a": x, "z": 1j * x})[0], "holds complex numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_in_the_words_of_the_operator(name: str) -> None:
    program, words = REFUSED[name]
    with pytest.raises(ad.DifferentiationError, match=words) as caught:
        ad.compile(program, native=False)(X)
    assert "AD0901" not in str(caught.value) and "src/adjoint" not in str(caught.value)


def test_an_index_that_is_given_is_known() -> None:
    def slope(x, y, k):
        return ad.grad(lambda a, b: a * b * b, wrt=k)(x, y)

    derivative = ad.grad(slope, "y")
    assert (derivative(2.0, 3.0, 1), derivative(2.0, 3.0, 0)) == (4.0, 6.0)


def test_an_index_that_is_captured_is_known() -> None:
    def slope_of(k):
        return lambda x, y: ad.grad(lambda a, b: a * b * b, wrt=k)(x, y)

    assert [ad.grad(slope_of(k), "y")(2.0, 3.0) for k in (1, 0)] == [4.0, 6.0]
