"""What a metaclass does where one of its classes is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from sampling import check_grads


class Marking(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        made.factor = 3.0
        return made


class Marked(metaclass=Marking):
    factor: float

    def __init__(self, a, b=1.0):
        self.a, self.b = a, b

    def of(self, x):
        return self.a * x * self.factor + self.b


class Single(type):
    known: ClassVar[dict[type, Any]] = {}

    def __call__(cls, *args: Any) -> Any:
        if cls not in cls.known:
            cls.known[cls] = type.__call__(cls, *args)
        return cls.known[cls]


class Settings(metaclass=Single):
    def __init__(self) -> None:
        self.scale = 2.0


Settings()


def made_in_a_loop(x):
    total = 0.0
    for k in range(3):
        total += Marked(x, b=x * k).of(2.0)
    return total + Marked(3.0).of(x)


def the_only_one(x):
    return Settings().scale * x * x


@pytest.mark.parametrize("function", [made_in_a_loop, the_only_one])
def test_gradients(function: Callable[[float], float]) -> None:
    check_grads(function, (1.3,), order=1)
