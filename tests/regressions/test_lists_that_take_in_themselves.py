"""A list that is extended by itself takes in what it held before, and no more."""

import collections

from regressions.differences import right, second


def weighted(items):
    return sum(k * item * item for k, item in enumerate(items))


def by_a_method(x, n):
    xs = [x * i for i in range(n)]
    xs.extend(xs)
    return weighted(xs)


def by_an_operator(x, n):
    xs = [x + i for i in range(n)]
    xs += xs
    return weighted(xs)


def by_what_may_be_itself(x, n):
    xs = [x * i for i in range(n)]
    ys = xs if x > 0.5 else [x]
    xs.extend(ys)
    ys += ys
    return weighted(xs) + ys[-1]


def deques(x, n):
    xs = collections.deque(x + i for i in range(n))
    xs.extend(xs)
    xs.extendleft(xs)
    return weighted(xs)


def test_lists_that_take_in_themselves() -> None:
    for f in (by_a_method, by_an_operator, by_what_may_be_itself, deques):
        for x in (0.3, 0.7):
            right(f, x, 3)
            second(lambda x, f=f: f(x, 3), x)
    right(by_a_method, 0.7, 3, native=True)
