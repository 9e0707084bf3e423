"""Copies of containers with what lies in them, and dicts that are made of what is known at run time only."""

import copy
from collections import defaultdict
from types import SimpleNamespace

import numpy as np

from programs.registry import program


@program([[1.0, 2.0], [3.0, 4.0]])
def deepcopy_nested(g):
    h = copy.deepcopy(g)
    h[0][0] *= 2.0
    return g[0][0] * h[0][0] + h[1][1] ** 2


@program(2.0, 3)
def deepcopy_runtime(x, n):
    g = []
    for i in range(n):
        g.append([x * i, x**i])
    h = copy.deepcopy(g)
    for r in h:
        r[0] = r[0] * 3.0
    return sum(a[0] * b[0] + a[1] * b[1] for a, b in zip(g, h))


@program(2.0, 3)
def deepcopy_shared(x, n):
    row = [x, x * x]
    g = []
    for i in range(n):
        g.append(row if i % 2 == 0 else [x * i, 1.0])
    h = copy.deepcopy(g)
    h[0][0] = x**3
    return h[2][0] * g[0][0] + h[1][0] + (5.0 * x if h[0] is h[2] else 0.0)


@program(2.0, 3)
def deepcopy_dict_runtime(x, n):
    d = {}
    for i in range(n):
        d[i] = [x * i, x]
    e = copy.deepcopy(d)
    e[1][0] = x**3
    return d[1][0] * e[1][0] + e[2][0]


@program(2.0, 3)
def deepcopy_grid_swap(x, n):
    grid = [[x + i * j for j in range(n)] for i in range(n)]
    for step in range(2):
        new = copy.deepcopy(grid)
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                new[i][j] = 0.25 * (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1])
        grid = new
    return grid[1][1] ** 2


@program(2.0, 3)
def deepcopy_arrays(x, n):
    a = [np.ones(2) * x * i for i in range(n)]
    b = copy.deepcopy(a)
    b[1][0] = x**2
    return np.sum(a[1] * b[1]) + b[2][1]


@program(2.0, 3)
def dict_of_dd(x, n):
    dd = defaultdict(float)
    for i in range(n):
        dd[i % 2] += x**i
    d = dict(dd)
    d[0] *= 2
    return d[0] * dd[1] + dd[0]


@program({"a": 1.0, "b": 2.0})
def dict_sorted(d):
    e = dict(sorted(d.items(), key=lambda kv: -kv[1]))
    s = 0.0
    for i, (k, v) in enumerate(e.items()):
        s += (i + 1) * v**2
    return s


@program(2.0, 3)
def dict_pairs(x, n):
    pairs = []
    for i in range(n):
        pairs.append((i, x**i))
    d = dict(pairs, z=x)
    return d[1] * d[2] + d["z"]


class Particle:
    __slots__ = ["hits", "trail", "x"]

    def __init__(self, x, trail=None):
        self.x, self.trail, self.hits = x, trail, 0


@program([0.5, 1.5, -0.7])
def copies_of_objects_of_a_list(x):
    particles = [Particle(v, [v * v, 1.0]) for v in x]
    best = [Particle(0.0, [0.0]) for _ in range(2)]
    for p in particles:
        if p.x > best[0].x:
            best[0] = copy.copy(p)
            best[0].x *= 2.0
    best[0].trail[0] *= x[0]
    best[1] = copy.copy(particles[len(x) - 1])
    best[1].hits += 1
    moved = list(map(copy.copy, best))
    for p in moved:
        p.x = p.x * p.trail[0] + p.hits
    return sum(p.x * p.trail[0] for p in particles) + sum(p.x * q.x for p, q in zip(best, moved, strict=True))


@program([0.5, 1.5, -0.7])
def deep_copies_of_objects_of_a_list(x):
    particles = [Particle(v) for v in x]
    particles.append(particles[0])
    others, table = copy.deepcopy(particles), copy.deepcopy({"a": particles[1]})
    others[0].x *= 3.0 * x[1]
    table["a"].hits += 2
    return sum(p.x**2 * (k + 1) for k, p in enumerate(others)) + particles[0].x * table["a"].x * table["a"].hits


@program(1.5)
def copies_of_namespaces(x):
    one = SimpleNamespace(a=np.ones(2), b=x)
    same, other = copy.copy(one), copy.deepcopy(one)
    same.a[0] = x
    other.a[1] = x * x
    same.b = 3 * x
    return np.sum(one.a) * one.b + np.sum(other.a) * other.b + same.b
