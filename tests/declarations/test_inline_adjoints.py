"""Adjoints defined inside of the function whose derivative they are."""

import math
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused

WEIGHT = 7.0


def foo(a, b):
    x = a * a
    y = x * a

    @ad.adjoint(wrt="a")
    def _(seed):
        return 30.0 * seed * x

    return y


def test_the_whitepapers_example() -> None:
    assert foo(2.0, "b") == 8.0
    assert ad.value_and_grad(foo)(2.0, "b") == (8.0, 120.0)
    assert ad.source(ad.grad(foo), 2.0, "b") == "def foo_grad(a, b):\n    x = a * a\n    return 30.0 * x\n"


def test_second_derivatives_and_forward_mode() -> None:
    assert ad.grad(ad.grad(foo))(2.0, "b") == 120.0
    assert ad.hessian(foo)(2.0, "b") == 120.0
    assert ad.jvp(foo, (2.0, "b"), (1.0, None)) == (8.0, 120.0)


def test_several_parameters() -> None:
    def together(a, b):
        x = a * a

        @ad.adjoint(wrt=("a", "b"))
        def _(seed):
            return 3.0 * seed * x * b, 10.0 * seed * x * a

        return x * a * b

    def one_by_one(a, b):
        x = a * a

        @ad.adjoint(wrt="a")
        def _(seed):
            return 3.0 * seed * x * b

        @ad.adjoint(wrt="b")
        def _(seed):
            return 10.0 * seed * x * a

        a = 5.0
        return x * 2.0 * b

    assert ad.grad(together, wrt=(0, 1))(2.0, 3.0) == (36.0, 80.0)
    assert ad.grad(one_by_one, wrt=(0, 1))(2.0, 3.0) == (36.0, 200.0)  # like any closure, it sees the new 'a'
    assert ad.grad(lambda t: together(t, t))(2.0) == 24.0 + 80.0


def test_of_a_variable() -> None:
    def f(t):
        a = 2.0 * t
        y = math.floor(a) * a * WEIGHT

        @ad.adjoint(wrt="a", of="y")
        def _(seed):
            return seed * WEIGHT * a

        return y * t

    t = 2.3
    assert ad.grad(f)(t) == pytest.approx(f(t) / t + t * WEIGHT * 2.0 * t * 2.0)


def test_opaque_functions_in_the_body() -> None:
    opaque = np.frompyfunc(math.gamma, 1, 1)

    def f(a):
        x = float(opaque(a))

        @ad.adjoint(wrt="a")
        def _(seed):
            return 0.5 * seed * x

        return 2.0 * x

    assert ad.grad(f)(3.0) == pytest.approx(1.0)


def test_paths() -> None:
    def f(a):
        if a < 0.0:
            return -a

        @ad.adjoint(wrt="a")
        def _(seed):
            return 100.0 * seed

        if a < 1.0:
            return 2.0 * a
        return 3.0 * a

    assert [ad.grad(f)(a) for a in (-1.0, 0.5, 2.0)] == [-1.0, 100.0, 100.0]

    def called_in_a_loop(x):
        for _ in range(3):
            x = 0.1 * foo(x, None)
        return x

    expected, x = 1.0, 2.0
    for _ in range(3):
        expected *= 3.0 * x * x
        x = 0.1 * x**3
    assert ad.grad(called_in_a_loop)(2.0) == pytest.approx(expected)


def arrays(a, n):
    h = np.tanh(a)
    for _ in range(n):
        h = h * h + a

    @ad.adjoint(wrt="a")
    def _(seed):
        return seed * h

    return h


def test_arrays_and_machine_code() -> None:
    a = np.array([0.3, 0.7])
    expected = arrays(a, 3)
    np.testing.assert_allclose(ad.grad(lambda a: np.sum(arrays(a, 3)))(a), expected)
    np.testing.assert_allclose(ad.grad(lambda a: np.sum(arrays(a, 3)), native=True)(a), expected)


def test_results_of_several_parts() -> None:
    def f(a):
        x = a * a

        @ad.adjoint(wrt="a")
        def _(seed):
            return seed[0] * x + seed[1]

        return x, a

    def product(a):
        x, y = f(a)
        return x * y

    assert ad.grad(product)(2.0) == 2.0 * 4.0 + 4.0


def others_vary(a, b):
    @ad.adjoint(wrt="a")
    def _(seed):
        return seed

    return a * b


def of_another_way(t):
    a = 2.0 * t
    y = a * t

    @ad.adjoint(wrt="a", of="y")
    def _(seed):
        return seed

    return y


def test_what_else_varies_is_refused() -> None:
    assert ad.grad(others_vary)(2.0, 3.0) == 1.0
    for run in (
        lambda: ad.grad(others_vary, wrt=1)(2.0, 3.0),
        lambda: ad.grad(lambda t: others_vary(t, t))(2.0),
        lambda: ad.grad(of_another_way)(2.0),
    ):
        problem = refused(run).diagnostics[0]
        assert problem.code == "AD0204"
        assert "varies, and the derivative that is declared for" in problem.labels[0].text


def no_parameter(a):
    @ad.adjoint(wrt="c")
    def _(seed):
        return seed

    return a


def in_a_branch(a):
    if a > 0.0:

        @ad.adjoint(wrt="a")
        def _(seed):
            return seed

    return a


def a_text(a):
    @ad.adjoint(wrt="a")
    def _(seed):
        return "seed"

    return a * a


def out_of_a_loop(a):
    @ad.adjoint(wrt="a")
    def _(seed):
        return seed

    for _i in range(3):
        a = a * a
        if a > 10.0:
            return a
    return a


def no_decorator(a):
    f = ad.adjoint(wrt="a")
    return f(a) * a


def no_variable(a):
    @ad.adjoint(wrt="a", of="y")
    def _(seed):
        return seed

    return a * a


def an_integer(a):
    @ad.adjoint(wrt="a")
    def _(seed):
        return seed

    return math.floor(a)


def twice(a):
    @ad.adjoint(wrt="a")
    def _(seed):
        return seed

    @ad.adjoint(wrt="a")
    def _(seed):
        return 2.0 * seed

    return a * a


def written(a):
    a[0] = 2.0 * a[1]

    @ad.adjoint(wrt="a")
    def _(seed):
        return seed * a

    return np.sum(a)


@pytest.mark.parametrize(
    ("f", "label"),
    [
        (no_parameter, "'c' is no parameter of 'no_parameter'"),
        (in_a_branch, "it stands in a branch or a loop"),
        (a_text, "this returns 'seed' for 'a', not a number"),
        (out_of_a_loop, "this returns out of a loop, where its adjoint does not know how the value came about"),
        (no_decorator, "this decorates no function that is defined here"),
        (no_variable, "there is no variable 'y' in 'no_variable' here"),
        (an_integer, "the value is an integer, which has no cotangent"),
        (twice, "there is another adjoint with respect to 'a'"),
        (written, "'a' is written in place by the function whose adjoint this is"),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_refusals(f: Any, label: str) -> None:
    problem = refused(lambda: ad.grad(f)(np.ones(2) if f is written else 2.0)).diagnostics[0]
    assert (problem.code, problem.labels[0].text) == ("AD0233", label)


def test_what_is_no_name() -> None:
    with pytest.raises(TypeError, match="wrt is the name of a parameter"):
        ad.adjoint(wrt=0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="'of' is the name of a variable"):
        ad.adjoint(wrt="a", of=0)  # type: ignore[arg-type]
