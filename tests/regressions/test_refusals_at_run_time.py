"""What is refused at run time is no exception of the program: its own handlers let it pass."""

import functools

import numpy as np
import pytest

import adjoint as ad

Map = ad.Fn[[np.ndarray], np.ndarray]
TABLE = [lambda v: v, lambda v: v * 2.0]
get = functools.lru_cache(lambda key: TABLE[key])


def written_in_a_try(v, key):
    try:
        change: Map = get(key)
        w = change(v)
        w *= 3.0
    except Exception:
        pass
    return np.sum(v * v)


def test_a_refusal_passes_handlers() -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.grad(written_in_a_try)(np.array([1.0, 2.0]), 0)
    assert ad.grad(written_in_a_try)(np.array([1.0, 2.0]), 1).tolist() == [2.0, 4.0]


def change_in_place(v, key):
    change: Map = get(key)
    w = change(v)
    w *= 3.0


@pytest.mark.parametrize("kinds", [Exception, TypeError, (ValueError, TypeError), ad.DifferentiationError])
def test_a_refusal_in_a_function_that_is_called_passes_handlers(kinds) -> None:
    def f(v, key):
        try:
            change_in_place(v, key)
        except kinds:
            pass
        return np.sum(v * v)

    with pytest.raises(ad.DifferentiationError, match="AD0303"):
        ad.grad(f)(np.array([1.0, 2.0]), 0)
    assert ad.grad(f)(np.array([1.0, 2.0]), 1).tolist() == [2.0, 4.0]


def gone_through(a):
    total = 0.0
    try:
        for item in np.nditer(a):
            total += item * item
    except Exception:
        total = np.sum(a)
    return total


def test_another_layout_is_no_exception_of_the_program() -> None:
    a = np.full((2, 3), 2.0)
    np.testing.assert_array_equal(ad.grad(gone_through)(a), 2.0 * a)
    with pytest.raises(ad.DifferentiationError, match="does not lie in the order of its rows"):
        ad.grad(gone_through)(np.asfortranarray(a))
