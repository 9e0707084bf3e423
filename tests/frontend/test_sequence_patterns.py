"""Sequence patterns of lists whose length is known at run time only."""

import math

import pytest

import adjoint as ad
from adjoint.testing import check_grads


def by_length(x, n):
    values = []
    for i in range(n):
        values.append(x * (i + 1.0))
        if values[-1] > 100.0:
            break
    match values:
        case []:
            return x
        case [a]:
            return a * a
        case [a, b]:
            return a * b
        case [a, b, c] if a > 2.0:
            return a - b * c
        case [first, *rest, last]:
            return first * last + sum(rest) * len(rest)
        case _:
            return 0.0 * x


def lines_of(x, text):
    total, stack = 0.0, [x]
    for line in text.splitlines():
        match line.split():
            case ["push", number]:
                stack.append(float(number) * x)
            case ["add"]:
                stack.append(stack.pop() + stack.pop())
            case ["mul" | "times"]:
                stack.append(stack.pop() * stack.pop())
            case ["sin", times]:
                for _ in range(int(times)):
                    stack[-1] = math.sin(stack[-1])
            case ["sum", *_]:
                total += sum(stack)
            case _:
                total += 10.0 * x
    return total + stack[-1]


PROGRAM = "push 2.0\npush 3.0\nmul\nsin 2\nnothing at all\nsum of it\nadd\npush 0.5\ntimes"


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_patterns_by_length(n):
    check_grads(lambda x: by_length(x, n), (1.7,), order=2)
    assert ad.grad(by_length)(1.7, n) == pytest.approx(ad.jvp(by_length, (1.7, n), (1.0, None))[1])


def test_three_with_a_guard():
    for x in (1.7, 2.5):
        assert ad.value_and_grad(by_length)(x, 3)[0] == by_length(x, 3)
        check_grads(lambda x: by_length(x, 3), (x,))


def test_words_of_lines():
    check_grads(lambda x: lines_of(x, PROGRAM), (0.7,), order=2)
    assert ad.value_and_grad(lines_of)(0.7, PROGRAM)[0] == lines_of(0.7, PROGRAM)
