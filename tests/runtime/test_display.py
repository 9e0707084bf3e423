"""Displays as functions do what the syntax does."""

from __future__ import annotations

from adjoint.runtime import display


def test_containers() -> None:
    assert display.make_list(1, 2) == [1, 2]
    assert display.make_tuple(1, 2) == (1, 2)
    assert display.make_set(1, 1) == {1}
    assert display.make_dict("a", 1, "b", 2) == {"a": 1, "b": 2}
    assert display.make_slice(1, None, 2) == slice(1, None, 2)


def test_strings() -> None:
    value, text = 1.25, "é"
    field = display.format_value(value, None, ".1f")
    assert display.join_string("v = ", field, "!") == f"v = {value:.1f}!"
    assert display.format_value(text, "r") == f"{text!r}"
    assert display.format_value(text, 97) == f"{text!a}"
    assert display.format_value(text, -1, None) == f"{text}"


def test_call() -> None:
    assert display.call(dict, [("a", 1)], b=2) == {"a": 1, "b": 2}
