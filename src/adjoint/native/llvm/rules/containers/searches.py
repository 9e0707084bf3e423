"""Searches in lists of numbers: places, counts, whether something is there, and bisection; comparisons of tuples.

Containers ask whether items are one object before they ask whether they are equal. Numbers are no objects here: where
both are NaN, the answer is not known.
"""

from __future__ import annotations

import bisect
import operator
from collections.abc import Callable

from adjoint.native.helpers import order
from adjoint.native.llvm.messages import Message
from adjoint.native.llvm.rules import numbers
from adjoint.native.llvm.rules.helpers import helper
from adjoint.native.llvm.rules.table import RULES, Rule, rule
from adjoint.native.llvm.values import Complex, List, Number, Tuple, Unsupported, Value, is_complex
from adjoint.native.llvm.writer import constant, truth
from adjoint.native.llvm.writing.emission import Emission
from adjoint.runtime.comparisons import UnknownItems


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
    if isinstance(x, Tuple):
        return _found(e, x, numbers.scalar(value))
    found = _searched(e, order.first_place, x, value, -1)
    return truth(e.writer.compare("sge", found.name, "0"))


def _searched(e: Emission, function: Callable[..., int], x: Value, value: Value, of_nothing: int) -> Number:
    """What a helper finds in a list of numbers."""
    if isinstance(x, List) and x.kind.element is None:
        return constant(of_nothing)  # nothing was put on it: what is put there later starts this again
    if not isinstance(x, List) or not isinstance(x.kind.element, str) or is_complex(x.kind.element):
        raise Unsupported("a search in a list of anything but numbers")
    wanted = _wanted(value)
    found = _HELPERS[function](e, x, wanted)
    assert isinstance(found, Number)
    if numbers.is_float(wanted) and x.kind.element[0] == "f":
        _refuse(e, truth(e.writer.compare("eq", found.name, "-2")))
    return found


_HELPERS = {function: helper(function) for function in (order.first_place, order.count_of_equal)}


def _wanted(value: Value) -> Number:
    wanted = numbers.scalar(value)
    if isinstance(wanted, Complex):
        raise Unsupported("a search for a complex number")
    return wanted


# Tuples of numbers

_equal_numbers = RULES[operator.eq]


@rule(operator.eq)
def _equal(e: Emission, a: Value, b: Value) -> Value:
    if not (isinstance(a, Tuple) and isinstance(b, Tuple)):
        return _equal_numbers(e, a, b)  # type: ignore[no-any-return]
    if len(a.items) != len(b.items):
        return constant(False)
    equal, unknown = constant(True), constant(False)
    for one, other in zip(map(numbers.scalar, a.items), map(numbers.scalar, b.items), strict=True):
        unknown = numbers.either(e, unknown, numbers.both(e, equal, _are_nan(e, one, other)))
        equal = numbers.both(e, equal, RULES[operator.eq](e, one, other))
    _refuse(e, unknown)
    return equal


def _found(e: Emission, items: Tuple, value: Number | Complex) -> Number:
    """Whether a number is one of some."""
    found, unknown = constant(False), constant(False)
    for item in map(numbers.scalar, items.items):
        is_new = numbers.both(e, numbers.negation(e, found), _are_nan(e, item, value))
        unknown = numbers.either(e, unknown, is_new)
        found = numbers.either(e, found, RULES[operator.eq](e, item, value))
    _refuse(e, unknown)
    return found


def _are_nan(e: Emission, one: Number | Complex, other: Number | Complex) -> Number:
    differs = RULES[operator.ne]
    return numbers.both(e, differs(e, one, one), differs(e, other, other))


def _refuse(e: Emission, unknown: Number) -> None:
    e.check(numbers.somewhere(e, unknown).name, UnknownItems, ())


def _place_by(function: Callable[..., int]) -> Rule:
    found = helper(function)

    def place(e: Emission, x: Value, *others: Value, **named: Value) -> Value:
        if isinstance(x, List) and x.kind.element is None:
            return constant(0)  # nothing was put on it: what is put there later starts this again
        return found(e, x, *others, **named)  # type: ignore[no-any-return]

    return place


RULES[bisect.bisect_left] = _place_by(order.place_before)
RULES[bisect.bisect_right] = _place_by(order.place_behind)
