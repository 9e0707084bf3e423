"""What `!=` asks: the classes of both sides, in Python's order, and equality where a class says nothing of it."""

from collections.abc import Callable
from typing import Any

import pytest

import adjoint as ad


class Table(dict):
    pass


class Compared:
    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: Any) -> Any:
        if len(other) > 5:
            return False
        return self.held == dict(other)

    __hash__ = None  # type: ignore[assignment]


class Handing(Compared):
    def __eq__(self, other: Any) -> Any:
        return other

    __hash__ = None  # type: ignore[assignment]


class Passing(Compared):
    def __eq__(self, other: Any) -> Any:
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]


class Unequal(Compared):
    def __ne__(self, other: Any) -> Any:
        return 0.0


TABLE = Table(a=1.0, b=2.0)
SAME = {"a": 1.0, "b": 2.0}

ASKED: dict[str, Callable[[float], Any]] = {
    "two returns": lambda x: Compared(SAME) != TABLE,
    "the other side": lambda x: TABLE != Compared(SAME),
    "different": lambda x: Compared({"a": 1.0}) != TABLE,
    "negated": lambda x: not (Compared(SAME) != TABLE),
    "what is no bool": lambda x: Handing(SAME) != TABLE,
    "what is empty": lambda x: Handing(SAME) != {},
    "not said": lambda x: Passing(SAME) != TABLE,
    "not said by the other": lambda x: TABLE != Passing(SAME),
    "of its own": lambda x: Unequal(SAME) != TABLE,
    "of its own at the right": lambda x: TABLE != Unequal(SAME),
    "in a list": lambda x: [Compared(SAME) != TABLE, Compared(SAME) == TABLE][1],
    "equal": lambda x: TABLE == Compared(SAME),
    "varying": lambda x: Compared({"a": x}) != {"a": 0.3},
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_as_python_does(asked: Callable[[float], Any]) -> None:
    expected = (0.09, 0.6) if asked(0.3) else (0.027, 0.27)
    assert ad.value_and_grad(lambda x: x * x if asked(x) else x**3)(0.3) == pytest.approx(expected)
