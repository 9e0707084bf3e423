"""`zip` of what is known item by item with what is only known at run time ends with the shorter of the two."""

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right, second


def zip_of_unequal_lists(a: float) -> float:
    xs = [a]
    for _ in range(4):
        xs.append(xs[-1] * 2)
    t = 0.0
    for k, v in zip(["p", "q"] * 3, xs):
        t = t + v if k == "p" else t * v
    return t


def functions(xs: Any) -> Any:
    t = 0.0
    for i, (k, v) in enumerate(zip([lambda u: u * u, lambda u: 3 * u, lambda u: u**3], xs)):
        t = t + k(v) * (i + 1)
    else:
        t = 2 * t
    return t


def a_sum(xs: Any) -> Any:
    return sum(k * v * v for k, v in zip((1.0, 2.0, 3.0, 4.0), xs))


def a_list(xs: Any) -> Any:
    return np.sum(np.array([k * v for k, v in zip((1.0, 2.0, 3.0, 4.0), xs)]) ** 2)


def a_dict(xs: Any) -> Any:
    d = {k: v * v for k, v in zip(("a", "b", "c", "d"), xs)}
    return d["a"] * d["b"] + len(d)


def left_early(xs: Any) -> Any:
    t = 0.0
    for k, v, w in zip("abcd", xs, xs[1:]):
        if k == "b":
            continue
        if v > 0.8:
            break
        t = t + v * w
    else:
        t = t * 3
    return t


def zipped_twice(xs: Any) -> Any:
    t = 0.0
    for (_, v), w in zip(zip("abcd", xs), (1.0, 2.0, 3.0, 4.0, 5.0)):
        t = t + v * w * v
    return t


def a_return(xs: Any) -> Any:
    for _, v in zip("abcd", xs):
        if v > 0.6:
            return v * v
    return xs[0]


def test_of_a_list_that_grows() -> None:
    right(zip_of_unequal_lists, 1.0)
    second(zip_of_unequal_lists, 1.0)


PROGRAMS = [functions, a_sum, a_list, a_dict, left_early, zipped_twice, a_return]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_of_every_length(program: Any) -> None:
    for size in (2, 3, 5):
        right(program, np.linspace(0.3, 1.1, size))
    second(program, np.array([0.3, 1.1]))


def test_natively() -> None:
    right(a_sum, np.linspace(0.3, 1.1, 3), native=True)


def as_list(xs: Any) -> Any:
    return sum([a * b * b for a, b in list(zip((1.0, 2.0, 3.0, 4.0), xs))])


def as_tuple(xs: Any) -> Any:
    total = 0.0
    for a, b in tuple(zip([1.0, 2.0, 3.0, 4.0], xs)):
        total = total + a * b * b
    return total


def as_dict(xs: Any) -> Any:
    found = dict(zip("abcd", xs))
    return found["a"] * found["b"] * len(found)


def extended(xs: Any) -> Any:
    found = [(0.0, xs[0])]
    found.extend(zip((1.0, 2.0, 3.0, 4.0), xs))
    return found[-1][0] * found[-1][1] ** 2


def greatest(xs: Any) -> Any:
    return max(zip((1.0, 4.0, 3.0, 2.0), xs))[1] ** 2


@pytest.mark.parametrize("f", [as_list, as_tuple, as_dict, extended, greatest])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_made_into_something_else(f: Any, count: int) -> None:
    x = np.linspace(0.5, 1.5, count)
    right(f, x)
    second(f, x)


def test_unpacked_from_too_few() -> None:
    def f(xs: Any) -> Any:
        a, b, c = zip((1.0, 3.0, 2.0), xs)
        return a[1] * c[1] * b[0]

    np.testing.assert_array_equal(ad.grad(f)(np.array([2.0, 3.0, 4.0])), [12.0, 0.0, 6.0])
    with pytest.raises(ValueError, match="not enough values to unpack"):
        ad.grad(f)(np.array([2.0, 3.0]))
