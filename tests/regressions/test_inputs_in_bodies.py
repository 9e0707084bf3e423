"""What is read from outside for the first time in a ``try`` body, or handed over by name, is no change of it."""

from dataclasses import dataclass, replace

import pytest

import adjoint as ad
from sampling import check_grads


@dataclass
class Pair:
    first: float
    second: float


def test_fields_of_a_class_after_another_try_statement() -> None:
    def f(x, y):
        try:
            x = x * y
        except ValueError:
            pass
        pair = Pair(y, max)
        try:
            pair = replace(pair, first=x)
        except ValueError:
            pass
        return pair.first * y

    check_grads(f, (0.3, 0.7))


def test_named_arguments_that_a_loop_over_unknown_keys_changes() -> None:
    def f(x, y, keys):
        def total(**parts):
            for key in keys:
                parts[key] = x * parts["a"]
            return sum(parts.values())

        return total(a=x, b=y)

    check_grads(f, (0.3, 0.7, ["c", "b"]), wrt=(0, 1))


def test_a_class_where_an_object_is_expected_in_a_recursion() -> None:
    def never_ends(pair, x):
        return never_ends(replace(pair, first=x), x)

    def f(x, y):
        if y <= 0.0:
            return never_ends(Pair, x)
        return x

    assert ad.grad(f)(0.3, 0.7) == 1.0
    for call in (f, ad.grad(f)):
        with pytest.raises(TypeError, match="dataclass instances"):
            call(0.3, -0.7)
