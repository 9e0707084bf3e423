"""Functions in containers whose length is known at run time only: a call is a choice between those put there."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from frontend.checked_gradients import checked_gradient

X = np.array([0.3, 0.7, 0.9])


def relu(x):
    return np.maximum(x, 0.0)


def square(x):
    return x * x


def compose(functions, x):
    for each in functions:
        x = each(x)
    return x


class Layer:
    def __init__(self, weight, act):
        self.weight, self.act = weight, act

    def __call__(self, x):
        return self.act(self.weight * x)


class Scale:
    def __init__(self, by):
        self.by = by

    def times(self, x):
        return self.by * x


TABLE = {"sin": np.sin, "square": square}


def repeated(x):
    functions = [np.sin, np.cos] * x.size
    return np.sum(compose(functions, x))


def appended(x):
    layers = []
    for k in range(x.size):
        layers.append(np.tanh if k % 2 else relu)
    return np.sum(compose(layers, x))


def by_branches(x):
    functions = []
    for w in x:
        if w > 0.5:
            functions.append(np.add)
        else:
            functions.append(np.multiply)
    y = x
    for each, w in zip(functions, x, strict=True):
        y = each(y, w)
    return np.sum(y)


def in_a_dict(x):
    table = {}
    for k in range(x.size):
        table[k] = np.sin if k % 2 else square
    y = x
    for k in range(x.size):
        y = table[k](y)
    return np.sum(y)


def by_name(x):
    y = x
    for w in x:
        y = TABLE["sin" if w > 0.5 else "square"](y)
    return np.sum(y)


def beside_weights(x):
    pairs = []
    for k, w in enumerate(x):
        pairs.append((np.sin if k % 2 else np.exp, 0.1 * k + w))
    y = x
    for each, weight in pairs:
        y = weight * each(y)
    return np.sum(y) + pairs[-1][1] * pairs[0][0](x[0])


def attributes_of_objects(x):
    layers = []
    for w in x:
        layers.append(Layer(w, np.tanh if w > 0.5 else square))
    return np.sum(compose(layers, x))


def a_stack(x):
    functions = []
    for w in x:
        functions.append(np.sin if w > 0.5 else np.cos)
    functions.pop()
    functions.insert(0, square)
    functions.reverse()
    y = x
    while functions:
        y = functions.pop()(y)
    return np.sum(y)


def a_tuple(x):
    functions = tuple(np.sin if w > 0.5 else square for w in x)
    y = x
    for i in range(len(functions)):
        y = functions[i](y)
    return np.sum(y)


def or_none(x):
    y = x
    for each in [square if w > 0.5 else None for w in x]:
        if each is not None:
            y = each(y)
    return np.sum(y)


def asked_for(x):
    y = x
    for each in [np.sin if w > 0.5 else square for w in x]:
        y = each(y)
        if each is np.sin:
            y = 2.0 * y
        if each in (square, np.cos):
            y = 3.0 * y
    return np.sum(y)


def handed_on(x):
    functions = []
    for w in x:
        functions.append(square if w > 0.5 else np.sin)
    return np.sum(compose(functions, x)) + np.sum(compose(functions[::-1], x))


def folded_and_mapped(x):
    functions = [square if w > 0.5 else np.sin for w in x]
    return np.sum(functools.reduce(lambda y, each: each(y), functions, x)) + sum(
        np.sum(y) for y in map(lambda each: each(x), functions)
    )


def carried(x):
    best = square
    functions = []
    for w in x:
        functions.append(best)
        best = np.sin if w > 0.5 else np.cos
    return np.sum(compose(functions, x)) + np.sum(best(x))


def taken_from_itself(x):
    stack = [square]
    for w in x:
        stack.append(stack[-1] if w > 0.5 else np.sin)
    return np.sum(compose(stack, x))


def replaced(x):
    functions = [np.sin] * x.size
    functions[1] = square
    functions[x.size - 1] = np.exp
    functions += [np.cos] * x.size
    return np.sum(compose(functions, x))


def of_classes(x):
    scales = []
    for w in x:
        scales.append(Scale if w > 0.5 else Layer)
    y = x
    for each, w in zip(scales, x, strict=True):
        if each is Scale:
            y = each(w).times(y)
    return np.sum(y)


def differentiated(x):
    functions = [np.sin if w > 0.5 else square for w in x]
    return sum(ad.grad(each)(w) for each, w in zip(functions, x, strict=True))


def in_lists_in_lists(x):
    rows = []
    for w in x:
        rows.append([np.sin if w > v else square for v in x])
    y = x
    for row in rows:
        y = compose(row, y)
    return np.sum(y)


def beside_objects(x):
    layers = []
    for w in x:
        if w > 0.5:
            layers.append(Layer(w, np.tanh))
        else:
            layers.append(square)
    return np.sum(compose(layers, x))


def called_by_a_recursion(x):
    functions = [np.sin if w > 0.5 else square for w in x]

    def run(y, at):
        return y if at == len(functions) else run(functions[at](y), at + 1)

    return np.sum(run(x, 0))


PROGRAMS: list[Callable[[Any], Any]] = [
    repeated,
    appended,
    by_branches,
    in_a_dict,
    by_name,
    beside_weights,
    attributes_of_objects,
    a_stack,
    a_tuple,
    or_none,
    asked_for,
    handed_on,
    folded_and_mapped,
    carried,
    taken_from_itself,
    replaced,
    of_classes,
    differentiated,
    in_lists_in_lists,
    beside_objects,
    called_by_a_recursion,
]


@pytest.mark.parametrize("function", PROGRAMS)
def test_a_call_is_a_choice_between_the_functions_put_there(function: Any) -> None:
    gradient = checked_gradient(function, X)
    value, tangent = ad.jvp(function, (X,), (np.ones(3),))
    assert value == pytest.approx(function(X), rel=1e-14)
    assert tangent == pytest.approx(gradient.sum(), rel=1e-10)


def handed_out(x):
    functions = [np.sin if w > 0.5 else square for w in x]
    return np.sum(compose(functions, x)), functions


def test_the_container_holds_the_very_functions() -> None:
    (_, functions), pullback = ad.vjp(handed_out, X)

    assert functions == [square, np.sin, np.sin]
    assert pullback is not None


def shown(x):
    names = []
    for each in [np.sin if w > 0.5 else square for w in x]:
        names.append(each.__name__)
    return np.sum(x) * len(",".join(names))


def test_attributes_are_those_of_the_function_that_is_there() -> None:
    np.testing.assert_allclose(ad.grad(shown)(X), [len("square,sin,sin")] * 3)


def not_callable(x):
    y = x
    for each in [square if w > 0.5 else None for w in x]:
        y = each(y)
    return np.sum(y)


def test_none_among_them_cannot_be_called() -> None:
    with pytest.raises(TypeError, match=r"not callable|no function"):
        ad.grad(not_callable)(X)
    np.testing.assert_allclose(ad.grad(not_callable)(X[1:]), ad.grad(lambda x: np.sum(square(square(x))))(X[1:]))


MANY = [np.sin, np.cos, np.tanh, np.exp, np.square, np.arctan, np.sinh, np.cosh, np.arcsinh]


def too_many(x):
    functions = []
    for w in x:
        functions.append(MANY[int(10 * w) - 1])
    return np.sum(compose(functions, x))


def test_too_many_are_refused() -> None:
    with pytest.raises(ad.DifferentiationError) as refused:
        ad.grad(too_many)(X)

    assert "AD020" in str(refused.value)
