"""Arrays of records: constant ones are read, what varies is refused by that name wherever the fields are said."""

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right

FIELDS = np.dtype([("a", float), ("b", float)])
CONSTANT = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=FIELDS)


def test_constant_ones_are_read():
    right(lambda x: np.sum(CONSTANT["a"] * x + CONSTANT["b"]) ** 2, 1.3)


def by_field(x):
    records = np.zeros(2, FIELDS)
    records["a"] = x
    return np.sum(records["a"])


def by_field_of_a_list(x):
    records = np.zeros(2, dtype=[("a", float), ("b", float)])
    records["a"] = x
    return np.sum(records["a"])


def row_by_row(x):
    records = np.zeros(2, dtype=[("a", float), ("b", float)])
    records[0] = (x, x * 2)
    return records["a"][0]


def field_by_row(x):
    records = np.zeros(2, dtype=[("a", float), ("b", float)])
    records["a"][0] = x
    return records["a"][0] ** 2


def row_by_field(x):
    records = np.zeros(2, dtype=[("a", float), ("b", float)])
    records[0]["a"] = x
    return records["a"][0] ** 2


@pytest.mark.parametrize("f", [by_field, by_field_of_a_list, row_by_row, field_by_row, row_by_field])
def test_what_varies_is_refused(f):
    problem = refused(lambda: ad.grad(f)(1.3)).diagnostics[0]
    assert problem.code == "AD0307"
    assert "into an array of records" in problem.labels[0].text


def test_records_of_what_varies_are_refused():
    def made(x):
        records = np.array([(x, 1.0)], dtype=[("a", float), ("b", float)])
        return records["a"][0] ** 2

    problem = refused(lambda: ad.grad(made)(1.3)).diagnostics[0]
    assert problem.code == "AD0307"
    assert "a field of an array of records" in problem.labels[0].text
