"""The containers of `collections`, and decorators of `functools`."""

import bisect
import collections
import functools
import heapq
import operator

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
