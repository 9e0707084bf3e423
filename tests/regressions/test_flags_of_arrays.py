"""Whether an array owns its memory, and whether somebody may write it: NumPy says it, of its own arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import adjoint as ad
from regressions.differences import refused, right

pytestmark = pytest.mark.filterwarnings("ignore:.*AD0601")
X = np.array([0.4, 1.3, 0.7])

ASKED: dict[str, Callable[[Any], Any]] = {
    "new": lambda x: (x * 2.0).flags.owndata,
    "zeros": lambda x: np.zeros(3).flags["OWNDATA"],
    "stack": lambda x: np.stack([x, x]).flags.owndata,
    "copy": lambda x: x.copy().flags.owndata,
    "part": lambda x: x[1:].flags.owndata,
    "turned": lambda x: np.outer(x, x).T.flags.owndata,
    "flat": lambda x: np.ravel(x).flags.owndata,
    "argument": lambda x: x.flags.writeable,
    "spread": lambda x: np.broadcast_to(x, (2, 3))[1].flags.writeable,
    "windows": lambda x: sliding_window_view(x, 2).flags.writeable,
    "diagonal": lambda x: np.diagonal(np.outer(x, x)).flags.writeable,
    "both": lambda x: np.diagonal(np.outer(x, x)).flags.carray,
    "layout": lambda x: np.outer(x, x)[:, 0].flags.contiguous,
    "layout by name": lambda x: np.outer(x, x).T.flags["F_CONTIGUOUS"],
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("native", [False, True], ids=["python", "native"])
def test_flags_are_those_of_numpy(asked: Callable[[Any], Any], native: bool) -> None:
    right(lambda x: np.sum(x * x) if asked(x) else np.sum(x**3), X, native=native)


def by_a_flag(x: Any) -> Any:
    y = x * 1.0
    y.flags.writeable = False
    try:
        y[0] = 7.0
    except ValueError:
        return np.sum(y * y)
    return np.sum(y)


def by_a_method(x: Any) -> Any:
    y = x * 1.0
    y.setflags(write=False)
    try:
        y[0] = 7.0
    except ValueError:
        return np.sum(y * y)
    return np.sum(y)


def of_a_diagonal(x: Any) -> Any:
    y = np.diag(np.outer(x, x))
    try:
        y[0] = 2.0
    except ValueError:
        return np.sum(y * y)
    return np.sum(y)


def spread(x: Any) -> Any:
    y = np.broadcast_to(x, (2, 3))
    try:
        y[0, 0] = 7.0
    except ValueError:
        return np.sum(y * y)
    return np.sum(y)


def added_to(x: Any) -> Any:
    y, factor = np.broadcast_to(x * 2.0, (2, 3)).T, 1.0
    try:
        y[1:] += 1.0
    except ValueError:
        factor = 5.0
    return np.sum(y * y) * factor


def filled_by_functions(x: Any) -> Any:
    y, factor = sliding_window_view(x, 2), 1.0
    try:
        np.add(y, 1.0, out=y)
    except (ValueError, TypeError):
        factor += 1.0
    try:
        y[1].fill(2.0)
    except ValueError:
        factor += 3.0
    return np.sum(y * y) * factor


def of_a_copy(x: Any) -> Any:
    y = np.broadcast_to(x, (2, 3)).copy()
    try:
        y[0] = 2.0 * x
    except ValueError:
        return np.sum(y)
    return np.sum(y * y)


def writable_again(x: Any) -> Any:
    y = x * 1.0
    y.setflags(write=False)
    y.setflags(write=True)
    y[0] = y[1] * y[2]
    return np.sum(y * y)


def of_results(x: Any) -> Any:
    y = x * 1.0
    for _ in range(3):
        y = y * x
        y.setflags(write=False)
    return np.sum(y * 2.0 + 1.0)


@pytest.mark.parametrize(
    "function",
    [
        by_a_flag,
        by_a_method,
        of_a_diagonal,
        spread,
        added_to,
        filled_by_functions,
        of_a_copy,
        writable_again,
        of_results,
    ],
)
@pytest.mark.parametrize("native", [False, True], ids=["python", "native"])
def test_what_nobody_may_write_is_not_written(function: Callable[[Any], Any], native: bool) -> None:
    right(function, X, native=native)


def test_a_derivative_whose_flags_nobody_asks_for_is_machine_code() -> None:
    assert ad.grad(of_results, native="strict")(X) == pytest.approx(ad.grad(of_results)(X))


def of_several(x: Any) -> Any:
    y, _ = np.broadcast_arrays(x, np.ones((2, 3)))
    try:
        y[0] = 2.0 * x
    except ValueError:
        return np.sum(y)
    return np.sum(y * y)


def made_writable(x: Any) -> Any:
    y = np.broadcast_to(x * 1.0, (1, 3))
    y.flags.writeable = True
    y[0, 1] = 3.0
    return np.sum(y * x)


@pytest.mark.parametrize("function", [of_several, made_writable])
def test_views_that_somebody_may_write_after_all_are_refused(function: Callable[[Any], Any]) -> None:
    for derivative in (ad.grad(function), lambda x: ad.jvp(function, (x,), (x,))):
        assert refused(lambda d=derivative: d(X)).diagnostics[0].code == "AD0303"


def test_a_write_that_always_raises_is_a_mistake() -> None:
    def f(x: Any) -> Any:
        y = np.broadcast_to(x, (2, 3))
        y[0] = 1.0
        return np.sum(y)

    assert refused(lambda: ad.grad(f)(X)).diagnostics[0].labels[0].text == "assignment destination is read-only"
