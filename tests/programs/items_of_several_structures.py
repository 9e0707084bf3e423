"""Containers, and attributes of objects at run time, that hold values of several structures."""

import math
from collections import defaultdict, deque
from dataclasses import dataclass

import numpy as np

from programs.registry import program

VALUES = np.array([1.1, -2.0, 3.0, 0.5])


@program(VALUES)
def filled_where_positive(x):
    found = [None] * len(x)
    for i in range(len(x)):
        if x[i] > 0:
            found[i] = x[i] ** 2
    total = 0.0
    for each in found:
        if each is not None:
            total += each
    return total


@program(VALUES)
def numbers_arrays_and_tuples(x):
    found = [None] * (len(x) + 1)
    for i in range(len(x)):
        if x[i] > 0:
            found[i] = x * x[i]
        else:
            found[i] = (x[i], x)
    total = 0.0
    for each in found:
        if each is None:
            continue
        if isinstance(each, tuple):
            total += each[0] * np.sum(each[1])
        else:
            total += np.sum(each**2)
    return total


@program(VALUES)
def table_of_results(x):
    memo = [None] * len(x)

    def f(i):
        if memo[i] is not None:
            return memo[i]
        value = x[i] if i < 2 else f(i - 1) * x[i] + f(i - 2)
        memo[i] = value
        return value

    return f(len(x) - 1)


@program(VALUES)
def rows_of_none(x):
    n = len(x)
    table = [[None] * (n + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(n + 1):
            if i == 0 or j == 0:
                table[i][j] = 0.0
            else:
                table[i][j] = table[i - 1][j] + table[i][j - 1] * x[i - 1] + x[j - 1]
    return table[n][n]


@program(VALUES)
def buffers_made_late(x):
    buffers = [None] * 2
    for i in range(len(x)):
        if buffers[i % 2] is None:
            buffers[i % 2] = np.zeros(3)
        buffers[i % 2][0] += x[i]
        buffers[i % 2][1] = x[i] ** 2
    return np.sum(buffers[0] ** 2) + np.sum(buffers[1])


@program(VALUES)
def augmented_where_there(x):
    sums = [None] * 2
    for i, v in enumerate(x):
        if sums[i % 2] is None:
            sums[i % 2] = x * v
        else:
            sums[i % 2] += x
    return np.sum(sums[0] * sums[1])


@dataclass
class Circle:
    radius: float

    def area(self):
        return math.pi * self.radius**2


@dataclass
class Rectangle:
    a: float
    b: float

    def area(self):
        return self.a * self.b


@program(VALUES)
def shapes_of_two_classes(x):
    shapes = []
    for v in x:
        if v > 0:
            shapes.append(Circle(v))
        else:
            shapes.append(Rectangle(v, v + 1))
    return sum(shape.area() for shape in shapes)


@program(VALUES)
def shapes_in_places(x):
    places = [None] * (len(x) + 1)
    for i, v in enumerate(x):
        places[i] = Circle(v) if v > 0 else Rectangle(v, 2.0)
    total = 0.0
    for shape in places:
        if shape is None:
            continue
        total += shape.area()
    return total


class Leaf:
    def __init__(self, value):
        self.value = value

    def at(self, x):
        return self.value


class Sum:
    def __init__(self, left, right):
        self.left, self.right = left, right

    def at(self, x):
        return self.left.at(x) + self.right.at(x)


@program(VALUES)
def terms_by_name(x):
    terms = {}
    for i, v in enumerate(x):
        terms[f"term {i}"] = Leaf(v) if i % 2 else Sum(Leaf(v), Leaf(v * v))
    return sum(term.at(x) for term in terms.values())


@program(VALUES)
def stack_of_tuples(x):
    stack = []
    for v in x:
        if v < 0:
            stack.append(("minus", v))
        else:
            stack.append(("product", v, v * 2))
    total = 0.0
    while stack:
        item = stack.pop()
        if item[0] == "minus":
            total -= item[1]
        else:
            total += item[1] * item[2]
    return total


@program(VALUES)
def numbers_among_texts(x):
    tokens = []
    for i, v in enumerate(x):
        tokens.append(v)
        tokens.append("+" if i % 2 else "*")
    total, operation = 0.0, "+"
    for token in tokens:
        if isinstance(token, str):
            operation = token
        else:
            total = total + token if operation == "+" else total * token
    return total


@program(VALUES)
def records_of_several_forms(x):
    records = []
    for v in x:
        if v > 0:
            records.append({"kind": "one", "value": v})
        else:
            records.append({"kind": "two", "value": v, "weight": v * v})
    total = 0.0
    for record in records:
        if record["kind"] == "one":
            total += record["value"]
        else:
            total += record["weight"] * record["value"]
    return total


@program(VALUES)
def lists_beside_a_number(x):
    groups = {}
    for i, v in enumerate(x):
        groups.setdefault(f"group {i % 2}", []).append(v)
    groups["factor"] = 3.0
    return sum(groups["group 0"]) * sum(groups["group 1"]) * groups["factor"]


@program(VALUES)
def results_by_name(x):
    results = {}
    for i in range(len(x)):
        if i == 0:
            results[f"result {i}"] = np.sum(x)
        elif i == 1:
            results[f"result {i}"] = x**2
        else:
            results[f"result {i}"] = None
    total = 0.0
    for value in results.values():
        if value is not None:
            total += np.sum(value)
    return total


@program(VALUES)
def pairs_of_which_one_is_none(x):
    pairs = [(None, x[0])]
    for i in range(1, len(x)):
        pairs.append((x[i - 1], x[i]))
    total = 0.0
    for before, now in pairs:
        total += now if before is None else before * now
    return total


@program(VALUES)
def queue_of_pairs(x):
    queue = deque()
    for v in x:
        queue.append((v, None) if v > 0 else (v, [v, 2 * v]))
    total = 0.0
    while queue:
        v, more = queue.popleft()
        total += v if more is None else v * more[1]
    return total


@program(VALUES)
def grouped(x):
    groups = defaultdict(list)
    for i, v in enumerate(x):
        groups[i % 2].append(v if v > 0 else (v, v))
    total = 0.0
    for items in groups.values():
        for item in items:
            total += item[0] * item[1] if isinstance(item, tuple) else item
    return total


class Best:
    def __init__(self):
        self.value = None
        self.count = 0

    def see(self, value):
        self.count += 1
        if self.value is None or value > self.value:
            self.value = value


@program(VALUES)
def attribute_that_is_none_at_first(x):
    found = []
    for _ in range(2):
        found.append(Best())
    for i, v in enumerate(x):
        found[i % 2].see(v * v)
    return found[0].value * found[1].value * found[0].count


@dataclass
class Mass:
    m: float
    kept: object = None

    def squared(self):
        if self.kept is None:
            self.kept = self.m**2
        return self.kept


@program(VALUES)
def attribute_that_keeps_a_result(x):
    masses = [Mass(v) for v in x]
    return sum(mass.squared() * mass.squared() for mass in masses)


@program(VALUES)
def entries_that_are_none(x):
    table = {}
    for i in range(len(x)):
        table[i] = {"value": x[i], "extra": None}
        if i % 2:
            table[i]["extra"] = x[i] ** 2
    total = 0.0
    for entry in table.values():
        total += entry["value"]
        if entry["extra"] is not None:
            total += entry["extra"]
    return total


@program(VALUES)
def copied_and_changed(x):
    found = [None] * 4
    found[2] = x[2]
    copy, part, other = list(found), found[:], found.copy()
    copy[2] = x[0] * 2
    return copy[2] * part[2] + other[2]


@program(VALUES)
def handed_to_numpy_once_full(x):
    found = [None] * len(x)
    for i in range(len(x)):
        found[i] = x[i] ** 2
    return np.sum(np.array(found) ** 2) + sum(found) * max(found) + sorted(found)[1]


@program(VALUES)
def put_together_and_turned(x):
    found = [None] * 2 + [v for v in x]
    found[0] = x[1] * 2
    found.reverse()
    return sum((i + 1) * v for i, v in enumerate(found) if v is not None)


@program(VALUES)
def kept_where_positive(x):
    found = [v if v > 0 else None for v in x]
    there = [v for v in found if v is not None]
    return sum(there) / len(there)


@program(VALUES)
def written_under_a_condition_in_a_loop(x):
    y = x[0] if len(x) > 5 else x * 2
    total = 0.0
    for i in range(3):
        if i > 0:
            total += y * x[i]
    return np.sum(total)


@program(VALUES)
def objects_with_another_name(x):
    shapes, last = [], None
    for i, v in enumerate(x):
        if i % 2:
            circle = Circle(v)
            shapes.append(circle)
            last = circle
        else:
            shapes.append(Rectangle(v, v * v))
    last.radius = last.radius * 3
    return sum(shape.area() for shape in shapes) + last.radius


@program(VALUES)
def arrays_with_another_name(x):
    found, buffer = [None] * 4, np.zeros(2)
    for i in range(4):
        if i % 2:
            found[i] = buffer
        buffer[0] += x[i]
        if i == 2:
            buffer[1] = x[0] * x[1]
    total = 0.0
    for each in found:
        if each is not None:
            total += np.sum(each**2)
    return total


@program(VALUES)
def arrays_written_where_there(x):
    found = [None] * 4
    for i in range(4):
        if x[i] > 0:
            found[i] = np.array([x[i], 1.0])
    for i in range(4):
        each = found[i]
        if each is not None:
            each[0] *= x[0]
            each[1] += x[i]
    return sum(np.sum(each**2) for each in found if each is not None)


@program(VALUES)
def objects_written_by_class(x):
    shapes = [Circle(v) if v > 0 else Rectangle(v, 2.0) for v in x]
    for shape in shapes:
        if isinstance(shape, Rectangle):
            shape.b = shape.b * x[0]
            shape.a = shape.a + x[1]
        else:
            shape.radius = shape.radius + x[1]
    return sum(shape.area() for shape in shapes)


@program(VALUES)
def lists_that_grow_and_shrink(x):
    items = []
    for v in x:
        items.insert(0, v if v > 0 else None)
    del items[1]
    items.append(None)
    items.extend([x[0], None])
    items[0:1] = [None, x[2]]
    return sum((i + 1) * v for i, v in enumerate(items) if v is not None)


@program(VALUES)
def what_is_missing_or_none(x):
    table = {}
    for i, v in enumerate(x):
        try:
            table[i % 3] = table[i % 3] * v
        except KeyError:
            table[i % 3] = v
        except TypeError:
            table[i % 3] = 1.0
        if i == 1:
            table[i % 3] = None
    return sum(v for v in table.values() if v is not None)


@program(VALUES)
def lists_in_lists_of_any_depth(x):
    def made(i, depth):
        return x[i % 4] if depth == 0 else [made(i, depth - 1), made(i + 1, depth - 1)]

    def total(item):
        return total(item[0]) * 2 + total(item[1]) if isinstance(item, list) else item * item

    return total(made(0, 3))


@program(VALUES)
def sorted_with_none_at_the_end(x):
    items = [v if v > 0 else None for v in x]
    items.sort(key=lambda v: (v is None, v if v is not None else 0.0))
    return items[0] * 2 + items[1]


@program(VALUES)
def changed_places(x):
    items = [None] * 4
    for i in range(4):
        items[i] = x[i]
    for i in range(3):
        if items[i] > items[i + 1]:
            items[i], items[i + 1] = items[i + 1], items[i]
    return items[0] * 2 + items[3]


class Grid:
    def __init__(self, n):
        self.cells = [[None] * n for _ in range(n)]
        self.total = 0.0

    def put(self, i, j, value):
        self.cells[i][j] = value
        self.total += value

    def beside(self, i, j):
        n, total = len(self.cells), 0.0
        for a, b in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if 0 <= a < n and 0 <= b < n and self.cells[a][b] is not None:
                total += self.cells[a][b]
        return total


@program(VALUES)
def cells_of_an_object(x):
    grid = Grid(3)
    for k, v in enumerate(x):
        grid.put(k % 3, (k * 2) % 3, v * v)
    return sum(grid.beside(i, j) * (i + 1) for i in range(3) for j in range(3)) * grid.total
