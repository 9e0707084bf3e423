# ruff: noqa: E501
"""Whatever is handed in: a refusal that says why, or what the function itself raises; never an error of our own."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import json
import math
import pathlib
import re
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

pytestmark = pytest.mark.filterwarnings("ignore")


def identity(x):
    return x


def doubled(x):
    return x * 2


def total(items):
    result = 0.0
    for item in items:
        result = result + item
    return result


def first(items):
    return items[0]


def length(items):
    return float(len(items))


def squared_sum(x):
    return np.sum(np.asarray(x) ** 2)


def attribute(x):
    return x.real * 2.0


def compared(x):
    return 1.0 if x else 0.0


def unpacked(x):
    a, *rest = x
    return a if rest else a * 2


def deep(x):
    return x if x is None else deep(x)


def as_text(x):
    return float(str(x)[:1] or 0)


FUNCTIONS = [
    identity, doubled, total, first, length, squared_sum, attribute, compared, unpacked, as_text, math.sin, np.sum, len,
    float, str, lambda x: sorted(x), max, print, lambda x: dict(x), object, lambda x: x, functools.partial(math.pow, 2.0), [].append, "".join,
]  # fmt: skip


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Pair:
    x: Any
    y: Any


class Slots:
    __slots__ = ("x",)


class Hostile:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("compared")


def nested(depth: int) -> Any:
    return [nested(depth - 1)] if depth else 1.0


CYCLE: list[Any] = []
CYCLE.append(CYCLE)

VALUES: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "true": lambda: True,
    "integer": lambda: 3,
    "huge": lambda: 10**400,
    "nan": lambda: math.nan,
    "string": lambda: "text",
    "empty string": lambda: "",
    "bytes": lambda: b"ab",
    "bytearray": lambda: bytearray(b"ab"),
    "memory": lambda: memoryview(bytearray(b"ab")),
    "complex": lambda: 1 + 2j,
    "empty list": list,
    "empty tuple": tuple,
    "empty dict": dict,
    "nones": lambda: [None, [None], (None, {"a": None})],
    "mixed": lambda: [1.0, "a", None],
    "ragged": lambda: [[1.0], [1.0, 2.0], 3.0],
    "deep": lambda: nested(3),
    "cycle": lambda: CYCLE,
    "set": lambda: {1.0, 2.0},
    "frozenset": lambda: frozenset((1.0,)),
    "range": lambda: range(3),
    "slice": lambda: slice(1, 2),
    "generator": lambda: (i for i in (1.0, 2.0)),
    "iterator": lambda: iter([1.0]),
    "zip": lambda: zip([1.0], [2.0]),
    "deque": lambda: collections.deque([1.0]),
    "counter": lambda: collections.Counter("ab"),
    "ordered dict": lambda: collections.OrderedDict(a=1.0),
    "default dict": lambda: collections.defaultdict(float, a=1.0),
    "integer keys": lambda: {1: 1.0, 2: 2.0},
    "type": lambda: int,
    "module": lambda: math,
    "function": lambda: identity,
    "ellipsis": lambda: ...,
    "datetime": lambda: datetime.datetime(2020, 1, 1),
    "decimal": lambda: decimal.Decimal("1.5"),
    "fraction": lambda: fractions.Fraction(1, 3),
    "path": lambda: pathlib.Path("/"),
    "pattern": lambda: re.compile("a"),
    "enum": lambda: Colour.RED,
    "exception": lambda: ValueError("a"),
    "dataclass of none": lambda: Pair(None, None),
    "dataclass": lambda: Pair(1.0, [2.0]),
    "unset slots": Slots,
    "object": object,
    "hostile": Hostile,
    "namespace": lambda: types.SimpleNamespace(x=1.0),
    "empty array": lambda: np.array([]),
    "zero-dimensional": lambda: np.array(1.0),
    "integers": lambda: np.arange(3),
    "booleans": lambda: np.array([True]),
    "objects": lambda: np.array([1.0, None], dtype=object),
    "strings": lambda: np.array(["a"]),
    "structured": lambda: np.zeros(2, dtype=[("a", float), ("b", int)]),
    "dates": lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
    "complex array": lambda: np.ones(2, dtype=complex),
    "float16": lambda: np.ones(2, dtype=np.float16),
    "read-only": lambda: np.broadcast_to(1.0, (2, 2)),
    "matrix scalar": lambda: np.float32(2.0),
    "lock": lambda: __import__("threading").Lock(),
}


def outcome(call: Callable[[], Any]) -> BaseException | None:
    try:
        call()
    except Exception as problem:
        return problem
    return None


def operators(f: Any, value: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    return {
        "grad": lambda: ad.grad(f)(value()),
        "value_and_grad": lambda: ad.value_and_grad(f)(value()),
        "vjp": lambda: ad.vjp(f, value()),
        "jvp": lambda: ad.jvp(f, (value(),), (value(),)),
        "jacobian": lambda: ad.jacobian(f)(value()),
    }


@pytest.mark.parametrize("name", VALUES)
def test_odd_arguments(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    value = VALUES[name]
    faults = []
    for f in FUNCTIONS:
        own = outcome(lambda f=f: f(value()))
        for operator, call in operators(f, value).items():
            problem = outcome(call)
            if problem is None or (own is not None and not isinstance(problem, ad.DifferentiationError)):
                continue
            if not isinstance(problem, ad.DifferentiationError):
                faults.append(f"{operator} of {f}: {type(problem).__name__}: {problem}")
            elif any(each.code == "AD0901" for each in problem.diagnostics):
                faults.append(f"{operator} of {f}: {problem.diagnostics[0].notes[0]}")
    assert not faults, "\n".join(faults)


MEMORY = memoryview(np.arange(3.0))


def test_memory_that_is_captured_is_read_when_called() -> None:
    def f(x):
        return x * x * MEMORY[1] + x * np.sum(np.asarray(MEMORY)) + x * len(MEMORY)

    assert ad.grad(f)(2.0) == 10.0
    MEMORY[1] = 2.0
    assert ad.grad(f)(2.0) == 15.0
    MEMORY[1] = 1.0


ODD_FUNCTIONS = [
    None, 3, "f", [], {}, ..., math, object(), np.array(1.0), NotImplemented, int, type, Colour, Pair, Slots, Hostile,
    len, print, eval, exec, input, open, super, property(identity), staticmethod(identity), classmethod(identity),
    types.MethodType(identity, 2.0), functools.partial(doubled), functools.partial(doubled, 1.0, 2.0), functools.lru_cache(doubled),
    functools.singledispatch(doubled), np.vectorize(doubled), np.frompyfunc(doubled, 1, 1), np.sin, np.add, np.linalg.norm,
    math.hypot, json.loads, re.compile, ad.grad, ad.grad(doubled), ad.jacobian(doubled), "".upper, (1.0).hex, [].append,
    lambda: 1.0, lambda *a: a[0], lambda **k: k, lambda x, /: x, lambda *, x: x, lambda x=1.0: x, deep,
]  # fmt: skip


@pytest.mark.parametrize("place", range(len(ODD_FUNCTIONS)))
def test_odd_functions(place: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    f = ODD_FUNCTIONS[place]
    monkeypatch.setattr("builtins.input", lambda *prompt: "")
    own = outcome(lambda: f(2.0))
    faults = []
    for operator, call in operators(f, lambda: 2.0).items():
        problem = outcome(call)
        if problem is None or (own is not None and not isinstance(problem, ad.DifferentiationError)):
            continue
        if not isinstance(problem, ad.DifferentiationError):
            faults.append(f"{operator}: {type(problem).__name__}: {problem}")
        elif any(each.code == "AD0901" for each in problem.diagnostics):
            faults.append(f"{operator}: {problem.diagnostics[0].notes[0]}")
    assert not faults, "\n".join(faults)
