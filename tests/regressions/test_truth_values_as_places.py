"""``array.flat[condition]``: NumPy takes the first place, or none; a derivative of ``array[condition]`` was given."""

import numpy as np

import adjoint as ad
from regressions.differences import refused

X = np.arange(3.0) + 5.0


def read(x):
    return np.sum(x.flat[True] * 2.0)


def read_where_known_later(x):
    return np.sum(x.flat[bool(x[0] > 1.0)] * 2.0)


def read_by_numpys(x):
    return np.sum(x.flat[x[0] > 1.0] * 2.0)


def written(x):
    y = x * 1.0
    y.flat[True] = x[1]
    return np.sum(y)


def read_at_a_place(x):
    return x.flat[True + 1] * 2.0


def test_are_refused() -> None:
    for function in (read, read_where_known_later, read_by_numpys, written):
        for operator in (ad.grad, ad.value_and_grad):
            refusal = refused(lambda operator=operator, function=function: operator(function)(X))
            assert "a truth value as an index of 'flat'" in str(refusal), refusal


def test_whole_numbers_are_places() -> None:
    assert ad.grad(read_at_a_place)(X).tolist() == [0.0, 0.0, 2.0]
