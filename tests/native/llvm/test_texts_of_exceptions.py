"""Exceptions that machine code leaves by: those whose class or text has no form there are made by Python."""

import warnings

import numpy as np
import pytest

import adjoint as ad


class OutOfRange(Exception):
    pass


def formatted(x, n):
    if n > 3:
        raise ValueError("at most 3, not {}: {:.2f}".format(n, x[0]))  # noqa: UP032
    return np.sum(x * x)


def by_percent(x, n):
    if n > 3:
        raise ValueError("shape %s, %d, %.2f" % (x.shape, n, x[0]))  # noqa: UP031
    return np.sum(x * x)


def kept_before(x, n):
    text = "at most 3, not {}"
    if n > 3:
        raise ArithmeticError(text.format(n))
    return np.sum(x * x)


def of_a_class_of_the_user(x, n):
    for i in range(n):
        x = x * 2.0
        if i > 2:
            raise OutOfRange("too many", n, x.shape)
    return np.sum(x * x)


def with_a_tuple(x, n):
    if n > 3:
        raise ValueError("shape", x.shape)
    return np.sum(x * x)


def waited_for(x, n):
    try:
        if n > 3:
            raise ValueError("at most 3, not {}".format(n))  # noqa: UP032
        return np.sum(x * x)
    except ValueError:
        return np.sum(x) * n


X = np.array([1.5, 2.0])


@pytest.mark.parametrize("function", [formatted, by_percent, kept_before, of_a_class_of_the_user, with_a_tuple])
def test_machine_code_raises_what_python_raises(function):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        df = ad.value_and_grad(function, native=True)
        assert df(X, 2)[0] == function(X, 2)
        with pytest.raises(Exception) as expected:
            function(X, 5)
        for _ in range(2):
            with pytest.raises(expected.type) as found:
                df(X, 5)
            assert found.value.args == expected.value.args
        assert np.array_equal(df(X, 2)[1], ad.grad(function)(X, 2))


@pytest.mark.filterwarnings("ignore")
def test_what_a_handler_waits_for_is_not_left_by():
    df = ad.grad(waited_for, native=True)
    assert np.array_equal(df(X, 5), np.full(2, 5.0))
    assert np.array_equal(df(X, 2), 2.0 * X)
