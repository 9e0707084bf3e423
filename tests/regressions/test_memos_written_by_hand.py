"""Memos: what an earlier call has kept is a constant of the next one, so that a derivative through it would be zero."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

BY_KEY: dict[Any, Any] = {}
BY_ROUNDED: dict[Any, Any] = {}
BY_GET: dict[Any, Any] = {}
BY_BYTES: dict[Any, Any] = {}
BY_RECURSION: dict[Any, Any] = {}
LAST_X, LAST_Y = [0.0], [0.0]
last_x, last_y = 0.0, 0.0


def by_key(x: Any) -> Any:
    if x in BY_KEY:
        return BY_KEY[x]
    BY_KEY[x] = x * x
    return BY_KEY[x]


def by_rounded(x: Any) -> Any:
    key = round(x, 6)
    try:
        return BY_ROUNDED[key]
    except KeyError:
        BY_ROUNDED[key] = x * x
        return x * x


def by_get(x: Any) -> Any:
    y = BY_GET.get(x)
    if y is None:
        y = x * x
        BY_GET[x] = y
    return y


def by_bytes(x: Any) -> Any:
    key = hash((np.asarray(x).tobytes(), True))
    if key in BY_BYTES:
        return BY_BYTES[key]
    y = x * x
    BY_BYTES[key] = y
    return y


def by_default(x: Any, memo: dict[Any, Any] = {}) -> Any:
    if x not in memo:
        memo[x] = x * x
    return memo[x]


def in_lists(x: Any) -> Any:
    if LAST_X[0] == x:
        return LAST_Y[0]
    LAST_X[0] = x
    LAST_Y[0] = x * x
    return x * x


def in_globals(x: Any) -> Any:
    global last_x, last_y
    if x != last_x:
        last_x = x
        last_y = x * x
    return last_y


def by_recursion(x: Any) -> Any:
    if x < 1.0:
        return x * x
    if x in BY_RECURSION:
        return BY_RECURSION[x]
    y = by_recursion(x * 0.5) * x
    BY_RECURSION[x] = y
    return y


class Kept:
    def __init__(self) -> None:
        self.memo: dict[Any, Any] = {}
        self.x = 0.0
        self.y = 0.0

    def by_key(self, x: Any) -> Any:
        if x not in self.memo:
            self.memo[x] = x * x
        return self.memo[x]

    def by_last(self, x: Any) -> Any:
        if x != self.x:
            self.x = x
            self.y = x * x
        return self.y


KEPT = Kept()


def method_by_key(x: Any) -> Any:
    return KEPT.by_key(x)


def method_by_last(x: Any) -> Any:
    return KEPT.by_last(x)


MEMOS = (
    by_key,
    by_rounded,
    by_get,
    by_bytes,
    by_default,
    in_lists,
    in_globals,
    by_recursion,
    method_by_key,
    method_by_last,
    Kept().by_key,
    Kept().by_last,
)


def slopes(f: Callable[[Any], Any], x: float) -> list[Callable[[], Any]]:
    return [
        lambda: ad.grad(f)(x),
        lambda: ad.jvp(f, (x,), (1.0,))[1],
        lambda: ad.vjp(f, x)[1](1.0)[0],
        lambda: ad.grad(f, native=True)(x),
    ]


@pytest.mark.parametrize("f", MEMOS, ids=lambda f: f.__name__)
def test_what_is_kept_is_no_constant(f: Callable[[Any], Any]) -> None:
    x = 3.0 + MEMOS.index(f)
    for slope in slopes(f, x):
        for _ in range(2):  # the first one may find nothing there
            try:
                found = slope()
            except ad.DifferentiationError as refusal:
                assert refusal.diagnostics[0].code == "AD0302"
                assert "an earlier call" in refusal.diagnostics[0].labels[0].text
            else:
                assert np.isclose(found, (f(x + 1e-6) - f(x - 1e-6)) / 2e-6)
    with pytest.raises(ad.DifferentiationError):
        ad.grad(f)(x)


class Vector:
    def __init__(self) -> None:
        self.x = np.zeros(2)
        self.y = 0.0

    def __call__(self, x: Any) -> Any:
        if not np.array_equal(x, self.x):
            self.x = x.copy()
            self.y = np.sum(x * x)
        return self.y


def test_an_array_that_is_compared() -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0302"):
        ad.grad(Vector())(np.ones(2))


def given(x: Any, memo: dict[Any, Any]) -> Any:
    if x not in memo:
        memo[x] = x * x
    return memo[x]


def test_a_memo_that_is_handed_over() -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0302"):
        ad.grad(given)(3.0, {3.0: 9.0})


def own(x: Any) -> Any:
    memo: dict[Any, Any] = {}
    return given(x, memo) * given(x, memo) + given(x * 2.0, memo)


def test_a_memo_of_the_call_itself() -> None:
    assert np.isclose(ad.grad(own)(1.5), 4 * 1.5**3 + 8 * 1.5)


@functools.lru_cache
def by_library(x: Any) -> Any:
    return x * x


def test_the_way_out() -> None:
    by_library(3.0)
    assert ad.grad(by_library)(3.0) == 6.0


SEEN: dict[Any, Any] = {}
TABLE: dict[str, Any] = {}


def writes_down(x: Any) -> Any:
    SEEN[round(x, 3)] = x * x
    return x**3


def by_name(x: Any, name: str = "scale") -> Any:
    if name not in TABLE:
        TABLE[name] = ad.stop_gradient(x)
    return TABLE[name] * x


class State:
    def __init__(self) -> None:
        self.mean = 0.0
        self.best = np.inf

    def __call__(self, x: Any) -> Any:
        self.mean = 0.9 * self.mean + 0.1 * x
        if x < self.best:
            self.best = x
        return self.mean * self.best


def test_what_is_no_memo() -> None:
    assert ad.grad(writes_down)(2.0) == ad.grad(writes_down)(2.0) == 12.0
    assert ad.grad(by_name)(2.0) == ad.grad(by_name)(5.0) == 2.0
    state = State()
    assert np.isclose(ad.grad(state)(2.0), 0.4)
    assert np.isclose(ad.grad(state)(3.0), 0.1 * 2.0)
