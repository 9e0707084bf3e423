"""What is said of a declaration that cannot be meant, where it stands."""

import abc
import functools
import math
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused


def f(x, y):
    return x * y


def with_default(x, k=2.0):
    return x * k


def nothing(x):
    print(x)


def nothing_by_annotation(x) -> None:
    return nothing(x)


def no_parameters():
    return 1.0


def of_count(x, n: int):
    return x * n


class Abstract(abc.ABC):
    @property
    def field(self):
        return 1.0

    @abc.abstractmethod
    def value(self, x):
        return x


class Slots:
    __slots__ = ("x",)


def pair(x, y):
    return x * y, lambda ct: (ct * y, ct * x)


def _declared_twice() -> Any:
    def g(x):
        return x

    ad.derivative_of(g)(lambda x: (x, lambda ct: ct))
    return ad.derivative_of(g)(lambda x: (x, lambda ct: 2.0 * ct))


def _adjoint_besides() -> Any:
    def g(x):
        return x

    ad.derivative_of(g)(lambda x: (x, lambda ct: ct))
    return ad.derivative_of(g, adjoint=lambda x, seed: seed)


def _transpose_besides() -> Any:
    def g(x):
        return x

    ad.differential_of(g)(lambda x: (x, lambda dx: dx))
    return ad.transpose_of(g)(lambda ct: ct)


def _another_wrt() -> Any:
    def g(x, y):
        return x * y

    ad.differential_of(g, wrt="x")(lambda x, y: (x * y, lambda dx: dx * y))
    return ad.derivative_of(g, wrt="y")(lambda x, y: (x * y, lambda ct: ct * x))


def _three(result, x, y, extra, seed):
    return seed


def _seed_twice(x, seed):
    return seed


def g_of_seed(x, seed):
    return x * seed


SAID: dict[str, tuple[Any, str, str]] = {
    # what is declared for
    "a number": (lambda: ad.derivative_of(3.0), "AD0206", "it is an object of class 'float', which cannot be called"),
    "a text": (lambda: ad.derivative_of("f"), "AD0206", "it is an object of class 'str', which cannot be called"),
    "a stored field": (lambda: ad.derivative_of(Slots.x), "AD0206", "it is a stored field: reading it calls nothing"),
    "an abstract method": (
        lambda: ad.derivative_of(Abstract.value),
        "AD0206",
        "it is an abstract method, which is never called",
    ),
    "a classmethod object": (
        lambda: ad.derivative_of(classmethod(f)),
        "AD0206",
        "declare it for what the class gives: Cls.method",
    ),
    "a derivative": (lambda: ad.derivative_of(ad.grad(f)), "AD0206", "it is a derivative"),
    "a method of a list": (
        lambda: ad.derivative_of([].append),
        "AD0206",
        "it is the method of one object of class 'list', which another such object may stand for",
    ),
    "a property that cannot be read": (
        lambda: ad.derivative_of(property(None, f)),
        "AD0206",
        "it is a property that cannot be read",
    ),
    "a procedure": (lambda: ad.derivative_of(nothing)(pair), "AD0206", "it returns nothing"),
    "a procedure by annotation": (
        lambda: ad.derivative_of(nothing_by_annotation)(pair),
        "AD0206",
        "let it return what it computes",
    ),
    "no parameters": (
        lambda: ad.derivative_of(no_parameters)(lambda: (1.0, lambda ct: ct)),
        "AD0206",
        "it has no parameters to differentiate with respect to",
    ),
    # with respect to what
    "an unknown name": (
        lambda: ad.derivative_of(f, wrt="z")(pair),
        "AD0209",
        "wrt='z' is none of its parameters: 'x', 'y'",
    ),
    "an unknown place": (
        lambda: ad.derivative_of(f, wrt=2)(pair),
        "AD0209",
        "wrt=2 is no parameter: it has 2 that are given by position",
    ),
    "a name twice": (lambda: ad.derivative_of(f, wrt=("x", 0))(pair), "AD0209", "wrt names 'x' twice"),
    "no name": (lambda: ad.derivative_of(f, wrt=())(pair), "AD0209", "wrt=() names no parameter"),
    "a float": (lambda: ad.derivative_of(f, wrt=1.5)(pair), "AD0209", "wrt is the name or the position of a parameter"),
    "an integer": (
        lambda: ad.derivative_of(of_count, wrt=("x", "n"))(pair),
        "AD0209",
        "the parameter 'n' is annotated as int, which cannot vary",
    ),
    "a name where there are none": (
        lambda: ad.derivative_of(np.frompyfunc(f, 2, 1), wrt="z")(pair),
        "AD0209",
        "wrt='z' is none of its parameters",
    ),
    "another wrt": (
        _another_wrt,
        "AD0209",
        "this is with respect to other parameters than the one that is declared already",
    ),
    # a second one
    "twice": (_declared_twice, "AD0210", "the other one is declared here"),
    "an adjoint besides": (_adjoint_besides, "AD0210", "or say that this one counts: replace=True"),
    "a transpose besides": (_transpose_besides, "AD0210", "this is another one"),
    # what is declared
    "no function": (lambda: ad.derivative_of(f)(3.0), "AD0205", "it is an object of class 'float'"),
    "no differential": (lambda: ad.derivative_of(f, jvp=3.0), "AD0205", "it is an object of class 'float'"),
    "a primal alone": (lambda: ad.derivative_of(f, primal=pair), "AD0205", "there is a primal, but no adjoint"),
    "too few parameters": (
        lambda: ad.differential_of(f)(lambda x: (x, lambda dx: dx)),
        "AD0205",
        "this does not take the 2 arguments of 'f'",
    ),
    "one too many, beside a default value": (
        lambda: ad.derivative_of(with_default)(lambda x, k, m: (x, lambda ct: ct)),
        "AD0205",
        "this does not take the 2 arguments of 'with_default'",
    ),
    "what a differential is": (
        lambda: ad.differential_of(f)(lambda x, y: x * y),
        "AD0205",
        "return the value and a differential, which takes one tangent for each argument",
    ),
    "what an adjoint takes": (
        lambda: ad.derivative_of(f, adjoint=_three),
        "AD0205",
        "name what it takes: parameters of the function, checkpoints, result, seed",
    ),
    "no pair": (
        lambda: ad.differential_of(f)(lambda x, y: x * y),
        "AD0205",
        "this is not a pair (value, differential)",
    ),
    "a differential of one": (
        lambda: ad.differential_of(f)(lambda x, y: (x * y, lambda dx: dx * y)),
        "AD0205",
        "this takes 1 argument, not 2: a tangent for each argument",
    ),
    "an adjoint with an unknown parameter": (
        lambda: ad.derivative_of(f, adjoint=_three),
        "AD0205",
        "its parameter 'extra' is none of: x, y, result, seed",
    ),
    "an adjoint without the seed": (
        lambda: ad.derivative_of(f, adjoint=lambda x, y: (x, y)),
        "AD0205",
        "it does not take the seed: the cotangent of the value",
    ),
    "an adjoint whose seed is a parameter": (
        lambda: ad.derivative_of(g_of_seed, adjoint=_seed_twice),
        "AD0205",
        "'seed' is a parameter of the function, too: give all 4 in their order",
    ),
    "an adjoint of anything": (
        lambda: ad.derivative_of(f, adjoint=lambda *args: args),
        "AD0205",
        "what it takes is told by the names of its parameters, which are not known here",
    ),
    "a transpose without a cotangent": (
        lambda: ad.transpose_of(f)(lambda: 1.0),
        "AD0205",
        "it does not take the cotangent of the value",
    ),
    "a transpose with an unknown parameter": (
        lambda: ad.transpose_of(f, wrt="x")(lambda y, z, ct: ct),
        "AD0205",
        "its parameter 'z' is none of: x, y, ct",
    ),
}


@pytest.mark.parametrize("mistake", SAID)
def test_a_declaration_that_cannot_be_meant(mistake: str) -> None:
    declare, code, words = SAID[mistake]
    refusal = refused(declare)
    assert refusal.diagnostics[0].code == code
    assert words in str(refusal), refusal


def test_nothing_is_left_of_a_declaration_that_is_refused() -> None:
    def g(x):
        return x * x

    refused(lambda: ad.derivative_of(g, wrt="z")(lambda x: (x, lambda ct: ct)))
    refused(lambda: ad.derivative_of(g)(lambda x: x * x))
    assert ad.grad(g)(3.0) == 6.0


def test_a_declaration_is_replaced_where_that_is_said() -> None:
    def g(x):
        return x

    ad.derivative_of(g, jvp=lambda x: (x, lambda dx: 3.0 * dx))(lambda x: (x, lambda ct: 2.0 * ct))
    ad.derivative_of(g, replace=True)(lambda x: (x, lambda ct: 5.0 * ct))
    assert ad.grad(g)(1.0) == 5.0
    assert ad.jvp(g, (1.0,), (1.0,)) == (1.0, 5.0)  # nothing is left of the other one


def test_the_message_shows_both_declarations() -> None:
    def bessel(x):
        return math.sin(x)

    @ad.derivative_of(bessel)
    def first(x):
        return math.sin(x), lambda ct: ct * math.cos(x)

    def second(x):
        return math.sin(x), lambda ct: ct

    text = str(refused(lambda: ad.derivative_of(bessel)(second)))
    assert "a derivative is declared for" in text and "bessel' already" in text
    assert "def second(x):" in text and "this is another one" in text
    assert "def first(x):" in text and "the other one is declared here" in text


def test_what_varies_without_a_derivative_is_told_by_its_name() -> None:
    def g(x, y):
        return x * y

    ad.derivative_of(g, wrt="x")(lambda x, y: (x * y, lambda ct: ct * y))
    refusal = refused(lambda: ad.grad(functools.partial(g, 2.0))(3.0))
    assert "'y' varies, and the derivative that is declared for" in str(refusal)
    assert "for argument 0, not a number" in str(refused(lambda: ad.grad(_wrt_x_with_two)(1.0, 2.0)))


def _wrt_x_with_two(x, y):
    return x * y


ad.derivative_of(_wrt_x_with_two, wrt="x")(lambda x, y: (x * y, lambda ct: tuple([ct * y, ct * x])))


def test_a_declaration_inside_the_function_that_is_differentiated() -> None:
    def outer(k):
        def inner(x):
            return k * x

        ad.derivative_of(inner)(lambda x: (k * x, lambda ct: k * ct))
        return inner(2.0)

    refusal = refused(lambda: ad.grad(outer)(3.0))
    assert len(refusal.diagnostics) == 1 and refusal.diagnostics[0].code == "AD0206"
    assert "it is declared inside the function that is differentiated" in str(refusal)
    assert "ad.differentiable_function(lambda x: (value, pullback))" in str(refusal)
