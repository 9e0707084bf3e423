"""Arithmetic of lists and tuples with numbers of Python's own: it raises, where the program comes there."""

from typing import Any

import numpy as np
import pytest

import adjoint as ad


def cost(weights: Any, penalty: float) -> Any:
    value = np.sum(weights[0][0]) + np.sum(weights[1] ** 2)
    if penalty > 0:
        value += penalty * np.sum(weights**2)
    return value


def test_a_list_of_several_structures_in_a_branch_that_is_not_taken() -> None:
    weights = [[np.ones((2, 2))], np.ones(3)]
    gradient = ad.grad(cost)(weights, 0.0)
    assert np.array_equal(gradient[0][0], np.ones((2, 2))) and np.array_equal(gradient[1], 2 * np.ones(3))
    with pytest.raises(TypeError):
        ad.grad(cost)(weights, 1.0)


@pytest.mark.parametrize("items", [[1.0, [2.0]], [1.0, 2.0], (1.0, 2.0)])
def test_whole_numbers_beside_lists_and_tuples(items: Any) -> None:
    def added(x: Any, where: int) -> Any:
        more = np.sum(x - 1) if where == 1 else np.sum(2**x) if where == 2 else 0.0
        return x[0] * x[0] + more

    assert ad.grad(added)(items, 0)[0] == 2.0
    for where in (1, 2):
        with pytest.raises(TypeError):
            added(items, where)
        with pytest.raises(TypeError):
            ad.grad(added)(items, where)


def test_whole_numbers_repeat_lists() -> None:
    assert ad.grad(lambda x: sum(x * 2) + sum(3 * x))([1.0, 2.0]) == [5.0, 5.0]
