"""Functions that are made in a loop, in containers of run-time length: each keeps what it captured there."""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads
from frontend.checked_gradients import checked_gradient

X = np.array([0.3, 0.7, 0.9])


def square(x):
    return x * x


def layer(w, b):
    def run(y):
        return w * np.sin(y) + b

    return run


def composed(outer, inner):
    return lambda y: outer(inner(y))


def run_all(functions, x):
    for each in functions:
        x = each(x)
    return x


class Scale:
    def __init__(self, by):
        self.by = by

    def times(self, x):
        return self.by * x

    def plus(self, x):
        return self.by + x * x


SCALE = Scale(1.5)


def by_a_factory(x):
    return np.sum(run_all([layer(w, 0.5) for w in x], x))


def by_a_factory_beside_others(x):
    functions = [layer(w, x[0]) for w in x] + [np.tanh, square]
    return np.sum(run_all(functions, x))


def default_values(x, n):
    functions = [lambda y, k=k: y * k for k in range(1, n + 1)]
    while functions:
        x = functions.pop()(x)
    return np.sum(x)


def of_two_places(x):
    s = 2.0 * x[1]
    functions = []
    for w in x:
        if w > 0.5:
            functions.append(lambda y, w=w: w * y + s)
        else:
            functions.append(lambda y, w=w: y - w * s)
    return np.sum(run_all(functions, x))


def defaults_by_keyword(x):
    functions = []
    for w in x:

        def run(y, w=w, *, c=2.0):
            return w * y + c

        functions.append(run)
    return np.sum(run_all(functions, x)) + functions[0](x[0], c=x[1])


def methods(x):
    functions = []
    for w in x:
        functions.append(Scale(w).times if w > 0.5 else Scale(2.0 * w).plus)
    return np.sum(run_all(functions, x))


def methods_of_what_is_outside(x):
    functions = []
    for w in x:
        functions.append(SCALE.times if w > 0.5 else SCALE.plus)
    return np.sum(run_all(functions, x))


def partial_functions(x):
    functions = []
    for w in x:
        functions.append(functools.partial(np.multiply, w) if w > 0.5 else functools.partial(np.add, w))
    return np.sum(run_all(functions, x))


def getters(x):
    functions = [operator.itemgetter(0), operator.itemgetter(1)] * x.size
    return sum(each(x) ** 2 for each in functions)


def with_a_list_of_its_own(w):
    held = [w]

    def run(y):
        held[0] = 2.0 * held[0]
        return y * held[0]

    return run


def that_change_what_they_hold(x):
    functions = [with_a_list_of_its_own(w) for w in x]
    return np.sum(run_all(functions, run_all(functions, x)))


def with_an_array_of_its_own(w):
    held = np.array([w, 2.0 * w, 3.0 * w])

    def run(y):
        held[0] = 2.0 * held[0]
        return y * held

    return run


def that_write_arrays(x):
    functions = [with_an_array_of_its_own(w) for w in x]
    return np.sum(run_all(functions, run_all(functions, x)))


def in_tuples_in_a_dict(x):
    table = {}
    for i, w in enumerate(x):
        table[i] = (layer(w, 0.5), w)
    y = x
    for i in range(x.size):
        each, w = table[i]
        y = each(y) * w
    return np.sum(y)


class Node:
    def __init__(self, weight, act):
        self.weight, self.act = weight, act


def attributes(x):
    nodes = []
    for w in x:
        nodes.append(Node(w, layer(w, 0.3)))
    y = x
    for node in nodes:
        y = node.act(y) + node.weight
    return np.sum(y)


def of_functions(x):
    return np.sum(run_all([composed(layer(w, 0.1), np.sin) for w in x], x))


def or_none(x):
    y = x
    for each in [layer(w, 1.0) if w > 0.5 else None for w in x]:
        if each is not None:
            y = each(y)
    return np.sum(y)


def while_it_grows(x):
    functions = []
    y = x
    for w in x:
        for each in functions:
            y = each(y)
        functions.append(layer(w, 0.2))
    return np.sum(y)


def by_a_generator(x):
    def made():
        for w in x:
            yield layer(w, 0.1)

    return np.sum(run_all(list(made()), x))


def in_order(x):
    pairs = sorted([(w, layer(w, 0.1)) for w in x], key=lambda pair: -pair[0])
    y = x
    for w, each in pairs:
        y = each(y) * w
    return np.sum(y)


def in_a_recursion(x):
    functions = [layer(w, 1.0) for w in x]

    def run(i, y):
        return y if i == len(functions) else run(i + 1, functions[i](y))

    return np.sum(run(0, x))


def sharing(c):
    def program(x):
        functions = []
        for w in x:
            functions.append(lambda y, w=w: w * y + c)
        return np.sum(run_all(functions, x))

    return program


PROGRAMS: list[Callable[..., Any]] = [
    by_a_factory,
    by_a_factory_beside_others,
    of_two_places,
    defaults_by_keyword,
    methods,
    methods_of_what_is_outside,
    partial_functions,
    getters,
    that_change_what_they_hold,
    that_write_arrays,
    in_tuples_in_a_dict,
    attributes,
    or_none,
    while_it_grows,
    by_a_generator,
    in_order,
    in_a_recursion,
    sharing(2.5),
    lambda x: default_values(x, 3),
]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_each_function_keeps_what_it_captured(function: Any) -> None:
    checked_gradient(function, X)


def test_functions_capture_functions() -> None:
    check_grads(of_functions, (X,), wrt=0)


def test_another_count_is_right_too() -> None:
    for n in (2, 3, 1):
        check_grads(default_values, (X, n), wrt=0)
    for size in (1, 3, 2):
        check_grads(by_a_factory, (X[:size],), wrt=0)


def defaults_of_two_branches(x):
    if x[0] > 0.2:
        chosen = lambda y, w=2.0 * x[1]: y * w
    else:
        chosen = lambda y, w=3.0 * x[2]: y + w
    return chosen(x[0])


def test_default_values_are_computed_where_the_function_is_made() -> None:
    check_grads(defaults_of_two_branches, (X,), wrt=0, order=2)
    check_grads(defaults_of_two_branches, (0.1 * X,), wrt=0, order=2)


def late(x):
    k = 1.0
    functions = []
    for _ in x:
        functions.append(lambda y: y * k)
    k = x[0]
    return np.sum(run_all(functions, x))


def counting():
    n = 0.0

    def run(y):
        nonlocal n
        n = n + 1.0
        return y * n

    return run


def that_count(x):
    functions = [counting() for _ in x]
    return sum(each(x[0]) + each(x[1]) for each in functions)


def of_two(w):
    def get(y):
        return y * w

    def put(v):
        nonlocal w
        w = v

    return get, put


def set_by_another(x):
    functions = []
    for w in x:
        get, put = of_two(w)
        functions.append(get)
        put(2.0 * w)
    return np.sum(run_all(functions, x))


def in_an_inner_loop(x):
    s = 0.0
    for w in x:
        t = 2.0 * w
        s = s + np.sum(run_all([lambda y: y * t for _ in x], x))
    return s


@pytest.mark.parametrize(
    ("function", "name"), [(late, "k"), (that_count, "n"), (set_by_another, "w"), (in_an_inner_loop, "t")]
)
def test_variables_that_may_change_are_refused(function: Any, name: str) -> None:
    with pytest.raises(ad.DifferentiationError) as refused:
        ad.grad(function)(X)

    text = str(refused.value)
    assert "AD0202" in text
    assert f"put into what exists at run time only, and reads {name!r}, which may change" in text
    assert f"{name}={name}" in text


def compared(x):
    functions = [layer(w, 1.0) for w in x]
    count = 0
    for each in functions:
        if each is functions[0]:
            count += 1
    return np.sum(x) * count


def handed_out(x):
    functions = [layer(w, 1.0) for w in x]
    return np.sum(run_all(functions, x)), functions


def shown(x):
    functions = [layer(w, 1.0) for w in x]
    print(functions)
    return np.sum(run_all(functions, x))


def as_keys(x):
    table = {}
    for w in x:
        table[layer(w, 1.0)] = w
    return sum(each(1.0) * w for each, w in table.items())


@pytest.mark.parametrize(
    ("derivative", "text"),
    [
        (ad.grad(compared), "whether two functions that are made here are one is known at run time only"),
        (lambda x: ad.vjp(handed_out, x), "a container of functions that are made here is handed on as a whole"),
        (ad.grad(shown), "a container of functions that are made here is handed on as a whole"),
        (ad.grad(as_keys), "a function made here is handed to code whose body is not visible"),
    ],
)
def test_nobody_sees_what_stands_for_a_function(derivative: Any, text: str) -> None:
    with pytest.raises(ad.DifferentiationError) as refused:
        derivative(X)

    assert text in str(refused.value)
