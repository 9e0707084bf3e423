"""A starred argument of unknown length fills as many optional parameters as it has values."""

import functools
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right


def fun(a: Any = 1.0, b: Any = 2.0) -> Any:
    return a * b


def one(a: Any, b: Any = 2.0, c: Any = None) -> Any:
    return a * b if c is None else a * b * c


class Curve:
    def __init__(self, p: Any, q: Any = 3.0) -> None:
        self.p, self.q = p, q

    def at(self, x: Any, y: Any = 1.0, *, z: Any = 2.0) -> Any:
        return self.p * x * y * z + self.q


def rest(a: Any, *others: Any, k: Any = 1.0) -> Any:
    return a * k * sum(others) + others[-1] ** 2


PROGRAMS = {
    "a_function": lambda v: fun(*v),
    "none_by_default": lambda v: one(*v),
    "a_class": lambda v: Curve(*v).at(v[0]),
    "a_method": lambda v: Curve(v[0]).at(*v, z=v[0]),
    "a_lambda": lambda v: (lambda a, b=5.0: a * a * b)(*v),
    "a_partial": lambda v: functools.partial(one, 2.0)(*v),
    "something_before_it": lambda v: one(v[0] * 2, *v),
    "something_behind_it": lambda v: one(*v[1:], v[0]),
    "behind_any_number": lambda v: rest(*v, v[0] * 3.0),
    "two_of_them": lambda v: rest(v[0], *v * 2.0, 1.5, *v, k=v[0]),
    "the_largest_and_more": lambda v: max(*v, 1.0) * min(0.5, *v) * max(*v, *(v * v)),
}


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_star_of_an_array(name: str, size: int) -> None:
    right(PROGRAMS[name], np.array([3.0, 5.0])[:size])


def test_all_parameters() -> None:
    right(PROGRAMS["none_by_default"], np.array([0.5, 1.0, 1.5]))
    right(PROGRAMS["none_by_default"], np.array([0.5, 1.0, 1.5]), native=True)
    right(lambda v: one(*v, b=3.0), np.array([0.5]))


def turned(a: Any, b: Any, c: Any, axes: Any = "xy", scale: Any = 1.0) -> Any:
    try:
        i, j = {"xy": (0, 1), "yx": (1, 0)}[axes]
    except KeyError:
        i, j = axes
    matrix = np.eye(2) * c
    matrix[i, j] = a * b
    return np.sum(matrix * np.array([[1.0, 2.0], [3.0, 4.0]])) * scale


def test_numbers_are_not_for_texts() -> None:
    v = np.array([0.5, 1.0, 1.5])
    right(lambda v: turned(*v), v)
    right(lambda v: turned(*v), v, native=True)
    right(lambda v: turned(*v[:2], v[2]), v)
    right(lambda v: turned(*[x * x for x in v]), v)
    right(lambda v: turned(*v[:2], v[2], "yx"), v)
    with pytest.raises(TypeError, match=r"3 values .* 'axes' is a text"):
        ad.grad(lambda v: turned(*v))(np.ones(4))
    with pytest.raises(TypeError, match="'axes' is a text"):
        ad.grad(lambda v: turned(*v, 2.0))(np.ones(4))


def test_too_many() -> None:
    with pytest.raises(TypeError):
        ad.grad(PROGRAMS["a_function"])(np.ones(3))
    with pytest.raises(TypeError):
        ad.grad(lambda v: one(*v, b=3.0))(np.ones(2))
    assert refused(lambda: ad.grad(lambda v: np.power(*v))(np.ones(2))).diagnostics[0].code == "AD0301"
