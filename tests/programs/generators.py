"""Generator functions: bodies that run while somebody goes through them, and context managers that are made of them."""

import functools
import itertools
import math
import operator
from contextlib import contextmanager, suppress

import numpy as np

from programs.registry import program

POINTS = np.array([0.7, -1.2, 2.1, 0.4])


def steps(x, n=4):
    t, dt = 0.0, x
    for _ in range(n):
        yield t, dt
        t += dt
        dt *= 0.5


def powers(x):
    yield x
    yield x * x
    yield x * x * x


def multiples(x, n):
    for i in range(n):
        yield x * i


def growing(x):
    while True:
        yield x
        x = x * 1.5


# Loops


@program(0.7)
@program(0.7, 3)
def loop_over_a_generator(x, n=5):
    total = 0.0
    for t, dt in steps(x, n):
        total += t * dt * x
    return total


@program(0.7)
def loop_left_by_break(x):
    total = 0.0
    for v in growing(x):
        if v > 5:
            break
        total += v
    else:
        total = 100.0
    return total * v


@program(0.7)
def loop_left_by_return(x):
    def find(limit):
        for a in multiples(x, 5):
            for b in multiples(a, 5):
                if b > limit:
                    return a * b
        return x

    return find(1.0) + find(100.0)


@program(0.7)
def loop_with_continue_and_else(x):
    total = 0.0
    for t, dt in steps(x, 6):
        if t > 1.0:
            continue
        total += t * dt
    else:
        total *= 2
    return total


@program(2.0)
def newtons_method(a):
    def iterates(y):
        while True:
            yield y
            y = 0.5 * (y + a / y)

    last = 0.0
    for y in iterates(a):
        if abs(y - last) < 1e-12:
            break
        last = y
    return y


@program(0.7)
def generator_in_a_loop_over_it(x):
    total = 0.0
    for a in powers(x):
        for b in powers(a):
            total += a * b
            if total > 1.0:
                break
        else:
            total += x
    return total


@program(0.7)
def loops_inside_loops_left_early(x):
    total = 0.0
    for i in range(3):
        for v in multiples(x, 5):
            if v > 1.5:
                break
            total += v * i
        if i == 1:
            continue
        total *= x
    return total


@program(0.7)
def variables_bound_by_the_loop(x):
    for v in multiples(x, 4):
        w = v * 2
        if w > 2:
            u = w
            break
    else:
        u = 1.0
    return u * v * w


@program(0.7)
def branches_and_returns_in_the_body(x):
    def items(a):
        if a > 0:
            yield a
        else:
            yield -a
            yield 2 * a
        if a > 0.5:
            return
        yield 10 * a

    return sum(items(x)) * sum(items(-x)) * sum(items(0.1 * x))


@program(0.7)
def nothing_is_yielded(x):
    def none():
        return
        yield x

    total = x
    for v in none():
        total += v
    else:
        total *= 3
    return total + sum(none())


@program(0.7)
def yield_as_an_expression(x):
    def items():
        first = (yield x) or 3.0
        parts = [1.0, (yield first * x), 2.0]
        yield parts[0] + parts[2] if parts[1] is None else x

    total = 0.0
    for v in items():
        total = total * x + v
    return total


@program(0.7)
def match_and_walrus_in_the_body(x):
    def items(kind):
        match kind:
            case "one":
                yield x
            case "two":
                while (y := 2 * x) < 10:
                    yield y
                    if y > 1:
                        return

    return sum(items("one")) * sum(items("two")) + sum(items("three"))


# Order


@program(0.7)
def both_write_one_list(x):
    log = []

    def items():
        log.append(x)
        yield log[-1]
        log.append(2 * x + log[-1])
        yield log[-1]
        log.append(3 * x + log[-1])

    total = 0.0
    for v in items():
        log.append(v * 10)
        total += v
    return total * sum(log)


@program(0.7, 4)
def both_write_one_list_at_run_time(x, n):
    log = [0.0 for _ in range(n)]

    def items():
        for i in range(n):
            log.append(x * i)
            yield log[-2]
            log[0] += x

    total = 0.0
    for v in items():
        log.append(v + 1)
        total += len(log) * v * log[0]
    return total


@program(POINTS)
def both_write_one_array(x):
    y = x.copy()

    def items():
        for i in range(len(y)):
            yield y[i]
            y[i] *= 2

    total = 0.0
    for i, v in enumerate(items()):
        if i + 1 < len(y):
            y[i + 1] += v * v
        total += v
    return total + y @ y


@program(POINTS)
def views_that_the_loop_writes(x):
    y = x.copy()

    def windows(a, size):
        for i in range(len(a) - size + 1):
            yield a[i : i + size]

    for w in windows(y, 2):
        w[1] += w[0] * w[0]
    return y.sum()


@program(0.7)
def both_write_one_variable(x):
    n = 0.0

    def items():
        nonlocal n
        for _ in range(3):
            n += x
            yield n

    total = 0.0
    for v in items():
        n *= 2
        total += v * n
    return total + n


@program(0.7)
def one_list_is_yielded_again_and_again(x):
    def items():
        found = []
        for i in range(3):
            found.append(x * i)
            yield found

    total = 0.0
    for found in items():
        total += sum(found)
        found.append(x)
    return total + sum(sum(found) for found in list(items()))


@program(0.7)
def variables_are_looked_up_when_the_body_runs(x):
    k = 1.0

    def items():
        yield k * x
        yield k * x

    late = items()
    k = 3.0
    total = 0.0
    for v in late:
        total += v
        k = 5.0
    return total


@program(0.7)
def arguments_are_computed_by_the_call(x):
    log = []

    def note(v):
        log.append(v)
        return v

    def items(a, b=2.0):
        note(a * 5)
        yield note(a) + note(b)
        note(7 * x)

    for v in items(note(x), note(3 * x)):
        note(v * x)
    total = 0.0
    for v in log:
        total = total * 1.3 + v
    return total


@program(0.7)
def nothing_runs_before_it_is_gone_through(x):
    log = [1.0]

    def items():
        log.append(x)
        yield x

    items()
    unused = items()
    return sum(log) * x if unused else x


@program(0.7)
def functions_that_are_yielded(x):
    def items():
        for i in (1, 2, 3):
            yield lambda y: y * i * x

    total = 0.0
    for f in items():
        total += f(1.0)
    for f in list(items()):
        total += f(1.0)
    return total


# Whoever goes through all items


@program(0.7)
@program(0.7, 2)
def sums_of_items(x, n=3):
    products = math.prod(multiples(x + 1, n)) + math.fsum(multiples(x, n))
    return sum(t * dt for t, dt in steps(x, n)) + sum(powers(x)) + sum(multiples(x, n), start=x) + products


@program(0.7)
def lists_of_items(x):
    known, counted = list(powers(x)), list(multiples(x, 4))
    a, b, c = powers(x)
    first, *rest = powers(x)
    return known[0] * known[2] + counted[-1] * len(counted) + a * b + c + first * sum(rest)


@program(0.7)
def tuples_and_arguments_of_items(x):
    def weighted(a, b, *more):
        return a * b + sum(more)

    pair = tuple(multiples(x, 3))
    return weighted(*powers(x)) + max(*powers(x)) + min([*powers(x)]) + pair[1] * len(pair)


@program(0.7)
def extremes_and_order_of_items(x):
    def items():
        yield 3 * x
        yield x
        yield 2 * x

    ordered = sum(i * v for i, v in enumerate(sorted(items(), key=lambda v: -v)))
    return ordered + max(items(), key=lambda v: -v) + min(items()) + max(multiples(x, 4))


@program(0.7)
def dicts_of_items(x):
    def entries():
        yield "a", x
        yield "b", x * x

    table = dict(entries())
    doubled = {key: 2 * value for key, value in entries()}
    return table["a"] * doubled["b"] + sum(value for _, value in entries())


@program(0.7)
def comprehensions_over_items(x):
    a, b, c = [v * v for v in powers(x)]
    counted = [v * w for v, w in steps(x)]
    pairs = [p * q for p in powers(x) for q in multiples(p, 3)]
    return a + b * c + sum(counted) * counted[-1] + sum(pairs) * pairs[1]


@program(0.7)
def lists_that_take_items(x):
    a = [x]

    def items():
        for _ in range(3):
            yield x * len(a)

    a.extend(items())
    a += items()
    return sum(a)


@program(0.7)
def lists_that_take_items_of_expressions_about_them(x):
    a = [x]
    a.extend(v * len(a) for v in [x, 2 * x, 3 * x])
    a += (v * len(a) for v in [x, 2 * x])
    return sum(a)


@program(0.7)
def questions_about_items(x):
    def items():
        for i in range(4):
            log.append(x)
            yield float(i)

    log = []
    found = x * x if any(v > 0.5 for v in items()) and not all(v < 2.5 for v in items()) else x
    inside = 2.0 in items()
    return found * len(log) if inside else x


@program(0.7)
def first_items(x):
    def none():
        return
        yield x

    first = next(powers(2 * x)) * next(iter([x, 2 * x]))
    chosen = next((v for v in multiples(x, 5) if v > 1.0), x * x)
    try:
        next(none())
    except StopIteration:
        chosen *= 2
    return first + chosen + next(none(), 3 * x)


# Through other iterators


@program(0.7)
def map_filter_and_enumerate(x):
    mapped = sum(map(lambda v: v * v, powers(x))) + sum(filter(lambda v: v < 0.6, powers(x)))
    return mapped + sum(i * v for i, v in enumerate(multiples(x, 4), start=2))


@program(0.7)
def zip_with_lists(x):
    known = sum(a * b for a, b in zip(powers(x), [1.0, x], strict=False))
    return known + sum(a * b for a, b in zip([1.0, x, 2.0], powers(x), strict=False)) + dict(zip("ab", powers(x)))["b"]


@program(POINTS)
def zip_with_arrays(x):
    total = 0.0
    for a, v, c in zip(x, growing(x[1]), range(10), strict=False):
        if c == 2:
            continue
        total = total * a + v * c
    else:
        total *= 2
    for i, (v, a) in enumerate(zip(growing(x[1]), x, strict=False)):
        total = total * a + v * i
        if total < -3:
            break
    else:
        total *= 3
    return total


@program(0.7)
def zip_asks_from_left_to_right(x):
    log = []

    def items():
        for i in range(5):
            log.append(x * i)
            yield x

    total = 0.0
    for a, b in zip(items(), [1.0, 2.0], strict=False):
        total += a * b * len(log)
    for a, b in zip([1.0, 2.0], items(), strict=False):
        total += a * b * len(log)
    for a, b in zip([], items(), strict=False):
        total += a * b
    return total * len(log)


@program(0.7)
def zip_of_several_generators(x):
    total = sum(a * b for a, b in zip(growing(x), powers(x), strict=False))
    return total + sum(a * b * c for a, b, c in zip(powers(x), multiples(x, 4), growing(x), strict=False))


@program(0.7)
def itertools_over_generators(x):
    some = sum(itertools.islice(growing(x), 5)) + sum(itertools.islice(growing(x), 2, 8, 2))
    some += sum(itertools.takewhile(lambda v: v < 4, growing(x)))
    some += sum(itertools.dropwhile(lambda v: v < 1, multiples(x, 5)))
    some += max(itertools.accumulate(powers(x))) * sum(itertools.accumulate(multiples(x, 4), lambda a, b: a * b + 1))
    some += sum(itertools.chain(powers(x), multiples(x, 3), [x]))
    some += sum(v * v for v in itertools.chain.from_iterable([powers(x), multiples(x, 3)]))
    return (
        some
        + sum(a * b for a, b in itertools.pairwise(multiples(x, 4)))
        + sum(itertools.starmap(operator.mul, steps(x)))
    )


# Generators of generators


@program(POINTS)
def yield_from_and_what_is_returned(x):
    def running(values):
        total = 0.0
        for v in values:
            total += v
            yield total
        return total

    def all_of(values):
        last = yield from running(values)
        yield last * last
        nothing = yield from [last, 2.0]
        yield values[0] if nothing is None else 5 * last

    return sum(v * v for v in all_of(x))


@program(0.7)
def walk_through_a_tree(x):
    def walk(node):
        if isinstance(node, tuple):
            left, value, right = node
            yield from walk(left)
            yield value
            yield from walk(right)
        else:
            yield node

    total = 1.0
    for v in walk(((x, 2 * x, 3.0), x * x, (1.0, x, (x, x, 4 * x)))):
        total = total * 1.1 + v * total
    return total


class Tree:
    def __init__(self, value, *children):
        self.value = value
        self.children = children

    def __iter__(self):
        yield self.value
        for child in self.children:
            yield from child


@program(0.7)
def objects_that_are_gone_through(x):
    total = 0.0
    for v in Tree(x, Tree(2 * x), Tree(x * x, Tree(3.0))):
        total = total * x + v
    return total


@program(0.7)
def subsets_by_recursion(x):
    def subsets(items):
        if not items:
            yield ()
        else:
            for rest in subsets(items[1:]):
                yield rest
                yield (items[0], *rest)

    return sum(math.prod(chosen) for chosen in subsets((x, 2 * x, 3.0)))


@program(0.7)
def counting_down(x):
    def count(n):
        if n > 0:
            yield n * x
            yield from count(n - 1)

    return sum(count(4))


@program(0.7)
def generators_handed_to_generators(x):
    log = []

    def doubled(items):
        try:
            for v in items:
                yield v * 2
        finally:
            log.append(x)

    def above(items, least):
        for v in items:
            if v > least:
                yield v + 1

    return sum(above(doubled(doubled(multiples(x, 5))), 0.5)) * sum(log)


@program(0.7, 5)
def generators_in_a_recursion(x, n):
    def fall(k, y):
        if k == 0:
            return y
        total = 0.0
        for v in multiples(y, 3):
            total += v
            if total > 2:
                break
        return total * 0.5 + fall(k - 1, y * 0.9)

    return fall(n, x)


# Where they come from


def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        for v in function(*args):
            yield v * 2

    return wrapper


@twice
def decorated_powers(x):
    yield x
    yield x * x


@program(0.7)
def decorated_generators(x):
    return sum(decorated_powers(x)) * max(decorated_powers(2 * x))


class Counted:
    def __init__(self):
        self.count = 0

    def __iter__(self):
        for i in range(5):
            self.count += 1
            yield i


@program(0.7)
def objects_that_count_who_asks(x):
    counted = Counted()
    return x**counted.count if 2 in counted and any(v > 1 for v in counted) else x * counted.count


@program(POINTS)
def one_array_is_yielded_again_and_again(x):
    def scan(values):
        state = np.zeros(2)
        for v in values:
            state[0] += v
            state[1] = state[0] * v
            yield state

    total = 0.0
    for state in scan(x):
        total += state[1]
    kept = list(scan(x))
    return total + kept[0][0] * kept[-1][1]


class Decay:
    def __init__(self, amount):
        self.amount = amount

    def amounts(self, n=3):
        for _ in range(n):
            self.amount *= 0.9
            yield self.amount

    @staticmethod
    def halves(a):
        yield a / 2
        yield a / 4

    @property
    def both(self):
        yield self.amount
        yield self.amount**2


def total_of_squares(function, *args):
    return sum(v * v for v in function(*args))


@program(0.7)
def methods_that_yield(x):
    decay = Decay(x)
    total = 0.0
    for v in decay.amounts():
        total += v * decay.amount
    return total + sum(Decay.halves(x)) + sum(decay.both) + total_of_squares(decay.amounts, 2) + decay.amount


@program(0.7, 3)
def methods_of_objects_at_run_time(x, n):
    decays = []
    for i in range(n):
        decays.append(Decay(x * i + 1))
    return sum(v * decay.amount for decay in decays for v in decay.amounts(2))


@program(0.7)
def functions_handed_on(x):
    partly = functools.partial(multiples, n=3)
    return total_of_squares(multiples, x, 4) + total_of_squares(lambda k: multiples(k, 3), x) + sum(partly(x))


@program(0.7)
def generators_kept_and_returned(x):
    def made(a):
        return powers(a * x)

    class Holder:
        def __init__(self, items):
            self.items = items

    total = sum(made(2.0)) + sum(Holder(powers(x)).items)
    for items in [powers(x), multiples(x, 3)]:
        for v in items:
            total += v
    return total


# Left early, and exceptions


@program(0.7)
def closed_by_break(x):
    log = []

    def items():
        try:
            yield x
            log.append(x)
            yield 2 * x
        finally:
            log.append(x * x)

    total = 0.0
    for v in items():
        total += v + len(log)
        break
    for v in items():
        total += v * len(log)
    return total * sum(log)


@program(0.7)
def closed_by_return(x):
    log = []

    def items():
        try:
            for i in range(4):
                yield x * i
        finally:
            log.append(x * x)

    def first_above(limit):
        for v in items():
            if v > limit:
                return v * len(log) + v

    return first_above(1.0) * sum(log)


@program(0.7)
def closed_from_inside_out(x):
    log = []

    def inner():
        try:
            yield x
            yield 2 * x
        finally:
            log.append(x)

    def outer():
        try:
            yield from inner()
        finally:
            log.append(10 * x)

    for _ in outer():
        break
    total = 0.0
    for v in log:
        total = total * 2 + v
    return total


@program(0.7)
def closed_before_the_handler_runs(x):
    log = [x]

    def items():
        try:
            yield x
            yield 2 * x
        finally:
            log.append(x)

    try:
        for v in items():
            if v > 1:
                raise ValueError
    except ValueError:
        log.append(len(log) * x)
    return sum(log)


@program(0.7)
def handlers_in_the_body(x):
    log = [x]

    def items():
        try:
            yield x
            if x > 0:
                raise KeyError
            yield 2 * x
        except KeyError:
            log.append(x * 3)
        with suppress(KeyError):
            yield 4 * x
            raise KeyError
        yield 5 * x
        raise ValueError

    total = 0.0
    try:
        for v in items():
            total += v * len(log)
    except ValueError:
        total *= 3
    return sum(log) * total


@program(0.7)
def handlers_in_the_loop(x):
    log = []

    def items():
        try:
            for i in range(4):
                yield x * i
        finally:
            log.append(x)

    def found():
        for v in items():
            try:
                if v > 1:
                    return v
                log.append(v)
            finally:
                log.append(1.0)

    total = 0.0
    for v in items():
        try:
            if v > 1:
                raise ValueError
            total += v
        except ValueError:
            total *= 2
            continue
        finally:
            total += 1
    return total * sum(log) * found() * len(log)


# Context managers


@contextmanager
def scaled(box, factor):
    old = box[0]
    box[0] = old * factor
    try:
        yield old
    finally:
        box[0] = old


@contextmanager
def noted(log, x):
    log.append(x)
    yield x * x
    log.append(2 * x)


@contextmanager
def forgiving(log, x):
    try:
        yield
    except ValueError:
        log.append(x)
    else:
        log.append(3 * x)


@program(0.7)
def context_around_a_body(x):
    box = [x]
    with scaled(box, 3.0) as old, noted([], x) as square:
        result = box[0] * old * square
    return result + box[0]


@program(0.7)
def context_left_by_jumps(x):
    log = [1.0]
    for i in range(4):
        with noted(log, x * i):
            if i == 1:
                continue
            if i == 3:
                break
            log.append(x)
    return sum(log) * len(log)


@program(0.7)
@program(0.3)
def context_left_by_return(x):
    log = [1.0]

    def inner():
        with noted(log, x):
            if x > 0.5:
                return x * len(log)
        return 5.0

    return inner() + sum(log)


@program(0.7)
def context_that_handles_exceptions(x):
    log = [1.0]
    with forgiving(log, x):
        if x > 0:
            raise ValueError
        log.append(5 * x)
    with forgiving(log, x):
        log.append(7 * x)
    try:
        with forgiving(log, x):
            if x > 0:
                raise KeyError
    except KeyError:
        log.append(9 * x)
    return sum(log) * x


@program(0.7)
def context_that_does_not_handle_exceptions(x):
    box = [x]
    try:
        with scaled(box, 2.0), noted(box, x) as square:
            box.append(box[0] * square)
            if x > 0:
                raise KeyError
    except KeyError:
        box.append(7 * box[0])
    return sum(box)


@program(0.7)
def context_defined_here(x):
    @contextmanager
    def changed(factor):
        nonlocal x
        x = x * factor
        yield x
        x = x * x

    with changed(2.0) as y:
        z = x * y
    return z + x


@program(0.7)
def contexts_inside_contexts(x):
    log = []

    @contextmanager
    def single(k):
        log.append(k)
        try:
            yield k * x
        finally:
            log.append(-k * x)

    @contextmanager
    def product(k):
        with single(k) as a, single(2 * k) as b:
            yield a * b
        log.append(100.0)

    with product(1.0) as y:
        log.append(y)
    total = 0.0
    for v in log:
        total = total * 1.1 + v
    return total


class Parameters:
    def __init__(self, rate):
        self.rate = rate

    @contextmanager
    def temporarily(self, rate):
        old, self.rate = self.rate, rate
        yield self
        self.rate = old


@program(0.7)
def context_of_a_method(x):
    parameters = Parameters(x)
    with parameters.temporarily(3 * x) as changed:
        result = changed.rate * x
    return result + parameters.rate


@program(0.7)
def generator_closed_inside_a_context(x):
    log = []

    def items():
        with noted(log, x), scaled(log, 2.0):
            for i in range(4):
                yield x * i
            log.append(3.0)

    total = 0.0
    for v in items():
        total += v * len(log)
        if v > 1:
            break
    return total * sum(log) + len(log)
