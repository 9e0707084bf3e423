"""Functions that are made in a loop and put into a list: as many as a range has, whose bounds may be given."""

import math
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads

LAYERS = 3


def layer(w, b):
    def run(y):
        return w * math.sin(y) + b

    return run


def count_is_global(p):
    made = [layer(p[i], 0.5) for i in range(LAYERS)]
    y = 0.4
    for run in made:
        y = run(y)
    return y


def count_is_an_argument(p, n):
    made = []
    for i in range(n):
        made.append(layer(p[i], p[0]))
    return sum(run(0.1 * i) for i, run in enumerate(made))


def bounds_are_arguments(p, first, last):
    made = tuple(lambda y, k=p[i]: k * y for i in range(first, last))
    y = p[0]
    for law in reversed(made):
        y = law(y) + 1.0
    return y


class Model:
    def __init__(self, depth: int, scale: float) -> None:
        self.depth, self.scale = depth, scale


def count_is_an_attribute(p, model):
    made = {i: layer(p[i] * model.scale, 1.0) for i in range(model.depth)}
    y = 0.4
    for i in range(model.depth):
        y = made[i](y)
    return y


def of_captured(depth):
    def run(p):
        made = [layer(p[i], 0.5) for i in range(depth)]
        y = 0.4
        for each in made:
            y = each(y)
        return y

    return run


P = np.array([0.3, -0.7, 1.2, 0.9])


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (count_is_global, (P,)),
        (count_is_an_argument, (P, 3)),
        (bounds_are_arguments, (P, 1, 4)),
        (count_is_an_attribute, (P, Model(2, 0.5))),
        (of_captured(3), (P,)),
    ],
)
def test_functions_are_made_in_a_loop_over_a_given_range(function: Any, args: tuple[Any, ...]) -> None:
    check_grads(function, args, wrt=0, order=2)


def test_another_count_is_another_derivative(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = ad.grad(count_is_an_argument)
    model = ad.grad(count_is_an_attribute)
    captured = [ad.grad(of_captured(depth)) for depth in (1, 2)]

    for n in (3, 2, 4, 3):
        assert np.count_nonzero(gradient(P, n)) == n
    for n in (2, 3, 2):
        assert np.count_nonzero(model(P, Model(n, 0.5))) == n
    assert [np.count_nonzero(each(P)) for each in captured] == [1, 2]
    of_global = ad.grad(count_is_global)
    assert np.count_nonzero(of_global(P)) == 3
    monkeypatch.setitem(count_is_global.__globals__, "LAYERS", 2)
    assert np.count_nonzero(of_global(P)) == 2


def as_many_as_items(p):
    made = []
    for w in p:
        made.append(lambda y: w * y)
    return made[0](1.0)


def test_a_variable_that_changes_is_refused_where_nobody_gives_the_length() -> None:
    with pytest.raises(ad.DifferentiationError) as refused:
        ad.grad(as_many_as_items)(P)

    text = str(refused.value)
    assert "AD0202" in text
    assert "a function made here is put into what exists at run time only, and reads 'w', which may change" in text
    assert "capture what it holds now: lambda x, w=w: ..." in text
    assert "put it into a list in a loop over a range whose bounds are known or given: for i in range(n)" in text
