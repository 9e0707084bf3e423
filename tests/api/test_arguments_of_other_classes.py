"""Arguments of classes that inherit from containers and arrays: refused by every operator alike, never zero.

Those of `collections` are what `dict` is.
"""

from __future__ import annotations

import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad


class Table(dict):
    pass


class Items(list):
    pass


class Number(float):
    pass


class Tagged(np.ndarray):
    pass


ARGUMENTS: dict[str, tuple[Any, Any, str]] = {
    "a class of dicts": (Table(a=1.0, b=2.0), {"a": 1.0, "b": 1.0}, r"dict\(x\)"),
    "a class of lists": (Items([1.0, 2.0]), [1.0, 1.0], r"list\(x\)"),
    "a class of numbers": (Number(2.0), 1.0, r"float\(x\)"),
    "an array with a mask": (np.ma.array([1.0, 2.0], mask=[0, 1]), np.ones(2), "filled"),
    "a class of arrays": (np.ones(2).view(Tagged), np.ones(2), "np.asarray"),
}


def total(x: Any) -> Any:
    if isinstance(x, float):
        return x * x
    return np.sum(np.asarray(list(x.values()) if isinstance(x, dict) else x) ** 2)


OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "grad": lambda x, t: ad.grad(total)(x),
    "jvp": lambda x, t: ad.jvp(total, (x,), (t,)),
    "jvps": lambda x, t: ad.jvps(total, (x,), [(t,)]),
    "hvp": lambda x, t: ad.hvp(total, (x,), (t,)),
    "jet": lambda x, t: ad.jet(total, (x,), (t,), 2),
    "linearize": lambda x, t: ad.linearize(total, x)[1](t),
    "jacobian": lambda x, t: ad.jacobian(total)(x),
    "jacobian, forward": lambda x, t: ad.jacobian(total, mode="forward")(x),
    "jacobian, reverse": lambda x, t: ad.jacobian(total, mode="reverse")(x),
    "hessian": lambda x, t: ad.hessian(total)(x),
    "in a tuple": lambda x, t: ad.jacobian(lambda p: total(p[0]) * p[1], mode="reverse")((x, 2.0)),
}


@pytest.mark.parametrize("kind", ARGUMENTS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_it_is_refused_with_a_way_out(operator: str, kind: str) -> None:
    x, tangent, way = ARGUMENTS[kind]
    with pytest.raises(ad.DifferentiationError, match=way) as caught:
        OPERATORS[operator](x, tangent)
    assert caught.value.diagnostics[0].code == "AD0404"


@pytest.mark.parametrize("kind", [OrderedDict, lambda items: defaultdict(float, items)])
@pytest.mark.parametrize("operator", OPERATORS)
def test_dicts_of_collections_are_dicts(operator: str, kind: Callable[[Any], Any]) -> None:
    items, tangent = {"a": 1.0, "b": 2.0}, {"a": 1.0, "b": -3.0}
    assert repr(OPERATORS[operator](kind(items), tangent)) == repr(OPERATORS[operator](items, tangent))


@pytest.mark.parametrize("kind", ["an array with a mask", "a class of arrays"])
def test_a_matrix_with_zeros_is_refused(kind: str) -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0412"):
        ad.jacobian(lambda x: x * 2.0, sparsity="auto")(ARGUMENTS[kind][0])


def test_what_is_beside_it_varies() -> None:
    data = np.ma.array([1.0, 2.0], mask=[0, 1])
    value, differential = ad.linearize(lambda x, data: x * x * len(data), 3.0, data)
    assert (value, differential(1.0, None)) == (18.0, 12.0)
    assert ad.vjp(lambda x, data: x * x * len(data), 3.0, data)[1](1.0) == (12.0, None)


@pytest.mark.parametrize("holder", [lambda m: {"a": m, "b": 2.0}, lambda m: [m, 2.0], lambda m: (2.0, (m, 1.0))])
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("make", [np.matrix, np.ma.array])
def test_within_a_container_beside_what_varies_it_is_refused_too(
    make: Callable[[Any], Any], holder: Callable[[Any], Any]
) -> None:
    array = make([[1.0, 2.0]])

    def f(given: Any) -> Any:
        return sum(np.sum(part) for part in (given.values() if isinstance(given, dict) else given))

    with pytest.raises(ad.DifferentiationError, match=f"argument 0 holds an object of class '{type(array).__name__}'"):
        ad.grad(f)(holder(array))


def test_beside_what_varies_in_an_object_it_is_data() -> None:
    model = types.SimpleNamespace(data=np.ma.array([1.0, 2.0], mask=[0, 1]), weight=3.0)
    gradient = ad.grad(lambda model: model.weight**2 * len(model.data))(model)
    assert gradient.weight == 12.0


def windows() -> Any:
    """Elements of one array in several places."""
    return np.lib.stride_tricks.as_strided(np.array([1.0, 2.0, 4.0, 8.0]), (3, 2), (8, 8))


@pytest.mark.parametrize("x", [np.broadcast_to(np.array([1.0, 2.0]), (3, 2)), windows()])
def test_an_array_that_overlaps_itself_moves_as_it_is_said(x: Any) -> None:
    weights, direction = np.arange(6.0).reshape(3, 2), np.arange(1.0, 7.0).reshape(3, 2)
    _, first, second = ad.jet(lambda x: np.sum(x**2 * weights), (x,), (direction,), 2)
    np.testing.assert_allclose(first, np.sum(2.0 * x * direction * weights))
    np.testing.assert_allclose(second, np.sum(2.0 * direction**2 * weights))


def written(x: Any) -> Any:
    x[0, 1] = 5.0 * x[2, 0]
    return np.sum(x)


@pytest.mark.parametrize("native", [False, True])
def test_an_array_that_overlaps_itself_is_not_written(native: bool) -> None:
    with pytest.raises(ad.DifferentiationError, match="elements of argument 0 share memory"):
        ad.grad(written, native=native)(windows())
    with pytest.raises(ad.DifferentiationError, match="arrays in argument 0 share memory"):
        ad.grad(lambda parts: written(parts[0]))([windows()])
    gradient = ad.grad(written, native=native)(windows().copy())
    np.testing.assert_allclose(gradient, [[1.0, 0.0], [1.0, 1.0], [6.0, 1.0]])
