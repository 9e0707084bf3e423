"""The containers of `collections`, and decorators of `functools`."""

import bisect
import collections
import copy
import functools
import heapq
import operator
import statistics
import types

import numpy as np

from programs.registry import program

POINTS = np.array([0.7, -1.2, 2.1, 0.4, 0.9])


@program(POINTS)
def moving_average(x):
    window = collections.deque(maxlen=3)
    total = 0.0
    for v in x:
        window.append(v)
        total = total + (sum(window) / len(window)) ** 2
    return total


@program(POINTS)
def line_with_a_delay(x):
    line = collections.deque([0.0, 0.0, 0.0])
    y = 1.0
    for v in x:
        line.append(y * v)
        y = y + 0.1 * line.popleft() + v * v
    return y * line[0] + line[-1]


@program(1.5)
def everything_of_a_deque(x):
    queue = collections.deque([x, 2 * x, 3 * x])
    queue.rotate(1)
    queue.appendleft(x * x)
    queue.extend([1.0, x])
    queue.extendleft([2.0, x**3])
    queue.reverse()
    other = queue.copy()
    queue[1] = 5 * x
    total = sum(k * v for k, v in enumerate(queue)) + queue.pop() * queue.popleft() + sum(other) ** 2
    queue.clear()
    return total * (2.0 if queue else 3.0)


@program(1.5)
def walk_through_a_graph(x):
    edges = {0: [1, 2], 1: [3], 2: [3], 3: []}
    queue = collections.deque([0])
    seen = {0}
    total = 0.0
    while queue:
        node = queue.popleft()
        total += x ** (node + 1)
        for other in edges[node]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return total


@program(POINTS, ["a", "b", "a", "c", "b"])
def sums_of_groups(x, keys):
    sums = collections.defaultdict(float)
    for key, v in zip(keys, x, strict=True):
        sums[key] += v * v
    return sum(s**2 for s in sums.values()) * len(sums)


@program(POINTS, [0, 1, 0, 2, 1])
def lists_of_groups(x, keys):
    rows = collections.defaultdict(list)
    for key, v in zip(keys, x, strict=True):
        rows[key].append(v)
    return sum(np.prod(row) for row in rows.values())


@program(1.5)
def everything_of_a_defaultdict(x):
    table = collections.defaultdict(lambda: x, a=2.0)
    table["b"] *= x
    table.update(c=x * x)
    total = table["a"] * table["b"] + table["zz"] + (1.0 if "q" in table else x) + len(table)
    total += table.pop("c") * table.get("q", 3.0) * table.setdefault("d", x)
    del table["a"]
    return total * sum(table[key] for key in table)


@program(1.5)
def ordered_dict(x):
    table = collections.OrderedDict([("a", x), ("b", x * x)])
    table["a"] *= 2.0
    return sum(v * (i + 1) for i, v in enumerate(table.values()))


@program(1.5)
def counted(x):
    names = collections.Counter("abracadabra")
    total = sum(count * x**place for place, (_, count) in enumerate(names.most_common(3))) + names["z"]
    spent = collections.Counter(a=2, b=x)
    spent.update(b=x * x, c=3)
    spent += collections.Counter(["a", "a"])
    left = spent - collections.Counter(names)
    return total * spent["b"] + spent.total() * len(left) * (x if spent == spent | left else 1.0)


@program([0.7, -1.2, 2.1, 0.4, 0.9])
def smallest_from_a_heap(xs):
    heap = []
    for v in xs:
        heapq.heappush(heap, v * v)
    first = heapq.heappop(heap)
    other = [v + 2.0 for v in xs]
    heapq.heapify(other)
    swapped = heapq.heapreplace(other, first * xs[0]) * heapq.heappushpop(other, 3.0)
    return first * 2.0 + heapq.heappop(heap) ** 2 + swapped * other[1]


@program([0.7, 1.2, 0.3, 0.9])
def shortest_way(lengths):
    edges = {0: [(1, 0), (2, 1)], 1: [(3, 2)], 2: [(1, 0), (3, 3)], 3: []}
    distances = {0: 0.0}
    queue = [(0.0, 0)]
    while queue:
        distance, node = heapq.heappop(queue)
        if node == 3:
            return distance**2
        for other, edge in edges[node]:
            further = distance + lengths[edge]
            if other not in distances or further < distances[other]:
                distances[other] = further
                heapq.heappush(queue, (further, other))
    return 0.0


@program(1.3)
def table_lookup(x):
    places, values = [0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 4.0, 9.0]
    i = bisect.bisect(places, x) - 1
    w = (x - places[i]) / (places[i + 1] - places[i])
    bisect.insort(places, x)
    return values[i] * (1 - w) + values[i + 1] * w + places[2] ** 2


@program(1.5, 2.0)
def stack_machine(x, y):
    operations = {"+": operator.add, "*": operator.mul, "-": operator.sub}
    stack = []
    for word in "x y + x * y -".split():
        if word == "x":
            stack.append(x)
        elif word == "y":
            stack.append(y)
        else:
            last = stack.pop()
            stack.append(operations[word](stack.pop(), last))
    return stack.pop()


@program(1.5)
def wrapped_functions(x):
    def doubled(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return 2 * f(*args, **kwargs)

        return wrapper

    @doubled
    def squared(v):
        return v * v

    return squared(x)


@program([2.1, 0.9, 2.5, 3.3, 1.2])
def least_and_greatest_of_some(xs):
    ends = sum(heapq.nsmallest(2, xs, key=lambda v: abs(v - 2))) * heapq.nlargest(1, xs)[0]
    return ends + len(heapq.nsmallest(-1, xs)) + sum(heapq.nlargest(99, (v * v for v in xs)))


@program([2.1, 0.9, 2.5, 3.3, 1.2])
def sums_by_a_key_of_the_data(xs):
    table = {}
    for v in xs:
        table[int(v)] = table.get(int(v), 0) + v * v
    return sum(table.values()) + 10 * table[2] + table.get(7, xs[0])


@program([2.1, 0.9, 2.5, 3.3, 1.2])
def largest_with_a_default(xs):
    return max((v for v in xs if v > 10), default=2 * xs[0]) + min((v for v in xs if v > 2), default=0.0)


@program([2.1, 0.9, 2.5, 3.3, 1.2])
def largest_of_numbered_items(xs):
    place, value = max(enumerate(xs), key=lambda pair: pair[1])
    return xs[place - 1] * value


@program(np.array([2.1, 0.9, 2.5, 3.3, 1.2]))
def places_in_order_of_what_lies_there(x):
    total = 0.0
    for rank, i in enumerate(sorted(range(len(x)), key=lambda i: -x[i])):
        total += rank * x[i] ** 2
    return total


@program(1.5)
def best_of_a_few_by_key(x):
    table = {"a": x, "b": 3 * x, "c": 2 * x}
    name = max(table, key=table.get)
    least = min(table.items(), key=lambda pair: pair[1])
    return table[name] * least[1] + max((x, 3), (2 * x, 1))[0] * max([1, x], [2, x])[1]


@program(1.5)
def dicts_updated_with_pairs(x):
    table = {"a": x}
    table.update([("b", 2 * x), ("a", 3 * x)])
    table.update(zip("cd", [x, x * x], strict=True), e=5 * x)
    name, last = table.popitem()
    shared = dict.fromkeys([1, 2], [x])  # noqa: RUF024
    shared[1].append(3 * x)
    return sum((i + 1) * v for i, v in enumerate(table.values())) * last + sum(shared[2]) * len(name)


@program([2.1, 0.9, 2.5, 3.3, 1.2])
def largest_left_removed_each_time(xs):
    left, total = list(range(len(xs))), 0.0
    while left:
        i = max(left, key=lambda k: xs[k])
        total = total * 0.7 + xs[i]
        left.remove(i)
    values = list(xs)
    values.remove(max(xs))
    return total + sum((i + 1) * v for i, v in enumerate(values))


@program([2.1, 0.9, 2.5, 3.3, 1.2])
def dict_at_run_time_in_order(xs):
    table = {}
    for i, v in enumerate(xs):
        table["abcde"[i]] = v
    name = min(table.keys(), key=lambda key: table[key])
    return table[name] * max(table.values()) + sum(sorted(table.values(), reverse=True)[:2])


@program([1.5, 2.5, 0.3])
def keys_of_a_dict_at_run_time(xs):
    table = {}
    for i, v in enumerate(xs):
        table[2 - i] = v
    first, second, third = table
    names = list(table)
    ranked = sum((i + 1) * table[key] * (key + 1) for i, key in enumerate(sorted(table, key=table.get)))
    return first * xs[0] + 10 * second * xs[1] + 100 * third * xs[2] + names[0] * table[names[1]] + ranked


@program([1.5, 2.5, 0.3])
def pairs_of_places_as_keys(xs):
    table = {(i, j): xs[i] * xs[j] for i in range(len(xs)) for j in range(i)}
    return sum((i + 2 * j) * v for (i, j), v in table.items()) + table[2, 1] * xs[0]


@program(1.5)
def items_of_a_dict_in_order(x):
    table = {"a": x, "b": 3 * x, "c": 2 * x}
    ordered = sorted(table.items(), key=lambda pair: -pair[1])
    return ordered[1][1] * x + sum(v for _, v in ordered[:2])


@program([0.7, -1.3, 2.1, 0.4])
def triples_in_a_heap(xs):
    heap = []
    for i, v in enumerate(xs):
        heapq.heappush(heap, (v * v, i, v))
    total = weight = 1.0
    while heap:
        key, _, v = heapq.heappop(heap)
        total += key * v * weight
        weight *= 1.3 * key
    return total


@program([0.7, -1.3, 2.1, 0.4])
def copies_of_containers_at_run_time(xs):
    rows = [[v] for v in xs]
    same_rows = copy.copy(rows)
    table = {i: v * v for i, v in enumerate(xs)}
    other = copy.copy(table)
    pairs = [(v, v * v) for v in xs]
    apart = copy.deepcopy(pairs)
    rows[0][0] *= 2
    same_rows[1] = [xs[1] * 5]
    table[0] = xs[1]
    pairs[0] = pairs[1]
    total = sum(a[0] * b[0] for a, b in zip(rows, same_rows, strict=True)) + sum(other.values()) * table[0]
    return total + sum(a[0] * b[1] for a, b in zip(pairs, apart, strict=True))


@program(np.array([0.7, -1.3, 2.1, 0.4]))
def shortest_path(x):
    edges = {0: [(1, x[0] ** 2), (2, x[1] ** 2)], 1: [(3, x[2] ** 2)], 2: [(3, x[3] ** 2)], 3: []}
    distance, heap = {0: 0.0}, [(0.0, 0)]
    while heap:
        far, node = heapq.heappop(heap)
        if far > distance.get(node, 1e9):
            continue
        for other, length in edges[node]:
            if far + length < distance.get(other, 1e9):
                distance[other] = far + length
                heapq.heappush(heap, (far + length, other))
    return distance[3]


SECOND = operator.itemgetter(1)
PARTS = operator.attrgetter("inner.size", "scale")


@program(np.array([0.7, -1.3, 2.1, 0.4]))
def getters_of_the_module_operator(x):
    pairs = [(i, v * v) for i, v in enumerate(x)]
    outer = types.SimpleNamespace(inner=types.SimpleNamespace(size=x[0]), scale=x[1])
    size, scale = PARTS(outer)
    total = sorted(pairs, key=SECOND)[0][1] + size * scale
    total += max(pairs, key=operator.itemgetter(1))[1] * sum(operator.itemgetter(1, 3)(x))
    return total * operator.methodcaller("dot", x)(x) + operator.methodcaller("clip", min=-1.0, max=1.0)(x).sum()


# Memos and functions chosen by a class


@program(1.2, 9)
def memo_of_a_recursive_function(x, n):
    @functools.lru_cache(maxsize=64)
    def term(k):
        return x * k if k < 2 else term(k - 1) * 0.5 + term(k - 2) * x

    return term(n) + term(n - 1)


@program(1.2)
def memo_with_keywords(x):
    @functools.cache
    def area(a, b=2.0):
        return x * a * b

    return area(1.0, b=3.0) * area(1.0, b=3.0) + area(x)


@functools.lru_cache
def remembered_square(x):
    return x * x


@program(1.2)
def memo_of_a_module(x):
    return remembered_square(x) * remembered_square(x) + x


@functools.singledispatch
def size_of(a):
    return a


@size_of.register
def _(a: float):
    return a * a


@size_of.register(np.ndarray)
def _(a):
    return np.sum(a**3)


@program(POINTS)
def chosen_by_the_class_of_an_argument(x):
    return size_of(x) + size_of(x[0]) * size_of(3)


@program(POINTS)
def chosen_by_the_class_inside_a_function(x):
    @functools.singledispatch
    def weight(a, power=2):
        return a

    @weight.register(np.ndarray)
    def _(a, power=2):
        return np.sum(a**power)

    @weight.register
    def _(a: int):
        return a * 2

    return weight(x) + weight(x, power=3) * weight(2) + weight(x[1])


@program(1.2)
def object_of_pythons_library_made_of_constants(x):
    normal = statistics.NormalDist(0.5, 2.0)
    return normal.cdf(x) * normal.pdf(x) + normal.zscore(x)


@program(1.2)
def object_of_pythons_library(x):
    normal = statistics.NormalDist(x, x * x)
    return normal.inv_cdf(0.3) * (normal + 1.0).mean + normal.cdf(0.5)


# Dicts of a class of their own


class Table(dict):
    def total(self):
        return sum(self.values())


COUNTS = collections.Counter("abca")
TABLE = Table(a=2.0, b=3.0)
CHAINED = collections.ChainMap({"a": 2.0}, {"b": 3.0})


@program(1.5)
def tables_of_other_classes(x):
    total = sum(x * count for count in COUNTS.values()) + TABLE.total() * x
    for key, value in TABLE.items():
        total = total + x**value * COUNTS.get(key, 0)
    return total * len(TABLE) + sum(x * value for value in CHAINED.values())
