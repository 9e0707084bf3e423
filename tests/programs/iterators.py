"""Iterators: drawn item by item while the loop changes what they draw from, and the functions of `itertools`."""

import itertools
import operator

import numpy as np

from programs.registry import program

POINTS = np.array([0.7, -1.2, 2.1, 0.4])
OTHERS = np.array([1.1, 0.2, -0.5, 0.8])


class Spring:
    def __init__(self, length):
        self.length = length


# What they draw from changes meanwhile


@program(POINTS)
def map_over_an_array_that_changes(x):
    y = x.copy()
    for i, v in enumerate(map(lambda t: 2 * t, y)):
        if i + 1 < len(y):
            y[i + 1] += v * v
    return y.sum()


@program([0.7, -1.2, 2.1])
def filter_over_a_list_that_changes(xs):
    ys = [t * t for t in xs]
    for i, v in enumerate(filter(lambda t: t > 0.1, ys)):
        if i + 1 < len(ys):
            ys[i + 1] = v * 2
    return sum(ys)


@program(POINTS)
def generator_over_an_array_that_changes(x):
    y = x.copy()
    total = 0.0
    place = 0
    for v in (2 * u for u in y if u > -5.0):
        place += 1
        if place < len(y):
            y[place] = v
        total += v * v
    return total


@program(0.7, -1.2)
def map_over_objects_that_change(a, b):
    springs = [Spring(a), Spring(b)]
    total = 0.0
    for v in map(lambda spring: spring.length**2, springs):
        springs[1].length = v
        total += v
    return total


@program(POINTS)
def generator_with_a_variable_that_changes(x):
    factor = 1.0
    total = 0.0
    for v in (t * factor for t in x):
        factor = factor * 2 + v
        total += v
    return total


@program(POINTS)
def map_made_before_a_write(x):
    y = x.copy()
    squares = map(lambda t: t * t, y)
    y[0] = 5.0 * y[1]
    return sum(squares)


@program(POINTS)
def generator_made_before_its_source_is_rebound(x):
    y = x * x
    cubes = (t * t * t for t in y)
    y = [1.0]
    return sum(cubes) + y[0]


@program(POINTS)
def generator_leaves_by_break(x):
    total = 0.0
    for v in (t * t for t in x if t > -1.0):
        if v > 3.0:
            break
        total += v
    else:
        total += 100.0
    return total * total


@program(POINTS)
def generator_shares_names_with_its_loop(x):
    t = 3.0
    total = 0.0
    for v in (t * t for t in x):
        total += v * t
        t += v
    return total


@program(POINTS)
def a_function_returns_a_generator(x):
    def scaled(values, by):
        return (v * by for v in values)

    return sum(scaled(x, x[0])) + max(scaled(x, 2.0))


@program(POINTS, OTHERS)
def map_of_two_sequences_in_zip(x, y):
    return sum(a * b for a, b in zip(map(operator.mul, x, y), map(lambda t: t + 1.0, y), strict=False))


@program(POINTS)
def nested_lazy_iterators(x):
    total = 0.0
    for i, v in enumerate(map(lambda t: t * t, filter(lambda t: t > 0.0, (u + 0.1 for u in x))), start=1):
        total += i * v
    return total


@program([1.0, 2.0, 3.0])
def any_and_all_of_map(xs):
    if any(map(lambda t: t > 2.5, xs)) and all(t > 0.5 for t in xs):
        return xs[0] * xs[1]
    return xs[2]


@program(1.5)
def list_that_changes_while_it_is_gone_through(x):
    a = [x, 2 * x, 3 * x]
    for i, v in enumerate(a):
        if i + 1 < 3:
            a[i + 1] = v * a[i + 1]
    for v, w in zip(a, (1.0, 2.0, 3.0), strict=True):
        a[2] += v * w
    for v in reversed(a):
        a[0] = v * x
    return sum(a)


@program(POINTS)
def array_beside_a_tuple_that_changes(x):
    a = x.copy()
    for v, w in zip(a, (1.0, 2.0, 3.0, 4.0), strict=True):
        a[3] += v * w
    for v, w in zip(a, a[1:], strict=False):  # noqa: RUF007 - two views, read as they are
        a[2] = v * w
    return a.sum()


@program(0.7, {"a": 1.2, "b": 0.4})
def dict_that_changes_while_it_is_gone_through(x, table):
    own = {"a": x, "b": 2 * x, "c": x * x}
    for v in own.values():
        own["c"] = v * own["b"]
    for key, v in own.items():
        own["b"] += v * (2.0 if key == "a" else 3.0)
    for key in own:
        own["c"] += own[key] ** 2
    for _, v in table.items():
        table["b"] = v * x
    return sum(own.values()) * table["b"]


@program(0.7)
def objects_that_are_replaced_while_they_are_gone_through(x):
    springs = [Spring(x), Spring(2 * x)]
    for spring in springs:
        springs[1] = Spring(spring.length * 3)
    rows = [[x], [2 * x]]
    for row in rows:
        rows[1] = [row[0] * springs[1].length]
    return rows[1][0]


@program(1.5, 3)
def everything_in_place_is_seen_by_others(x, n):
    a = [x]
    b = a
    a *= 3
    c = [x * i for i in range(n)]
    d = c
    c *= 2
    c += (v * v for v in a)
    table = {"a": x}
    same = table
    table |= {"b": x * x}
    merged = table | {"a": 2.0}
    names = {1}
    others = names
    names |= {3}
    names -= {1}
    return sum(b) * sum(d) * sum(same.values()) + sum(merged.values()) * (2.0 if others == {3} else 5.0)


@program(1.5, {"r": 2.0})
def views_of_dicts_see_what_is_added(x, table):
    own = {"a": x}
    total = 0.0
    for each in (own, dict(table)):
        values, keys = each.values(), each.keys()
        each["b"] = x * x
        total += sum(values) * len(keys) + len(each.items()) * (x if "b" in each.keys() else 5.0)
        total += sum(values)
    return total


@program(1.5, 2)
def ranges_end_before_lists_do(x, n):
    items = [x, 2 * x, 3 * x]
    total = sum(v for _, v in zip(range(2), items, strict=False))
    for _, v in zip(items, range(1, 40, 30), strict=False):
        total += v * x
    return total * n


@program(0.7)
def comprehension_whose_calls_write(x):
    a = [x, 2 * x, 3 * x]

    def put(v):
        a[2] = v * v
        return v

    return sum([put(v) for v in a]) + a[2]


# itertools


@program(POINTS)
def accumulated(x):
    sums = list(itertools.accumulate(x, lambda a, b: a * b + 1.0, initial=0.5))
    total = 0.0
    for v in itertools.accumulate(x):
        total += v * v
    return sums[2] * sums[4] + total


@program(POINTS)
def chained(x):
    parts = [[x[0], x[1]], [x[2]]]
    return sum(v * v for v in itertools.chain(x, [x[0]], x[1:])) + sum(itertools.chain.from_iterable(parts)) ** 2


@program(POINTS)
def slices_of_iterators(x):
    odd = sum(v * v for v in itertools.islice(x, 1, None, 2))
    first = list(itertools.islice((t * t for t in x), 3))
    return odd * first[2] + sum(itertools.islice(x, 2))


@program(POINTS)
def taken_and_dropped(x):
    taken = sum(v * v for v in itertools.takewhile(lambda t: t > -2.0, x))
    dropped = sum(v * v * v for v in itertools.dropwhile(lambda t: t > 0.0, x))
    return taken * dropped + sum(v * v for v in itertools.filterfalse(lambda t: t > 0.0, x))


@program(POINTS, OTHERS)
def starmap_and_compress(x, y):
    kept = sum(v * v for v in itertools.compress(x, [True, False, True, True]))
    return kept * sum(itertools.starmap(lambda a, b: a * b, zip(x, y, strict=True)))


@program(POINTS, OTHERS)
def pairwise_and_longest(x, y):
    steps = sum((b - a) ** 2 for a, b in itertools.pairwise(x))
    return steps * sum(a * b for a, b in itertools.zip_longest(x, y[:2], fillvalue=1.5))


@program(POINTS)
def numbered_by_count(x):
    weighted = sum(v * k for k, v in zip(itertools.count(1), x, strict=False))
    for k in itertools.count(1, 2):
        if k >= len(x):
            break
        weighted += x[k] ** 2
    return weighted * sum(v * k for v, k in zip(x, itertools.cycle([1, -2]), strict=False))


@program(POINTS)
def counts_are_drawn_one_by_one(x):
    numbers = itertools.count(2)
    total = x[0] * next(numbers)
    for k, v in zip(numbers, x, strict=False):
        total = total + k * v * v
    return total * next(numbers)


@program(POINTS)
def counted_in_floats(x):
    numbers = itertools.count(x[0], x[1] * x[1])
    next(numbers)
    total = next(numbers)
    for k, v in zip(range(len(x)), numbers, strict=False):
        total += v * v * k
    return total + sum(itertools.islice(itertools.count(x[1], 0.5), 3))


@program(POINTS)
def endless_loops_are_left(x):
    for k in itertools.count(len(x)):
        for factor in itertools.cycle([1.5, x[0]]):
            if factor * k > 4.0:
                break
            x = [v * factor + 1.0 for v in x]
            k += 1
        if k > 6:
            return x[1] * factor


@program(POINTS)
def repeated(x):
    return sum(itertools.repeat(x[0], 3)) * sum(map(pow, x[2:], itertools.repeat(2)))


@program(POINTS)
def combinations(x):
    pairs = sum(a * b * b for a, b in itertools.combinations(x, 2))
    triples = sum(a * b * c for a, b, c in itertools.combinations(x, 3))
    again = sum(a * b for a, b in itertools.combinations_with_replacement(x, 2))
    return pairs * triples + again + sum(a - b * b for a, b in itertools.permutations(x, 2))


@program(0.7, -1.2, 2.1)
def combinations_of_objects(a, b, c):
    springs = [Spring(a), Spring(b), Spring(c)]
    total = 0.0
    for (i, one), (j, other) in itertools.combinations(enumerate(springs), 2):
        total += (i + 2 * j) * one.length * other.length
        one.length = one.length * 0.5
    return total


@program(POINTS, OTHERS)
def products(x, y):
    y = y.copy()
    total = 0.0
    for a, b in itertools.product(x, y):
        y[1] = a * b
        total += a * b * b
    return total * y[1] + sum(a * b * b for a, b in itertools.product(x, repeat=2))


@program(0.7, -1.2, 2.1)
def the_shortest_way(a, b, c):
    places = [a, b, c]

    def length(order):
        return sum((places[order[k]] - places[order[k - 1]]) ** 2 * (k + 1) for k in range(3))

    return min(length(order) for order in itertools.permutations(range(3)))


# Items that the loop, or computing others, changes


@program(POINTS)
def pairs_of_an_array_that_changes(x):
    y = x.copy()
    total = 0.0
    for i, (a, b) in enumerate(itertools.pairwise(y)):
        if i + 2 < len(y):
            y[i + 2] += a * b
        total += a * b
    return total


@program(POINTS)
def itertools_over_an_array_that_changes(x):
    y = x.copy()
    total = 0.0
    for a in itertools.accumulate(y):
        y[3] += a * 0.1
        total += a
    for a in itertools.chain(y, y):
        y[3] += a * 0.1
        total += a
    for a in itertools.islice(y, 1, 3):
        y[2] += a * 0.1
        total += a
    for i, a in enumerate(itertools.takewhile(lambda v: v > -9.0, y)):
        y[(i + 1) % len(y)] += a * a
    for a in itertools.compress(y, [1, 0, 1, 1]):
        y[3] += a * 0.1
        total += a
        if a > 20:
            break
    else:
        total = 100.0
    return total + y[2]


@program(POINTS)
def zip_beside_an_iterator_over_what_changes(x):
    y = x.copy()
    total = 0.0
    for a, b in zip(y, (v * 2 for v in y), strict=False):
        y[2] += a * b * 0.1
        total += a * b
    for a, b in zip((v * 2 for v in y), y, strict=False):
        y[2] += a * b * 0.1
        total += a * b
    return total


@program([0.9, 0.6, 1.0])
def items_whose_functions_write(xs):
    seen = [0.0]

    def lowered(v):
        xs[2] -= v
        return v

    def noted(v):
        seen[0] += v
        return v

    total = 0.0
    for a, b in zip(map(lowered, xs), xs, strict=False):
        total += a * b
    for v in itertools.islice(map(noted, xs), 2):
        total += v
    return total * seen[0]


@program([1.0, 2.0])
def sums_of_a_list_that_changes(xs):
    own = [v * v for v in xs]
    for i, total in enumerate(itertools.accumulate(own)):
        own[1] = total + i
    return own[1]


# Groups


@program(POINTS)
def groups_by_a_condition(x):
    total = 0.0
    for large, group in itertools.groupby(x, key=lambda v: v > 1.0):
        product = 1.0
        for v in group:
            product = product * v
        total += product**2 if large else product * x[0]
    return total


@program(POINTS, [0, 0, 1, 1])
def groups_of_pairs(x, keys):
    sums = {key: sum(v for _, v in group) for key, group in itertools.groupby(zip(keys, x), key=lambda pair: pair[0])}
    return sums[0] * sums[1] ** 2


@program(POINTS)
def groups_of_what_is_alike(x):
    return sum(len(list(group)) * x[key] ** 2 for key, group in itertools.groupby([1, 1, 2, 0, 0]))


# Come back to


@program([1.0, 2.0, 3.0])
def the_first_and_the_others(xs):
    it = iter(xs)
    first = next(it)
    return first * sum(v * v for v in it)


@program(POINTS)
def differences_of_neighbours(x):
    it = iter(x)
    before = next(it)
    total = 0.0
    for v in it:
        total += (v - before) ** 2 * v
        before = v
    return total


@program([1.0, 2.0, 3.0, 4.0])
def two_at_a_time(xs):
    total = 0.0
    it = iter(xs)
    for v in it:
        total += v * next(it)
    return total


@program([1.0, 2.0, 3.0, 4.0])
def zip_of_one_iterator(xs):
    return sum(a * b for a, b in zip(*[iter(xs)] * 2))


@program([1.0, 2.0, 3.0])
def until_there_is_none(xs):
    it = iter(xs)
    total, weight = 0.0, 1.0
    while (v := next(it, None)) is not None:
        total += weight * v
        weight *= 2.0
    return total


@program([1.0, 2.0, 3.0])
def until_it_raises(xs):
    it = iter(xs)
    total = 1.0
    try:
        while True:
            total = total * next(it) + 1.0
    except StopIteration:
        pass
    return total


@program([1.0, 2.0, 3.0, 4.0])
def left_and_gone_on_with(xs):
    it = enumerate(xs)
    total, product = 0.0, 1.0
    for i, v in it:
        total += i * v
        if v > 1.5:
            break
    for _, v in it:
        product *= v
    return total * product


@program([1.0, 2.0])
def gone_through_when_it_has_ended(xs):
    pairs = zip(xs, xs)
    first = sum(a * b for a, b in pairs)
    return first + sum(a + b for a, b in pairs)


@program([1.0, 2.0, 3.0])
def list_that_grows_under_its_iterator(xs):
    own = [v * v for v in xs]
    it = iter(own)
    first = next(it)
    own.append(5.0 * xs[0])
    own[1] = first * 7.0
    total = sum(it)
    own.append(xs[1])
    return first * total + sum(it)


@program({"a": 1.5, "b": 2.5})
def entries_that_change_under_their_iterator(table):
    own = dict(table)
    it = iter(own.items())
    _, first = next(it)
    own["b"] = first * first
    return sum(v * first for _, v in it)


@program([1.0, 2.0, 3.0, 4.0])
def map_filter_and_chain(xs):
    squares, large = map(lambda v: v * v, xs), filter(lambda v: v > 1.5, xs)
    both = itertools.chain(xs, [xs[0] * xs[1]])
    return next(squares) * sum(squares) + next(large) * sum(large) + next(both) * sum(both)


@program([1.0, 2.0, 3.0])
def one_of_two_of_a_tee(xs):
    one, other = itertools.tee(xs)
    next(other)
    return sum(a * b for a, b in zip(one, other))


@program(1.5)
def two_of_a_tee_of_a_generator(x):
    one, other = itertools.tee(x**i for i in range(4))
    next(other)
    return sum(a * b for a, b in zip(one, other))


@program([1.0, 2.0, 3.0])
def items_round_and_round(xs):
    it = itertools.cycle(xs)
    total = 0.0
    for _ in range(5):
        total = total * 1.1 + next(it)
    return total


@program([1.0, 2.0, 3.0])
def unpacked_when_it_has_begun(xs):
    it = iter(xs)
    first = next(it)
    second, *others = it
    return first * second * sum(others)


@program([1.0, 2.0, 3.0, 4.0, 5.0])
def in_batches(xs):
    it = iter(xs)
    total = 0.0
    while batch := list(itertools.islice(it, 2)):
        total += sum(batch) ** 2
    return total


@program(0.5, "3+4*2")
def formula_read_by_descent(x, text):
    tokens = iter([*text, None])
    current = next(tokens)

    def total():
        value = product()
        while current == "+":
            advance()
            value = value + product()
        return value

    def product():
        value = number()
        while current == "*":
            advance()
            value = value * number()
        return value

    def number():
        value = float(current) * x
        advance()
        return value

    def advance():
        nonlocal current
        current = next(tokens)

    return total()


class Powers:
    def __init__(self, base, count):
        self.base = base
        self.count = count

    def __iter__(self):
        return self

    def __next__(self):
        if self.count <= 0:
            raise StopIteration
        self.count -= 1
        return self.base**self.count


@program(1.5, 3)
def class_that_gives_items(x, n):
    powers = Powers(x, n)
    return next(powers) + sum(v * v for v in powers) + max(Powers(2.0 * x, n))


@program(1.5, 3)
def two_objects_side_by_side(x, n):
    return sum(a * b for a, b in zip(Powers(x, n), Powers(2.0 * x, n)))


# Rows and columns


@program(0.7, 3)
def columns_of_rows_of_unknown_number(x, n):
    rows = []
    for i in range(n):
        rows.append([x * i, x + i])
    total = 0.0
    for column in zip(*rows):
        product = 1.0
        for v in column:
            product = product * (v + 1.0)
        total += product
    return total


@program([[1.0, 2.0], [0.5, 1.5]])
def turned_by_a_quarter(grid):
    turned = [list(row) for row in zip(*grid[::-1])]
    return turned[0][0] * 3.0 + turned[0][1] ** 2 + turned[1][0] * turned[1][1]


@program(np.array([[1.0, 2.0], [0.5, 1.5]]))
def columns_of_an_array(a):
    return sum(p * q * q for p, q in zip(*a))


@program({"a": 1.5, "b": 2.5})
def columns_of_sorted_entries(table):
    _, values = zip(*sorted(table.items()))
    names, ordered = zip(*sorted(table.items(), key=lambda entry: -entry[1]))
    return values[0] * values[1] ** 2 + ordered[0] * len(names)


# numpy.nditer


@program(lambda rng: rng.normal(size=(2, 3)))
def each_element(m):
    total = 0.0
    for v in np.nditer(m):
        total += v * v * v
    return total


@program(lambda rng: rng.normal(size=(2, 3)))
def each_element_is_written(m):
    y = m * 1.0
    with np.nditer(y, op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = v * v
    return np.sum(y * m)


@program(lambda rng: rng.normal(size=(2, 3)))
def each_element_with_its_place(m):
    it = np.nditer(m, flags=["multi_index"])
    total = 0.0
    while not it.finished:
        i, j = it.multi_index
        total += m[i, j] ** 2 * it[0] * (i + 2 * j)
        it.iternext()
    return total


@program(lambda rng: rng.normal(size=(2, 3)), lambda rng: rng.normal(size=3))
def elements_of_two_arrays(m, b):
    total = 0.0
    for u, v in np.nditer([m, b]):
        total += u * v * v
    return total
