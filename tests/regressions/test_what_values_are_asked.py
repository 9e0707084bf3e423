"""What programs ask of values: classes, attributes, whether they are called, counted or gone through."""

from __future__ import annotations

import itertools
import typing

import numpy as np
import pytest

import adjoint as ad
from texts import run_text

HEAD = """
import collections, collections.abc, dataclasses, enum, inspect, math, numbers, types, typing
import numpy as np

class Plain:
    def __init__(self, x):
        self.x = x

    def method(self):
        return self.x

class Called(Plain):
    def __call__(self):
        return self.x

class Sized(Plain):
    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (self.x, 1.0)[i]

class Pair(typing.NamedTuple):
    a: float
    b: float

@dataclasses.dataclass
class Data:
    a: float

class Mode(enum.Enum):
    ON = 1

box = collections.deque([2.0, [1.0], Plain])
"""
VALUES = """
x; x * x; np.float64(x); np.array([x, 2.0])[0]; np.array([x, 2.0]); np.array(x); np.array([[x, 1.0], [2.0, x]]); int(x)
np.int64(int(x)); x > 0; np.array([x])[0] > 0; complex(x, 1.0); [x, 2.0]; [x * i for i in range(int(x) + 2)]; (x, 2.0)
{'a': x}; None; 'ab'; Plain(x); Called(x); Sized(x); Pair(x, 1.0); Data(x); range(3); np.sum([x, 1.0])
np.array([True, False]); np.arange(3); box[0]; box[1]; box[2]; Plain; Mode; Mode.ON; math; []; (); slice(0, 2)
(v for v in [x]); math.sin; np.sin; np.float32(x); np.array([x]).item(); [x, 1.0][int(x)]; {1, 2}
"""
QUESTIONS = """
isinstance(v, float); isinstance(v, (int, float)); isinstance(v, bool); isinstance(v, np.ndarray); isinstance(v, list)
isinstance(v, np.generic); isinstance(v, np.floating); isinstance(v, tuple); isinstance(v, dict); isinstance(v, Plain)
isinstance(v, type); isinstance(v, numbers.Number); isinstance(v, numbers.Real); isinstance(v, numbers.Integral)
isinstance(v, collections.abc.Iterable); isinstance(v, collections.abc.Sequence); isinstance(v, collections.abc.Sized)
isinstance(v, collections.abc.Callable); isinstance(v, collections.abc.Hashable); isinstance(v, types.FunctionType)
type(v) is float; type(v) in (int, float); type(v) is np.float64; type(v) is list; type(v).__name__ == 'float'
issubclass(type(v), np.generic); hasattr(v, '__len__'); hasattr(v, '__iter__'); hasattr(v, 'shape'); hasattr(v, 'dtype')
hasattr(v, 'real'); hasattr(v, 'item'); hasattr(v, 'keys'); hasattr(v, '__call__'); hasattr(v, '__float__')
hasattr(v, '__array__'); hasattr(v, '__getitem__'); hasattr(v, '__next__'); hasattr(v, '_fields'); hasattr(v, 'x')
hasattr(v, '__dict__'); hasattr(v, '__name__'); hasattr(v, '__index__'); hasattr(v, 'mro'); hasattr(v, '__mro__')
hasattr(v, '__qualname__'); hasattr(v, '__bases__'); callable(v); inspect.isfunction(v); inspect.ismethod(v)
inspect.isclass(v); dataclasses.is_dataclass(v); v is None; np.iterable(v); not isinstance(v, (str, bytes))
answers(iter, v); answers(len, v)
"""
ANSWERS = """
def answers(function, v):
    try:
        function(v)
    except TypeError:
        return False
    return True
"""


def parts(text):
    return [part.strip() for part in itertools.chain(*(line.split(";") for line in text.strip().splitlines()))]


def asked(value):
    lines = [f"    total += {2.0**-i} if ({question}) else 0.0" for i, question in enumerate(parts(QUESTIONS))]
    text = "\n".join(
        [HEAD, ANSWERS, "def f(x):", f"    v = {value}", "    total = 0.0", *lines, "    return total * x"]
    )
    return run_text(text, f"<what is asked of {value}>")["f"]


@pytest.mark.parametrize("value", parts(VALUES))
def test_answers(value):
    f = asked(value)
    expected = f(1.3)
    found, slope = ad.value_and_grad(f)(1.3)
    assert found == expected, [q for i, q in enumerate(parts(QUESTIONS)) if bits(found)[i] != bits(expected)[i]]
    assert slope == pytest.approx(expected / 1.3)


def bits(value, x=1.3):
    number = round(value / x * 2.0**60)
    return [bool(number >> (60 - i) & 1) for i in range(61)]


class Vector:
    """Gives items by index, and has a length: an iterable of the old kind."""

    def __init__(self, *items):
        self.items = np.array(items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Listed(Vector):
    def __init__(self, *items):
        self.items = list(items)


class Short(Listed):
    def __len__(self):
        return 1


def gone_through(x):
    total = 0.0
    for v in Vector(x, x * x):
        total += v * x
    return total + sum(Listed(x, x**3)) + sum(i * v for i, v in enumerate(Listed(x, x * x)))


def unpacked(x):
    a, b = Vector(x, x * x)
    c, *rest = Listed(x, 2.0, x**3)
    return a * b + c * sum(rest)


def ordered(x):
    return sum(sorted(Vector(x, 0.1, x * x))[1:]) + max(Listed(x, x * x)) + list(reversed(Listed(x, 2.0, x**3)))[0]


def beside_others(x):
    vectors = [Listed(x, 1.0), Listed(x * x, 2.0)]
    total = sum(a * b for a, b in zip(Vector(x, 2.0), Listed(3.0, x), strict=True))
    return total + sum(vectors[int(x)]) + x * (2.0 in Listed(x, 2.0))


def of_a_set(x):
    a, b = {1, 2}
    return x * a + x * x * b


@pytest.mark.parametrize("f", [gone_through, unpacked, ordered, beside_others, of_a_set], ids=lambda f: f.__name__)
def test_items_by_index(f):
    x, h = 1.3, 1e-6
    expected = pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-6)
    assert ad.grad(f)(x) == expected
    assert ad.jvp(f, (x,), (1.0,))[1] == expected


def test_more_items_than_the_length_tells():
    with pytest.raises(TypeError, match="more items than its length"):
        ad.grad(lambda x: sum(Short(x, x * x)))(1.3)


@typing.runtime_checkable
class HasItems(typing.Protocol):
    items: typing.Any


class ByAttribute(type):
    def __instancecheck__(cls, other):
        return hasattr(other, "items")


class Duck(metaclass=ByAttribute):
    pass


def test_classes_that_say_what_their_instances_are():
    def f(x):
        vector, number = Listed(x), len
        total = 0.0
        for kind in (HasItems, Duck):
            total += x if isinstance(vector, kind) else 10.0 * x
            total += 10.0 * x if isinstance(x, kind) or isinstance(number, kind) else x * x
        return total

    assert ad.value_and_grad(f)(1.3) == (f(1.3), pytest.approx(2.0 + 4 * 1.3))
