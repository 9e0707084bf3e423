"""Instances of generic classes: what Python keeps in them about the type is no field."""

import dataclasses
from typing import Any, Generic, TypeVar

import pytest

import adjoint as ad
from regressions.differences import right

T = TypeVar("T")


@dataclasses.dataclass
class Box(Generic[T]):
    x: T


class Plain(Generic[T]):
    def __init__(self, x: T) -> None:
        self.x = x


def squared(w: Any) -> Any:
    return w.x * w.x


@pytest.mark.parametrize("cls", [Box, Plain])
def test_generic_instances(cls: Any) -> None:
    w = cls[float](2.0)
    gradient = ad.grad(squared)(w)
    assert vars(gradient) == {"x": 4.0}
    assert vars(ad.vjp(squared, w)[1](1.0)[0]) == {"x": 4.0}
    assert ad.jvp(squared, (w,), (gradient,)) == (4.0, 16.0)
    (first, _) = ad.grad(lambda ws: sum(map(squared, ws)))([w, cls[float](3.0)])
    assert vars(first) == {"x": 4.0}


@pytest.mark.parametrize("cls", [Box, Plain])
def test_at_run_time(cls: Any) -> None:
    def chained(w: Any) -> Any:
        ws = [w]
        for i in range(3):
            ws.append(cls(ws[-1].x * 2))
            ws[i].x = ws[i].x * 3
        return ws[3].x * w.x

    assert vars(ad.grad(chained)(cls[float](2.0))) == {"x": 96.0}


def test_made_inside() -> None:
    right(lambda x: Box[float](x).x ** 2, 2.0)
    right(lambda x: Plain[float](x).x ** 2, 2.0)


def test_moved_and_trained() -> None:
    w = Box[float](2.0)
    gradient = ad.grad(squared)(w)
    ad.optim.SGD(0.1).update(w, along=gradient)
    assert w == Box(1.6)
    assert "orig_class" not in str(list(ad.recursively_all_key_paths(w)))
