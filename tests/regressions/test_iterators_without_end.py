"""Iterators without an end: as many items are computed as are asked for, or it is refused; nothing runs forever."""

import operator
from collections.abc import Callable
from itertools import accumulate, chain, count, cycle, dropwhile, groupby, islice, pairwise, repeat, takewhile

import pytest

import adjoint as ad


def fractions(x):
    return (x / n for n in count(1))


def shrinking(x):
    v = x
    while True:
        yield v
        v = v * x / 2.0


def without_names(x):
    for a, b in zip(shrinking(x), fractions(x)):
        if a + b < 1.0:
            return a * b
    return 0.0


def chosen_by_key(x):
    table = dict(zip("abc", fractions(x)))
    return table["b"] * x


def of_lists(x):
    items = [v for v, _ in zip(fractions(x), range(3))]
    items.extend(islice(shrinking(x), 2))
    return items[2] * items[4]


def two_at_once(x):
    rows = list(zip(shrinking(x), fractions(x), range(3)))
    return rows[1][0] * rows[2][1]


def by_turns(x):
    rows = zip(shrinking(x), count(1))
    next(rows)
    value, number = next(rows)
    return value * number


def left_and_resumed(x):
    items = fractions(x)
    for v in items:
        if v < 0.5:
            break
    return v * next(items)


def until_it_is_zero(x):
    values = [0.0, x, 2.0 * x]
    return sum(v * i for i, v in enumerate(iter(values.pop, 0.0)))


PROGRAMS = [
    without_names,
    chosen_by_key,
    of_lists,
    two_at_once,
    by_turns,
    left_and_resumed,
    until_it_is_zero,
    lambda x: sum(takewhile(lambda v: v > 0.3, fractions(x))),
    lambda x: sum(takewhile(lambda v: v > 0.3, (2.0 * v for v in shrinking(x)))),
    lambda x: next(dropwhile(lambda v: v > 0.5, fractions(x))),
    lambda x: next(islice(fractions(x), 3, None)),
    lambda x: sum(islice(shrinking(x), 3)),
    lambda x: next(v for v in accumulate(fractions(x)) if v > 2.0),
    lambda x: next(v for v in accumulate(repeat(x), lambda a, b: a * 0.5 + b) if v > 2.0),
    lambda x: next(a * b for a, b in pairwise(fractions(x)) if a < 0.5),
    lambda x: sum(islice(chain([1.0], fractions(x)), 4)),
    lambda x: sum(islice(chain(shrinking(x), [1.0]), 4)),
    lambda x: sum(islice(cycle([x, x * x]), 5)),
    lambda x: sum(islice(map(lambda a, b: a * b, fractions(x), count(2)), 3)),
    lambda x: sum(islice(filter(lambda v: v < 0.5, fractions(x)), 2)),
    lambda x: sum(islice(map(operator.mul, fractions(x), count(1, 2)), 3)),
    lambda x: next(v * i for i, v in enumerate(fractions(x)) if i > 2),
    lambda x: sum(v for i, v in takewhile(lambda pair: pair[0] < 3, enumerate(fractions(x)))),
    lambda x: sum(a * b for a, b in zip([1.0, 2.0], (v for v in shrinking(x) if v < 1.0))),
    lambda x: sum(v for v, _ in zip(cycle([x, 1.0]), range(5))),
    lambda x: any(v < 0.4 for v in fractions(x)) * x,
    lambda x: max(zip(fractions(x), range(4)))[0],
]


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_derivatives(program: Callable[[float], float]) -> None:
    value, gradient = ad.value_and_grad(program)(1.3)
    difference = (program(1.3 + 1e-6) - program(1.3 - 1e-6)) / 2e-6
    assert value == pytest.approx(program(1.3), rel=1e-12)
    assert gradient == pytest.approx(difference, rel=1e-6)
    assert ad.jvp(program, (1.3,), (1.0,))[1] == pytest.approx(difference, rel=1e-6)


REFUSED = [
    lambda x: sum(fractions(x)),
    lambda x: list(fractions(x))[1],
    lambda x: max(shrinking(x)),
    lambda x: sorted(fractions(x))[0],
    lambda x: sum(a * b for a, b in zip(fractions(x), count())),
    lambda x: dict(zip(count(), fractions(x)))[1],
    lambda x: sum(chain(fractions(x), [1.0])),
    lambda x: sum(v for _, group in islice(groupby(fractions(x), lambda v: v > 0.5), 2) for v in islice(group, 2)),
    lambda x: sum(v for _, group in islice(groupby(shrinking(x), lambda v: v > 0.5), 2) for v in islice(group, 2)),
    lambda x: sum(islice((v * w for v in [1.0, 2.0] for w in fractions(x)), 5)),
]


@pytest.mark.parametrize("program", REFUSED, ids=range(len(REFUSED)))
def test_refused(program: Callable[[float], float]) -> None:
    with pytest.raises(ad.DifferentiationError, match=r"AD0(305|407)"):
        ad.grad(program)(1.3)
