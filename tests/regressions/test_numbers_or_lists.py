"""What only works for one of the structures that a value may have raises for the others, as in Python."""

from typing import Any

import pytest

import adjoint as ad
from regressions.differences import refused, right


def float_or_list(x: float) -> Any:
    y: Any = x if x > 0 else [x]
    return y * 2.0


def call_or_not(x: float) -> Any:
    f: Any = (lambda t: t * x) if x > 0 else x
    return f(3.0)


class Point:
    def __init__(self, x: float) -> None:
        self.x = x


def attribute_or_not(x: float) -> Any:
    p: Any = Point(x) if x > 0 else [x]
    return p.x * x


@pytest.mark.parametrize("program", [float_or_list, call_or_not, attribute_or_not], ids=lambda f: f.__name__)
def test_of_one_structure(program: Any) -> None:
    right(program, 1.0)
    with pytest.raises((TypeError, AttributeError)):
        ad.grad(program)(-1.0)


def test_of_the_only_structure() -> None:
    assert refused(lambda: ad.grad(lambda x: [x] * 2.0)(1.0)).diagnostics[0].code == "AD0213"  # type: ignore[operator]
