"""Objects and functions as others made them: copied by a method of theirs, with more default values than parameters,
dates that are read from texts.
"""

import copy
import datetime

import numpy as np

import adjoint as ad
from adjoint.testing import check_grads


class Scaled:
    def __init__(self, a, b=1.0):
        self.a, self.b = a, b

    def __copy__(self):
        return Scaled(self.a, 2.0 * self.b)


class Inherits(Scaled):
    pass


class Row:
    __slots__ = ("v",)

    def __init__(self, v):
        self.v = v

    def __copy__(self):
        new = type(self).__new__(type(self))
        new.v = self.v.copy()
        return new


def copied(x):
    first = Inherits(x, x * x)
    second = copy.copy(first)
    second.a = second.a * 3.0
    return first.a * second.a + second.b


def copied_in_a_loop(x):
    total = 0.0
    for each in [Scaled(x * i) for i in range(3)]:
        other = copy.copy(each)
        other.a += 1.0
        total += other.a * each.a * other.b
    return total


def copied_rows(x):
    row = Row(np.array([x, 2.0]))
    other = copy.copy(row)
    other.v[0] *= 3.0
    return np.sum(row.v * other.v)


def test_classes_that_say_how_they_are_copied():
    for function in (copied, copied_in_a_loop, copied_rows):
        check_grads(function, (1.5,), order=2)


def of_all(*args):
    return args[0] * 2.0


def of_two(a, b):
    return a * b


of_all.__defaults__ = (1.0, 2.0)
of_two.__defaults__ = (7.0, 8.0, 3.0, 2.0)


def with_defaults(x):
    return of_all(x) + of_two(x) * of_two()


def test_default_values_beyond_the_parameters():
    assert with_defaults(2.0) == 28.0
    assert ad.grad(with_defaults)(2.0) == 14.0


def until(x, first, last):
    begin = datetime.datetime.strptime(first, "%Y%m%d")
    end = datetime.datetime.strptime(last, "%Y%m%d")
    if begin < end:
        return x * (end - begin).days / 365.0
    raise ValueError("the last day comes first")


def test_dates_of_texts():
    assert ad.value_and_grad(until)(2.0, "20180531", "20180630") == (60 / 365.0, 30 / 365.0)
    iso = lambda x: x * (datetime.date.fromisoformat("2018-06-30") - datetime.date(2018, 6, 1)).days
    assert ad.grad(iso)(2.0) == 29.0
