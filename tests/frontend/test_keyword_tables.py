"""Keyword arguments from dicts whose keys are known at run time only: what Python raises."""

import pytest

import adjoint as ad


def line(x, a, b=2.0):
    return a * x + b**2


def called(p, names):
    table = {}
    for name in names:
        table[name] = p
    return line(3.0, **table)


@pytest.mark.parametrize("names", [["b"], ["a", "c"], ["a", "x"]])
def test_names_that_do_not_fit(names):
    with pytest.raises(TypeError):
        called(1.5, names)
    with pytest.raises(TypeError):
        ad.grad(called)(1.5, names)


def test_names_that_fit():
    assert ad.grad(called)(1.5, ["a", "b"]) == 6.0
    assert ad.grad(called)(1.5, ["a"]) == 3.0
