"""The messages of the reference system: each mistake is refused with its cause, or is no mistake here.

The ids are those of the reference's list. ``SAID`` has the code or the exception, and words of the message; ``WORKS``
has what the reference refuses and Adjoint differentiates, with the derivative.
"""

from __future__ import annotations

import functools
import json
import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def two(x, y):
    return x * y


def up(s):
    return s.upper()


def rounded(x):
    return float(int(x))


def through_text(x):
    return json.loads(json.dumps(x))


def without_return(x):
    if x > 0:
        return x


def executed(x):
    exec("y = x")
    return x


def outermost(x):
    return between(x) * 2.0


def between(x):
    return innermost(x) + 1.0


def innermost(x):
    return math.nextafter(x, 2.0)


def of_time(x):
    import datetime

    return datetime.datetime.fromtimestamp(x).hour * x


def constant(x):
    return math.sqrt(3.0)


def generated(x):
    yield x


counter = 0.0


def counted(x):
    global counter
    counter = counter + x
    return counter


Case = tuple[Callable[[], Any], str, str]

SAID: dict[str, Case] = {
    "early.only_functions": (lambda: ad.grad(3.0), "AD0103", "it is not a function"),
    "early.index_out_of_bounds": (lambda: ad.grad(two, wrt=2)(1.0, 2.0), "AD0405", "has 2 positional arguments"),
    "early.expected_parameter": (lambda: ad.grad(two, wrt="z")(1.0, 2.0), "AD0405", "'z' is not among its parameters"),
    "early.expected_wrt_label": (lambda: ad.grad(two, withRespectTo=0), "TypeError", "withRespectTo"),
    "early.adjoint_name": (lambda: ad.derivative_of(3), "AD0206", "cannot be called"),
    "early.opaque": (lambda: ad.grad(math.nextafter)(1.0, 2.0), "AD0201", "'nextafter' is not visible"),
    "early.nondiff_operator": (lambda: ad.grad(up)("a"), "AD0404", "nothing in it can vary"),
    "early.property": (lambda: ad.grad(of_time)(1.0), "AD0201", "'fromtimestamp' is not visible"),
    "xform.opaque_function": (
        lambda: ad.grad(lambda x: math.nextafter(x, 1.0))(2.0),
        "AD0201",
        "declare its derivative",
    ),
    "xform.external_function": (lambda: ad.grad(lambda x: math.nextafter(x, 1.0))(2.0), "AD0201", "ad.derivative_of"),
    "xform.nondiff_result": (lambda: ad.grad(rounded)(2.5), "AD0502", "through a rounding"),
    "xform.nondiff_argument": (lambda: ad.grad(through_text)(2.5), "AD0201", "called from"),
    "xform.missing_return": (lambda: ad.grad(without_return)(2.5), "AD0407", "no 'return' follows"),
    "xform.unsupported_cf": (lambda: ad.grad(executed)(2.5), "AD0301", "not in the source"),
    "xform.coroutine": (lambda: ad.grad(generated)(2.5), "AD0104", "return a list"),
    "xform.write_global": (lambda: ad.grad(counted)(2.5), "AD0302", "memory that outlives the call"),
    "xform.indirect_chain": (lambda: ad.grad(outermost)(2.5), "AD0201", "called from"),
    "xform.nonvaried_result": (lambda: ad.grad(constant)(2.5), "AD0501", "does not depend on 'x'"),
    "run.non_scalar": (lambda: ad.grad(lambda x: x)(np.ones((2, 2))), "AD0406", "an array of rank 2, not a number"),
    "run.array_count_move": (
        lambda: ad.moved([1.0, 2.0, 3.0], [1.0, 2.0]),
        "ValueError",
        "not along a list",
    ),
    "run.array_count_add": (
        lambda: ad.tangents.add([1.0, 2.0], [1.0, 2.0, 3.0]),
        "ValueError",
        "a list of 2 and a list of 3",
    ),
    "run.array_concat_count": (
        lambda: ad.vjp(lambda a, b: a + b, [1.0, 2.0], [1.0, 2.0, 3.0])[1]([1.0, 2.0]),
        "AD0409",
        "expected a list of length 5, got a list of length 2",
    ),
    "run.lr_negative": (lambda: ad.optim.SGD(learning_rate=-1), "ValueError", "learning_rate must be non-negative"),
    "run.momentum_negative": (lambda: ad.optim.SGD(momentum=-0.1), "ValueError", "momentum must be non-negative"),
    "run.decay_negative": (lambda: ad.optim.Adam(decay=-1), "ValueError", "decay must be non-negative"),
    "run.beta_range": (lambda: ad.optim.Adam(beta1=1.5), "ValueError", "beta1 must be between 0 and 1"),
    "run.rho_range": (lambda: ad.optim.AdaDelta(rho=2), "ValueError", "rho must be between 0 and 1"),
}


@pytest.mark.parametrize("name", SAID)
def test_the_mistake_is_told(name: str) -> None:
    run, code, words = SAID[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            run()
        except ad.DifferentiationError as refusal:
            said, codes = str(refusal), [problem.code for problem in refusal.diagnostics]
        except (TypeError, ValueError) as mistake:
            said, codes = str(mistake), [type(mistake).__name__]
        else:
            said = "\n".join(str(each.message) for each in caught)
            codes = [problem.code for each in caught for problem in getattr(each.message, "diagnostics", ())]
    assert code in codes
    assert words in said


def nested(x):
    return ad.grad(lambda y: y * y * x)(x)


def branching(x):
    return x * x if x > 1.0 else -x


@dataclass
class Model:
    w: float

    def twice(self):
        return self.w * 2.0


def of_a_member(x):
    return Model(x).twice()


def pair(x):
    a, b = divided(x)
    return a * b


def divided(x):
    return x, 1.0 + x


def summed(x):
    total = 0.0
    for item in [x, x * x]:
        total += item
    return total


def of_two_kinds(x):
    match Model(x):
        case Model(w=w):
            return w * w


def optional(x):
    maybe = 10.0
    maybe = x if maybe is not None else None
    return maybe * maybe


def coalesced(x):
    maybe = None
    return (maybe if maybe is not None else x) * x


def captured(x):
    total = 0.0

    def add(y):
        nonlocal total
        total += y

    add(x)
    add(x * x)
    return total


def lazily(x, a=1.0, b=2.0):
    fallback = functools.partial(lambda p, q: p + q * x, a, b)
    return x * fallback()


def stored(x):
    items = [0.0, 1.0]
    items[0] = x
    array = np.zeros(2)
    array[1] = x
    return items[0] * array[1]


def accumulated(x):
    result = 1.0
    result += x * x
    return result


class Shape(ABC):
    @abstractmethod
    def area(self, x): ...


class Square(Shape):
    def area(self, x):
        return x * x


def of_a_protocol(x):
    shape: Shape = Square()
    return shape.area(x)


WORKS: dict[str, tuple[Callable[[float], float], float]] = {
    "early.nested": (nested, 4.0 * 1.5),
    "early.control_flow": (branching, 3.0),
    "early.class_members": (of_a_member, 2.0),
    "early.multiple_results": (pair, 4.0),
    "xform.for_in_array": (summed, 4.0),
    "xform.protocol_member": (of_a_protocol, 3.0),
    "xform.enum_value": (of_two_kinds, 3.0),
    "xform.optional_assign": (optional, 3.0),
    "xform.nil_coalescing": (coalesced, 3.0),
    "xform.curry_inout_capture": (captured, 4.0),
    "xform.curry_many_captures": (lazily, 1.0 + 2.0 * 2.0 * 1.5),
    "xform.multiple_results": (pair, 4.0),
    "xform.wrapper_projection": (stored, 3.0),
}


@pytest.mark.parametrize("name", WORKS)
def test_what_the_reference_refuses_works(name: str) -> None:
    f, expected = WORKS[name]
    assert ad.grad(f)(1.5) == pytest.approx(expected)


@pytest.mark.parametrize("f", [branching, accumulated])  # xform.forward_cf, xform.forward_inout
def test_forward_mode_has_control_flow_and_assignments(f: Callable[[float], float]) -> None:
    assert ad.jvp(f, (1.5,), (1.0,))[1] == pytest.approx(3.0)


def test_one_of_an_array_tangent():  # run.one_array
    start, gradient = [1.0, np.ones(2)], [0.5, np.full(2, 0.5)]
    moved = ad.optim.AdaGrad(learning_rate=0.1).updated(start, along=gradient)
    assert moved[0] == moved[1][0] < 1.0
