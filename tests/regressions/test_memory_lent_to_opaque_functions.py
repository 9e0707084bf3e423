"""What an opaque function is handed it may write, however deep it lies: in tuples, lists, dicts, objects, views."""

import ctypes
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import adjoint as ad
from regressions.differences import refused, right

X = np.array([0.1, 0.2, 0.3])
OUTSIDE = np.zeros(3)


class Holder:
    def __init__(self) -> None:
        self.y = np.zeros(3)


def _opaque(write: Callable[[Any, Any], None]) -> Any:
    """A function without a source, of which nothing is known."""
    return ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.py_object)(write)


def _of_item(x: Any, items: Any) -> None:
    items[0][:] = x * x


def _of_key(x: Any, table: Any) -> None:
    table["y"][:] = x * x


def _of_attribute(x: Any, holder: Any) -> None:
    holder.y[:] = x * x


def _anew(x: Any, holder: Any) -> None:
    holder.y = x * x


def _deep(x: Any, items: Any) -> None:
    items[1][0][:] = x * x


into_item, into_key, into_attribute, sets_attribute, into_depth = map(
    _opaque, (_of_item, _of_key, _of_attribute, _anew, _deep)
)


def out_in_a_tuple(x):
    y, z = np.empty(3), np.empty(3)
    special.it2j0y0(x, out=(y, z))
    return np.sum(y)


def out_by_position(x):
    y, z = np.empty(3), np.empty(3)
    special.it2j0y0(x, y, z)
    return np.sum(z)


def out_by_a_name(x):
    y, z = np.empty(3), np.empty(3)
    places = (y, z)
    special.it2j0y0(x, out=places)
    return np.sum(places[1])


def out_is_a_view(x):
    y, z = np.zeros(4), np.zeros(3)
    special.it2j0y0(x, out=(y[1:], z))
    return np.sum(y)


def view_by_position(x):
    y, z = np.zeros(4), np.zeros(3)
    row = y[1:]
    special.it2j0y0(x, row, z)
    return np.sum(y)


def out_is_outside(x):
    special.it2j0y0(x, out=(OUTSIDE, np.zeros(3)))
    return np.sum(OUTSIDE)


def quotient_and_remainder(x):
    y, z = np.zeros(3), np.zeros(3)
    np.divmod(x, 0.3, out=(y, z))
    return np.sum(z)


def mantissa(x):
    y = np.zeros(3)
    np.frexp(x, out=(y, None))
    return np.sum(y)


def inside_a_library(x):
    return np.sum(special.riccati_jn(2, x[0])[0])


def item_of_a_list(x):
    y = np.zeros(3)
    into_item(x, [y])
    return np.sum(y)


def item_of_a_tuple_in_a_tuple(x):
    y = np.zeros(3)
    into_depth(x, (1, [y]))
    return np.sum(y)


def value_of_a_dict(x):
    y = np.zeros(3)
    into_key(x, {"y": y})
    return np.sum(y)


def attribute(x):
    holder = Holder()
    into_attribute(x, holder)
    return np.sum(holder.y)


def attribute_anew(x):
    holder = Holder()
    sets_attribute(x, holder)
    return np.sum(holder.y)


PROGRAMS = (
    out_in_a_tuple,
    out_by_position,
    out_by_a_name,
    out_is_a_view,
    view_by_position,
    out_is_outside,
    quotient_and_remainder,
    mantissa,
    inside_a_library,
    item_of_a_list,
    item_of_a_tuple_in_a_tuple,
    value_of_a_dict,
    attribute,
    attribute_anew,
)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_memory_that_may_have_been_written_is_refused(f: Callable[[Any], Any]) -> None:
    for run in (
        lambda: ad.grad(f)(X),
        lambda: ad.jvp(f, (X,), (np.ones(3),)),
        lambda: ad.vjp(f, X),
        lambda: ad.hessian(f)(X),
        lambda: ad.grad(f, native=True)(X),
    ):
        refused(run)


@pytest.mark.parametrize(
    ("f", "given"),
    [
        (lambda x, holder: (into_attribute(x, holder), np.sum(holder.y))[1], Holder()),
        (lambda x, items: (into_item(x, items), np.sum(items[0]))[1], [np.zeros(3)]),
        (lambda x, table: (into_key(x, table), np.sum(table["y"]))[1], {"y": np.zeros(3)}),
    ],
)
def test_in_arguments_too(f: Callable[[Any, Any], Any], given: Any) -> None:
    refused(lambda: ad.grad(f)(X, given))
    refused(lambda: ad.jvp(f, (X, given), (np.ones(3), None)))


def test_what_nobody_reads_may_be_written() -> None:
    def logged(x, record):
        into_item(x[1], record)
        return np.sum(x * x)

    record = [np.zeros(3)]
    np.testing.assert_allclose(ad.grad(logged)(X, record), 2 * X)
    np.testing.assert_allclose(record[0], 0.04)


def test_what_does_not_vary_may_be_written() -> None:
    def f(x):
        y, z = np.empty(3), np.empty(3)
        special.obl_rad2(0, 1, 1.5, np.full(3, 1.2), out=(y, z))
        return np.sum(y * x)

    right(f, X)


def test_objects_that_keep_memory_may_write_it_later() -> None:
    def f(x):
        y = np.zeros(3)
        view = memoryview(y)
        for i in range(3):
            view[i] = x[i] * x[i]
        return np.sum(y)

    refused(lambda: ad.grad(f)(X))
    refused(lambda: ad.jvp(f, (X,), (X,)))


def test_exceptions_of_libraries_keep_what_they_are_given() -> None:
    def f(x: Any) -> Any:
        y = x * 2.0
        y[0] = 3.0
        if y[1] > 100.0:
            raise json.JSONDecodeError("large", "y", y)
        y[1] *= x[1]
        return np.sum(y * x)

    right(f, np.array([0.5, 1.2, 2.3]))
