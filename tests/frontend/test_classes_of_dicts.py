"""Users' classes that inherit from `dict`, whose objects are made inside the function."""

import copy

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads


class Plain(dict):
    pass


class Bunch(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Attributes(dict):
    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        for key, value in self.items():
            if isinstance(value, dict):
                self[key] = Attributes(value)

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


class Scaled(Plain):
    scale = 2.0

    def __init__(self, x):
        dict_of_one = {"a": x}
        super().__init__(dict_of_one, b=3.0)
        self.extra = x * x

    def __getitem__(self, key):
        return self.scale * super().__getitem__(key)

    def total(self):
        return self["a"] * self["b"] + sum(self.values()) + self.extra


class Lowered(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)

    def __contains__(self, key):
        return super().__contains__(key.lower())


class Filled(dict):
    def __init__(self, **named):
        for key, value in named.items():
            self[key] = value

    def __missing__(self, key):
        self[key] = 1.5
        return self[key]


class Made(dict):
    def __new__(cls, x):
        made = super().__new__(cls)
        made["n"] = x
        return made

    def __init__(self, x):
        pass

    @property
    def n(self):
        return self["n"]

    @n.setter
    def n(self, value):
        self["n"] = value

    @classmethod
    def of(cls, x):
        return cls(x)


def methods_of_dicts(x):
    d = Plain(a=x)
    d.update(b=2 * x)
    d.setdefault("c", 4.0)
    total = d.pop("b") * d["c"] * d.get("zz", 1.0) + len(d)
    for key, value in d.items():
        total += value * len(key)
    key, value = d.popitem()
    return total + value * sum(v**2 for v in d.values()) * ("a" in d)


def bunches(x):
    items = [Bunch(v=x * i, w=i) for i in range(3)]
    items[0].v = items[1].v * x
    items[1]["v"] *= 2
    return sum(b.v * (b["w"] + 1) for b in items)


def nested(x):
    n = Attributes(a=dict(b=x), c=2.0)
    return n.a.b**n.c * getattr(n, "zz", 3.0) * (hasattr(n, "c") + 1) * (hasattr(n, "d") + 1)


def scaled(x):
    return Scaled(x).total()


def lowered(x):
    d = Lowered()
    d["A"] = x
    return d["a"] ** 2 * (2 if "A" in d else 1)


def filled(x):
    d = Filled(a=x, b=2 * x)
    return d["a"] * d["b"] * d["q"] * len(d)


def made(x):
    m = Made.of(x)
    m.n = m.n * 3
    return m["n"] ** 2 + Made(x).n


def spread(x):
    d = Plain(a=x, b=2.0)
    return power(**d) + {**d, "b": x}["b"] * (d | {"z": x})["z"]


def power(a, b):
    return a**b


def copies(x):
    d = Plain(a=x)
    e, f, g = copy.copy(d), d.copy(), copy.deepcopy(d)
    e["a"] = 2 * x
    f["a"] = 3 * x
    g["a"] *= x
    return d["a"] * e["a"] * f["a"] * g["a"]


def handed_on(x):
    d = Plain(a=x) if x > 0 else Plain(a=2 * x)
    return inner(d) + inner(Bunch(a=2 * x)) * isinstance(d, dict) * isinstance(d, Plain) * (type(d) is Plain)


def inner(d):
    return d["a"] ** 2


def in_a_loop(x):
    d = Plain()
    for i in range(3):
        d[i] = x * i
        if i in d:
            d[i] += 1
    return d[0] + d[1] * d[2]


RIGHT = [
    *(methods_of_dicts, bunches, nested, scaled, lowered, filled, made, spread, copies, handed_on, in_a_loop),
]


@pytest.mark.parametrize("f", RIGHT, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore:.*AD0601")
def test_they_are_dicts(f):
    check_grads(f, (1.3,), order=2)
    assert ad.value_and_grad(f)(1.3)[0] == pytest.approx(f(1.3))
    assert ad.grad(f, native=True)(1.3) == pytest.approx(ad.grad(f)(1.3))


class Own(dict):
    def __init__(self, **named):
        super().__init__(**named)
        self.__dict__ = self


class Slotted(dict):
    __slots__ = ("u",)


REFUSED = {
    "all attributes of an object of the class 'Own' are replaced": lambda x: Own(a=x).a,
    "'Slotted' is a value of class 'dict' with more beside it": lambda x: Slotted(a=x)["a"],
    "of the class 'Plain', which is a dict, is handed out": lambda x: len(str(Plain(a=x))) * x,
    "says itself how a copy is filled": lambda x: copy.copy(Lowered(a=x))["a"],
}


@pytest.mark.parametrize("cause", REFUSED)
def test_what_is_refused_says_why(cause):
    with pytest.raises(ad.DifferentiationError, match=cause) as raised:
        ad.grad(REFUSED[cause])(1.3)
    assert {problem.code for problem in raised.value.diagnostics} >= {"AD0301"}


SETTINGS = Bunch(k=2.0, t="text")


def test_objects_from_outside_that_answer_for_any_name():
    """Also where machine code is kept on disk, which describes what a function refers to."""

    def f(x, given):
        return x * SETTINGS.k * given["k"] + np.sum(given.k * x)

    for native in (False, True):
        assert ad.grad(f, native=native)(1.3, SETTINGS) == 6.0


class Pair(tuple):
    def first(self):
        return self[0]


def test_classes_of_tuples():
    def product(pair):
        return pair.first() * pair[1] ** 2

    given = Pair((1.3, 2.0))
    assert ad.grad(product)(given) == pytest.approx((4.0, 5.2))
    value, slope = ad.jvp(lambda pair: pair, (given,), ((1.0, 2.0),))
    assert type(value) is Pair and value == given and tuple(slope) == (1.0, 2.0)
