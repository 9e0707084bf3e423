"""Users' classes that inherit from `list`, whose objects are made inside the function."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


class Numbers(list[Any]):
    def total(self) -> Any:
        return sum(self)

    def norm(self) -> float:
        return math.sqrt(sum([each * each for each in self]))


class Vector(list[Any]):
    def __init__(self, *parts: Any) -> None:
        super().__init__(parts)
        self.scale = 2.0

    def __add__(self, other: Any) -> Any:
        return Vector(*[a + b for a, b in zip(self, other, strict=True)])

    def __mul__(self, factor: Any) -> Any:
        return Vector(*[a * factor for a in self])

    __rmul__ = __mul__

    def dot(self, other: Any) -> Any:
        return sum(a * b for a, b in zip(self, other, strict=True)) * self.scale

    @property
    def x(self) -> Any:
        return self[0]


class Stack(Numbers):
    def push(self, item: Any) -> Any:
        self.append(item)
        return self

    def __getitem__(self, place: Any) -> Any:
        return list.__getitem__(self, place) * (1 if isinstance(place, slice) else 3.0)


def made_of_items(x: float) -> Any:
    return Numbers([x, x * x, 3.0]).norm() + Numbers(y * x for y in (1.0, 2.0)).total()


def with_operators(x: float) -> Any:
    found = Vector(x, 2.0 * x) + Vector(1.0, x)
    twice = 2.0 * found
    return found.dot(twice) * twice.x + len(found)


def with_methods_of_its_own(x: float) -> Any:
    stack = Stack()
    for i in range(4):
        stack.push(x * i)
    last = stack.pop()
    stack.extend([x, x])
    stack[0] = x**3
    return last * stack[0] + stack[-1] + sum(stack[1:3]) + sum(Stack([x]) + [x])


def with_methods_of_lists(x: float) -> Any:
    numbers = Numbers([3.0, x, x * x])
    numbers.sort()
    numbers.reverse()
    numbers += [x]
    numbers.insert(1, 2.0 * x)
    del numbers[0]
    longer, other = numbers + [1.0], [x] + numbers
    return longer[0] * other[1] + sum(reversed(numbers)) + numbers.count(1.0)


def handed_to_functions(x: float) -> Any:
    numbers = Numbers([x, 2.0 * x])
    first, second = numbers
    total = first * second * max(numbers) + math.fsum(numbers) + np.mean(numbers)
    return total + np.sum(np.asarray(numbers) ** 2) + np.sum(np.array([1.0, 2.0]) * numbers) + sum(sorted(numbers)[1:])


def among_others(x: float) -> Any:
    named = Numbers([x])
    named.name = "first"  # type: ignore[attr-defined]
    copied = copy.copy(named)
    copied.append(x * x)
    found = sum(each.total() for each in [named, copied, Numbers()] if each)
    match copied:
        case [a, b] if isinstance(copied, list):
            return found + a * b
    return found


PROGRAMS = [made_of_items, with_operators, with_methods_of_its_own, with_methods_of_lists, handed_to_functions]


@pytest.mark.parametrize("program", [*PROGRAMS, among_others])
def test_derivatives(program: Callable[[float], Any]) -> None:
    check_grads(program, (1.3,))
    assert ad.grad(program, native=True)(1.3) == pytest.approx(ad.grad(program)(1.3), rel=1e-12)


def test_of_any_length() -> None:
    def f(x: float, n: int) -> Any:
        numbers = Numbers()
        for k in range(n):
            numbers.append(x**k)
        return numbers.total() * numbers[-1]

    for n in (2, 5):
        check_grads(lambda x, n=n: f(x, n), (1.3,))


def test_what_is_handed_out_is_told_by_name() -> None:
    with pytest.raises(ad.DifferentiationError, match="'Numbers', which is a list, is handed out"):
        ad.vjp(lambda x: Numbers([x]), 1.0)
