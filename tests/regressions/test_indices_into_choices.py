"""Which of several functions or structures an index picks: from the start, from the end, or none."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def _sine(x):
    return math.sin(x)


def _square(x):
    return x * x


TABLE = [_sine, _square, math.exp]
NAMED = {0: _sine, 1: _square, -2: math.exp}


def list_of_functions(x, k):
    functions = [_sine, _square, math.exp]
    return functions[k](x)


def tuple_of_functions(x, k):
    functions = (_sine, _square, math.exp)
    return functions[k](x) * functions[k](2.0 * x)


def tuple_of_closures(x, k):
    functions = (lambda v: math.sin(v) * x, lambda v: v * x, lambda v: v)
    return functions[k](x)


def tuple_of_tuples(x, k):
    parts = ((x, 1.0), (2.0 * x, x), (3.0, x * x))
    return parts[k][0] * parts[k][1]


def tuple_of_tuples_unpacked(x, k):
    a, b = ((x, 1.0), (2.0 * x, x), (3.0, x * x))[k]
    return a * b


def global_list(x, k):
    return TABLE[k](x)


def dict_of_functions(x, k):
    return NAMED[k](x)


def dict_made_here(x, k):
    functions = {0: _sine, 1: lambda v: v * x, -2: math.exp}
    return functions[k](x)


def dict_by_names(x, k):
    functions = {"sine": _sine, "square": _square}
    return functions["sine" if k > 0 else "square" if k > -3 else "cube"](x)


def in_a_loop(x, k):
    for place in (k, 0, k):
        x = TABLE[place](x) + 0.1
    return x


PROGRAMS = [
    *(list_of_functions, tuple_of_functions, tuple_of_closures, tuple_of_tuples, tuple_of_tuples_unpacked),
    *(global_list, dict_of_functions, dict_made_here, dict_by_names, in_a_loop),
]


def _outcome(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except LookupError as error:
        return type(error), error.args


@pytest.mark.parametrize("index", range(-5, 6))
@pytest.mark.parametrize("program", PROGRAMS, ids=[program.__name__ for program in PROGRAMS])
def test_an_index_picks_what_it_picks_in_the_program(program: Callable[..., Any], index: int) -> None:
    expected = _outcome(lambda: program(0.7, index))
    found = _outcome(lambda: ad.value_and_grad(program)(0.7, index))
    if isinstance(expected, tuple):
        assert found == expected
        return
    value, slope = found
    assert value == expected
    difference = (program(0.7 + 1e-6, index) - program(0.7 - 1e-6, index)) / 2e-6
    np.testing.assert_allclose(slope, difference, rtol=1e-6)


def test_an_index_that_is_no_whole_number_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="list indices must be integers or slices, not float"):
        ad.grad(lambda x: [_sine, _square][x](x))(1.0)
