"""Objects whose class says what array they are: NumPy asks for that before it asks for their arithmetic."""

import numpy as np
import pytest

from regressions.differences import right

TABLE = np.arange(4.0).reshape(2, 2)


class Matrix:
    """Has an arithmetic of its own, of which arrays on the left know nothing."""

    def __init__(self, entries):
        self.entries = entries

    def __array__(self, dtype=None, copy=None):
        return self.entries

    def __radd__(self, other):
        return Matrix(other * 100.0 + self.entries)

    def __mul__(self, other):
        return Matrix(self.entries * other)


class First(Matrix):
    __array_priority__ = 10.0


class Alone(Matrix):
    __array_ufunc__ = None


def beside_an_array(x):
    return (TABLE * x + Matrix(TABLE * x * x)).sum()


def before_an_array(x):
    return (Matrix(TABLE * x) - TABLE * x * x).sum()


def between_products(x):
    return (TABLE.T @ Matrix(TABLE * x) @ TABLE).sum()


def handed_to_functions(x):
    return np.linalg.inv(Matrix(TABLE * x))[0, 0] + np.trace(Matrix(TABLE * x)) * x


def of_higher_rank(x):
    return (TABLE * x + First(TABLE * x * x)).entries.sum() + (TABLE * x + Alone(TABLE * x)).entries.sum()


def by_its_own_product(x):
    return np.dot(Matrix(TABLE) * x, TABLE).sum()


@pytest.mark.parametrize(
    "function",
    [beside_an_array, before_an_array, between_products, handed_to_functions, of_higher_rank, by_its_own_product],
)
def test_numpys_arithmetic_is_asked_first(function) -> None:
    right(function, 1.5)
