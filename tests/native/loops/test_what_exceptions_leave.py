"""What a loop wrote to an argument before an exception left it, in machine code as in Python."""

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


PROGRAMS = (
    raised_before,
    raised_behind,
    raised_in_an_inner_loop,
    divided,
    refused_by_a_function,
    raised_by_what_it_calls,
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_python_leaves_it(program) -> None:
    left = []
    for run in (program, ad.value_and_grad(program), ad.value_and_grad(program, native="strict")):
        v = np.array([1.0, 2.0, 3.0])
        with pytest.raises((ValueError, ZeroDivisionError)):
            run(0.8, v)
        left.append(v.tolist())
    assert left[0] == left[1] == left[2] != [1.0, 2.0, 3.0]
