"Gradients of gradients through tuples of arrays and numbers: each place of their shadows has a type of its own."

import dataclasses
import heapq
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import either, right, second

X = np.array([0.7, -0.4, 1.3, 0.2, -1.1])


PROGRAMS: list[Callable[[Any], Any]] = []


def program(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(f)
    return f


@program
def pairs_array_number(x):
    l = []
    for i in range(len(x)):
        l.append((x * x[i], x[i] ** 2))
    s = 0.0
    for i in range(len(l)):
        a, b = l[i]
        s += np.sum(a**2) * b
    return s


@program
def dict_of_pairs(x):
    d = {}
    for i in range(len(x)):
        d[i] = (x[:3] * x[i], x[i])
    return sum((np.sum(a) ** 2 * b for a, b in d.values()))


@program
def triples_in_heap(x):
    h = []
    for i in range(len(x)):
        heapq.heappush(h, (x[i] ** 2, i, [x[i], x[i - 1]]))
    s = 0.0
    while h:
        k, i, l = heapq.heappop(h)
        s += k * l[0] * l[1] ** 2
    return s


@program
def opt_states(x):
    state = [(np.zeros(2), 0) for _ in range(2)]
    ps = [x[:2], x[2:4]]
    for it in range(3):
        new = []
        for p, (m, t) in zip(ps, state):
            g = 2 * p + np.cos(p)
            m = 0.9 * m + 0.1 * g
            t = t + 1
            new.append((m, t))
        state = new
        ps = [p - 0.1 * m / (1 - 0.9**t) for p, (m, t) in zip(ps, state)]
    return sum(np.sum(p**2) for p in ps)


@program
def written_in_tuples(x):
    l = []
    for i in range(len(x)):
        l.append((x * x[i], x[i] ** 2))
    for i in range(len(l)):
        a, b = l[i]
        a *= b
        a[0] += x[i]
    s = 0.0
    for a, b in l:
        s += np.sum(a**2) * b
    return s


@program
def shared_in_tuples(x):
    l = []
    a = x * 2.0
    for i in range(len(x)):
        l.append((a, x[i]))
    for i in range(len(l)):
        l[i][0][i] += l[i - 1][1] * l[i - 2][0][0]
    return sum((np.sum(a * a) * b for a, b in l))


@program
def nested_tuples(x):
    l = []
    for i in range(len(x)):
        l.append((x[i], (x[:2] * x[i], (x[i] ** 2, x[1:]))))
    s = 0.0
    for i in range(len(l)):
        k, (a, (b, c)) = l[i]
        s += k * b * np.sum(a**2) * np.sum(c)
    return s


@program
def tuples_of_lists(x):
    l = []
    for i in range(len(x)):
        l.append(([x[i], x[i] ** 2], x[i]))
    for i in range(len(l)):
        q, b = l[i]
        q[0] *= b
        q.append(b**2)
    return sum((math.prod(q) * b for q, b in l))


@program
def tuples_replaced(x):
    l = [(x * 0.0, 0.0)] * 5
    for i in range(len(x)):
        l[i] = (l[i - 1][0] + x * x[i], l[i - 1][1] + x[i])
    for i in range(len(x)):
        l[i] = (l[i - 1][0] * l[i][1], l[i - 2][1] * x[i])
    return sum((np.sum(a) * b for a, b in l))


@dataclasses.dataclass
class P:
    a: np.ndarray
    b: float


@program
def objects_in_tuples(x):
    l = []
    for i in range(len(x)):
        l.append((P(x * x[i], x[i]), x[i] * 2))
    for i in range(len(l)):
        p, w = l[i]
        p.a = p.a * w
        p.b += w
    return sum((np.sum(p.a**2) * p.b * w for p, w in l))


@program
def branch_tuples(x):
    l = []
    for i in range(len(x)):
        if x[i] > 0:
            l.append((x * x[i], x[i] ** 2, i))
        else:
            l.append((x[::-1] * 1.0, 1.0, 2))
    s = 0.0
    for i in range(len(l)):
        a, b, k = l[-i]
        s += a[k] * b**2
    return s


@program
def while_tuple(x):
    st = (x, 1.0, 0)
    out = []
    while st[1] < 8:
        out.append(st)
        a, w, k = st
        st = (np.sin(a) * w * 0.5 + x[k % 5], w * (1.5 + x[0] ** 2), k + 1)
    return sum((np.sum(a**2) * w for a, w, k in out))


@program
def matrix_pairs(x):
    l = []
    for i in range(3):
        l.append((np.outer(x, x) * x[i], x * x[i], x[i]))
    h = x
    for W, b, s in l:
        h = np.tanh(W @ h + b) * s
    for i in range(len(l)):
        W, b, s = l[i]
        h = h + W[i] * s + b
    return np.sum(h**2)


def layer(p, h):
    W, b = p
    return np.tanh(W * h + b)


@program
def calls_with_pairs(x):
    ps = [(x * x[i], x[i]) for i in range(4)]
    h = x
    for _ in range(2):
        for p in ps:
            h = layer(p, h)
    return np.sum(h)


@program
def dict_values_pairs(x):
    d = {}
    for i in range(len(x)):
        k = f"k{i % 3}"
        d[k] = (d[k][0] * x[i], d[k][1] + 1.0) if k in d else (x * x[i], x[i])
    return sum((np.sum(a**2) * b for a, b in d.values()))


@program
def sorted_pairs(x):
    l = sorted([(x[i] ** 2, x * x[i]) for i in range(len(x))], key=lambda p: p[0])
    s = 0.0
    for i in range(len(l)):
        s += l[i][0] * np.sum(l[i - 1][1] ** 2)
    return s


@program
def swap_pairs(x):
    l = []
    for i in range(len(x)):
        l.append((x * x[i], x[i]))
    for i in range(len(l) - 1):
        if l[i][1] > l[i + 1][1]:
            l[i], l[i + 1] = (l[i + 1], l[i])
    l.insert(1, (x * 3.0, x[0]))
    l.pop()
    l.reverse()
    return sum((np.sum(a**2) * b * (k + 1) for k, (a, b) in enumerate(l)))


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_first_and_second_order(f: Callable[[Any], Any]) -> None:
    right(f, X)
    second(f, X)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_gradient_of_the_gradient(f: Callable[[Any], Any]) -> None:
    weights = np.array([0.3, -1.2, 0.5, 2.0, 0.7])
    holds = either(right, lambda x: np.sum(ad.grad(f)(x) * weights), X, modes=("grad",))
    assert holds or f is swap_pairs  # places of a list are exchanged, and exchanged back by the derivative
