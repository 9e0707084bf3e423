"""Objects whose brackets make something of what stands in them, imported by their names or not looked into."""

import pickle

import numpy as np
import pytest
from numpy import c_, r_

import adjoint as ad
from sampling import check_grads

rows = type(np.r_)()
A = np.array([0.7, 0.2, 0.4])


def test_rows_and_columns_imported_by_their_names() -> None:
    check_grads(lambda y: r_[1.0, y[1:]] ** 2, (A,))
    check_grads(lambda y: c_[y, y * y] ** 2, (A,))


def test_what_is_not_looked_into_may_compute() -> None:
    for function in (lambda y: np.sum(rows[1.0, y]), lambda y: np.sum(rows[0 : y[0] : 3j])):
        with pytest.raises(ad.DifferentiationError):
            ad.grad(function)(A)


def test_items_of_tables_are_steps() -> None:
    table = {0.7: 2.0, 0.2: 3.0}
    np.testing.assert_array_equal(ad.grad(lambda y: table[float(y[0])] * y[1])(A), [0.0, 2.0, 0.0])


COLUMNS = pickle.dumps((np.ones(3), np.arange(3.0)))


def of_a_dict(x):
    pairs = {}
    for k in range(len(x)):
        pairs[k] = (x * k, x)
    return sum([np.c_[pair] ** k for k, pair in pairs.items()])


def some(x):
    return tuple([x * k for k in range(1, len(x))])


TUPLES = {
    "rows": lambda y: np.r_[some(y)],
    "columns": lambda y: np.c_[some(y)],
    "columns of numbers": lambda y: np.c_[tuple(value * 2.0 for value in y)],
    "beside others": lambda y: np.r_[0.0, *some(y)],
    "chosen": lambda y: np.c_[some(y) if y[0] > 0.0 else (y, y)],
    "or a list": lambda y: np.c_[some(y) if y[0] < 0.0 else [y, y]],
    "of a dict": of_a_dict,
    "that nobody looked at": lambda y: np.c_[pickle.loads(COLUMNS)] * y[0],
    "kept": lambda y: np.concatenate(np.index_exp[some(y)]),
    "kept as it is": lambda y: np.concatenate(np.s_[some(y)]),
    "a list": lambda y: np.c_[list(some(y))],
}


@pytest.mark.parametrize("name", TUPLES)
def test_tuples_of_unknown_length_are_what_stands_in_brackets(name: str) -> None:
    """They were taken for one item: the columns of a matrix became its rows, without a word."""
    np.testing.assert_array_equal(ad.vjp(TUPLES[name], A)[0], TUPLES[name](A))
    check_grads(lambda y: TUPLES[name](y) ** 2, (A,), order=1)
