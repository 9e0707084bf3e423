"""Which object is which, in functions that stay functions and are handed others in each call."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from adjoint.testing import check_grads
from frontend.kept_functions import as_usual_and_kept, layer
from fuzz.inlining import repeating


class K:
    def __init__(self, k):
        self.k = k

    def times(self, y):
        return math.sin(self.k * y)

    def up(self, y):
        self.k += y
        return self.k * y

    def set(self, k):
        self.k = k
        return self

    def me(self):
        return self


LAW, OTHER = layer(0.3, 0.2), layer(0.3, 0.2)


def pick(f, y):
    return f(y) * 2.0 if f is LAW else f(y) + math.sin(y)


def functions(x):
    return pick(LAW, x) * pick(OTHER, x) + pick(LAW, 2 * x)


def functions_the_other_way(x):
    return pick(OTHER, x) * pick(LAW, x)


def pair(f, g, y):
    return f(y) * 3.0 if f is g else f(y) + g(y)


def two_functions(x):
    l = layer(x, 1.0)
    m = layer(x, 1.0)
    return pair(l, m, x) * pair(l, l, x) * pair(m, l, x) * pair(m, m, 2 * x)


def of_two(a, b, y):
    return a.k * y if a is b else (a.k + b.k) * math.sin(y)


def objects(x):
    a, b = K(x), K(1.0)
    return of_two(a, b, x) * of_two(a, a, x) * of_two(b, a, x) * of_two(b, b, x)


def by_receiver(f, o, y):
    return o.k * y if f.__self__ is o else f(y) * o.k


def receivers(x):
    a, b = K(x), K(2.0)
    return by_receiver(a.times, a, x) * by_receiver(a.times, b, x) * by_receiver(b.times, b, x)


def then_read(f, o, y):
    return f(y) + o.k


def methods_that_write(x):
    a, b = K(x), K(2.0)
    return then_read(a.up, a, x) * then_read(a.up, b, x) * then_read(b.up, b, x) + a.k * b.k


def both(f, g, y):
    return f(y) * g(y + 1.0) + f(y)


def methods_that_write_and_read(x):
    a, b = K(x), K(2.0)
    return both(a.up, a.times, x) * both(a.up, b.times, x) + a.k


def go(n, a, b, y):
    s = a.k * y if a is b else 2 * b.k * math.sin(y)
    return s if n == 0 else s * go(n - 1, b, b, y + 0.5)


def same_in_recursion(x):
    return go(int(x) + 2, K(x), K(2.0), x)


def equal_in_recursion(x):
    n = int(x)

    def go(n, a, b, y):
        s = a.k * y if a == b else 2 * b.k * math.sin(y)
        return s if n <= 0 else s * go(n - 1, b, b, y + 0.5)

    return go(n + 2, K(x), K(1.0), x)


def member(o, os, y):
    return o.k * y if o in os else math.sin(y) * o.k


def membership(x):
    a, b = K(x), K(1.0)
    return member(a, [a, b], x) * member(a, [b], x) * member(b, [b, a], x)


def same_as_captured(x):
    a, b = K(x), K(1.0)

    def g(o, y):
        return o.k * y if o is a else math.sin(y)

    return g(a, x) * g(b, x)


def same_method(f, g, y):
    return f(y) * 3 if f is g else g(y)


def methods(x):
    a, b = K(x), K(2.0)
    f = a.times
    return same_method(f, f, x) * same_method(a.times, b.times, x) * same_method(f, a.times, x)


def keys(x):
    a, b = K(x), K(2.0)
    d = {a: x, b: 2.0}

    def g(o, y):
        return d[o] * o.k * y

    return g(a, x) * g(b, x)


def keys_handed_over(x):
    a, b = K(x), K(2.0)

    def g(d, o, y):
        return d[o] * o.k * y

    return g({a: x, b: 2.0}, a, x) * g({a: 2.0, b: x}, b, x)


def lists(x):
    def g(p, q, y):
        return p[0] * y if p is q else q[0] * math.sin(y)

    p, q = [x], [2.0]
    return g(p, q, x) * g(p, p, x) * g(q, q, x)


def by_id(x):
    def g(p, q, y):
        return p.k * y if id(p) == id(q) else q.k * math.sin(y)

    p, q = K(x), K(2.0)
    return g(p, q, x) * g(p, p, x) * g(q, q, x)


def arrays(x):
    def g(p, q, y):
        return p[0] * y if p is q else q[0] * math.sin(y)

    p, q = np.array([x]), np.array([2.0])
    return g(p, q, x) * g(p, p, x) * g(q, q, x)


def by_index(x):
    def g(os, o, y):
        return os.index(o) * y + o.k

    a, b = K(x), K(2.0)
    return g([a, b], a, x) * g([a, b], b, x) * g([b, b, a], a, x)


def in_sets(x):
    def g(a, b, y):
        return len({a, b}) * y * a.k

    a, b = K(x), K(2.0)
    return g(a, b, x) * g(a, a, x)


def inner_and_outer(x):
    a, b = K(x), K(2.0)

    def g(o, y):
        def h(p):
            return p.k * y if p is o else p.k * math.sin(y)

        return h(a) * h(b) * h(o)

    return g(a, x) * g(b, x)


def made_in_a_loop(x):
    def g(a, b, y):
        return a.k * y if a is b else b.k * math.sin(y)

    s = 1.0
    for i in range(3):
        o = K(x * i)
        s = s * (g(o, o, x) + 1) * (g(o, K(1.0), x) + 1)
    return s


@dataclass(eq=False)
class Tree:
    v: float
    left: object = None


def root_of_a_tree(x):
    def f(t, root, y):
        s = t.v * y if t is root else t.v * math.sin(y)
        return s if t.left is None else s * f(t.left, root, y)

    t = Tree(x, Tree(2.0, Tree(x * x)))
    return f(t, t, x) * f(t.left, t, x)


def one_of_two_returned(x):
    def g(o, p, y):
        return (o if y > 0.5 else p), y * o.k

    a, b = K(x), K(2.0)
    r, s = g(a, b, x)
    return s * r.k * (1.0 if r is a else x)


def argument_returned(x):
    def g(o, y):
        return o, y * o.k

    a, b = K(x), K(2.0)
    r, s = g(a, x)
    q, t = g(b, x)
    return s * r.k * (1.0 if r is a else x) * (2.0 if q is a else x) * t


def returned_and_changed(x):
    def g(o, y):
        return o, y * o.k

    a = K(x)
    r, s = g(a, x)
    r.k = 3 * x
    return s * a.k


def returned_by_setters(x):
    a = K(x)
    b = a.set(2 * x).set(a.k * x)
    return a.k * b.k


def returned_by_a_method(x):
    a = K(x)
    b = a.me()
    b.k = 2 * x
    return a.k * b.k * (1.0 if a is b else x)


def captured_and_returned(x):
    a = K(x)

    def g(y):
        return a, y * a.k

    r, s = g(x)
    q, t = g(2 * x)
    return s * t * (1.0 if r is q else x) * (1.0 if r is a else x)


def method_returned(x):
    a = K(x)

    def g(o, y):
        return o.times, y * o.k

    f, s = g(a, x)
    h, t = g(K(2.0), x)
    return f(x) * h(x) * s * t


def method_returned_of_what_changes(x):
    a = K(x)

    def g(o, y):
        return o.times, y * o.k

    f, s = g(a, x)
    a.k = 3 * x
    return f(x) * s


def list_returned(x):
    def g(l, y):
        return l, l[0] * y

    l = [x]
    r, s = g(l, x)
    r[0] = 2 * x
    return l[0] * s


def keyed_by_id(x):
    p, q = K(x), K(x)
    d = {id(p): x, id(q): 2 * x}
    return d[id(q)] * (x * 2 if id(p) in {id(p)} else x * 3)


def keyed_by_hash(x):
    p, q = K(x), K(x)
    d = {hash(p): x, hash(q): 2 * x}
    return d[hash(q)]


def lists_by_id(x):
    p = [x]
    q = p
    return x * 2 if id(p) == id(q) else x * 3


def evaluated_once(x):
    leaf, memo = K(x), {}

    def value(node):
        if id(node) not in memo:
            memo[id(node)] = node.k * x
        return memo[id(node)]

    return value(leaf) * value(K(2.0)) * value(leaf)


@dataclass(frozen=True)
class Key:
    n: int
    v: float


def own_hashes(x):
    p, q = Key(1, x), Key(1, x)
    return x * 2 if hash(p) == hash(q) else x * 3


CASES: list[Callable[..., Any]] = [
    functions,
    functions_the_other_way,
    two_functions,
    objects,
    receivers,
    methods_that_write,
    methods_that_write_and_read,
    same_in_recursion,
    equal_in_recursion,
    membership,
    same_as_captured,
    methods,
    keys,
    keys_handed_over,
    lists,
    by_id,
    arrays,
    by_index,
    in_sets,
    inner_and_outer,
    made_in_a_loop,
    root_of_a_tree,
    one_of_two_returned,
    argument_returned,
    returned_and_changed,
    returned_by_setters,
    returned_by_a_method,
    captured_and_returned,
    method_returned,
    method_returned_of_what_changes,
    list_returned,
    keyed_by_id,
    keyed_by_hash,
    lists_by_id,
    evaluated_once,
    own_hashes,
]


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
@as_usual_and_kept
def test_objects_are_told_apart_as_in_each_call(function: Any, most: int | None) -> None:
    with repeating(most):
        check_grads(function, (0.7,), order=2)
