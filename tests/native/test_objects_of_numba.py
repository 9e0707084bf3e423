"""What Numba makes of Python, in functions that are differentiated: through the Python that it was made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import IN_DEPTH, check_grads

numba = pytest.importorskip("numba")

X = np.array([0.5, 1.2, 2.3])
TABLE = np.arange(1.0, 7.0).reshape(2, 3)


@numba.vectorize(["float64(float64, float64)"])
def weighted(a: Any, b: Any) -> Any:
    return a * b + math.sin(a)


@numba.vectorize
def cut(a: Any, b: Any) -> Any:
    if a > 1.0:
        return 0
    return b * b * a


@numba.guvectorize(["void(float64[:,:], float64[:], float64[:])"], "(m,n),(n)->(m)")
def product(a: Any, x: Any, out: Any) -> None:
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j] * x[j]
        out[i] = total


@numba.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n)->(),()")
def sum_and_product(x: Any, total: Any, whole: Any) -> None:
    total[0] = 0.0
    whole[0] = 1.0
    for i in range(len(x)):
        total[0] += x[i]
        whole[0] *= x[i]


@numba.guvectorize(["void(float64[:], float64[:], float64[:])"], "(n),()->(n)")
def stretched(x: Any, factor: Any, out: Any) -> None:
    for i in range(len(x)):
        out[i] = x[i] * factor[0]


@numba.experimental.jitclass([("a", numba.float64), ("w", numba.float64[:])])
class Weights:
    def __init__(self, a: Any, w: Any) -> None:
        self.a = a
        self.w = w

    def grown(self, x: Any) -> Any:
        self.a += x
        return self.a * x * np.sum(self.w)

    @property
    def twice(self) -> Any:
        return 2 * self.a

    @staticmethod
    def square(x: Any) -> Any:
        return x * x


@IN_DEPTH
def test_functions_of_elements() -> None:
    check_grads(lambda a, b: np.sum(weighted(a, b) ** 2) + weighted(b, b), (X, 0.7))
    check_grads(lambda a, b: np.sum(cut(a, b) * a), (X, X.reshape(3, 1)))

    def into(a: Any) -> Any:
        out = np.empty(3)
        weighted(a, 2.0, out=out)
        return np.sum(out**2)

    check_grads(into, (X,))


def test_functions_of_arrays() -> None:
    check_grads(lambda a, x: np.sum(product(a, x) ** 2), (TABLE, X))
    check_grads(lambda a, x: np.sum(product(a.reshape(2, 1, 3), x) ** 2), (TABLE, X))

    def both(x: Any) -> Any:
        total, whole = sum_and_product(x)
        return np.sum(total * whole)

    check_grads(both, (X,))
    check_grads(both, (TABLE,))

    def into(a: Any, x: Any) -> Any:
        out = np.zeros(2)
        product(a, x, out)
        return np.sum(out**3)

    check_grads(into, (TABLE, X))
    check_grads(lambda x, b: np.sum(stretched(x, b) ** 2), (X, 0.7))
    check_grads(lambda x, b: np.sum(stretched(x, b) ** 2), (TABLE, X[:2]))


def test_classes() -> None:
    def f(x: Any, w: Any) -> Any:
        weights = Weights(x, w)
        return weights.grown(x) * weights.grown(2 * x) + weights.twice * Weights.square(x) + weights.a

    check_grads(f, (1.5, X))


def test_lists_and_dicts_with_types() -> None:
    def f(x: Any) -> Any:
        values = numba.typed.List()
        table = numba.typed.Dict.empty(numba.types.int64, numba.types.float64)
        for i in numba.prange(3):
            values.append(x[i] ** 2)
            table[i] = values[i] * x[0]
        more = numba.typed.List.empty_list(numba.types.float64)
        more.append(table[2])
        return values[0] * table[1] + more[0] * len(values)

    check_grads(f, (X,))


HELD = Weights(2.0, np.ones(3))


def of_a_held_object(x):
    return HELD.grown(x)


def test_objects_that_machine_code_holds_are_refused_by_name() -> None:
    with pytest.raises(ad.DifferentiationError, match="a method of an object of the jitclass 'Weights'"):
        ad.grad(of_a_held_object)(1.3)
