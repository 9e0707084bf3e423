"""What Python is certain to raise goes to the handler around it; where there is none it is refused as a mistake."""

from typing import Any

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import refused, right


def write_in_try_of_a_number(e: Any) -> Any:
    try:
        e[abs(e) < 1e-3] = 0.0
    except TypeError:
        if abs(e) < 1e-3:
            e = 0.0
    return e * e


def a_loop_of_writes(x: Any) -> Any:
    for i in range(3):
        try:
            x[i] = 2 * x[i]
        except TypeError:
            x = x * 2
    return np.sum(x * x)


def the_size_of_a_number(e: Any) -> Any:
    try:
        n = e.size
    except AttributeError:
        n = 2.0
    return np.sum(e * n)


def the_length_of_a_number(e: Any) -> Any:
    try:
        n = len(e)
    except TypeError:
        n = 2
    return np.sum(e) * n


def the_items_of_a_number(x: Any) -> Any:
    try:
        return sum(v * v for v in x)
    except TypeError:
        return x**3


def the_first_item(e: Any) -> Any:
    try:
        y = e[0]
    except (TypeError, IndexError):
        y = 3 * e
    return np.sum(y * e)


def a_tuple_written(e: float) -> float:
    pair: Any = (e, e)
    try:
        pair[0] = 1.0
    except TypeError:
        pair = (2 * e, e)
    return pair[0] * pair[1]


def _twice(a: float) -> float:
    return a * 2


def a_call_that_does_not_fit(e: float) -> float:
    try:
        y = _twice(e, e)  # type: ignore[call-arg]
    except TypeError:
        y = _twice(e)
    return y * e


def too_many_values(e: float) -> float:
    try:
        a, b = (e, e, e)  # type: ignore[misc]
    except ValueError:
        a, b = e, 2 * e
    return a * b


class Plain:
    pass


def an_object_without_items(e: float) -> float:
    o: Any = Plain() if e < 0 else [e, e]
    try:
        o[0] = 3 * e
        return o[0] * o[1]
    except TypeError:
        return e * e


NUMBERS = [
    write_in_try_of_a_number,
    a_loop_of_writes,
    the_size_of_a_number,
    the_length_of_a_number,
    the_items_of_a_number,
    the_first_item,
    a_tuple_written,
    a_call_that_does_not_fit,
    too_many_values,
    an_object_without_items,
]
ARRAYS = [a_loop_of_writes, the_size_of_a_number, the_length_of_a_number, the_items_of_a_number, the_first_item]


@pytest.mark.parametrize("program", NUMBERS, ids=lambda f: f.__name__)
def test_of_a_number(program: Any) -> None:
    right(program, 0.7)
    right(program, -0.0005 if program is write_in_try_of_a_number else -0.7)


@pytest.mark.parametrize("program", ARRAYS, ids=lambda f: f.__name__)
def test_of_an_array(program: Any) -> None:
    right(program, np.array([0.5, 0.1, -0.2]))


def test_without_a_handler_it_is_a_mistake() -> None:
    def writes(x: Any) -> Any:
        x[0] = 1.0
        return x

    def calls(x: float) -> float:
        return _twice(x, x)  # type: ignore[call-arg]

    assert "item assignment" in str(refused(lambda: ad.grad(writes)(0.7)))
    assert refused(lambda: ad.grad(calls)(0.7)).diagnostics[0].code == "AD0203"


def test_what_may_be_a_number_or_an_array_is_written_where_it_is_one() -> None:
    def writes(x: float) -> Any:
        y: Any = x if x > 0 else np.zeros(3)
        y[0] = 2.0 * x
        return np.sum(y)

    assert ad.grad(writes)(-0.7) == 2.0
    with pytest.raises(TypeError, match="'float' object does not support item assignment"):
        ad.grad(writes)(0.7)


def nothing_of(v: Any) -> Any:
    if v:
        return 1.0
    return None


def compared(x: float, v: Any, w: Any) -> float:
    try:
        nothing_of(v)
        x = 2.0 * x
    except ValueError:
        x = 3.0 * x
    try:
        same = False
        if v == w:
            same = True
        x = x * 5.0
    except ValueError:
        same = (v == w).all()
        x = x * (7.0 if same else 11.0)
    return x * x


def test_the_truth_of_an_array_that_nobody_needs() -> None:
    for v in (np.ones(3), np.ones(1), np.zeros(1)):
        right(compared, 0.7, v, np.ones_like(v))
    assert ad.source(ad.grad(nothing_else), 0.7, np.ones(3)).count("if v:\n            pass") == 1


def nothing_else(x: float, v: Any) -> float:
    try:
        nothing_of(v)
    except ValueError:
        return x * x
    return x
