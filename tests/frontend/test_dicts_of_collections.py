"""Dicts of `collections` that come from outside: their items are looked into, and they are of their classes."""

from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad

X = np.array([0.5, 0.7])


class Scaled:
    def __init__(self, weights: Any) -> None:
        self.weights = weights
        self.seen: Any = None

    def __call__(self, x: Any) -> Any:
        self.seen = x
        return np.sum(self.weights * x)


class Net:
    """Its layers share their arrays with its parameters."""

    def __init__(self, kind: Callable[[Any], Any]) -> None:
        self.params = kind({"first": np.array([1.0, 2.0]), "second": np.array([3.0, -1.0])})
        self.layers = kind({name: Scaled(value) for name, value in self.params.items()})

    def loss(self, x: Any) -> Any:
        total = 0.0
        for layer in self.layers.values():
            total = total + layer(x) ** 2
        return total


def with_defaults(items: Any) -> Any:
    made: Any = defaultdict(float)
    made.update(items)
    return made


KINDS = pytest.mark.parametrize("kind", [OrderedDict, with_defaults])
MODES = pytest.mark.parametrize("native", [False, True])


@KINDS
@MODES
def test_objects_that_are_captured(kind: Callable[[Any], Any], native: bool) -> None:
    net = Net(kind)
    gradient = ad.grad(lambda x: net.loss(x), native=native)(X)
    assert gradient == pytest.approx(2 * 1.9 * np.array([1.0, 2.0]) + 2 * 0.8 * np.array([3.0, -1.0]))


@KINDS
def test_objects_that_are_arguments(kind: Callable[[Any], Any]) -> None:
    net = Net(kind)
    gradient = ad.grad(lambda net: net.loss(X))(net)
    assert gradient.layers["second"].weights == pytest.approx(2 * 0.8 * X)
    plain = ad.grad(lambda net: net.loss(X))(Net(dict))
    assert repr(gradient) == repr(plain)


@KINDS
@MODES
def test_arguments(kind: Callable[[Any], Any], native: bool) -> None:
    table = kind({"a": np.array([1.0, 3.0]), "b": 2.0})

    def function(table: Any) -> Any:
        return sum(np.sum(value**2) for value in table.values()) * table["b"]

    value, gradient = ad.value_and_grad(function, native=native)(table)
    assert value == pytest.approx(28.0)
    assert gradient == {"a": pytest.approx(np.array([4.0, 12.0])), "b": pytest.approx(22.0)}
    along = ad.jvp(function, (table,), ({"a": np.array([1.0, 0.0]), "b": 1.0},))[1]
    assert along == pytest.approx(26.0)
    (second,) = ad.hvp(function, (table,), ({"a": np.array([1.0, 0.0]), "b": 1.0},))
    assert second["b"] == pytest.approx(2.0 + 12.0)


def missing_again(table: Any, x: float) -> float:
    return table["missing"] + x * table["a"]


def test_a_missing_item_is_made_as_python_does() -> None:
    table = with_defaults({"a": 2.0})
    assert ad.grad(missing_again, wrt="x")(table, 1.5) == 2.0
    assert dict(table) == {"a": 2.0, "missing": 0.0}
    with pytest.raises(ad.DifferentiationError, match="AD0212"):
        ad.grad(missing_again, wrt="x")(OrderedDict(a=2.0, b=1.0), 1.5)


ASKED: dict[str, Callable[[Any], Any]] = {
    "type": lambda d: type(d).__name__,
    "isinstance": lambda d: [isinstance(d, cls) for cls in (dict, OrderedDict, defaultdict)],
    "exactly": lambda d: type(d) is dict,
    "a copy": lambda d: type(d.copy()).__name__,
    "as a dict": lambda d: type(dict(d)).__name__,
    "keys": lambda d: "".join(d),
    "backwards": lambda d: "".join(reversed(d)),
    "members": lambda d: ["a" in d, "z" in d, len(d), bool(d)],
    "got": lambda d: [d.get("a"), d.get("z"), d.get("z", 5.0)],
    "equal": lambda d: [d == {"b": 2.0, "a": 1.0}, d == OrderedDict(b=2.0, a=1.0), OrderedDict(a=1.0, b=2.0) == d],
    "unequal": lambda d: [d != {"a": 1.0}, d != OrderedDict(b=2.0, a=1.0)],
    "joined": lambda d: "".join({**d, "c": 1.0}),
    "by the operator": lambda d: ["".join(d | {"c": 1.0}), type(d | {"c": 1.0}).__name__],
    "text": lambda d: str(d).replace("<function <lambda>", "<class 'float'>"),
    "a keyword": lambda d: (lambda **named: "".join(named))(**d),
    "items": lambda d: [name * int(value) for name, value in d.items()],
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
@pytest.mark.parametrize("kind", [dict, OrderedDict, with_defaults])
def test_what_a_program_asks(asked: Callable[[Any], Any], kind: Callable[[Any], Any]) -> None:
    captured = kind({"a": 1.0, "b": 2.0})
    told = asked(captured)

    def of_captured(x: float) -> float:
        return x * x if asked(captured) == told else x**3

    def of_argument(x: float, table: Any) -> float:
        return x * x if asked(table) == told else x**3

    assert ad.value_and_grad(of_captured)(0.3) == pytest.approx((0.09, 0.6))

    def of_varying(table: Any, x: float) -> float:
        return table["a"] * x if asked(table) == told else x**3

    assert ad.value_and_grad(of_argument)(0.3, captured) == pytest.approx((0.09, 0.6))
    try:
        assert ad.grad(of_varying)(captured, 0.3) == {"a": pytest.approx(0.3), "b": 0.0}
    except ad.DifferentiationError as refusal:
        assert type(captured) is not dict and refusal.diagnostics[0].code in ("AD0404", "AD0301"), refusal


@KINDS
def test_other_keys_and_other_classes_are_other_programs(kind: Callable[[Any], Any]) -> None:
    gradient = ad.grad(lambda table, x: sum(value * x for value in table.values()) * (2 if type(table) is dict else 1))
    assert gradient(kind({"a": 1.0}), 2.0) == {"a": 2.0}
    assert gradient(kind({"a": 1.0, "b": 3.0}), 2.0) == {"a": 2.0, "b": 2.0}
    assert gradient({"a": 1.0, "b": 3.0}, 2.0) == {"a": 4.0, "b": 4.0}


@KINDS
def test_items_are_written_as_in_python_or_refused(kind: Callable[[Any], Any]) -> None:
    def replaced(table: Any, x: float) -> float:
        table["a"] = table["a"] * x
        return table["a"] * x

    table = kind({"a": 2.0, "b": np.array([1.0])})
    assert ad.grad(replaced, wrt="x")(table, 3.0) == pytest.approx(12.0)
    assert table["a"] == 6.0

    def added(table: Any, x: float) -> float:
        table["c"] = x
        return table["c"] * x

    table = kind({"a": 2.0})
    try:
        assert ad.grad(added, wrt="x")(table, 3.0) == pytest.approx(6.0)
    except ad.DifferentiationError as refusal:
        assert refusal.diagnostics[0].code in ("AD0303", "AD0307")
