"""Attributes of objects that are listed: where it is told when the function runs which of them an object has."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
import pytest
from scipy._lib import array_api_compat

import adjoint as ad
from sampling import check_grads


class Bare:
    pass


class Meter:
    def __init__(self, n):
        self.n = n

    def fit(self, xs):
        if not [name for name in vars(self) if name.endswith("_")]:
            self.total_, self.count_ = 0.0, 0
        for x in xs:
            self.total_ += x
            self.count_ += 1
        return self


def known_on_one_path(x):
    thing = Bare()
    thing.a, thing.b = x * x, 2.0
    if x > 1:
        thing.c_ = x
    return thing.a * len([name for name in vars(thing) if name.endswith("_")]) + x


def known_in_a_later_turn(x):
    thing = Bare()
    thing.a, thing.b = x * x, 2.0
    for i in range(int(2 * x)):
        if i > 1:
            thing.c_ = x * i * thing.a
    table = vars(thing)
    return thing.a * len(table) + (thing.c_ if "c_" in table and "d" not in thing.__dict__ else 0.0)


def fitted_twice(x):
    meter = Meter(3).fit(np.array([x, x * x])).fit(np.array([x, 1.0]))
    return meter.total_ / meter.count_


def fitted_in_a_loop(x):
    meter = Meter(3)
    for _ in range(int(3 * x)):
        meter.fit(np.array([x, x * x]))
    return meter.total_ / meter.count_


def fitted_in_a_list(x):
    meters = [Meter(i) for i in range(int(3 * x))]
    for meter in meters:
        meter.fit(np.array([x, x**3]))
    return sum(meter.total_ * len(vars(meter)) for meter in meters)


def of_a_library_of_the_standard(x):
    """SciPy has a copy of array_api_compat, as other packages have."""
    z = np.array([x, x * x])
    xp = array_api_compat.array_namespace(z)
    dtypes = xp.__array_namespace_info__().dtypes(kind="real floating")
    wide = [dtypes[name] for name in ("float64", "float32") if name in dtypes]
    return xp.sum(xp.astype(z, wide[0]) ** 2)


@pytest.mark.parametrize("x", [0.7, 1.6])
@pytest.mark.parametrize(
    "function",
    [
        *(known_on_one_path, known_in_a_later_turn, fitted_twice, fitted_in_a_loop, fitted_in_a_list),
        of_a_library_of_the_standard,
    ],
    ids=lambda function: function.__name__,
)
def test_they_are_differentiated(function, x):
    check_grads(function, (x,))
    value, gradient = ad.value_and_grad(function)(x)
    assert value == pytest.approx(function(x), rel=1e-12)
    assert ad.grad(function, native=True)(x) == pytest.approx(gradient, rel=1e-12)


def test_what_the_class_has_too_is_refused():
    class Counted:
        c = 0.0

    def f(x):
        thing = Counted()
        thing.a = x
        if x > 1:
            thing.c = x
        return thing.a * len(vars(thing))

    with pytest.raises(ad.DifferentiationError, match="which attributes this object has is not known one by one"):
        ad.grad(f)(1.5)
