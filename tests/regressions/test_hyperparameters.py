"""Numbers with a default value in plain dataclasses may be settings: who trains them is told, once."""

import dataclasses
import warnings
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def loss(m: Any) -> Any:
    return np.sum(m.w**2) * (1 - m.dropout)


def told(update: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        update()
    return [str(warning.message) for warning in found]


def test_hyperparameters_are_not_trained_silently() -> None:
    @dataclasses.dataclass
    class Net:
        w: np.ndarray
        dropout: float = 0.1

    m = Net(np.ones(3))
    gradient = ad.grad(loss)(m)
    optimizer = ad.optim.Adam(0.01)
    (message,) = told(lambda: [optimizer.update(m, along=gradient) for _ in range(3)])
    assert "AD0506" in message and "Net.dropout" in message
    assert "dropout: float = ad.no_derivative(default=" in message and "ad.parameter(default=" in message
    assert not told(lambda: ad.optim.SGD(0.01).update(m, along=gradient))


def test_inside_other_structures() -> None:
    @dataclasses.dataclass
    class Net:
        w: np.ndarray
        dropout: float = 0.1

    models = [{"net": Net(np.ones(3))}, {"net": Net(np.ones(3))}]
    gradient = ad.grad(lambda ms: sum(loss(m["net"]) for m in ms))(models)
    assert len(told(lambda: ad.optim.SGD(0.01).update(models, along=gradient))) == 1


def test_what_is_marked() -> None:
    @dataclasses.dataclass
    class Net:
        w: np.ndarray
        dropout: float = ad.no_derivative(default=0.1)
        scale: float = ad.parameter(default=1.0)

    m = Net(np.ones(3))
    gradient = ad.grad(lambda m: m.scale * loss(m))(m)
    assert not told(lambda: ad.optim.Adam(0.01).update(m, along=gradient))
    assert m.dropout == 0.1 and m.scale < 1.0


@pytest.mark.parametrize("declared", [False, True])
def test_what_needs_no_mark(declared: bool) -> None:
    @dataclasses.dataclass
    class Line:
        slope: float
        offset: float = 0.0

    class Start:
        def __init__(self) -> None:
            self.scale = 1.0

    cls = ad.differentiable(Line) if declared else Start
    model: Any = cls(1.0) if declared else cls()
    gradient = ad.grad(lambda m: m.slope * m.offset if declared else m.scale**2)(model)
    assert not told(lambda: ad.optim.SGD(0.1).update(model, along=gradient))


def test_what_an_optimizer_leaves_alone() -> None:
    @dataclasses.dataclass
    class Net:
        w: np.ndarray
        dropout: float = 0.1

    m = Net(np.ones(3))
    gradient = ad.grad(loss)(m)
    assert not told(lambda: ad.optim.SGD(0.01, only=".w").update(m, along=gradient))
    frozen = ad.optim.Group(".dropout", frozen=True)
    assert not told(lambda: ad.optim.SGD(0.01, groups=[frozen]).update(m, along=gradient))
    assert m.dropout == 0.1


def test_whole_numbers_beside_numbers_that_are_trained() -> None:
    class Curve:
        height: float

        def __init__(self) -> None:
            self.height, self.rate, self.on = 1.5, 2, True

    class Declared(Curve):
        rate: int

    for curve, count in ((Curve(), 1), (Declared(), 0)):
        gradient = ad.grad(lambda c: c.height * c.rate)(curve)
        optimizer = ad.optim.SGD(0.1)
        messages = told(lambda: [optimizer.update(curve, along=gradient) for _ in range(2)])
        assert len(messages) == count and curve.rate == 2 and curve.height < 1.5
        for message in messages:
            assert "AD0509" in message and "Curve.rate" in message and "if it shall be trained: 2.0" in message
