"""Searches in lists of numbers: places, counts, whether something is there, and bisection."""

from __future__ import annotations

import bisect
import operator
from collections.abc import Callable

from adjoint.native.helpers import order
from adjoint.native.llvm.rules import numbers
from adjoint.native.llvm.rules.containers import lists
from adjoint.native.llvm.rules.helpers import helper
from adjoint.native.llvm.rules.table import RULES, Rule, rule
from adjoint.native.llvm.values import Complex, List, Number, Unsupported, Value, is_complex
from adjoint.native.llvm.writer import constant, truth, whole
from adjoint.native.llvm.writing.emission import Emission


@rule(list.index)
def _index(e: Emission, x: Value, value: Value) -> Number:
    writer = e.writer

    def first(place: str, before: str) -> str:
        return writer.select(writer.compare("slt", before, "0"), "i64", place, before)

    found = _at_equal_items(e, x, value, first, "-1")
    e.check(writer.compare("slt", found, "0"), ValueError, "list.index(x): x not in list")
    return whole(found)


@rule(list.count)
def _count(e: Emission, x: Value, value: Value) -> Number:
    return whole(_at_equal_items(e, x, value, lambda _, before: e.writer.add(before, "1"), "0"))


@rule(operator.contains)
def _contains(e: Emission, x: Value, value: Value) -> Number:
    return truth(e.writer.compare("sgt", _count(e, x, value).name, "0"))


def _at_equal_items(e: Emission, x: Value, value: Value, step: Callable[[str, str], str], start: str) -> str:
    """What becomes of a word by a step for each item that is equal, of which it is given the place."""
    if isinstance(x, List) and x.kind.element is None:
        return "0"  # nothing was put on it: what is put there later starts this again
    if not isinstance(x, List) or not isinstance(x.kind.element, str) or is_complex(x.kind.element):
        raise Unsupported("a search in a list of anything but numbers")
    wanted = numbers.scalar(value)
    if isinstance(wanted, Complex):
        raise Unsupported("a search for a complex number")
    writer, word = e.writer, e.slots(1)
    writer.line(f"store i64 {start}, ptr {word}")

    def body(place: str) -> None:
        before = writer.op(f"load i64, ptr {word}")
        is_equal = _is_equal(e, lists.item(e, x, place), wanted)
        writer.line(f"store i64 {writer.select(is_equal, 'i64', step(place, before), before)}, ptr {word}")

    e.each(lists.length(e, x).name, body)
    return writer.op(f"load i64, ptr {word}")


def _is_equal(e: Emission, one: Number, other: Number) -> str:
    """Whether numbers are equal; one that is none is itself, as an object in a list is."""
    equal = str(RULES[operator.eq](e, one, other).name)
    if one.kind[0] != "f" or other.kind[0] != "f":
        return equal
    unlike = [e.writer.op(f"fcmp uno {each.type} {each.name}, {each.name}") for each in (one, other)]
    return e.writer.op(f"or i1 {equal}, {e.writer.op(f'and i1 {unlike[0]}, {unlike[1]}')}")


def _place_by(function: Callable[..., int]) -> Rule:
    found = helper(function)

    def place(e: Emission, x: Value, *others: Value, **named: Value) -> Value:
        if isinstance(x, List) and x.kind.element is None:
            return constant(0)  # nothing was put on it: what is put there later starts this again
        return found(e, x, *others, **named)  # type: ignore[no-any-return]

    return place


RULES[bisect.bisect_left] = _place_by(order.place_before)
RULES[bisect.bisect_right] = _place_by(order.place_behind)
