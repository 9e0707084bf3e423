"""What counts as a constant by ``stop_gradient``, field by field; whole numbers among values that vary."""

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


@dataclass
class Model:
    w: float
    parts: list
    n: int = 2


def test_an_object() -> None:
    def f(x):
        model = Model(x * x, [x, x * x])
        constant = ad.stop_gradient(model)
        return constant.w * x + constant.parts[1] * x * model.parts[0] * constant.n

    assert ad.grad(f)(1.5) == pytest.approx(15.75)


def test_an_argument() -> None:
    def f(model, x):
        constant = ad.stop_gradient(model)
        return constant.w * x * model.w

    g, x_bar = ad.grad(f, wrt=(0, 1))(Model(2.0, []), 3.0)
    assert g.w == 6.0
    assert x_bar == 4.0


def test_lists_tuples_and_dicts() -> None:
    def f(x):
        a, (b, n), c = ad.stop_gradient([x, (x * x, 3), {"k": x}])
        return a * x + b * x * n + c["k"] * x

    assert ad.grad(f)(1.5) == pytest.approx(9.75)


@pytest.mark.parametrize("count", [1, 3])
def test_what_exists_at_run_time(count: int) -> None:
    def numbers(x, n):
        values = []
        for i in range(n):
            values.append(x * i)
        return sum(ad.stop_gradient(values)) * x

    def objects(x, n):
        models = [Model(x, [x])]
        for i in range(n):
            models.append(Model(x * i, [x]))
        return sum(model.w for model in ad.stop_gradient(models)) * x

    expected = 1.5 * sum(range(count))
    assert ad.grad(numbers)(1.5, count) == pytest.approx(expected)
    assert ad.grad(objects)(1.5, count) == pytest.approx(expected + 1.5)


def test_a_constant_that_is_written_is_refused() -> None:
    def through_the_constant(x):
        values = [x, x]
        constant = ad.stop_gradient(values)
        constant[0] = x * x
        return values[0] * constant[0]

    def through_the_variable(x):
        values = [x, x]
        constant = ad.stop_gradient(values)
        values[1] = x * x
        return constant[1] * x

    for f in (through_the_constant, through_the_variable):
        with pytest.raises(ad.DifferentiationError, match="AD0303"):
            ad.grad(f)(1.5)


def test_it_is_the_same_object() -> None:
    def f(x):
        model = Model(x, [])
        constant = ad.stop_gradient(model)
        return x * x if constant is model else x

    assert ad.grad(f)(1.5) == 3.0


@pytest.mark.parametrize("x", [-0.5, 0.5, 1.5])
def test_whole_numbers_that_are_sorted(x: float) -> None:
    check_grads(lambda x: sorted([0, x, 1])[1] * 2.0 + sorted([x, True, 3.0])[0] * x, (x,))


@pytest.mark.parametrize("k", [0, 1, 2])
def test_whole_numbers_in_containers(k: int) -> None:
    def f(x, k):
        return {0: x * x, 1: 0, 2: True}[k] * 3.0 + (0, x, False)[k] * x + [1, x * x, 0][k]

    check_grads(f, (1.5, k))


def test_whole_numbers_by_a_condition() -> None:
    def f(x):
        return {True: x * x, False: 0}[x > np.float64(1.0)] * 3.0

    assert ad.grad(f)(1.5) == 9.0
    assert ad.grad(f)(0.5) == 0.0


def test_a_value_that_counts_as_a_constant_twice() -> None:
    """The second time it gets a name, by which the first one goes, too."""

    def inner(v):
        known = ad.stop_gradient(v)
        return np.sum(v * known * np.exp(known))

    def outer(v):
        return np.sum(np.sin(ad.stop_gradient(v))) + inner(v)

    def f(x):
        return outer(np.asarray(x) + 0.0)

    value, pullback = ad.vjp(f, np.ones(2))
    assert value == pytest.approx(f(np.ones(2)))
    np.testing.assert_allclose(pullback(1.0)[0], np.exp(1.0) * np.ones(2))
