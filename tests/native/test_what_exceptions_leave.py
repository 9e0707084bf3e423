"""What was written to arguments before an exception left a function, in machine code as in Python."""

import math

import numpy as np
import pytest

import adjoint as ad


def raised_before(x, v):
    total = x
    for _ in range(3):
        if total > 2.0:
            raise ValueError("left")
        v[0] *= 2.0
        total += x
    return total


def raised_behind(x, v):
    total = x
    for i in range(3):
        v[0] = v[0] + 1.0
        total += x * v[0]
        if i == 1:
            raise ValueError("left")
    return total


def raised_in_an_inner_loop(x, v):
    total = x
    for i in range(3):
        for j in range(2):
            v[i] += 1.0
            if i == 1 and j == 1:
                raise ValueError("left")
        total += x
    return total


def divided(x, v):
    total = x
    for i in range(3):
        v[0] *= 2.0
        total += 1.0 / (1.0 - i) * x
    return total


def refused_by_a_function(x, v):
    total = 0.0
    for i in range(3):
        v[1] += 1.0
        if i == 2:
            total += math.log(x - x)
    return total


def raised_by_what_it_calls(x, v):
    def checked(y):
        if y > 1.5:
            raise ValueError("left")
        return 2.0 * y

    total = 0.0
    for i in range(3):
        v[2] += 1.0
        total += checked(x + i)
    return total


class Model:
    def __init__(self):
        self.scale, self.items, self.table = 1.0, [1.0, 2.0], {"a": 1.0}


def attributes(model, x):
    model.scale = 5.0
    model.items[0] = 4.0
    model.table["a"] = 3.0
    if x > 0.5:
        raise ValueError("left")
    return x * model.scale


def an_attribute_and_a_refusal(model, x):
    model.scale = 5.0
    return x * math.log(x - x)


def an_attribute_written_twice(model, x):
    model.scale = x
    y = 2.0 / (x - x)
    model.scale = y
    return x * y


PROGRAMS = (
    raised_before,
    raised_behind,
    raised_in_an_inner_loop,
    divided,
    refused_by_a_function,
    raised_by_what_it_calls,
)
WITH_OBJECTS = attributes, an_attribute_and_a_refusal, an_attribute_written_twice


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_python_leaves_it(program) -> None:
    left = []
    for run in (program, ad.value_and_grad(program), ad.value_and_grad(program, native="strict")):
        v = np.array([1.0, 2.0, 3.0])
        with pytest.raises((ValueError, ZeroDivisionError)):
            run(0.8, v)
        left.append(v.tolist())
    assert left[0] == left[1] == left[2] != [1.0, 2.0, 3.0]


@pytest.mark.parametrize("program", WITH_OBJECTS)
def test_objects_as_python_leaves_them(program) -> None:
    left = []
    for run in (program, ad.value_and_grad(program, 1), ad.value_and_grad(program, 1, native="strict")):
        model = Model()
        with pytest.raises((ValueError, ZeroDivisionError)):
            run(model, 0.8)
        left.append(vars(model))
    assert left[0] == left[1] == left[2] != vars(Model())
