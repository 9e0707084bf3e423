"""Containers of `collections`, and sequences of other classes, that are copied or matched; objects that are replaced.

Copies shared what they held with the original, sequence patterns did not match, and what an object was before counted.
"""

import collections
import collections.abc
import copy
import pickle

import pytest

import adjoint as ad
from adjoint.testing import check_grads

HIDDEN = pickle.dumps([2.0, 3.0])
QUEUE = collections.deque([2.0, 3.0])


class Pair(collections.abc.Sequence):
    def __init__(self, one, other):
        self.items = [one, other]

    def __getitem__(self, place):
        return self.items[place]

    def __len__(self):
        return len(self.items)


def copied_table(x):
    d = collections.OrderedDict(a=x)
    e, f = copy.copy(d), d.copy()
    e["a"] = 2 * x
    f["a"] = 3 * x
    return d["a"] * e["a"] * f["a"]


def copied_default_table(x):
    d = collections.defaultdict(list)
    d["a"].append(x)
    e = copy.copy(d)
    e["b"].append(x)
    e["a"].append(1.0)
    return len(d) * len(d["a"]) * d["a"][0] * len(d.copy()) * x


def copied_queue(x):
    d = collections.deque([x, x])
    e = copy.copy(d)
    e.append(3 * x)
    return len(d) * e[-1] * d[-1]


def product(items, x):
    match items:
        case [a, b]:
            return x * a * b
        case _:
            return x


def ends(items, x):
    match items:
        case [a, *rest]:
            return x * a * len(rest)
        case _:
            return x


RIGHT = [
    *(copied_table, copied_default_table, copied_queue),
    lambda x: product(collections.deque([x, 2.0]), x),
    lambda x: product(Pair(x, 2.0), x),
    lambda x: product(collections.UserList([x, 2.0]), x),
    lambda x: product(range(2, 4), x),
    lambda x: product((v for v in (x, x)), x),
    lambda x: product("ab", x),
    lambda x: product(collections.OrderedDict(a=x, b=x), x),
    lambda x: product([item for item in pickle.loads(HIDDEN)], x),
    lambda x: ends(collections.deque([x, x, 2.0]), x),
    lambda x: ends(Pair(x, x), x),
]


@pytest.mark.parametrize("f", RIGHT)
@pytest.mark.filterwarnings("ignore:.*AD0601")
def test_copies_and_patterns(f):
    check_grads(f, (1.3,), order=2)
    assert ad.grad(f, native=True)(1.3) == pytest.approx(ad.grad(f)(1.3))


class Valued:
    value = 1.0

    def get(self):
        return self.value


class Doubled(Valued):
    def get(self):
        return 2.0 * self.value


def other_attributes(x):
    made = Valued()
    made.__dict__ = {"value": x}
    return made.get()


def other_attributes_by_name(x):
    made = Valued()
    setattr(made, "__dict__", {"value": x})
    return made.get()


def other_class(x):
    made = Valued()
    made.value = x
    made.__class__ = Doubled
    return made.get()


def other_defaults(x):
    def scaled(y, by=2.0):
        return y * by

    scaled.__defaults__ = (5.0,)
    return scaled(x)


REFUSED = [
    (other_attributes, "all attributes of an object of the class 'Valued' are replaced"),
    (other_attributes_by_name, "all attributes of an object of the class 'Valued' are replaced"),
    (other_class, "'Valued' is made one of another class"),
    (other_defaults, "'__defaults__' of a function is assigned"),
    (lambda x: product(pickle.loads(HIDDEN), x), "whether this is a sequence is not known"),
    (lambda x: product(QUEUE, x), "whether this is a sequence is not known"),
]


@pytest.mark.parametrize(("f", "cause"), REFUSED)
def test_what_is_refused(f, cause):
    with pytest.raises(ad.DifferentiationError, match=cause) as raised:
        ad.grad(f)(1.3)
    assert {problem.code for problem in raised.value.diagnostics} >= {"AD0301"}


def test_attributes_are_put_in():
    def f(x):
        made = Valued()
        made.__dict__.update(value=x * x)
        return made.get()

    check_grads(f, (1.3,), order=2)


def test_a_mapping_pattern_of_another_table_is_refused():
    def f(x):
        match collections.OrderedDict(a=x):
            case {"a": value}:
                return value * value
            case _:
                return x

    with pytest.raises(ad.DifferentiationError, match="a mapping pattern needs a dict"):
        ad.grad(f)(1.3)


class Path:
    def __init__(self, points):
        self.points = points
        self.seen = []

    def moved(self, by):
        other = copy.deepcopy(self)
        other.points = [[by * number for number in point] for point in self.points]
        return other


PATH = Path([[1.0, 2.0], [3.0, 4.0]])


def of_a_copy(x):
    other = PATH.moved(x)
    other.seen.append(x)
    other.seen += [other.points[1][0] * other.seen[0]]
    return sum(other.seen) * other.points[0][1] + len(PATH.seen)


def test_lists_in_which_nothing_is_known_to_lie_are_copied_deep():
    check_grads(of_a_copy, (1.5,), order=2)
    assert PATH.seen == []
