"""A call along an axis that its arrays do not have raises: what follows it is not reached."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
LABELS = np.array([0, 1, 1])

CALLS: dict[str, Callable[[Any], Any]] = {
    "argmax": lambda t: t.argmax(axis=1),
    "sum": lambda t: np.sum(t, axis=1),
    "argsort": lambda t: np.argsort(t, axis=1)[:, 0],
    "cumsum": lambda t: np.cumsum(t, axis=2),
    "any": lambda t: np.any(t, axis=(0, 1)),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("native", [False, True])
def test_labels_or_one_hot(call: Callable[[Any], Any], native: bool) -> None:
    def loss(x: Any, t: Any) -> Any:
        if t.size == x.size:
            t = call(t)
        t = t.reshape(1, t.size)
        return np.sum(np.log(x[np.arange(x.shape[0]), t[0]]))

    expected = np.array([[1.0, 0.0], [0.0, 1 / 4.0], [0.0, 1 / 7.0]])
    assert ad.grad(loss, native=native)(X, LABELS) == pytest.approx(expected)


def test_it_is_told_where_it_always_raises() -> None:
    with pytest.raises(ad.DifferentiationError, match="axis 2 is out of bounds for array of dimension 2") as caught:
        ad.grad(lambda x: np.sum(np.sum(x, axis=2)))(X)
    assert caught.value.diagnostics[0].code == "AD0213"


def test_it_raises_where_a_condition_leads_to_it() -> None:
    def function(x: Any) -> Any:
        return np.sum(np.sum(x, axis=2)) if x[0, 0] > 1.0 else np.sum(x**2)

    assert ad.grad(function)(X) == pytest.approx(2 * X)
    with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of bounds for array of dimension 2"):
        ad.grad(function)(X + 1.0)


def test_it_is_handled_as_in_python() -> None:
    def function(x: Any) -> Any:
        try:
            return np.sum(np.argmax(x, axis=2)) + np.sum(x)
        except ValueError as error:
            return np.sum(x**2) * len(str(error))

    check_grads(function, (X,), order=1)


@pytest.mark.parametrize("name", ["sum", "argmax", "cumsum", "sort", "median"])
def test_an_axis_that_is_known_at_run_time_may_be_there(name: str) -> None:
    def function(x: Any, count: int) -> Any:
        total = np.sum(x**2)
        for axis in range(count):
            total = total + np.sum(getattr(np, name)(x, axis=axis))
        return total

    assert ad.value_and_grad(function)(X, 2)[0] == pytest.approx(function(X, 2))
