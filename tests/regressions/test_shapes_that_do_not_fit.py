"""Shapes that do not fit raise what NumPy raises, also in a gradient that does not need the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right

W = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    "program",
    [
        lambda x: np.dot(x, W),
        lambda x: np.dot(x, [1, 2]),
        lambda x: x @ W,
        lambda x: np.inner(x, W),
        lambda x: np.vdot(x, W),
        lambda x: np.sum(x * W),
        lambda x: np.matmul(x, W),
    ],
)
@pytest.mark.parametrize("native", [False, True])
def test_gradients(program: Any, native: bool) -> None:
    gradient = ad.grad(program, native=native)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"shape|broadcast|core dim|dimension"):
            gradient(np.ones(3))
    np.testing.assert_array_equal(gradient(np.ones(2)), W)


def test_of_another_argument() -> None:
    gradient = ad.grad(lambda a, b: np.dot(a, b), 1)
    with pytest.raises(ValueError, match="shapes"):
        gradient(np.ones(3), np.ones(2))
    np.testing.assert_array_equal(gradient(W, np.ones(2)), W)


@dataclass
class Model:
    w: np.ndarray
    b: float


X, Y = np.ones(3), np.ones(4)


def product(x: np.ndarray, y: np.ndarray) -> float:
    return np.sum(x * y)


def of_model(m: Model, y: np.ndarray) -> float:
    return np.sum(m.w * y) * m.b


@pytest.mark.parametrize(
    "ask",
    {
        "several": lambda y: ad.grad(product, (0, 1))(X, y),
        "compiled": lambda y: ad.grad(product, (0, 1), native=True)(X, y),
        "a name": lambda y: ad.grad(product, "y")(X, y),
        "arguments by name": lambda y: ad.grad(product, "y")(y=y, x=X),
        "an index of one by name": lambda y: ad.grad(product, 1)(X, y=y),
        "aux": lambda y: ad.grad(lambda x: (product(x, y), 1.0), has_aux=True)(X),
        "dict": lambda y: ad.grad(lambda p: np.sum(p["a"] * p["b"]))({"a": X, "b": y}),
        "nested": lambda y: ad.grad(lambda p: np.sum(p["a"][0] * p["b"]))({"a": (X, 1.0), "b": y}),
        "object": lambda y: ad.grad(of_model)(Model(X, 1.0), y),
        "key path": lambda y: ad.grad(of_model, wrt=ad.keypath(Model).w)(Model(X, 1.0), y),
        "hvp": lambda y: ad.hvp(product, (X, y), (X, y)),
    }.items(),
    ids=lambda item: item[0],
)
def test_in_structures(ask: tuple[str, Any]) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match=r"\(3,\).*\(4,\)"):
            ask[1](Y)
    ask[1](X * 2)


def test_what_is_replaced_in_place_has_another_shape_afterwards() -> None:
    def shorten(p: list[Any]) -> float:
        p[0] = p[0][:2]
        return np.sum(p[0] * p[0])

    gradient = ad.grad(shorten)
    for _ in range(2):
        np.testing.assert_array_equal(gradient([np.ones(3)])[0], [2.0, 2.0, 0.0])

    def shorten_inside(p: dict[str, Any]) -> float:
        p["layers"][0] = p["layers"][0][:2]
        return np.sum(p["layers"][0] * p["layers"][0])

    gradient = ad.grad(shorten_inside)
    for _ in range(2):
        np.testing.assert_array_equal(gradient({"layers": [np.ones(3)]})["layers"][0], [2.0, 2.0, 0.0])
    held = Model(np.ones(3), 1.0)

    def shorten_field(m: Model) -> float:
        m.w = m.w[:2]
        return np.sum(m.w * m.w)

    np.testing.assert_array_equal(ad.grad(shorten_field)(held).w, [2.0, 2.0, 0.0])


def appended(x, n=0):
    return np.append(np.zeros(n), x[:1])


def beside_a_number(x, n=0):
    return np.hstack([x[:n], x[0]])


def counted(x, n=0):
    return np.repeat(x, np.array([n, 1, 0]))


def under_nothing(x, n=0):
    return np.vstack([np.zeros((n, 3)), x])


def behind_nothing(x, n=0):
    return np.pad(x[:n], (1, 0), constant_values=2.0) * x[1]


def places(x, n=0):
    return x[np.where(x > n + 1.0)[0]]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("made", [appended, beside_a_number, counted, under_nothing, behind_nothing, places])
def test_what_joins_nothing_and_one_element_is_of_one_element(made: Any, native: bool) -> None:
    right(lambda x: np.sum(made(x) * np.outer(x, x)), np.array([0.7, 1.4, -0.3]), native=native)


@pytest.mark.parametrize("made", [appended, beside_a_number, counted, places])
def test_what_joins_nothing_and_one_element_loses_its_axis(made: Any) -> None:
    x = np.array([0.7, 1.4, -0.3])
    assert ad.value_and_grad(lambda x: np.sum(made(x)) * np.ndim(np.squeeze(made(x))))(x)[0] == 0.0
