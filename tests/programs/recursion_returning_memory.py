"""Functions that call themselves and return lists, dicts and objects: fresh ones, their arguments, parts of both."""

import math
from dataclasses import dataclass

import numpy as np

from programs.registry import program


def normal(*shape):
    return lambda rng: rng.normal(size=shape)


def numbers(count):
    return lambda rng: rng.normal(size=count).tolist()


def merged(a, b):
    out = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    out.extend(a[i:])
    out.extend(b[j:])
    return out


def merge_sort(a):
    if len(a) <= 1:
        return a
    middle = len(a) // 2
    return merged(merge_sort(a[:middle]), merge_sort(a[middle:]))


def quicksort(a):
    if len(a) <= 1:
        return a
    pivot = a[0]
    less = [item for item in a[1:] if item < pivot]
    more = [item for item in a[1:] if item >= pivot]
    return quicksort(less) + [pivot] + quicksort(more)


@program(numbers(6))
def list_sorted_by_merging(a):
    return [k * item * item for k, item in enumerate(merge_sort(a))]


@program(normal(6))
def list_sorted_around_pivots(x):
    ordered = quicksort([item * item for item in x])
    return sum(k * item for k, item in enumerate(ordered)) * ordered[0]


@program(numbers(6))
def the_function_itself_is_recursive(a):
    if len(a) <= 1:
        return a
    middle = len(a) // 2
    left, right = the_function_itself_is_recursive(a[:middle]), the_function_itself_is_recursive(a[middle:])
    return [left[-1] * right[0], *left, *right]


@program(numbers(5))
def sorted_list_and_argument_written(a):
    ordered = quicksort(a)
    a[0] = ordered[1] * ordered[2]
    ordered[0] *= a[1]
    return sum(k * item for k, item in enumerate(a)) * ordered[0]


@program(numbers(1))
def argument_that_comes_back_written(a):
    ordered = quicksort(a)
    a[0] = ordered[0] * 2.0
    return ordered[0] * a[0]


@program(numbers(5))
def merging_by_pop(a):
    def sort(a):
        if len(a) <= 1:
            return a
        middle = len(a) // 2
        left, right = sort(a[:middle])[::-1], sort(a[middle:])[::-1]
        out = []
        while left and right:
            out.append(left.pop() if left[-1] <= right[-1] else right.pop())
        return out + left[::-1] + right[::-1]

    return sum(k * item * item for k, item in enumerate(sort(a)))


def fourier(re, im):
    n = len(re)
    if n == 1:
        return re, im
    even_re, even_im = fourier(re[0::2], im[0::2])
    odd_re, odd_im = fourier(re[1::2], im[1::2])
    out_re, out_im = [0.0] * n, [0.0] * n
    for k in range(n // 2):
        c, s = math.cos(2 * math.pi * k / n), -math.sin(2 * math.pi * k / n)
        turned_re = c * odd_re[k] - s * odd_im[k]
        turned_im = s * odd_re[k] + c * odd_im[k]
        out_re[k], out_im[k] = even_re[k] + turned_re, even_im[k] + turned_im
        out_re[k + n // 2], out_im[k + n // 2] = even_re[k] - turned_re, even_im[k] - turned_im
    return out_re, out_im


@program(normal(4))
def fourier_transform_of_lists(x):
    re, im = fourier(list(x), [0.0] * 4)
    return sum(k * (a * a + b * b) for k, (a, b) in enumerate(zip(re, im, strict=True)))


@program(numbers(4))
def fourier_transform_of_complex_numbers(values):
    def transform(values):
        n = len(values)
        if n == 1:
            return values
        even, odd = transform(values[0::2]), transform(values[1::2])
        turned = [complex(math.cos(2 * math.pi * k / n), -math.sin(2 * math.pi * k / n)) * o for k, o in enumerate(odd)]
        return [e + t for e, t in zip(even, turned, strict=True)] + [e - t for e, t in zip(even, turned, strict=True)]

    result = transform([complex(value, value * value) for value in values])
    return sum((k + 1) * abs(item) ** 2 for k, item in enumerate(result))


def matrix_product(a, b):
    n = len(a)
    if n == 1:
        return [[a[0][0] * b[0][0]]]
    h = n // 2

    def quarter(m, i, j):
        return [row[j : j + h] for row in m[i : i + h]]

    def total(p, q):
        return [[x + y for x, y in zip(r, s, strict=True)] for r, s in zip(p, q, strict=True)]

    halves = []
    for i in (0, h):
        parts = [
            total(
                matrix_product(quarter(a, i, 0), quarter(b, 0, j)), matrix_product(quarter(a, i, h), quarter(b, h, j))
            )
            for j in (0, h)
        ]
        halves += [left + right for left, right in zip(*parts, strict=True)]
    return halves


@program(normal(4, 4), normal(4, 4))
def product_of_nested_lists(a, b):
    m = matrix_product([[v * 1.0 for v in row] for row in a], [[v * 1.0 for v in row] for row in b])
    return sum((i + 2 * j) * item**2 for i, row in enumerate(m) for j, item in enumerate(row))


def powers(x, n):
    if n == 0:
        return [1.0]
    found = powers(x, n - 1)
    found.append(found[-1] * x)
    return found


@program(1.3, 5)
def list_that_each_level_makes_longer(x, n):
    found = powers(x, n)
    found[0] = found[2] * x
    return sum(k * item for k, item in enumerate(found))


@program(1.3, 4)
def two_calls_with_the_same_arguments(x, n):
    one, other = powers(x, n), powers(x, n)
    one[0] = x * x
    other[1] *= one[0]
    return one[0] * one[1] + other[0] * other[1]


@program(numbers(5), 3)
def one_list_twice_in_the_result(a, n):
    def pair(n):
        if n == 0:
            row = [a[0], a[1]]
            return row, row
        p, q = pair(n - 1)
        p[0] *= a[2]
        return q, p

    p, q = pair(n)
    p[0] = p[1] * q[0]
    return p[0] * q[0] + q[1]


@program(numbers(3), 3)
def lists_exchanged_in_the_result(a, n):
    def both(n):
        if n == 0:
            return [a[0]], [a[1]]
        p, q = both(n - 1)
        p.append(q[0] * a[2])
        return q, p

    p, q = both(n)
    p[0] *= q[0]
    return sum(p) * sum(q)


@program(numbers(3), 3)
def memory_made_without_what_varies(a, n):
    def pair(n):
        if n == 0:
            row = [0.0, 1.0]
            return row, row
        return pair(n - 1)

    p, q = pair(n)
    p[0] = a[0] * a[1]
    return q[0] * q[0] + q[1] * a[2]


@program(numbers(5), 3)
def rows_that_share_lists(a, n):
    def rows(n):
        if n == 0:
            row = [a[0], a[1]]
            return [row, row]
        found = rows(n - 1)
        found[0][0] *= a[2]
        found.append(found[0])
        found[1] = [found[1][0], found[1][1] * a[3]]
        return found

    found = rows(n)
    found[0][1] *= 2.0
    return sum(row[0] * row[1] * (k + 1) for k, row in enumerate(found))


@program(numbers(5), 4)
def dict_filled_by_recursion(a, n):
    def fill(n):
        if n == 0:
            return {"a": a[0], "b": a[1]}
        found = fill(n - 1)
        found["a"] = found["a"] * found["b"]
        found["b"] += a[n]
        return found

    found = fill(n)
    return found["a"] * found["b"]


@program(numbers(5))
def lists_in_a_dict(a):
    def groups(i):
        if i == len(a):
            return {0: [], 1: []}
        found = groups(i + 1)
        found[i % 2].append(a[i] * a[0])
        if i == 2:
            found[0], found[1] = found[1], found[0]
        return found

    found = groups(0)
    found[0][0] *= 3.0
    return sum(item * (k + 1) for k, item in enumerate(found[0])) * sum(found[1])


@program(numbers(4), 4)
def list_dict_and_number(a, n):
    def both(n):
        if n == 0:
            return [a[0]], {"s": a[1]}, 1.0
        items, sums, scale = both(n - 1)
        items.append(items[-1] * sums["s"])
        sums["s"] += items[0]
        return items, sums, scale * a[2]

    items, sums, scale = both(n)
    return items[-1] * sums["s"] * scale


@dataclass
class Body:
    position: float
    velocity: float


@program(numbers(3), 3)
def object_that_comes_back(a, n):
    def walk(body, n):
        if n == 0:
            return body
        if n % 2:
            body.position = body.position * body.velocity
            return walk(body, n - 1)
        return walk(Body(body.velocity, body.position * a[0]), n - 1)

    body = Body(a[0], a[1])
    last = walk(body, n)
    last.position *= 2.0
    body.velocity = a[2] * last.position
    return body.position * body.velocity + last.position * last.velocity


@program(numbers(4), 4)
def functions_that_hand_lists_to_each_other(a, n):
    def even(items, out, n):
        if n == 0:
            return out
        out.append(items[n % len(items)])
        return odd(items, out, n - 1)

    def odd(items, out, n):
        if n == 0:
            return out
        items[0] = items[0] * out[-1]
        return even(out, items, n - 1)

    found = even(a, [a[0]], n)
    found.append(a[1] * found[0])
    return sum(item * (k + 1) for k, item in enumerate(found)) + a[0]


def scaled(a, n):
    if n == 0:
        return a
    b = [item * a[0] for item in a]
    b[0] += a[1]
    return scaled(b, n - 1)


@program(numbers(4), 3)
def results_kept_in_a_list(a, n):
    kept = []
    for k in range(n):
        kept.append(scaled(a, k % 2))
    total = 0.0
    while kept:
        last = kept.pop()
        last[0] *= 1.1
        total += last[0] * last[1]
    return total + a[0]


@program(numbers(4), 3)
def list_carried_by_a_loop(a, n):
    for k in range(n):
        a = scaled(a, k)
        a[1] *= 0.5
        if a[0] > 1e3:
            break
    return sum(a)


@program(numbers(4), 2)
def called_on_some_paths(a, n):
    if a[0] > 0:
        b = scaled(a, n)
        b[1] *= 2.0
    else:
        b = a
    for k in range(2):
        c = scaled(b, k) if a[k] > 0 else [a[0], a[1], a[2]]
        b[0] += c[1]
    return b[0] * c[0] * a[2]


@program(numbers(5), 3)
def left_early(a, n):
    def search(a, n):
        for k in range(len(a)):
            if n == 0:
                return a
            if a[k] < 0:
                return search([item * item for item in a], n - 1)
        return [item * a[1] for item in a]

    return sum(item * k for k, item in enumerate(search(a, n)))


class Relaxation:
    def __init__(self, rate):
        self.rate = rate

    def run(self, a, n):
        if n == 0:
            return a
        return self.run([item * self.rate + 0.1 for item in a], n - 1)


@program(0.8, numbers(4), 3)
def method_that_returns_a_list(rate, a, n):
    return sum(item * item for item in Relaxation(rate).run(a, n))


@program(numbers(3))
def permutations(a):
    def orders(a):
        if len(a) <= 1:
            return [a]
        out = []
        for i in range(len(a)):
            for rest in orders(a[:i] + a[i + 1 :]):
                out.append([a[i], *rest])
        return out

    return sum(p[0] * p[1] ** 2 * math.sin(p[2]) for p in orders(a))


@program(numbers(4))
def products_of_subsets(a):
    def subsets(i):
        if i == len(a):
            return [[]]
        rest = subsets(i + 1)
        return rest + [[a[i], *items] for items in rest]

    total = 0.0
    for items in subsets(0):
        product = 1.0
        for item in items:
            product *= item
        total += product * product
    return total


@program(numbers(3), 3)
def search_with_a_path(a, n):
    found, path = [], []

    def walk(i):
        if i == n:
            found.append(list(path))
            return found
        for scale in (1.0, 2.0):
            path.append(a[i] * scale)
            walk(i + 1)
            path.pop()
        return found

    walk(0)[0][0] = a[1]
    return sum(p[0] * p[1] * p[2] for p in found)


@program(normal(4), 3)
def list_of_arrays(x, n):
    def parts(a, n):
        if n == 0:
            return [a]
        found = parts(a * x[n], n - 1)
        found.append(a + x)
        return found

    found = parts(x, n)
    found[1][0] *= 2.0
    found[0] = found[1] * found[2]
    return sum(np.sum(part * part) * (k + 1) for k, part in enumerate(found))


@program(normal(4), 3)
def list_of_arrays_that_are_written(x, n):
    def parts(a, n):
        if n == 0:
            return [a]
        b = a.copy()
        b[n] *= x[0]
        found = parts(b, n - 1)
        a[0] += 1.0
        found.append(a)
        found[0][1] *= b[0]
        return found

    found = parts(x * 1.0, n)
    found[1][0] *= 2.0
    return sum(np.sum(part * part) * (k + 1) for k, part in enumerate(found))


@program(numbers(3), 3)
def result_is_ignored(a, n):
    def grow(items, n):
        if n > 0:
            items.append(items[-1] * a[n % 3])
            grow(items, n - 1)
        return items

    items = [a[0]]
    grow(items, n)
    total = items[0] * items[2]
    grow(items, n)
    return total


@program(numbers(3), 3)
def error_handled_on_the_way(a, n):
    def step(items, n):
        if n == 0:
            return items
        try:
            factor = items[n + 10]
        except IndexError:
            factor = items[0] * 2.0
        return step([item * factor for item in items], n - 1)

    return sum(step(a, n))


def squares(a, n):
    total = 0.0
    for i in range(len(a)):
        total += a[i] ** 2
    return [total] if n == 0 else [total, *squares(a[:-1], n - 1)]


@program(numbers(5), 2)
def argument_read_and_written_later(a, n):
    found = squares(a, n)
    a[0] = 100.0
    a[1] = found[1]
    a[2] = a[1] * found[0]
    return a[2] + found[2]


@program(numbers(4), 2)
def result_read_and_written_later(a, n):
    found = squares(a, n)
    again = squares(found, n - 1)
    found[0] = 3.0
    found.pop()
    return again[0] * again[1] * found[1]


def grown(items, n):
    return items if n == 0 else grown([*items, items[-1] * 1.5], n - 1)


@program(1.3, 3)
def list_that_each_call_makes_longer(x, n):
    items = grown([x], n)
    items[0] *= x
    return sum(items)


@program(numbers(5), 3)
def paths_that_grow(a, n):
    found = []

    def walk(path, i):
        if i == n:
            found.append(path)
            return path
        walk([*path, a[i]], i + 1)
        return walk([*path, a[i] * 2.0], i + 1)

    last = walk([], 0)
    last[0] *= a[4]
    return sum(p[0] * p[1] * p[2] for p in found)


@program(numbers(5), 3)
def objects_that_get_more(a, n):
    def step(bodies, n):
        if n == 0:
            return bodies
        new = [Body(body.position * body.velocity, body.velocity + 0.1) for body in bodies]
        bodies[0].position = new[0].position * 0.5
        new.append(bodies[0])
        return step(new, n - 1)

    bodies = [Body(a[0], a[1]), Body(a[2], a[3])]
    last = step(bodies, n)
    last[-1].position *= a[4]
    total = sum(body.position * (k + 1) + body.velocity for k, body in enumerate(last))
    return total + bodies[0].position


class Count:
    def __init__(self, value, steps):
        self.value = value
        self.steps = steps


@program(1.3, 3)
def object_that_counts(x, n):
    def step(count, n):
        if n == 0:
            return count
        return step(Count(count.value * x, count.steps + 1), n - 1)

    last = step(Count(x, 0), n)
    return last.value * last.steps


@program(numbers(4), 0)
@program(numbers(4), 1)
@program(numbers(4), 3)
def nothing_or_a_list(a, n):
    def found(n):
        if n == 0:
            return None
        items = found(n - 1)
        if items is None:
            return [a[0]]
        items.append(items[-1] * a[n])
        return items

    items = found(n)
    if items is None:
        return a[0] * 2.0
    items[0] *= 2.0
    return sum(items)


@program([1.0, -2.0, 3.0, 4.0], 3)
@program([-1.0, -2.0, -3.0, -4.0], 3)
def best_so_far(a, n):
    def pick(best, n):
        if n == 0:
            return best
        if a[n] > 0 and (best is None or a[n] > best[0]):
            best = [a[n] * a[0], a[n]]
        return pick(best, n - 1)

    best = pick(None, n)
    if best is None:
        return a[0]
    best[0] *= 2.0
    return best[0] * best[1]


@program(numbers(4), 3)
def object_with_a_list_that_grows(a, n):
    def step(s, n):
        if n == 0:
            return s
        s.steps.append(s.value * a[n])
        s.value = s.steps[0] * s.value
        return step(Count(s.value * 2.0, s.steps) if n % 2 else s, n - 1)

    first = Count(a[1], [a[0]])
    last = step(first, n)
    last.steps[0] *= 3.0
    last.value += 1.0
    return sum(first.steps) * last.value + first.value
