"""Containers of references that are changed, moved and returned."""

from dataclasses import dataclass

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


def rows_appended_and_changed(x):
    out = [np.zeros(2) * x]
    for i in range(3):
        row = np.ones(2) * x
        row[0] += i * x * x
        out.append(row)
        out[0][1] += row[0]
    return out


def tuples_popped_and_stored(x):
    out = []
    for i in range(3):
        out.append((x * i, x * x))
    a = out.pop()
    out[0] = (a[1], a[0] * x)
    return out


def tuple_popped(x):
    out = []
    for i in range(3):
        out.append((x * i, x * x))
    a = out.pop()
    return a[0] * a[1]


def one_list_in_two_places(x):
    out = [x, x * x]
    rows = [out, out]
    for i in range(2):
        rows.append([x * i, rows[-1][0]])
    return rows


def arrays_under_new_keys(x):
    d = {}
    for i in range(3):
        d[str(i)] = np.ones(2) * x
        d[str(i)][0] *= x
    return d


def values_under_new_keys(x):
    d = {}
    for i in range(3):
        d[str(i)] = np.ones(2) * x
        d[str(i)] = d[str(i)] * x
    return d["0"] + d["1"]


def one_array_in_two_places(x):
    a = np.ones(2) * x
    a[0] *= x
    return [a, a]


def views_in_a_list(x):
    a = np.ones((2, 2)) * x
    rows = []
    for i in range(2):
        rows.append(a[i])
        a[i, 0] *= x
    return rows, a


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize(
    "f",
    [
        rows_appended_and_changed,
        tuples_popped_and_stored,
        tuple_popped,
        one_list_in_two_places,
        arrays_under_new_keys,
        values_under_new_keys,
        one_array_in_two_places,
        views_in_a_list,
    ],
)
def test_returned(f) -> None:
    check_grads(f, (1.3,))


def test_cotangents_of_one_object_in_two_places_are_added_once_each() -> None:
    _, pullback = ad.vjp(one_list_in_two_places, 1.3)
    zero = [0.0, 0.0]
    assert pullback([[1.0, 0.0], [1.0, 0.0], zero, zero]) == (2.0,)
    one = [1.0, 0.0]
    assert pullback([one, one, zero, zero]) == (1.0,)


def test_the_tangent_of_a_list_of_tuples_is_one_inside_other_code() -> None:
    def g(x):
        out = []
        for i in range(2):
            out.append((x * i, x * x))
        return out

    def f(x):
        return ad.jvp(g, (x,), (1.0,))[1]

    assert ad.jvp(f, (1.5,), (1.0,)) == (f(1.5), [(0.0, 2.0), (0.0, 2.0)])


@dataclass
class Pair:
    first: object
    second: object


def test_objects_that_hold_a_list_and_an_array_and_are_never_read() -> None:
    def f(y, z):
        made = [Pair(z, np.full(4, y)) for _ in z]  # noqa: F841
        return z

    check_grads(f, (1.3, [0.4, 0.7]))


def test_objects_that_hold_a_list_and_an_array() -> None:
    def f(y, z):
        made = [Pair(z, np.full(2, y) * v) for v in z]
        total = 0.0
        for p in made:
            total += p.first[0] * p.second[1] * p.first[1]
        return total

    check_grads(f, (1.3, [0.4, 0.7]))
    _, pullback = ad.vjp(f, 1.3, [0.4, 0.7])
    assert pullback(1.0) == pullback(1.0)


def test_dicts_that_swap_names_get_new_keys() -> None:
    def f(x, y, n):
        d, e = {"a": x * y, "b": y}, {"a": x, "b": y}
        for _ in range(n):
            d, e = e, d
            d["n"] = x
            e["m"] = 2.0
            y = y + d["a"] * e["b"] * d["n"] * e["m"]
        return y * d["b"]

    check_grads(f, (0.3, 0.4, 3), wrt=(0, 1), order=1)


def test_a_dict_that_gets_a_new_key_in_a_gradient_of_a_gradient() -> None:
    def f(x, y, z):
        z["b"] = x
        n = 0
        while n < 3:
            n += 1
            x += z["b"] * y
            z = z
        return x

    def g(x, y, z):
        by_x, by_y = ad.grad(f, wrt=(0, 1))(x, y, z)
        return by_x * by_y

    x, y = -1.1, 0.4
    found = ad.grad(g, wrt=(0, 1))(x, y, {"a": 0.1})
    assert found == pytest.approx(((1 + 3 * y) * 3, 3 * 3 * x))
