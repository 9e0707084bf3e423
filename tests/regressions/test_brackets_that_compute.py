"""Objects whose brackets make something of what stands in them, imported by their names or not looked into."""

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
