"""Arrays of records: constant ones are read, and each field of those that a function makes and fills with what varies.

What else varies is refused by that name wherever the fields are said.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right
from sampling import check_grads

FIELDS = np.dtype([("a", float), ("b", float, 2), ("n", int), ("name", "U4")])
CONSTANT = np.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("a", float), ("b", float)])


def test_constant_ones_are_read():
    right(lambda x: np.sum(CONSTANT["a"] * x + CONSTANT["b"]) ** 2, 1.3)


def filled(x):
    records = np.zeros(3, FIELDS)
    records["a"][:] = x
    records["a"][1] = 2 * x
    records["b"][2] = [x, x * x]
    records["n"] = np.arange(3)
    return records


def by_field(x):
    records = np.zeros(2, [("a", float), ("b", float, 2)])
    records["a"] = x
    records["a"] += x**2
    return np.sum(records["a"]) * records.size


def by_field_of_a_type_made_inside(x):
    records = np.empty(2, dtype=np.dtype([("a", float), ("n", int)]))
    records["a"] = x**2
    records["n"] = [1, 3]
    return np.sum(records["a"] * records["n"])


def row_by_row(x):
    records = np.zeros(3, dtype="f8,f8")
    for i in range(3):
        records[i] = (x * i, x**2)
    return records["f0"] @ records["f1"]


def row_by_field(x):
    records = filled(x)
    records[0]["a"] = x**3
    row = records[1]
    row["b"][0] = x * x
    records[2] = row
    return sum(each["a"] * each["n"] + np.sum(each["b"]) for each in records) + row[0]


def of_views_and_copies(x):
    records = filled(x)
    behind, copy = records[1:], records.copy()
    behind["a"][0] = x**3
    copy["a"][0] = x**4
    chosen = records[records["n"] > 1]
    chosen["a"] *= x
    return np.sum(records["a"]) + copy["a"][0] * np.sum(records["a"]) + np.sum(chosen["a"])


def of_two_axes(x):
    records = np.ones((2, 3), FIELDS)
    records["a"] *= x
    records["a"][1, 2] += x**2
    records[1, 0]["b"] = x
    return np.sum(records["a"]) * records.ndim + records[1]["a"][2] + np.sum(records["b"][1]) * len(records)


def of_a_mask(x):
    records = filled(x)
    records[records["n"] > 0] = (x * x, (1.0, x), 1, "some")
    named = [name for name in records.dtype.names if name in ("a", "b")]
    return sum(np.sum(records[name]) for name in named) + len(records["name"][1])


def of_as_many_as_there_are(x):
    records = np.zeros(int(2 * x), FIELDS)
    for i in range(len(records)):
        records[i]["a"] = x * i
        if i > 0:
            records["a"][i] += records["a"][i - 1]
    return np.sum(records["a"] ** 2)


def of_tuples(x):
    records = np.array([(x, 1.0), (x * x, 2.0)], dtype=[("a", float), ("b", float)])
    return np.sum(records["a"] * records["b"])


def of_constants_in_parts(x):
    records = np.zeros(3, FIELDS)
    records["a"] = 2.0
    records["b"][:, 1] = 3.0
    is_so = isinstance(records, np.ndarray) and records.dtype == FIELDS and records.shape == (3,)
    return np.sum(records["a"] * x) ** 2 + records["b"][1, 1] * x if is_so else x


PROGRAMS = [
    *(by_field, by_field_of_a_type_made_inside, row_by_row, row_by_field, of_views_and_copies, of_two_axes, of_a_mask),
    *(of_as_many_as_there_are, of_tuples, of_constants_in_parts),
]


@pytest.mark.filterwarnings("ignore:.*AD0601")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_fields_of_what_a_function_makes(f):
    check_grads(f, (1.3,))
    value, gradient = ad.value_and_grad(f)(1.3)
    assert value == pytest.approx(f(1.3), rel=1e-12)
    assert ad.grad(f, native=True)(1.3) == pytest.approx(gradient, rel=1e-12)


def sorted_by_a_field(x):
    return np.sort(filled(x), order="a")["a"][0]


def cut_off(x):
    records = filled(x)
    records["n"] = 5 * x
    return x * np.sum(records["n"])


def like_others(x):
    records = np.zeros_like(filled(x))
    records["a"] = x
    return np.sum(records["a"])


@pytest.mark.parametrize(("f", "code"), [(sorted_by_a_field, "AD0204"), (cut_off, "AD0408"), (like_others, "AD0307")])
def test_what_else_varies_is_refused(f, code):
    assert refused(lambda: ad.grad(f)(1.3)).diagnostics[0].code == code


def test_they_are_not_handed_out():
    with pytest.raises(ad.DifferentiationError, match="a 'structured array' that is made inside the function"):
        ad.value_and_grad(lambda x: (np.sum(filled(x)["a"]), filled(x)), has_aux=True)(1.3)
