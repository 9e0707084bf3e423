"""What Python is certain to raise goes to the handler around it; where there is none it is refused as a mistake."""

import abc
import functools
import operator
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


def named(e: Any) -> Any:
    y = e * 2.0
    try:
        y.name = "twice"
    except AttributeError:
        pass
    return np.sum(y * y)


NUMBERS = [
    named,
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
ARRAYS = [named, a_loop_of_writes, the_size_of_a_number, the_length_of_a_number, the_items_of_a_number, the_first_item]


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
    assert ad.source(ad.grad(nothing_else), 0.7, np.ones(3)).count("bool(v)") == 1


def nothing_else(x: float, v: Any) -> float:
    try:
        nothing_of(v)
    except ValueError:
        return x * x
    return x


def inverse_or_double(a: Any) -> Any:
    try:
        b = np.linalg.inv(a)
    except np.linalg.linalg.LinAlgError:  # type: ignore[attr-defined]
        b = a * 2.0
    return np.sum(b * b)


def inverse_or_itself(a: Any) -> Any:
    try:
        b = np.linalg.inv(a)
    except ValueError:
        b = a
    except np.linalg.linalg.LinAlgError:  # type: ignore[attr-defined]
        b = a * 2.0
    except TypeError:
        b = a * 3.0
    return np.sum(b * b)


def test_what_a_handler_is_for_is_asked_once_there_is_an_exception() -> None:
    a, singular = np.array([[1.0, 2.0], [3.0, 5.0]]), np.zeros((2, 2))
    right(inverse_or_double, a)
    right(inverse_or_itself, a)
    right(inverse_or_itself, singular)
    with pytest.raises(AttributeError, match="has no attribute 'linalg'"):
        ad.grad(inverse_or_double)(singular)


def an_attribute(x: Any, n: int) -> Any:
    if n > 1:
        return x.scale * 2.0
    return x * x


def an_item_written(x: Any, n: int) -> Any:
    if n > 1:
        x[0] = 1.0
    return x * x


def a_function_that_is_not_there(x: Any, n: int) -> Any:
    return x * x if n < 2 else np.no_such(x)  # type: ignore[attr-defined]


def too_many_names_after_a_return(x: Any, n: int) -> Any:
    if n < 2:
        return x * x
    a, b = (x, x, x)  # type: ignore[misc]
    return a * b


def an_argument_too_many(x: Any, n: int) -> Any:
    for i in range(3):
        if i < n - 2:
            x = _twice(x, x)  # type: ignore[call-arg]
    return x * x


def in_a_loop_of_a_branch(x: Any, n: int) -> Any:
    if n > 1:
        for _ in range(n):
            x = x.scale
    return x * x


BRANCHES = [
    (an_attribute, AttributeError),
    (an_item_written, TypeError),
    (a_function_that_is_not_there, AttributeError),
    (too_many_names_after_a_return, ValueError),
    (an_argument_too_many, TypeError),
    (in_a_loop_of_a_branch, AttributeError),
]


@pytest.mark.parametrize(("program", "exception"), BRANCHES, ids=lambda each: each.__name__)
def test_in_a_branch_it_is_raised_where_the_branch_runs(program: Any, exception: type[Exception]) -> None:
    assert ad.grad(program)(0.7, 1) == pytest.approx(1.4)
    assert ad.jvp(program, (0.7, 1), (1.0, None))[1] == pytest.approx(1.4)
    assert ad.grad(program, native=True)(0.7, 1) == pytest.approx(1.4)
    for derive in (program, ad.grad(program), lambda x, n: ad.jvp(program, (x, n), (1.0, None))):
        with pytest.raises(exception):
            derive(0.7, 4)


class Abstract(abc.ABC):
    @abc.abstractmethod
    def value(self) -> float: ...


CERTAIN = [
    (lambda x: [x, 1.0][::0], ValueError),
    (lambda x: (x, 1.0)[::0], ValueError),
    (lambda x: functools.reduce(operator.add, []) * x, TypeError),  # type: ignore[operator]
    (lambda x: Abstract() or x, TypeError),  # type: ignore[abstract]
    (lambda x: dict(a=x, **{"a": 1.0}), TypeError),
    (lambda x: iter(Abstract) or x, TypeError),
]


@pytest.mark.parametrize(("step", "exception"), CERTAIN)
def test_what_is_certain_to_raise(step: Any, exception: type[Exception]) -> None:
    def f(x: Any) -> Any:
        try:
            step(x)
        except exception:
            return x * x
        return x

    assert ad.grad(f)(0.7) == pytest.approx(1.4)
    assert ad.jvp(f, (0.7,), (1.0,))[1] == pytest.approx(1.4)
