"""The containers of `collections` are of their own classes where a program asks, and compare as those do."""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Mapping, MutableSequence
from functools import singledispatch

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right, second


def isinstance_of_a_deque(x):
    d = deque([x])
    return x * d[0] * (2.0 if isinstance(d, deque) else 3.0) * (2.0 if isinstance(d, (list, MutableSequence)) else 3.0)


def isinstance_of_a_default_dict(x):
    d = defaultdict(float)
    d["a"] += x
    return d["a"] ** 2 * (2.0 if isinstance(d, dict) else 3.0) * (2.0 if isinstance(d, (tuple, Mapping)) else 3.0)


def isinstance_of_an_ordered_dict(x):
    d = OrderedDict(a=x)
    return d["a"] ** 2 * (2.0 if isinstance(d, OrderedDict) else 3.0) * (2.0 if isinstance(d, dict) else 3.0)


def types_of_each(x):
    total = 1.0
    for d in (deque([x]), defaultdict(float, a=x), OrderedDict(a=x), {"a": x}):
        total *= x * (2.0 if type(d) is dict else 3.0) * (2.0 if d.__class__ is deque else 3.0)
        total *= len(type(d).__name__)
    return total


def attributes_of_each(x):
    d, q = defaultdict(float, a=x), deque([x])
    total = x if hasattr(d, "_table") or hasattr(q, "_held") else 2.0 * x
    return total * d["a"] if hasattr(d, "default_factory") and hasattr(q, "maxlen") else total


def matched(x):
    total = x
    for d in (deque([x]), defaultdict(float, a=x), OrderedDict(a=x)):
        match d:
            case OrderedDict():
                total *= 2.0 * d["a"]
            case dict():
                total *= 3.0 * d["a"]
            case deque():
                total *= 5.0 * d[0]
    return total


@singledispatch
def weight(d):
    return 1.0


@weight.register
def _(d: dict):
    return 2.0 * d["a"]


@weight.register
def _(d: deque):
    return 3.0 * d[0]


def dispatched(x):
    return weight(deque([x])) * weight(defaultdict(float, a=x)) * weight(OrderedDict(a=x))


def equal_deques(x):
    one, other = deque([x, 1.0]), deque([x, 1.0])
    factor = 2.0 if one == other else 3.0
    other.append(2.0)
    return x * x * factor * (2.0 if one != other else 3.0) * (2.0 if one == [x, 1.0] else 3.0)


def equal_default_dicts(x):
    d = defaultdict(float, a=x)
    return x * x * (2.0 if d == {"a": x} else 3.0) * (2.0 if d == defaultdict(list, b=x) else 3.0)


def equal_ordered_dicts(x):
    one, other = OrderedDict(a=x, b=2.0), OrderedDict(b=2.0, a=x)
    return x * x * (2.0 if one == other else 3.0) * (2.0 if one == {"b": 2.0, "a": x} else 3.0)


def truths(x):
    empty, full = defaultdict(list), defaultdict(list, a=[x])
    return (
        x
        * x
        * (2.0 if empty else 3.0)
        * (2.0 if full else 3.0)
        * (2.0 if deque() else 3.0)
        * (5.0 if OrderedDict() else 7.0)
    )


def ordered(x):
    d = OrderedDict([("a", x), ("b", 2.0 * x), ("c", x * x)])
    d.move_to_end("a")
    d.move_to_end("c", last=False)
    total = sum((k + 1) * value for k, value in enumerate(d.values()))
    key, value = d.popitem(last=False)
    last, more = d.popitem()
    d["d"] = value * more
    return total * value * len(d) + sum(d.values()) * (2.0 if (key, last) == ("c", "a") else 3.0)


@pytest.mark.parametrize(
    "f",
    [
        isinstance_of_a_deque,
        isinstance_of_a_default_dict,
        isinstance_of_an_ordered_dict,
        types_of_each,
        attributes_of_each,
        matched,
        dispatched,
        equal_deques,
        equal_default_dicts,
        equal_ordered_dicts,
        truths,
        ordered,
    ],
)
def test_containers_of_the_library(f) -> None:
    right(f, 0.7)
    second(f, 0.7)


def keywords_of_each(x):
    def scaled(a, b=2.0):
        return a * b

    total = scaled(**OrderedDict(a=x, b=x)) * scaled(**defaultdict(float, a=x))
    return total + sum({**OrderedDict(a=x), "c": x}.values())


def test_as_keywords() -> None:
    right(keywords_of_each, 0.7)


class Slotted:
    __slots__ = ("a",)

    def __init__(self, a):
        self.a = a


class Plain:
    def __init__(self, a):
        self.a = a


def test_attributes_that_are_not_known_one_by_one() -> None:
    message = str(refused(lambda: ad.grad(lambda v: sum(vars(p)["a"] for p in [Plain(a) for a in v]))(np.ones(3))))
    assert "which attributes this object has is not known one by one" in message
    message = str(refused(lambda: ad.grad(lambda x: sum(vars(Slotted(x)).values()))(2.0)))
    assert "objects of class 'Slotted' hold something besides attributes" in message


class Kernel:
    part_of_class = 3.0

    def __init__(self, length: float) -> None:
        self.part_length, self.other = length, 2.0

    @property
    def part_twice(self) -> float:
        return self.part_length * 2.0


KERNEL = Kernel(2.0)


def _by_names(x: float) -> float:
    kernel = Kernel(x)
    return sum([getattr(kernel, name) for name in dir(kernel) if name.startswith("part_")])


def _by_names_of_what_is_outside(x: float) -> float:
    return sum([getattr(KERNEL, name) for name in dir(KERNEL) if name.startswith("part_")]) * x


def test_objects_tell_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ad.value_and_grad(_by_names)(0.7) == pytest.approx((_by_names(0.7), 3.0))
    derivative = ad.grad(_by_names_of_what_is_outside)
    assert derivative(0.7) == 9.0
    monkeypatch.setattr(Kernel, "part_more", 1.0, raising=False)
    assert derivative(0.7) == 10.0


def summed(v):
    total = 0.0
    for q in v:
        total += q
    return np.sum(v) * (2.0 if isinstance(total, np.float32) else 3.0)


def on_one_path(v):
    factor = 1.0
    if v[0] > 0.0:
        factor = v[1]
    return np.sum(v) * (2.0 if isinstance(factor, np.float32) else 3.0)


def grown(v):
    total = 1.0
    while total < 5.0:
        total = total + v[1]
    return np.sum(v) * (2.0 if isinstance(total, (np.float16, np.float32)) else 3.0) * (total / 3.0)


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")  # there is no machine code for that
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("f", [summed, on_one_path, grown])
def test_numbers_of_python_on_one_path_and_in_single_precision_on_another(f, dtype, native):
    """They were told that they are in no single precision."""
    for first in (0.5, -0.5):
        x = np.array([first, 1.5, -2.0, 3.25], dtype)
        value, slope = ad.value_and_grad(f, native=native)(x)
        assert value == pytest.approx(f(x))
        tangent = ad.jvp(f, (x,), (np.ones(4, dtype),))[1]
        assert np.sum(slope) == pytest.approx(tangent, rel=1e-5)


def counted(v):
    count = np.sum(v > 1.0) if v[0] > 0.0 else 0
    return np.sum(v) * (2.0 if isinstance(count, int) else 3.0)


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")  # there is no machine code for that
@pytest.mark.parametrize("native", [False, True])
def test_whole_numbers_of_python_on_one_path_and_of_numpy_on_another(native):
    """In machine code they were Python's."""
    for first in (0.5, -0.5):
        x = np.array([first, 1.5, -2.0, 3.25])
        assert ad.value_and_grad(counted, native=native)(x)[0] == pytest.approx(counted(x))
