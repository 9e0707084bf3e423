"""Lists in machine code: parts of them, and lists that are read before anything was put on them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad


def parts_of_lists(x: Any, i: int, j: int) -> Any:
    items = [x[0]]
    for k in range(1, len(x)):
        items.append(x[k] * items[k - 1])
    total = 0.0
    for part in (items[i:], items[:j], items[i:j], items[j:i:-1], items[::-2], items[-i:]):
        for k in range(len(part)):
            total += part[k] * (k + 1)
    return total


@pytest.mark.parametrize(("i", "j"), [(1, 4), (-2, 9), (0, -1)])
def test_parts_of_lists(i, j, own):
    x = np.linspace(0.3, 1.7, 6)
    found, expected = (ad.value_and_grad(parts_of_lists, native=native)(x, i, j) for native in ("strict", False))
    assert found[0] == pytest.approx(parts_of_lists(x, i, j)) and own
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-13)


def gathered(x: Any) -> Any:
    total: list[Any] = []
    for i in range(len(x)):
        if len(total):
            total[0] = total[0] + x[i] * x[i]
        else:
            total.append(x[i])
    return total[0]


def test_a_list_is_read_above_where_it_is_filled(own):
    x = np.array([0.4, 1.2, 2.0])
    assert ad.grad(gathered, native="strict")(x).tolist() == ad.grad(gathered)(x).tolist() == [1.0, 2.4, 4.0]
    assert own


def one_of_two_lists(x: Any, c: int) -> Any:
    items = [1, 2] if c > 0 else [0.5, 1.5]
    return x * items[0] + items[c]


def rows_of_whole_numbers_and_of_floats(x: Any, n: int) -> Any:
    rows = [[1, 2], [3, 4]]
    rows.append([0.5 * n, 1.5])
    total = 0.0
    for i in range(len(rows)):
        total += x * rows[i][n]
    return total


def columns_that_lie_apart_or_not(x: Any, n: int) -> Any:
    columns: list[Any] = [] if n > 2 else [np.ones((3, 2))[:, 0]]
    for _ in range(2):
        columns.append(np.full(3, x))
    if n == 1:
        columns = [np.full((3, 5), x)[:, 0]]
    return np.sum(columns[-1]) * columns[0][1]


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "function", [one_of_two_lists, rows_of_whole_numbers_and_of_floats, columns_that_lie_apart_or_not]
)
def test_lists_of_items_of_several_kinds_meet(function, n):
    if n == 3 and function is not columns_that_lie_apart_or_not:
        return
    found, expected = (ad.value_and_grad(function, native=native)(2.0, n) for native in ("strict", False))
    assert found == expected


def sums_of_slices(a):
    items = []
    for i in range(6):
        items.append(a[i % 4] * (i + 1))
    total = sum(items[1:4]) + items[3:][0]
    for part in (items[:3], items[-2:], items[2:-1], items[4:2], items[-9:9]):
        for value in part:
            total += value * value
    copy = items[1:4]
    copy[0] = copy[1] * 2
    return total + sum(copy) + items[1]


def test_slices_of_lists():
    x = np.array([0.7, -0.4, 1.3, 0.55])
    np.testing.assert_allclose(ad.grad(sums_of_slices, native="strict")(x), ad.grad(sums_of_slices)(x), rtol=1e-12)


def layers(ps: Any, x: Any) -> Any:
    total = 0.0
    for (w, b), factor, count in ps:
        for _ in range(count):
            x = np.tanh(w @ x + b) * factor
        total += np.sum(x) * factor
    return total


def pairs(ps: Any, x: Any) -> Any:
    total = x[0]
    for a, z in ps:
        total = np.sin(total * a) + (z * total * (1.0 + 2.0j)).real
    return total


def numbers_and_rows(x: Any) -> Any:
    items = [(x[i : i + 3] * 2.0, x[i] * x[i]) for i in range(len(x) - 3)]
    total = 0.0
    for _ in range(3):
        for row, number in items:
            total += np.sum(row) * number * np.sin(total) + number
    return total


class Layer(NamedTuple):
    w: np.ndarray
    factor: float
    count: int = 2


def named(ps: Any, x: Any) -> Any:
    for p in ps:
        for _ in range(p.count):
            x = np.tanh(p.w @ x) * p.factor
    return np.sum(x)


def edges_of_nodes(x: Any, start: Any) -> Any:
    edges = {0: [(1, x[0] ** 2), (2, x[1] ** 2)], 1: [(2, x[2])], 2: []}
    far, waiting = {0: start[0]}, [0]
    while waiting:
        node = waiting.pop()
        for other, length in edges[node]:
            if far[node] + length < far.get(other, 1e9):
                far[other] = far[node] + length
                waiting.append(other)
    return far[2] * far[1]


def _flat(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [type(value), *(part for item in value for part in _flat(item))]
    return [None] if value is None else np.ravel(value).tolist()


_RNG = np.random.default_rng(3)
_X = _RNG.normal(size=3)
_LAYERS = [((_RNG.normal(size=(3, 3)), _RNG.normal(size=3)), factor, 2) for factor in (0.5, 1.5)]
_TIED = [((_LAYERS[0][0][0], bias), 0.5, 1) for bias in (_X, _X + 1)]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (layers, (_LAYERS, _X)),
        (layers, (_TIED, _X)),
        (pairs, ([(0.3, 0.2 + 0.1j), (0.7, 1j)], _X)),
        (numbers_and_rows, (np.linspace(0.1, 0.5, 7),)),
        (edges_of_nodes, (np.array([0.3, 1.2, 0.4]), _X)),
        (named, ([Layer(w, factor) for (w, _), factor, _ in _LAYERS], _X)),
    ],
)
def test_tuples_of_several_kinds_in_lists(function, args, own):
    wrt = tuple(range(len(args)))
    found, expected = (ad.grad(function, wrt, native=native)(*args) for native in ("strict", False))
    assert own or args[0] is _TIED  # one array at two places has one cotangent, which Python sees to
    assert [part for part in _flat(found) if not isinstance(part, (float, complex))] == [
        part for part in _flat(expected) if not isinstance(part, (float, complex))
    ]
    numbers = [[part for part in _flat(each) if isinstance(part, (float, complex))] for each in (found, expected)]
    np.testing.assert_allclose(*numbers, rtol=1e-12)


def memoised(x: Any) -> Any:
    known: dict[Any, Any] = {}

    def term(i: int) -> Any:
        if i < 2:
            return x[i]
        if i not in known:
            known[i] = np.sin(term(i - 1)) + 0.3 * term(i - 2) + x[i]
        return known[i]

    total = 0.0
    for i in range(len(x)):
        total += term(i) * len(known)
    return total


def counted(x: Any) -> Any:
    sums: dict[str, Any] = {}
    for i in range(len(x)):
        name = "even" if i % 2 == 0 else "odd"
        if name in sums:
            sums[name] += x[i] * x[i]
        else:
            sums[name] = x[i]
    return sums["even"] * sums["odd"]


def missing(x: Any) -> Any:
    table = {}
    for i in range(len(x)):
        table[i] = x[i]
    return table[len(x)]


def test_dicts_of_python(own):
    x = np.linspace(0.2, 0.9, 6)
    for function in (memoised, counted):
        expected = ad.value_and_grad(function)(x)
        found = ad.value_and_grad(function, native="strict")(x)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-14)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-13)
        step = 1e-6
        slopes = [(function(x + step * unit) - function(x - step * unit)) / (2 * step) for unit in np.eye(6)]
        np.testing.assert_allclose(found[1], slopes, rtol=1e-6)
    with pytest.raises(KeyError, match="6"):
        ad.grad(missing, native="strict")(x)
    assert own
