"""Searches in lists of numbers: places, counts, whether something is there, and bisection."""

from __future__ import annotations

import bisect
import operator
from collections.abc import Callable

from adjoint.native.helpers import order
from adjoint.native.llvm.messages import Message
from adjoint.native.llvm.rules import numbers
from adjoint.native.llvm.rules.helpers import helper
from adjoint.native.llvm.rules.table import RULES, Rule, rule
from adjoint.native.llvm.values import Complex, List, Number, Unsupported, Value, is_complex
from adjoint.native.llvm.writer import constant, truth
from adjoint.native.llvm.writing.emission import Emission


def _error_of_python() -> str:
    try:
        return str([].index(7))  # type: ignore[arg-type]
    except ValueError as error:
        return str(error)


_BEFORE, _TELLS, _BEHIND = _error_of_python().partition("7")
"""What the error says: the number that is missing, where this Python tells it."""


@rule(list.index)
def _index(e: Emission, x: Value, value: Value) -> Number:
    wanted, found = _wanted(value), _searched(e, order.first_place, x, value, -1)
    told = ((_BEFORE, (wanted.kind, "r", ""), _BEHIND),)
    is_missing = e.writer.compare("slt", found.name, "0")
    e.check(is_missing, ValueError, Message(told) if _TELLS else _BEFORE, [wanted] if _TELLS else ())
    return found


@rule(list.count)
def _count(e: Emission, x: Value, value: Value) -> Number:
    return _searched(e, order.count_of_equal, x, value, 0)


@rule(operator.contains)
def _contains(e: Emission, x: Value, value: Value) -> Number:
    found = _searched(e, order.first_place, x, value, -1)
    return truth(e.writer.compare("sge", found.name, "0"))


def _searched(e: Emission, function: Callable[..., int], x: Value, value: Value, of_nothing: int) -> Number:
    """What a helper finds in a list of numbers."""
    if isinstance(x, List) and x.kind.element is None:
        return constant(of_nothing)  # nothing was put on it: what is put there later starts this again
    if not isinstance(x, List) or not isinstance(x.kind.element, str) or is_complex(x.kind.element):
        raise Unsupported("a search in a list of anything but numbers")
    found = _HELPERS[function](e, x, _wanted(value))
    assert isinstance(found, Number)
    return found


_HELPERS = {function: helper(function) for function in (order.first_place, order.count_of_equal)}


def _wanted(value: Value) -> Number:
    wanted = numbers.scalar(value)
    if isinstance(wanted, Complex):
        raise Unsupported("a search for a complex number")
    return wanted


def _place_by(function: Callable[..., int]) -> Rule:
    found = helper(function)

    def place(e: Emission, x: Value, *others: Value, **named: Value) -> Value:
        if isinstance(x, List) and x.kind.element is None:
            return constant(0)  # nothing was put on it: what is put there later starts this again
        return found(e, x, *others, **named)  # type: ignore[no-any-return]

    return place


RULES[bisect.bisect_left] = _place_by(order.place_before)
RULES[bisect.bisect_right] = _place_by(order.place_behind)
