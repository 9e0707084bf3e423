"""Functions of numbers alone are analysed by a shorter way, which says what the long one says."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

from adjoint import ir
from adjoint.analysis.dependence.activity import activity
from adjoint.analysis.dependence.scalar_functions import number_flows
from adjoint.differentiation.reverse.blind_spots import blind_spots
from adjoint.frontend.entry.entry import lower_operator
from adjoint.ir.walk import statements_in
from adjoint.passes import Context
from adjoint.pipeline import PREPARE, run
from adjoint.rules import no_derivative


def straight(x: float, y: float) -> float:
    unused = y * 3.0
    return x * math.sin(x) + float(int(unused))


def chosen(x: float, y: float) -> float:
    if x > y:
        z = x * y
    elif y > 10.0:
        return y
    else:
        z = 2.0
    return z + math.floor(x)


def looped(x: float, y: float) -> float:
    a, b, c = x, 0.0, 1.0
    for i in range(3):
        b, a = a * 0.5, b + i
        if b > 100.0:
            break
        c = c * y
    return b


def until(x: float, y: float) -> float:
    total = 0.0
    while total < 3.0:
        total += x
        if y > 5.0:
            return total * y
    return total


def with_list(x: float, y: float) -> float:
    found = []
    for _ in range(2):
        found.append(x)
    return found[0] * y


def steps(x: float) -> float:
    return x // 1.0


no_derivative(steps)


def with_undeclared(x: float, y: float) -> float:
    return x + steps(x)


def derived_function(function: Callable[..., float]) -> ir.Function:
    options = (("has_aux", False), ("wrt", (0, 1)))
    entry = lower_operator("grad", function, options, (2.0, 3.0), {})
    statements = statements_in(entry.function.body)
    (derived,) = [s.callee for s in statements if isinstance(s, ir.Call) and isinstance(s.callee, ir.Derived)]
    return run(PREPARE, derived.function, Context(wrt=derived.wrt, outputs=derived.outputs))


@pytest.mark.parametrize("function", [straight, chosen, looped, until])
@pytest.mark.parametrize("wrt", [(0,), (1,), (0, 1)])
def test_both_ways_agree(function: Any, wrt: tuple[int, ...]) -> None:
    core = derived_function(function)
    flows = number_flows(core)
    assert flows is not None
    short, long = (activity(core, wrt, (0,), each) for each in (flows, None))
    assert short.varied.vars == long.varied.vars
    assert short.useful.vars == long.useful.vars
    assert not short.memory and not long.memory
    assert blind_spots(core, wrt, (0,), flows) == blind_spots(core, wrt, (0,), None)


def test_what_has_no_derivative_is_no_reason_to_look_closer_where_its_result_has_none() -> None:
    for function in (chosen, looped, until):
        flows = number_flows(derived_function(function))
        assert flows is not None and flows.all_declared


def test_a_number_without_a_derivative_is_looked_at_closer() -> None:
    core = derived_function(with_undeclared)
    flows = number_flows(core)
    assert flows is not None and not flows.all_declared
    assert blind_spots(core, (0,), (0,), flows)


def test_other_functions_go_the_long_way() -> None:
    assert number_flows(derived_function(with_list)) is None
