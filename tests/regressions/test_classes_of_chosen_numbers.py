"""The larger of a float and an integer is of the class of the one that is chosen, for programs that ask."""

import functools
import numbers
from collections.abc import Callable

import numpy as np
import pytest

import adjoint as ad
from regressions.differences import right


def told(is_whole, x):
    return x * x if is_whole else x * x * x


def its_type(x):
    return told(type(max(x, 3)) is int, x)


def an_instance(x):
    return told(isinstance(min(x, 1), numbers.Integral), x)


def of_three(x):
    return told(isinstance(min([x, 1, 7.0]), int), x)


def of_a_list_of_unknown_length(x):
    items = [x, 3, 2, 1]
    return told(type(max([item for item in items if item > 1])) is int, x)


def by_turns(x):
    largest = 0
    for item in [-x, 3, x]:
        largest = max(largest, item)
    return told(type(largest) is int, x)


def reduced(x):
    return told(type(functools.reduce(max, [x, 3])) is int, x)


def computed_with(x):
    return told(type(abs(-min(x, 1) * 2) // 1) is int, x)


def rounded(x):
    return told(type(round(min(x, 1), 2)) is int, x)


def a_remainder(x):
    return told(type(divmod(max(x, 3), 2)[1]) is int, x)


def a_truth_value(x):
    return told(min(x, True) is True, x)


def of_numpy(x):
    return told(type(max(np.float64(x), 3)) is int, x)


def of_numpy_or_python(x):
    return told(hasattr(max(x, np.float64(3.0)), "dtype"), x)


def made_by_the_class(x):
    return x * max(x, 3).__class__(2.7)


def looked_up(x):
    return x * {int: 2.0, float: 5.0}[type(max(x, 3))]


def kept_and_used(x):
    m = max(x, 3)
    return m * m * x if type(m) is float else m * x


def the_dtype_of_an_array(x):
    return told(np.array([max(x, 3), 1]).dtype == int, x)


def the_dtype_of_a_choice(x):
    chosen = x if x > 3 else 3
    return told(np.full(2, chosen).dtype.kind == "i", x)


PROGRAMS = [
    its_type,
    an_instance,
    of_three,
    of_a_list_of_unknown_length,
    by_turns,
    reduced,
    computed_with,
    rounded,
    a_remainder,
    a_truth_value,
    of_numpy,
    of_numpy_or_python,
    made_by_the_class,
    looked_up,
    kept_and_used,
    the_dtype_of_an_array,
    the_dtype_of_a_choice,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_derivatives(program: Callable[[float], float]) -> None:
    derivative = ad.value_and_grad(program)
    for x in (0.7, 1.3, 4.1):
        step = 1e-6
        value, gradient = derivative(x)
        difference = (program(x + step) - program(x - step)) / (2 * step)
        assert value == pytest.approx(program(x), rel=1e-12)
        assert gradient == pytest.approx(difference, rel=1e-6)
        assert ad.jvp(program, (x,), (1.0,))[1] == pytest.approx(difference, rel=1e-6)


def test_a_larger_number_that_is_an_integer_makes_an_array_of_integers() -> None:
    def f(x):
        values = np.full(2, max(x, 3))
        values[0] = x
        return values.sum()

    assert ad.grad(f)(4.3) == 2.0
    with pytest.raises(ad.DifferentiationError, match="AD0408"):
        ad.grad(f)(1.3)


def test_numbers_of_a_program_that_asks_for_classes_make_such_arrays_too() -> None:
    def f(x):
        chosen = x if x > 3 else 3
        values = np.full(2, chosen)
        values[0] = x
        return values.sum() if type(chosen) is int else x

    assert ad.grad(f)(4.3) == 1.0
    with pytest.raises(ad.DifferentiationError, match="AD0408"):
        ad.grad(f)(1.3)


def over_a_range(x):
    total = 0.0
    for i in range(max(x, 3)):
        total += x * x * i
    return total


def over_a_chosen_range(x):
    n = 3 if x < 2.5 else x
    return sum([x * x * i for i in range(1, n)])


def of_the_length_of_a_range(x):
    return x * x * len(range(min(3, x + 10.0)))


def over_a_range_that_may_not_be(x):
    try:
        return sum(x * x * i for i in range(max(x, 3)))
    except TypeError:
        return x**3


@pytest.mark.parametrize(
    "f", [over_a_range, over_a_chosen_range, of_the_length_of_a_range, over_a_range_that_may_not_be]
)
def test_ranges_of_what_may_be_whole(f):
    right(f, 2.0)
    assert ad.grad(ad.grad(f))(2.0) == pytest.approx(2 * f(2.0) / 4.0)


def test_ranges_of_what_turns_out_not_to_be_whole():
    for f in (over_a_range, over_a_chosen_range):
        with pytest.raises(TypeError, match="integer"):
            ad.grad(f)(4.0)
    assert ad.grad(over_a_range_that_may_not_be)(4.0) == pytest.approx(48.0)


def test_what_only_whole_numbers_have():
    with pytest.raises(ad.DifferentiationError, match="this may be a number that has 'bit_length'") as refused:
        ad.grad(lambda x: x * max(x, 3).bit_length())(2.0)
    assert refused.value.diagnostics[0].code == "AD0401"
    assert ad.grad(lambda x: x * int(max(x, 3)).bit_length())(2.0) == 2.0
