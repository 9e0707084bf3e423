"""Generators that are gone on with where that cannot be followed, and what they would find out."""

import collections
import functools
import itertools
from contextlib import contextmanager

import adjoint as ad


def powers(x):
    yield x
    yield x * x


#: ad.grad(one_of_two)(2.0)
def one_of_two(x):
    items = powers(x) if x > 0 else powers(-x)
    return sum(items)  # error[AD0402]: this is no list, or not the same, on each path that leads here


#: ad.grad(unknown_depth)(2.0)
def unknown_depth(x):
    def count(v):
        if v < 20:
            yield v
            yield from count(v * 2)  # error[AD0104]: 'count' goes through itself, and it is not known how deep that goes

    return sum(count(x))


#: ad.grad(two_that_share_a_list)(2.0)
def two_that_share_a_list(x):
    log = []

    def items(factor):
        for _ in range(3):
            log.append(x * factor)
            yield sum(log)

    for a, b in zip(items(1.0), items(2.0), strict=False):  # error[AD0305]: what computes the items changes what is used between them
        x = x + a * b
    return x


#: ad.grad(map_that_writes_beside_another)(2.0, 3)
def map_that_writes_beside_another(x, n):
    log = [0.0 for _ in range(n)]

    def noted(v):
        log.append(v)
        return v

    total = 0.0
    for a, b in zip(map(noted, [x, 2 * x]), map(noted, [x, 3 * x]), strict=False):  # error[AD0305]: what computes the items changes what is used between them
        total += len(log) * a * b
    return total


#: ad.grad(groups_without_end)(2.0)
def growing(x):
    while True:
        yield x
        x = x * 1.5


def groups_without_end(x):
    for _, group in itertools.groupby(growing(x), lambda v: v > 5):  # error[AD0305]: a group of what has no end may have none
        return next(group)


#: ad.grad(yields_in_a_handler)(2.0)
def yields_in_a_handler(x):
    def items():
        try:
            yield x
        except ValueError:
            yield 2 * x

    return sum(items())  # error[AD0104]: 'items' yields inside 'except'


#: ad.grad(yields_at_last)(2.0)
def yields_at_last(x):
    def items():
        try:
            yield x
        finally:
            yield 2 * x

    return sum(items())  # error[AD0104]: 'items' yields inside 'finally'


#: ad.grad(exception_of_the_loop)(2.0)
def exception_of_the_loop(x):
    def items():
        try:
            yield x  # error[AD0104]: 'items' yields inside 'try', which does not handle what the loop over it raises
        except ValueError:
            pass

    total = 0.0
    try:
        for v in items():
            total += v
            raise ValueError
    except ValueError:
        total *= 2
    return total


#: ad.grad(handler_of_everything)(2.0)
def handler_of_everything(x):
    log = []

    def items():
        try:
            yield x
            yield 2 * x
        except:  # error[AD0104]: this handles the exception by which a generator is closed, too
            log.append(x)
            raise

    for v in items():
        x = x * v
        break
    return x + sum(log)


#: ad.grad(closed_later)(2.0)
def closed_later(x):
    log = [x]

    def items():
        try:  # error[AD0104]: what this does when the generator is closed would be done at a time that nobody knows
            yield x
            yield 2 * x
        finally:
            log.append(x * x)

    kept = items()
    for v in kept:
        x = x * v
        break
    return x * sum(log)


class Noted:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append(1.0)

    def __exit__(self, kind, value, traceback):
        self.log.append(2.0 if kind is None else 3.0)


#: ad.grad(closed_in_a_context)(2.0)
def closed_in_a_context(x):
    log = []

    def items():
        with Noted(log):  # error[AD0104]: the generator is closed in here, of which this context manager is told by an exception
            yield x
            yield 2 * x

    for v in items():
        x = x * v
        break
    return x * sum(log)


#: ad.grad(context_that_may_not_yield)(2.0)
def context_that_may_not_yield(x):
    @contextmanager
    def perhaps():
        if x < 0:
            return
        yield x

    with perhaps() as y:  # error[AD0104]: it is not certain that 'perhaps' yields once
        return y * x


#: ad.grad(context_entered_twice)(2.0)
def context_entered_twice(x):
    @contextmanager
    def squared():
        yield x * x

    once = squared()
    with once as y:
        pass
    with once as z:  # error[AD0305]: this iterator was handed on before: it can be gone through once only
        return y * z


#: ad.grad(calls_a_generator_itself)(2.0)
def calls_a_generator_itself(x):
    return ad.grad(powers)(x)  # error[AD0104]: it is a generator


#: ad.grad(generator_in_an_array)(2.0)
def generator_in_an_array(x):
    return x * len(str(powers(x)))  # error[AD0301]: a 'generator' that is made inside the function is handed out


#: ad.grad(kept_as_a_default)(2.0)
def kept_as_a_default(x):
    def total(items=powers(x)):  # error[AD0305]: an iterator is kept by a function, for all of its calls
        return sum(items)

    return total() * total()


#: ad.grad(kept_by_a_partial)(2.0)
def kept_by_a_partial(x):
    total = functools.partial(sum, (v * x for v in (1.0, 2.0)))  # error[AD0305]: an iterator is kept by a function, for all of its calls
    return total() * total()


#: ad.grad(ends_by_exception)(2.0)
def ends_by_exception(x):
    def items():
        yield x
        raise StopIteration

    return sum(items())  # error[AD0104]: inside a generator this becomes a 'RuntimeError'


#: ad.grad(asks_an_empty_iterator)(2.0)
def asks_an_empty_iterator(x):
    def items():
        yield next(iter([]))  # error[AD0104]: that there is no item becomes a 'RuntimeError' inside a generator

    try:
        return sum(items())
    except RuntimeError:
        return x * x


#: ad.grad(loop_too_large)(2.0)
def loop_too_large(x):
    def items(n):
        if n == 0:
            yield x
        else:
            yield from items(n - 1)
            yield from items(n - 1)

    total = 0.0
    for v in items(7):  # error[AD0104]: 'items' yields in 113 places, and this loop does a lot
        total += (v * 0.0 + x) * (v - 0.0)
        total += (v * 1.0 + x) * (v - 1.0)
        total += (v * 2.0 + x) * (v - 2.0)
        total += (v * 3.0 + x) * (v - 3.0)
        total += (v * 4.0 + x) * (v - 4.0)
        total += (v * 5.0 + x) * (v - 5.0)
        total += (v * 6.0 + x) * (v - 6.0)
        total += (v * 7.0 + x) * (v - 7.0)
        total += (v * 8.0 + x) * (v - 8.0)
        total += (v * 9.0 + x) * (v - 9.0)
        total += (v * 10.0 + x) * (v - 10.0)
        total += (v * 11.0 + x) * (v - 11.0)
        total += (v * 12.0 + x) * (v - 12.0)
        total += (v * 13.0 + x) * (v - 13.0)
        total += (v * 14.0 + x) * (v - 14.0)
        total += (v * 15.0 + x) * (v - 15.0)
    return total


#: ad.grad(with_inside)(2.0)
def with_inside(x):
    def items():
        with Noted([]):  # error[AD0104]: what this does when the generator is closed would be done at a time that nobody knows
            yield x
            yield 2 * x

    kept = items()
    return next(kept) * next(kept)


#: ad.grad(bound_again)(2.0)
def bound_again(x):
    def items():
        scale = x
        while True:
            yield lambda t: t * scale  # error[AD0104]: 'scale' of the generator is bound again after this function was made
            scale = scale * 2

    kept = items()
    return next(kept)(1.0) * next(kept)(2.0)


#: ad.grad(yields_in_a_choice)(2.0)
def yields_in_a_choice(x):
    def items():
        total = x
        while True:
            total = total if total > 9 else total * (yield total)  # error[AD0104]: 'yield' stands inside this expression

    kept = items()
    return next(kept) * kept.send(x)


#: ad.grad(goes_through_itself)(2.0, 3)
def goes_through_itself(x, n):
    def halves(v, depth):
        yield v
        if depth > 0:
            yield from halves(v / 2, depth - 1)  # error[AD0104]: 'halves' goes through itself, and is gone on with at places that are not known

    kept = halves(x, n)
    total = next(kept)
    for v in kept:
        total += v * v
    return total


#: ad.grad(what_it_returns)(2.0)
def what_it_returns(x):
    def items():
        yield x
        return x * x

    kept = items()
    first = next(kept)
    try:
        next(kept)  # error[AD0307]: the exception carries what varies, and is looked into where it is handled
    except StopIteration as ended:
        first *= ended.value
    return first


#: ad.grad(ends_inside)(2.0)
def ends_inside(x):
    def doubled(items):
        while True:
            yield 2 * next(items)  # error[AD0104]: that there is no item becomes a 'RuntimeError' inside a generator

    kept = doubled(powers(x))
    total = next(kept)
    try:
        total += next(kept) * next(kept)
    except (StopIteration, RuntimeError):
        total = total * x
    return total
