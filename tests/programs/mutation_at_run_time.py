"""Lists and dicts whose length or keys are not known before: every method that changes them."""

from dataclasses import dataclass

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@dataclass
class Cell:
    value: float
    parts: list


@program(normal(5))
def insert_at_places_that_vary(x):
    values = []
    for i, v in enumerate(x):
        values.insert(i // 2, v * v)
    values.insert(-1, x[0])
    values.insert(100, x[1])
    return sum(v * i for i, v in enumerate(values))


@program(normal(5))
def sorted_by_insertion(x):
    values = []
    for v in x:
        place = 0
        while place < len(values) and values[place] < v:
            place += 1
        values.insert(place, v)
    return sum(v * v * i for i, v in enumerate(values))


@program(normal(5))
def pop_from_everywhere(x):
    values = [v * 2.0 for v in x]
    first = values.pop(0)
    middle = values.pop(1)
    last = values.pop()
    before_last = values.pop(-2)
    return first * middle + last * before_last + values[0] * first


@program(normal(4))
def queue_of_numbers(x):
    queue = [v for v in x]
    total = 0.0
    for _ in range(6):
        front = queue.pop(0)
        total += front * front
        queue.append(front * queue[0])
    return total + queue[-1]


@program(normal(5))
def delete_items(x):
    values = [v * v for v in x]
    del values[1]
    values[0] *= 3.0
    del values[-1]
    return sum(v * i for i, v in enumerate(values))


@program(normal(5))
def reverse_and_clear(x):
    values = [v * v for v in x]
    values.reverse()
    values[0] *= values[1]
    total = sum(v * i for i, v in enumerate(values))
    values.clear()
    values.append(x[0])
    return total * values[0] + len(values)


@program(normal(5))
def sort_with_key_and_backwards(x):
    values = [v for v in x]
    values.sort(key=lambda v: v * v)
    first = values[0]
    values.sort(reverse=True)
    return first * sum(v * i for i, v in enumerate(values))


@program(normal(6))
def slices_assigned(x):
    values = [v for v in x]
    values[1:3] = [x[0] * x[1]]
    values[:2] = [v * 2.0 for v in values[3:]]
    values[::2] = [v * v for v in values[::2]]
    values[2:2] = [x[5]]
    return sum(v * i for i, v in enumerate(values))


@program(normal(3, 2))
def list_of_arrays_changed(m):
    rows = []
    for i in range(3):
        rows.append(m[i] * 1.0)
    rows.insert(1, m[0] * m[1])
    rows[0] *= rows[1]
    taken = rows.pop(2)
    taken[0] = 0.5
    rows.reverse()
    rows[0][1] = taken[1] * 2.0
    return sum(np.sum(row * m[0]) for row in rows) * np.sum(taken)


@program(normal(3, 2))
def list_of_values_replaced(m):
    rows = []
    for i in range(3):
        rows.append(m[i] * m[i])
    rows[0] = rows[1] + rows[2]
    for i in range(1, 3):
        rows[i] = rows[i - 1] * m[i]
    return np.sum(rows[2] * rows[0])


@program(normal(4))
def dict_of_arrays_with_new_keys(x):
    table = {}
    for i in range(4):
        table[i] = x * x[i]
    table[1] = table[0] * table[2]
    table[0] = x
    return np.sum(table[1] * table[3] * table[0])


@program(normal(4))
def dict_of_written_arrays_with_new_keys(x):
    table = {}
    for i in range(4):
        table[i % 3] = x * x[i]
        table[i % 3][0] += 1.0
        table[0] *= 0.5
    return np.sum(table[0] * table[1] * table[2])


@program(normal(6))
def grouped_sums(x):
    groups = {}
    for i, v in enumerate(x):
        key = i % 3
        if key not in groups:
            groups[key] = 0.0
        groups[key] += v * v
        groups[key] *= 0.9
    total = 0.0
    for key, value in groups.items():
        total += value * value if key else value * x[0]
    return total


@program(normal(6))
def memo_table(x):
    memo = {}
    for i in range(6):
        memo[i] = x[i] if i < 2 else memo[i - 1] * memo[i - 2] + x[i]
    return memo[5]


@program(normal(4))
def objects_that_hold_lists(x):
    cells = []
    for v in x:
        cells.append(Cell(v * v, [v]))
    for i in range(1, 4):
        cells[i].value += cells[i - 1].value
        cells[i].parts.append(cells[i - 1].parts[0] * x[i])
    shared = cells[0].parts
    cells[1].parts = shared
    shared[0] *= 3.0
    return sum(c.value * c.parts[-1] for c in cells) * cells[1].parts[0]


@program(normal(4))
def stack_machine(x):
    stack = []
    for i in range(4):
        stack.append(x[i])
        if x[i] > 0 and len(stack) > 1:
            b, a = stack.pop(), stack.pop()
            stack.append(a * b + 1.0)
    total = 1.0
    while stack:
        total *= stack.pop() + 2.0
    return total


@program(normal(4))
def swap_in_a_list(x):
    values = [v for v in x]
    for i in range(3):
        if values[i] > values[i + 1]:
            values[i], values[i + 1] = values[i + 1], values[i]
        values[i] *= x[0]
    return sum(v * i for i, v in enumerate(values))


@program(normal(4), 3)
def joined_rows_written(x, n):
    rows = [x * (i + 1.0) for i in range(n)]
    stacked = np.vstack(rows)
    beside = np.hstack(rows)
    columns = np.column_stack(rows)
    stacked[0] *= rows[1]
    beside[1:] += beside[:-1]
    columns[:, 0] = x
    rows[0][0] = 5.0
    return np.sum(stacked) + np.sum(beside * beside) + np.sum(columns * columns) + np.sum(rows[0] * x)


@program(1.3, 3)
def list_in_a_chosen_object_grows(x, n):
    cells = []
    for k in range(n):
        cells.append(Cell(x * 2.0, [x * k]))
    chosen = cells[0]
    for cell in cells:
        if cell.parts[0] > 1.0:
            chosen = cell
    chosen.parts.append(x * chosen.value)
    return chosen.parts[1] * chosen.parts[0]


@program(1.3, 3)
def list_in_a_chosen_list_grows(x, n):
    rows = []
    for k in range(n):
        rows.append([[x * k], [x]])
    chosen = rows[0]
    for row in rows:
        if row[0][0] > 1.0:
            chosen = row
    chosen[1].append(x * x)
    return chosen[1][1] * chosen[0][0]


@program(1.3, 3)
def dict_in_a_chosen_list_gets_a_key(x, n):
    rows = []
    for k in range(n):
        rows.append([{0: x * k}])
    chosen = rows[0]
    for row in rows:
        if row[0][0] > 1.0:
            chosen = row
    chosen[0][5] = x * chosen[0][0]
    return chosen[0][5] * chosen[0][0]


@program(normal(4), 4)
def entries_taken_out_of_a_dict(x, n):
    table = {}
    total = 0.0
    for i in range(n):
        table[i] = x[i] * x[i]
        if i > 0:
            total = total + table.pop(i - 1) * table[i]
    table[0] = total * x[1]
    del table[n - 1]
    return table.pop(0) * total + table.pop(7, x[2]) + len(table)


@program(normal(4), 4)
def last_entries_of_a_dict(x, n):
    table = {}
    for i in range(n):
        table[i] = x[i] * 2
    total = 1.0
    while table:
        _, value = table.popitem()
        total = total * value + x[0]
    for i in range(n):
        table[i] = total * x[i]
    table.clear()
    table[1] = total
    return table[1] * x[3]


@program(normal(3), 3)
def arrays_and_lists_taken_out_of_dicts(x, n):
    arrays, lists = {}, {}
    for i in range(n):
        arrays[i] = x * x[i]
        lists[i] = [x[i], x[0]]
    one = arrays.pop(1)
    one[0] = one[1] * 3
    arrays[7] = one
    one[2] *= 2
    pair = lists.pop(1)
    pair.append(x[2] * pair[0])
    return np.sum(arrays[7] * arrays[0]) + pair[2] * pair[1] + sum(lists[0])


class Pair:
    def __init__(self, parts):
        self.parts = parts


ORIGIN = (2.0, 3.0)


@program([0.3, 0.5], 3)
def tuples_replaced_by_known_ones(x, n):
    rows = [(x[0] * i, x[1]) for i in range(n)]
    pairs = [Pair((x[0] * i, x[1])) for i in range(n)]
    shared = (x[1], x[0])
    rows[1], rows[2] = (2.0, 3.0), ORIGIN
    pairs[0].parts = pairs[1].parts = shared
    pairs[1].parts = (4.0, 5)
    return sum(a * b for a, b in rows) * x[0] + sum(p.parts[0] * p.parts[1] for p in pairs)


@program([0.3, 0.5], 3)
def tuples_of_whole_numbers_beside_others(x, n):
    rows, pairs, table = [(1.0, x[0], 0.0)], [Pair((1, n))], {0: (x[0], (1.0, x[1]))}
    for i in range(1, n):
        rows.append((1, x[0], i) if i % 2 else (i, 2, 3))
        pairs.append(Pair((x[0] * i, x[1])))
        table[i] = (i, (2, n))
    rows[0] = (1, n, 2)
    total = sum(a * b * x[1] + c * x[0] for a, b, c in rows)
    for pair in pairs:
        total += pair.parts[0] * pair.parts[1] * x[0]
    return total + sum(a * b * c for a, (b, c) in table.values())


@program([(1.0, 2.0), (2.0, 3.0), (0.5, 1.0)])
def tuples_of_an_argument_replaced(rows):
    rows = list(rows)
    rows[1] = (3, 4)
    return sum(a * b * b for a, b in rows)
