"""What operators are called with: arguments by name, objects of methods, classes, and what is no such thing."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad

X, K = np.array([1.0, 2.0]), np.array([3.0, 4.0])


def named(x, *, k, n=2):
    return np.sum(x * k**n)


def packed(x, **rest):
    return x * rest["k"] ** 2


class Spring:
    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return np.sum(self.k * x * x)


@dataclass
class Area:
    width: float
    height: float = 2.0

    def __post_init__(self):
        self.size = self.width * self.height


class Pair(NamedTuple):
    first: float
    second: float = 1.0


CALLS: dict[str, tuple[Callable[[], Any], Any]] = {
    "jacobian, by a name": (lambda: ad.jacobian(named, "k")(X, k=K), 2.0 * X * K),
    "jacobian, by a name, reverse": (lambda: ad.jacobian(named, "k", mode="reverse")(X, k=K, n=3), 3.0 * X * K**2),
    "jacobian, all by name": (lambda: ad.jacobian(named, "x")(x=X, k=K), K**2),
    "jacobian, of what takes any name": (lambda: ad.jacobian(packed, "k")(2.0, k=3.0, other=1), 12.0),
    "jacobian, by a name, beside it": (
        lambda: ad.jacobian(lambda *, k: (k * k, k), "k", has_aux=True)(k=3.0),
        (6.0, 3.0),
    ),
    "hessian, by a name": (lambda: ad.hessian(named, "k")(X, k=K), np.diag(2.0 * X)),
    "hessian, by both": (lambda: ad.hessian(named, ("x", "k"))(X, k=K)[0][1], np.diag(2.0 * K)),
    "sparse jacobian, by a name": (
        lambda: ad.jacobian(lambda x, *, k: x * k, "k", sparsity="auto")(X, k=K).toarray(),
        np.diag(X),
    ),
    "pattern, by a name": (lambda: ad.sparsity(named, "k", kind="hessian")(X, k=K).toarray(), np.eye(2)),
    "jacobian, by the object": (lambda: ad.jacobian(Spring(2.0).energy, "self")(X).k, 5.0),
    "jacobian, by its part": (lambda: ad.jacobian(Spring(2.0).energy, ad.keypath(Spring).k)(X), 5.0),
    "hessian, by the object and more": (lambda: ad.hessian(Spring(2.0).energy, ("self", "x"))(X)[1][0].k, 2.0 * X),
    "jacobian, beside the object": (lambda: ad.jacobian(Spring(2.0).energy)(X), 4.0 * X),
    "grad, of a class": (lambda: ad.grad(Area, ("width", 1), result="size")(3.0, 4.0), (4.0, 3.0)),
    "grad, of a class, compiled": (lambda: ad.grad(Spring, result="k", native=True)(3.0), 1.0),
    "jvp, of a class": (lambda: ad.jvp(Area, (3.0, 4.0), (1.0, 1.0))[1].size, 7.0),
    "vjp, of a tuple with names": (lambda: ad.vjp(Pair, 3.0, 4.0)[1](Pair(1.0, 5.0)), (1.0, 5.0)),
    "linearize, of a class": (lambda: ad.linearize(Area, 3.0)[1](1.0).size, 2.0),
    "jacobian, of a class": (lambda: ad.jacobian(Area, "height")(3.0, height=4.0).size, 3.0),
    "jvps, of an iterator": (lambda: ad.jvps(named_square, (3.0,), ((k,) for k in (1.0, 2.0)))[1], [6.0, 12.0]),
}


def named_square(x):
    return x * x


@pytest.mark.parametrize("name", CALLS)
def test_what_it_gives(name: str) -> None:
    call, expected = CALLS[name]
    found = call()
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float))


def pullback() -> Any:
    return ad.vjp(named_square, X)[1]


REFUSED: dict[str, tuple[Callable[[], Any], str, str]] = {
    "directions that are one": (lambda: ad.jvps(named_square, (X,), X), "AD0409", "a list of directions"),
    "directions that are none": (lambda: ad.jvps(named_square, (X,), 5), "AD0409", "a list of directions"),
    "primals that are one": (lambda: ad.jvps(named_square, 2.0, [(1.0,)]), "AD0409", "one entry per argument"),
    "a function that is none": (lambda: ad.jvps(3.0, (2.0,), [(1.0,)]), "AD0103", "ad.jvps"),
    "cotangents that are one": (lambda: pullback().each(X), "AD0409", "write a list"),
    "cotangents that are none": (lambda: pullback().each(1.0), "AD0409", "write a list"),
    "a pattern that is none": (lambda: ad.jacobian(named_square, sparsity=True), "AD0412", "is no pattern"),
    "a pattern that is a number": (lambda: ad.hessian(named_square, sparsity=3), "AD0412", "is no pattern"),
    "complex numbers as a vector": (lambda: ad.ravel({"a": 1.0, "z": 1j}), "AD0404", "complex"),
    "a name that is none": (
        lambda: ad.jacobian(named, "q")(X, k=K),
        "AD0405",
        "not among its parameters: 'x', 'k', 'n'",
    ),
    "a name that is not given": (lambda: ad.hessian(named, "n")(X, k=K), "AD0405", "not given in this call"),
    "a name of a class": (lambda: ad.grad(Area, "depth", result="size")(1.0), "AD0405", "'width', 'height'"),
    "a name of what has none": (
        lambda: ad.grad(lambda *a: a[0] * a[1], "a")(1.0, 2.0),
        "AD0405",
        "which have no names",
    ),
    "what a named function calls": (
        lambda: ad.jacobian(lambda x, *, k: math.nextafter(x, k), "k")(1.0, k=2.0),
        "AD0201",
        "'nextafter' is not visible",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    call, code, words = REFUSED[name]
    with pytest.raises(ad.DifferentiationError, match=words) as caught:
        call()
    (found,) = caught.value.diagnostics
    assert found.code == code and not any("adjoint/" in note for note in found.notes)


def test_a_width_is_a_number() -> None:
    with pytest.raises(ValueError, match="width=0"):
        pullback().each([X], width=0)


def test_a_name_takes_one_compilation() -> None:
    calls = []

    def traced(x, *, k):
        calls.append(k)
        return x * k * k

    derivative = ad.jacobian(traced, "k")
    assert [derivative(2.0, k=3.0), derivative(2.0, k=4.0)] == [12.0, 16.0] and calls == [3.0, 4.0]


@pytest.mark.parametrize("tool", [ad.source, ad.tape_report])
def test_a_matrix_is_shown_by_what_it_is_made_of(tool: Any) -> None:
    with pytest.raises(ad.DifferentiationError, match=r"ad.linearize\(named_square, 1.0\)"):
        tool(ad.jacobian(named_square), 2.0)
    with pytest.raises(ad.DifferentiationError, match=rf"ad.{tool.__name__}\(ad.grad\(named_square\), 1.0\)"):
        tool(ad.hessian(named_square), 2.0)
    assert "x_dot" in ad.source(ad.linearize(named_square, 1.0)[1])


def test_a_default_that_is_not_taken_is_no_parameter() -> None:
    def loss(x, k=2.0, *, m=2):
        return x**k * m

    assert "def loss_grad(x, k, m):" in ad.source(ad.grad(loss), 3.0, 3.0, m=1)
    assert ad.grad(loss)(3.0, 3.0, m=1) == 27.0 and ad.grad(loss)(3.0) == 12.0


@pytest.mark.parametrize("native", [False, True])
def test_a_default_is_asked_for_by_who_takes_it_alone(native: bool) -> None:
    """What a default value is decides which path is taken, though nobody reads it when the derivative runs."""
    by_kind = [lambda x, k=k: x * 2.0 if isinstance(k, int) else x * 3.0 for k in (1, 1.0)]
    assert [ad.grad(f, native=native)(1.5) for f in by_kind] == [2.0, 3.0]
    by_length = [lambda x, names=names: x * len(names) for names in (["a"], ["a", "b"])]
    assert [ad.grad(f, native=native)(1.5) for f in by_length] == [1.0, 2.0]

    def inside(x, k=1):
        return x * 2.0 if isinstance(k, int) else x * 3.0

    def outer(x):
        return inside(x)

    assert ad.grad(outer, native=native)(1.5) == 2.0
    inside.__defaults__ = (1.0,)
    assert ad.grad(outer, native=native)(1.5) == 3.0


@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_matrices_of_nothing(mode: Any) -> None:
    nothing = np.zeros(0)
    assert ad.jacobian(named_square, mode=mode)(nothing).shape == (0, 0)
    assert ad.jacobian(lambda x: x[:0], mode=mode)(X).shape == (0, 2)
    assert ad.jacobian(lambda x: np.ones(3) * np.sum(x), mode=mode)(nothing).shape == (3, 0)
    assert ad.hessian(lambda x: np.sum(x**2), mode=mode)(nothing).shape == (0, 0)


def test_what_operators_return_is_copied_and_not_sent() -> None:
    for made, argument in ((pullback(), X), (ad.linearize(named_square, X)[1], X)):
        again = copy.deepcopy({"made": made})["made"]
        np.testing.assert_array_equal(again(argument), made(argument))
        np.testing.assert_array_equal(copy.copy(made)(argument), made(argument))
        with pytest.raises(TypeError, match="pickle the function and its arguments"):
            pickle.dumps(made)
