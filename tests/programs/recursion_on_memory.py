"""Functions that call themselves and write arrays, their arguments' or their own; arrays that they return."""

import math

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


@program(normal(3), 4)
def called_on_two_arrays(x, n):
    def shake(a, n):
        if n > 0:
            a[n % 3] *= a[0]
            shake(a, n - 1)

    a, b = x.copy(), x * 2.0
    shake(a, n)
    shake(b, n)
    return np.sum(a * b)


@program(normal(3), 4)
def arguments_exchanged(x, n):
    def mix(a, b, n):
        if n > 0:
            a[n % 3] *= b[0]
            mix(b, a, n - 1)

    a, b, c = x.copy(), x * 2.0, x * 3.0
    mix(a, b, n)
    mix(c, c, n)
    return np.sum(a * b * c)


@program(normal(3), 4)
def list_of_arrays_written_by_recursion(x, n):
    def mix(arrays, n):
        if n > 0:
            arrays[n % 2][0] *= arrays[0][1]
            mix(arrays, n - 1)

    arrays = [x.copy(), x * 2.0]
    before = np.sum(np.sin(arrays[0]) * arrays[1])
    mix(arrays, n)
    return np.sum(arrays[0] * arrays[1]) * before


@program(normal(3), 4)
def read_by_recursion_written_between(x, n):
    def product(a, n):
        return a[0] if n == 0 else a[n % 3] * product(a, n - 1)

    a = x.copy()
    first = product(a, n)
    a[0] = first
    return product(a, n) * product(x, n)


@program(normal(4), 3)
def array_passed_through(x, n):
    def halved(a, n):
        if n == 0:
            return a
        return halved(a * 0.5 + x, n - 1)

    y = halved(x, n)
    return np.sum(y * y)


@program(normal(4), 3)
def array_made_by_recursion_and_written(x, n):
    def built(n):
        if n == 0:
            return np.zeros(4)
        a = built(n - 1)
        b = a + x
        b[n] *= 2.0
        return b

    y = built(n)
    return np.sum(y * y * x)


def levels(x, n):
    if n == 0:
        return x
    y = np.empty(len(x))
    y[1:] = levels(x, n - 1)[:-1]
    y[0] = x[n] * y[1]
    return y


@program(normal(4), 3)
def rows_of_a_triangle(x, n):
    return np.sum(levels(x, n) * levels(x, n - 1) * x)


@program(normal(8), normal(8))
def recursive_transform(real, imag):
    def transform(re, im):
        n = len(re)
        if n == 1:
            return re.copy(), im.copy()
        er, ei = transform(re[::2], im[::2])
        od, oi = transform(re[1::2], im[1::2])
        outr, outi = np.empty(n), np.empty(n)
        for k in range(n // 2):
            c, s = math.cos(2.0 * math.pi * k / n), -math.sin(2.0 * math.pi * k / n)
            tr, ti = c * od[k] - s * oi[k], s * od[k] + c * oi[k]
            outr[k], outi[k] = er[k] + tr, ei[k] + ti
            outr[k + n // 2], outi[k + n // 2] = er[k] - tr, ei[k] - ti
        return outr, outi

    re, im = transform(real, imag)
    return np.sum(re * re * np.arange(8)) + np.sum(im * re)


@program(normal(6))
def merge_sort_that_returns(x):
    def sort(a):
        n = len(a)
        if n < 2:
            return a
        left, right = sort(a[: n // 2]), sort(a[n // 2 :])
        out = np.empty(n)
        i = j = 0
        for k in range(n):
            if j >= len(right) or (i < len(left) and left[i] <= right[j]):
                out[k] = left[i]
                i += 1
            else:
                out[k] = right[j]
                j += 1
        return out

    return np.sum(sort(x) * np.arange(6.0) * x)


@program(normal(4), 3)
def result_of_recursion_written_by_the_caller(x, n):
    def sums(n):
        if n == 0:
            return np.ones(4)
        return sums(n - 1) * x

    y = sums(n)
    y[0] *= 3.0
    z = sums(n)
    z += y
    return np.sum(z * y)


@program(normal(5))
def pair_of_arrays_returned(x):
    def parts(a):
        if len(a) < 2:
            return a, np.zeros(len(a))
        low, _ = parts(a[1:])
        out = np.zeros(len(a))
        out[0] = a[0]
        out[1:] = low * a[0]
        return out, out

    first, second = parts(x)
    return np.sum(first * second)


@program(normal(4), 3)
def tail_handed_on(x, n):
    def walk(a, n):
        if n == 0 or len(a) < 2:
            return a[0]
        a[1:] *= a[:-1].copy()
        return walk(a[1:], n - 1) + a[0]

    a = x.copy()
    total = walk(a, n)
    return total * np.sum(a * x)


@program(normal(4), 3)
def number_and_array_returned(x, n):
    def both(a, n):
        if n == 0:
            return 1.0, a * 2.0
        s, b = both(a * 0.5, n - 1)
        c = b + a
        return s * c[0], c

    s, b = both(x, n)
    b[0] = s
    return np.sum(b * x) * s


@program(normal(4), 3)
def captured_array_written(x, n):
    sums = np.zeros(4)

    def visit(i):
        if i < 0:
            return
        sums[i] += x[i] * sums[(i + 1) % 4] + x[i]
        visit(i - 1)
        sums[0] *= 0.5

    visit(n)
    visit(n)
    return np.sum(sums * x)


@program(normal(4), 4)
def table_of_known_values(x, n):
    known = np.full(5, -1.0)

    def value(i):
        if i < 2:
            return x[i]
        if known[i] > -1.0:
            return known[i]
        known[i] = value(i - 1) * 0.5 + value(i - 2) * x[i % 4] + 2.0
        return known[i]

    return value(n) * value(n - 1)


@program(normal(4), 4)
def dict_of_known_values(x, n):
    known = {}

    def value(i):
        if i in known:
            return known[i]
        result = x[i] if i < 2 else value(i - 1) * 0.5 + value(i - 2) * x[i % 4]
        known[i] = result
        return result

    return value(n) * value(n - 1)


@program(normal(4))
def captured_list_grows(x):
    found = []

    def split(a):
        if len(a) == 1:
            found.append(a[0])
            return
        half = len(a) // 2
        split(a[half:])
        split(a[:half])
        found.append(a[0] * a[-1])

    split(x)
    return sum(v * i for i, v in enumerate(found))


class Counter:
    def __init__(self, value):
        self.value = value
        self.steps = 1.0


@program(normal(4), 3)
def captured_object_written(x, n):
    counter = Counter(x[0])

    def visit(i):
        if i < 0:
            return
        counter.value = counter.value * x[i]
        visit(i - 1)
        counter.steps += counter.value

    visit(n)
    return counter.value * counter.steps


@program(normal(4), 3)
def captured_dict_written(x, n):
    sums = {"all": 0.0}

    def visit(i):
        if i < 0:
            return
        sums["all"] += x[i] * x[i]
        visit(i - 1)

    visit(n)
    return sums["all"] * x[0]


@program(normal(3, 3))
def determinant_by_minors(m):
    def determinant(a):
        n = len(a)
        if n == 1:
            return a[0, 0]
        total = 0.0
        for j in range(n):
            minor = np.empty((n - 1, n - 1))
            minor[:, :j] = a[1:, :j]
            minor[:, j:] = a[1:, j + 1 :]
            total += (-1.0) ** j * a[0, j] * determinant(minor)
        return total

    return determinant(m)


@program(normal(3))
def recursion_in_a_loop(x):
    def spread(a):
        n = len(a)
        if n == 1:
            return a[0]
        total = 0.0
        for j in range(n):
            total += a[j] * spread(a[1:] * 1.0)
        return total

    return spread(x)


@program(normal(4))
def functions_that_call_each_other(x):
    a = x.copy()

    def even(i):
        if i < 4:
            a[i] *= x[0]
            odd(i + 1)

    def odd(i):
        if i < 4:
            a[i] += a[i - 1]
            even(i + 1)

    even(0)
    return np.sum(a * x)


class Satellite:
    def __init__(self):
        self.number = 0


def perturbed(satellite, t, n):
    if n > 0:
        return perturbed(satellite, 0.5 * t, n - 1)
    return t - satellite.drag * satellite.mass


@program(1.2, 0.7)
def parts_that_are_constants(x, t):
    """What is read of an object further down is a constant in the one that is handed there."""
    satellite = Satellite()
    satellite.drag = 0.5
    satellite.mass = x
    satellites = [satellite]
    return perturbed(satellites[int(x) - 1], t, int(3 * x)) + x


class Branch:
    """A node of a tree that knows its parent."""

    def __init__(self, value, *children):
        self.value = value
        self.children = list(children)
        self.parent = None
        for child in children:
            child.parent = self

    def depth(self):
        return 0 if self.parent is None else 1 + self.parent.depth()

    def root(self):
        return self if self.parent is None else self.parent.root()


TREE = Branch(1.0, Branch(2.0, Branch(3.0)), Branch(4.0))


def of_all(node, x):
    total = node.value * x ** node.depth() * node.root().value
    return total + sum(of_all(child, x) for child in node.children)


@program(1.5)
def a_tree_that_knows_its_parents(x):
    return of_all(TREE, x)


@program(1.5)
def a_tree_that_is_made_and_knows_its_parents(x):
    tree = Branch(x, Branch(2 * x, Branch(x * x)), Branch(4.0))
    return of_all(tree, x)


RING = [Branch(value) for value in (1.0, 2.0, 3.0)]
for one, other in zip(RING, [*RING[1:], RING[0]], strict=True):
    one.parent = other


def around(node, turns, x):
    return node.value * x if turns == 0 else node.value * x * around(node.parent, turns - 1, x)


@program(1.1)
def a_ring_of_objects(x):
    return around(RING[0], 5, x)
