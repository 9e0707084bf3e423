"""What may still be read, and programs that only differentiate because the rest is forgotten."""

import ast

import numpy as np
import pytest

from adjoint.frontend.control.liveness import liveness_of
from sampling import check_grads


def after(text, line):
    """The names that are live behind the statement in a line."""
    (function,) = ast.parse(text).body
    found = liveness_of(function)
    (statement,) = [s for s in found.after if s.lineno == line and not isinstance(s, ast.FunctionDef)]
    return found.after[statement] & found.droppable


def test_a_name_dies_behind_its_last_reader() -> None:
    text = "def f(x):\n    y = x * x\n    z = y + 1\n    return z"
    assert after(text, 2) == {"y"}
    assert after(text, 3) == {"z"}
    assert after(text, 4) == set()


def test_a_loop_carries_what_the_next_iteration_reads() -> None:
    text = "def f(x):\n    for i in range(3):\n        t = x * 2\n        x = t\n        u = x\n    return x"
    assert after(text, 5) == {"x"}
    assert after(text, 3) == {"t"}


def test_break_leads_behind_the_loop_and_continue_to_its_head() -> None:
    text = (
        "def f(x, n):\n    while n:\n        v = x\n        if x:\n            break\n"
        "        w = v\n        continue\n    return v"
    )
    assert after(text, 5) == {"v"}
    assert after(text, 7) == {"x", "n", "v"}


def test_what_a_handler_reads_is_live_throughout_the_body() -> None:
    text = (
        "def f(x, y):\n    try:\n        y = x\n        x = 1 / x\n    except ZeroDivisionError:\n"
        "        return y\n    finally:\n        print(x)\n    return x"
    )
    assert after(text, 3) == {"x", "y"}
    assert after(text, 6) == {"x"}


def test_what_a_nested_function_reads_is_never_forgotten() -> None:
    text = "def f(x):\n    y = x\n    g = lambda: y\n    y = 2\n    return g()"
    (function,) = ast.parse(text).body
    assert "y" not in liveness_of(function).droppable


def in_a_loop(x):
    for i in range(3):
        if x > 0.1 * i:
            made = [x, 1.0]
            made.append(x)
        x = x * 1.1
    return x


def other_lengths(x):
    for i in range(4):
        if x > 1.0:
            t = (x, x * 2.0)
            x = t[1] * 0.7
        else:
            t = [x]
            x = t[0] + 0.3
    return x


def functions_and_objects(x):
    while x < 3.0:
        if x > 0.5:

            def g(v):
                return v * 1.5

            x = g(x) + 0.1
        else:
            g = np.tanh(x)
            x = x + g
    return x


@pytest.mark.parametrize("f", [in_a_loop, other_lengths, functions_and_objects])
def test_what_is_bound_in_a_loop_and_not_read_later(f) -> None:
    check_grads(f, (0.45,))
