"""Containers of active values: built, indexed, unpacked, changed."""

import math
from typing import NamedTuple

import numpy as np

from programs.registry import program


@program(2.0, 3.0)
def tuple_pack_unpack(x, y):
    p = (x * y, x + y)
    a, b = p
    return a * b + p[0]


@program(2.0, 3.0)
def nested_unpack(x, y):
    (a, (b, c)), d = ((x, (y, x * y)), 2.0)
    return a * b + c * d


@program([1.0, 2.0, 3.0, 4.0])
def starred_unpack(xs):
    first, *middle, last = xs
    return first * last + sum(middle) * first


@program((1.0, 2.0, 3.0))
def tuple_argument(p):
    x, y, z = p
    return x * y * y + z


@program(((1.0, 2.0), 3.0))
def nested_tuple_argument(p):
    (x, y), z = p
    return x * y**z


@program((1.0, 2.0, 3.0))
def tuple_slice_and_negative(p):
    tail = p[1:]
    return tail[0] * tail[1] * p[-1] + len(tail)


@program((1.0, 2.0), (3.0, 4.0))
def tuple_concatenation(p, q):
    r = p + q + (p[0] * q[0],)
    return r[0] * r[3] + r[4] ** 2


@program(2.0)
def tuple_repeat(x):
    p = (x, 1.0) * 2
    return p[0] * p[2] + p[1]


@program([1.0, 2.0, 3.0])
def list_index(xs):
    return xs[0] * xs[1] + xs[-1] ** 2


@program([1.0, 2.0, 3.0], 1)
def list_variable_index(xs, i):
    return xs[i] * xs[i - 1] * xs[i + 1]


@program([1.0, 2.0, 3.0])
def list_slices(xs):
    a = xs[1:]
    b = xs[:-1]
    return a[0] * b[0] + a[1] * b[1] + len(xs[::2])


@program([1.0, 2.0], [3.0])
def list_concatenation(xs, ys):
    zs = xs + ys + [4.0 * xs[0]]
    return zs[0] * zs[1] * zs[2] + zs[3]


@program(2.0)
def list_repeat(x):
    xs = [x] * 3
    return xs[0] * xs[1] * xs[2]


@program(2.0, 3.0)
def list_item_assignment(x, y):
    xs = [x, y, 1.0]
    xs[0] = xs[0] * xs[1]
    xs[2] = xs[0] + x
    return xs[0] * xs[2]


@program(2.0, 3.0)
def list_swap(x, y):
    xs = [x, y]
    xs[0], xs[1] = xs[1], xs[0]
    return xs[0] * xs[0] * xs[1]


@program(2.0)
def list_augmented_item(x):
    xs = [x, 1.0]
    xs[1] += x
    xs[1] *= xs[1]
    return xs[1]


@program([1.0, 2.0, 3.0])
def list_copied_then_changed(xs):
    ys = list(xs)
    ys[0] = ys[1] * ys[2]
    return ys[0] * xs[0]


@program([3.0, 1.0, 2.0])
def list_argument_changed(xs):
    xs[0] = xs[0] * xs[1]
    return xs[0] * xs[2]


@program(2.0)
def list_alias(x):
    a = [x, x]
    b = a
    b[0] = x * x
    return a[0] * b[1]


@program({"rate": 2.0, "scale": 3.0})
def dict_argument(p):
    return p["rate"] * p["scale"] ** 2


@program({"rate": 2.0, "name": "fast", "steps": 3})
def dict_with_inactive(p):
    y = 1.0
    for _ in range(p["steps"]):
        y = y * p["rate"]
    return y if p["name"] == "fast" else -y


@program({"layer": {"w": 2.0, "b": 1.0}, "gain": 0.5}, 0.3)
def nested_dict_argument(p, x):
    return math.tanh(p["layer"]["w"] * x + p["layer"]["b"]) * p["gain"]


@program(2.0, 3.0)
def dict_display(x, y):
    d = {"x": x, "y": y}
    d["z"] = d["x"] * d["y"]
    d["x"] = d["z"] * 2.0
    return d["x"] + d["z"] * d["y"]


@program(2.0)
def dict_update_in_loop(x):
    d = {"total": 0.0, "power": 1.0}
    for i in range(4):
        d["power"] *= x
        d["total"] += d["power"] / (i + 1)
    return d["total"]


@program({"a": 2.0})
def dict_get(p):
    return p.get("a", 1.0) * p.get("b", 3.0)


@program(2.0, 3.0)
def dict_constructor_and_merge(x, y):
    a = dict(x=x, y=y)
    b = {**a, "y": x * y}
    return b["x"] * b["y"] + a["y"]


@program({"a": 2.0, "b": 3.0})
def dict_membership(p):
    if "c" in p:
        return p["c"]
    return p["a"] * p["b"] + len(p)


@program([[1.0, 2.0], [3.0, 4.0]])
def list_of_lists(m):
    return m[0][0] * m[1][1] - m[0][1] * m[1][0]


@program(2.0)
def list_of_lists_changed(x):
    m = [[x, 1.0], [0.0, x]]
    m[0][1] = x * m[1][1]
    m[1] = [m[0][0], m[0][1]]
    return m[1][1] * m[0][0]


@program([{"w": 1.0, "b": 0.5}, {"w": -0.5, "b": 0.2}], 0.7)
def list_of_dicts(layers, x):
    for layer in layers:
        x = math.tanh(layer["w"] * x + layer["b"])
    return x


@program({"w": [1.0, 2.0], "b": (0.5, 0.1)})
def dict_of_containers(p):
    return p["w"][0] * p["b"][1] + p["w"][1] ** 2 * p["b"][0]


@program(lambda rng: {"w": rng.normal(size=(2, 3)), "b": rng.normal(size=2)}, lambda rng: rng.normal(size=3))
def dict_of_arrays(p, x):
    return np.sum(np.tanh(p["w"] @ x + p["b"]))


@program(2.0)
def tuple_in_loop(x):
    state = (x, 1.0)
    for _ in range(4):
        state = (state[1], state[0] * 0.5 + state[1] * x)
    return state[0] * state[1]


@program(2.0, 3.0)
def tuple_in_branch(x, y):
    p = (x, y) if x < y else (y, x)
    a, b = p
    return a * a * b


@program(2.0, 3.0)
def returns_list(x, y):
    return [x * y, x, 1.0]


@program(2.0, 3.0)
def returns_dict_of_tuple(x, y):
    return {"a": (x * y, y), "n": 3}


@program((2.0, 3.0))
def returns_argument(p):
    return p


@program([1.0, (2.0, {"k": 3.0})])
def deep_structure(s):
    a, (b, d) = s
    return a * b * d["k"]


@program([2.0, 1.0])
def list_methods_inactive(xs):
    names = ["b", "a"]
    names.sort()
    k = names.index("b")
    return xs[k] * xs[0] + names.count("a")


@program(2.0)
def zipped_to_dict(x):
    d = dict(zip(["a", "b"], [x, x * x]))
    return d["a"] * d["b"]


@program(np.array([0.3, -0.7, 1.2]))
def dict_display_of_run_time_keys(v):
    p = {f"w{i}": x for i, x in enumerate(v)}
    q = {"w0": 1.0, "first": v[0], **p, "w1": p["w0"] * 3, **{"last": v[2]}}
    return sum(x * len(k) for k, x in q.items()) * q["w1"]


@program(np.array([0.3, -0.7, 1.2]))
def dicts_of_run_time_keys_copied_and_merged(v):
    p = {f"w{i}": x for i, x in enumerate(v)}
    q = p.copy()
    q.update(w2=q["w1"] * q["w2"])
    r = dict(p, w0=q["w2"]) | q
    known = {"w0": 1.0, "other": v[1]}
    known.update(r)
    r["w1"] *= 2.0
    return sum(known.values()) * p["w1"] + r["w1"] * known["w1"]


@program([0.7, -1.3, 2.1, 0.4])
def slices_are_deleted(xs):
    rows = [[v] for v in xs]
    first = rows[0]
    del rows[1:3]
    first[0] *= 3
    rows[1][0] *= xs[0]
    others = list(xs)
    del others[3:0:-2], others[-1:]
    known = [xs[0], xs[1], xs[2], xs[0] * xs[1]]
    del known[1:3], known[-1]
    return first[0] * rows[0][0] + rows[1][0] + sum((i + 1) * v for i, v in enumerate(others)) + known[0] * len(rows)


@program([0.7, -1.3, 2.1, 0.4])
def pairs_of_an_index_and_a_number(xs):
    """The second number of each pair varies; which pair it is, is known at run time."""
    pairs = [(1, xs[0] ** 2), (2, xs[1] ** 2)]
    table = {0: [(1, xs[2] ** 2), (2, xs[0] ** 2)], 1: [(3, xs[3] ** 2)]}
    total, place = 0.0, 0
    while place < len(xs) // 2:
        count, weight = pairs[place]
        total += weight * count
        for times, each in table[place]:
            total += each * times * weight
        place += 1
    return total


class Reading(NamedTuple):
    count: int
    value: float

    def squared(self):
        return self.value * self.value

    @property
    def twice(self):
        return 2.0 * self.value


@program(np.array([0.7, -1.3, 2.1, 0.4]))
def named_tuples_at_run_time(x):
    readings = [Reading(i, v * v) for i, v in enumerate(x)]
    total = 0.0
    for reading in readings:
        count, value = reading
        total += count * value + reading[1] * reading.twice + len(reading) * isinstance(reading, Reading) * value
    readings.sort(key=lambda reading: reading.value)
    readings.append(readings[0]._replace(value=x[3]))
    table = {i: reading for i, reading in enumerate(readings)}
    table[1] = Reading(table[1].count + 1, table[2].value * table[1].squared())
    return total + max(readings).value + sum(each.count * each.value for each in table.values())


@program([Reading(1, 0.5), Reading(2, 0.7)])
def list_of_named_tuples(readings):
    return sum(reading.count * reading.value * reading.squared() for reading in readings)


@program([(0.5, 1.2, 3), (0.7, -0.4, 2)], 3)
def items_of_rows_at_places_known_late(rows, n):
    total = 0.0
    for row in rows:
        for j in range(n):
            total += row[j] ** 2 * row[-1 - j]
    return total


@program(np.array([0.5, 1.2, 2.3]), 3)
def items_of_made_rows_at_places_known_late(x, n):
    rows = [(x[i], x[i] ** 2, i) for i in range(n)]
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += rows[i][j] ** 2
    return total


@program(np.array([0.7, -1.3, 2.1, 0.4]))
def known_named_tuples_chosen_at_run_time(x):
    readings = [Reading(1, x[0] ** 2), Reading(3, x[1] ** 3)]
    total = 0.0
    for i in range(len(x) // 2):
        total += readings[i].count * readings[i].value * readings[i - 1].squared()
    return total


@program(np.array([[1.1, 2.1, 1.2, 2.15], [3.1, 4.2, 3.15, 0.5]]))
def keys_of_unknown_length(x):
    sums, corners = {}, {(0, (1, 3)): x[0, 0]}
    for i in range(x.shape[1]):
        key = tuple(x[:, i].astype(int))
        if key not in sums:
            sums[key] = x[0, i]
        sums[key] += x[1, i] * sums.get(key, 0.5) + sums.setdefault(tuple(int(v) for v in x[:, 0]), 1.0)
        corners[i, key] = sums[key] * x[1, i]
    return sums.pop(key) * sum(sums.values()) + sum(v * v for v in corners.values())
