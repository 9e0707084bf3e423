"""Lists that grow, shrink or are put in another order while a loop goes through them."""

import numpy as np

from programs.registry import program

V = np.array([0.7, -0.4, 1.3, 0.2, -1.1])


@program(V)
def bfs(x):
    adj = {0: [1, 2], 1: [3], 2: [3, 4], 3: [4], 4: []}
    dist = {0: x[0] ** 2}
    order = [0]
    for u in order:
        for w in adj[u]:
            nd = dist[u] + x[u] * x[w]
            if w not in dist:
                dist[w] = nd
                order.append(w)
            elif nd < dist[w]:
                dist[w] = nd
    return sum(v * v for v in dist.values())


@program(V)
def grow(x):
    items = [x[0], x[1]]
    for v in items:
        if len(items) < 8:
            items.append(v * x[len(items) % 5])
    return sum(v * v for v in items)


@program(V)
def grow_enum(x):
    items = [x[0], x[1]]
    for i, v in enumerate(items):
        if len(items) < 8:
            items.append(v * x[i % 5])
    else:
        items.append(x[0])
    return sum(v * v for v in items)


@program(V)
def shrink(x):
    items = list(x)
    s = 0.0
    for v in items:
        s = s * 1.1 + v * v
        if v < 0:
            items.remove(v)
        if s > 5:
            break
    return s + sum(items)


@program(V)
def pop_in(x):
    items = [v * v for v in x]
    s = 1.0
    for v in items:
        s += v * items.pop()
    return s


@program(V)
def zipped(x):
    items = [x[0]]
    s = 0.0
    for a, b in zip(items, x):
        items.append(a * b)
        s += a
    return s


@program(V)
def inserted(x):
    items = [x[0], x[1]]
    for v in items:
        if len(items) > 6:
            break
        items.insert(0, v * x[2] + 1)
    return sum((i * v for i, v in enumerate(items)))


def work(items, k):
    for v in items:
        if len(items) < k:
            items.append(v * v)


@program(V)
def in_function(x):
    items = list(x[:2])
    work(items, 4)
    work(items, 6)
    m = [x[2]]
    work(m, 3)
    return sum(items) * sum(m)


@program(V)
def nested(x):
    rows = [[x[0], x[1]]]
    for r in rows:
        for v in r:
            if len(r) < 4:
                r.append(v * x[2])
        if len(rows) < 3:
            rows.append([r[-1], r[0] * x[3]])
    return sum(sum(r) ** 2 for r in rows)


@program(V)
def tail(x):
    todo = [(0, 5)]
    s = 0.0
    for a, b in todo:
        if b - a > 1:
            m = (a + b) // 2
            todo.append((a, m))
            todo.append((m, b))
        s += np.sum(x[a:b]) ** 2 * 0.5
    return s


@program(V)
def long_lists_of_one_item(x):
    table, rows, marks = [0.0] * 70, [[0.0] * 66 for _ in range(3)], [None] * 80
    for i in range(5):
        table[i * 3] = x[i] * x[0]
        rows[i % 3][i] = table[i] + x[i]
        marks[i] = i
    table[66:68] = [x[1], x[2] ** 2]
    chosen = [k for k in marks if k is not None]
    return sum(table) * rows[1][4] + sum(rows[k % 3][k] for k in chosen) ** 2


@program([0.5, 1.5, -0.7])
def lists_of_unknown_length_repeated(x):
    thrice = x * 3
    thrice[4] *= x[0]
    return sum(a * a for a in thrice) + sum((2 * x)[2:4])
