"""Writes of which the derivative would be lost."""

import collections
import json

import adjoint as ad
import numpy as np

best = 0.0
CACHE = {}
HISTORY = []
BUFFER = np.zeros(3)


class Settings:
    pass


SETTINGS = Settings()


#: ad.grad(global_variable)(2.0)
def global_variable(x):
    global best
    best = x * x
    return best


#: ad.grad(global_dict)(2.0)
def global_dict(x):
    CACHE["x"] = x * x
    return CACHE["x"]


#: ad.grad(global_list)(2.0)
def global_list(x):
    HISTORY.append(x * x)
    return x * 2


#: ad.grad(global_array)(2.0)
def global_array(x):
    BUFFER[0] = x
    return BUFFER[0] * x


#: ad.grad(global_object)(2.0)
def global_object(x):
    SETTINGS.last = x * x
    return x * 2


#: ad.grad(shuffled)(np.ones(3), np.random.default_rng(0))
def shuffled(x, rng):
    rng.shuffle(x)
    return x[0]


#: ad.grad(list_grows)([1.0, 2.0])
def list_grows(items):
    for item in items:
        items.append(0.5 * item)
    return sum(items)


#: ad.grad(local_list_grows)(2.0)
def local_list_grows(x):
    items = [x, 2 * x]
    total = 0.0
    for item in items:
        if len(items) < 4:
            items.append(item * x)
        total += item
    return total


#: ad.grad(list_shrinks)(2.0, 4)
def list_shrinks(x, n):
    items = [x * i for i in range(n)]
    total = 0.0
    for i, item in enumerate(items):
        total += item * i
        items.pop()
    return total


#: ad.grad(list_extended_by_helper)(2.0)
def grow(items, x):
    items.extend([x])


def list_extended_by_helper(x):
    items = [x, 2 * x]
    total = 0.0
    for item in items:
        grow(items, x)
        total += item
    return total


#: ad.grad(dict_grows)({"a": 1.0, "b": 2.0})
def dict_grows(table):
    total = 0.0
    for key in table:
        table[key + "!"] = 2.0
        total += table[key]
    return total


#: ad.grad(stored_in_counter)(2.0)
def stored_in_counter(x):
    counter = collections.Counter()
    counter["x"] = x * x
    return counter["x"] * x


#: ad.grad(stored_in_deque)(2.0)
def stored_in_deque(x):
    queue = collections.deque()
    queue.append(x * x)
    return queue[0] * x


#: ad.grad(stored_in_set)(2.0)
def stored_in_set(x):
    return sum({x, x * 2})


#: ad.grad(float_into_integers)(2.0)
def float_into_integers(x):
    y = np.array([0, 0, 0])
    y[0] = x * x
    return y.sum() * x


#: ad.grad(float_into_integers_in_place)(2.0)
def float_into_integers_in_place(x):
    y = np.arange(3)
    y += x
    return y.sum() * x


#: ad.grad(overlapping, wrt=(0, 1))(*[BUFFER, BUFFER])
def overlapping(x, out):
    for i in range(3):
        out[i] = x[i] * 2.0
    return out.sum()


#: ad.grad(unknown_kind_in_place)(2.0, "[1.0, 2.0]")
def unknown_kind_in_place(x, text):
    total = 0.0
    for value in json.loads(text):
        total += value * x
    return total


#: ad.grad(next_of_iterator)([1.0, 2.0])
def next_of_iterator(values):
    stream = iter(values)
    return next(stream) * 2.0


#: ad.grad(generator_argument)(i * 1.0 for i in range(3))
def generator_argument(values):
    return sum(values)


#: ad.grad(iterator_argument)(iter([1.0, 2.0]))
def iterator_argument(values):
    total = 0.0
    for value in values:
        total += value
    return total
