"""A value moves along its own tangents: anything else is an error, and changes nothing."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import adjoint as ad


@ad.differentiable
@dataclasses.dataclass
class P:
    x: float
    w: np.ndarray


@dataclasses.dataclass
class Other:
    y: float


JUNK: list[Any] = [3.0, {"x": 9.0}, "junk", [1.0], np.ones(2), Other(1.0), ad.grad(lambda o: o.y * o.y)(Other(1.0))]


@pytest.mark.parametrize("along", JUNK, ids=lambda along: type(along).__name__)
def test_of_an_object(along: Any) -> None:
    p = P(1.0, np.ones(2))
    with pytest.raises(ValueError, match=r"P moves along a P\.TangentVector, not along"):
        p.moved(along=along)  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="moves along"):
        p.move(along=along)  # type: ignore[attr-defined]
    assert p.x == 1.0 and p.w.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("value", "along"),
    [
        (1.0, "junk"),
        (1.0, np.ones(1)),
        (np.ones(2), np.ones((2, 2))),
        (np.ones(2), np.ones(1)),
        (np.ones(2), 1.0),
        ([1.0, 2.0], [1.0]),
        ([1.0, 2.0], 3.0),
        ((1.0, 2.0), {"a": 1.0}),
        ({"a": 1.0}, {"b": 1.0}),
        ({"a": 1.0}, 2.0),
        ({"a": [1.0, np.ones(2)]}, {"a": [1.0, np.ones(3)]}),
    ],
)
def test_of_other_structures(value: Any, along: Any) -> None:
    with pytest.raises(ValueError, match="moves along"):
        ad.moved(value, along)


def test_what_fits() -> None:
    p = P(1.0, np.ones(2))
    gradient = ad.grad(lambda p: p.x * np.sum(p.w))(p)
    assert p.moved(along=gradient).x == 3.0  # type: ignore[attr-defined]
    assert ad.moved([1.0, {"a": 2.0}], [None, {"a": 1}]) == [1.0, {"a": 3.0}]
