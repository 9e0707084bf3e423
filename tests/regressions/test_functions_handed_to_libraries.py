"""Functions made inside that capture nothing, handed to code that is not visible: they are there themselves."""

from __future__ import annotations

import atexit
import logging
import types

import pytest

import adjoint as ad

holder = types.SimpleNamespace(callback=None)


def to_a_list_outside(x):
    holder.callback = lambda v: v * v
    return holder.callback(x)


def to_a_registry(x):
    atexit.unregister(lambda: None)
    return x * x


def by_name(x):
    def never(record, level=10, *, also=None):
        return record.levelno > level

    log = logging.getLogger("adjoint.tests.handed")
    log.addFilter(never)
    log.removeFilter(never)
    return x * x


def two_in_a_line(x):
    atexit.unregister(lambda: None), atexit.unregister(lambda: 1)
    return x * x


@pytest.mark.parametrize("f", [to_a_list_outside, to_a_registry, by_name, two_in_a_line], ids=lambda f: f.__name__)
def test_functions_that_capture_nothing(f):
    assert ad.grad(f)(1.3) == pytest.approx(2.6)
    assert ad.jvp(f, (1.3,), (1.0,))[1] == pytest.approx(2.6)


def test_functions_that_capture_are_still_refused():
    def f(x):
        atexit.unregister(lambda: x)
        return x * x

    with pytest.raises(ad.DifferentiationError, match="a function made here is handed to code"):
        ad.grad(f)(1.3)
