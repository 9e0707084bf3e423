"""Where a function comes to its end without a return."""

from __future__ import annotations

import pytest

from adjoint.sources.definitions import find
from adjoint.sources.missing_return import missing_return


def ends(x):
    x += 1


def one_side(x):
    if x:
        return 1


def other_side(x):
    if x:
        return 1
    else:
        x += 1


def both_sides(x):
    if x:
        return 1
    else:
        raise ValueError


def in_with(x):
    with x:
        x += 1


def in_handler(x):
    try:
        return 1
    except ValueError:
        x += 1


def finally_returns(x):
    try:
        x += 1
    finally:
        return 2


def cases(x):
    match x:
        case 1:
            return 1
        case _:
            return 2


def some_cases(x):
    match x:
        case 1:
            return 1
        case y if y > 2:
            return 2


def endless(x):
    while True:
        x += 1


def left(x):
    while True:
        if x:
            break


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (ends, 1),
        (one_side, 1),
        (other_side, 4),
        (both_sides, None),
        (in_with, 2),
        (in_handler, 4),
        (finally_returns, None),
        (cases, None),
        (some_cases, 1),
        (endless, None),
        (left, 1),
        (lambda x: None, None),
    ],
)
def test_the_place_is_the_last_statement_that_is_reached(function, line):
    found = missing_return(find(function))
    first = function.__code__.co_firstlineno
    assert [span.line - first for span, _ in found] == ([] if line is None else [line])
