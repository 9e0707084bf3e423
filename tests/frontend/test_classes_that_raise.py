"""Classes whose objects never come to be, since `__init__` raises."""

import pytest

import adjoint as ad


class Never:
    def __init__(self, value: float) -> None:
        self.value = value
        raise ValueError("none of these")


class Kept:
    def __init__(self, value: float) -> None:
        self.value = value


def total(x: float, count: int, first: int) -> float:
    made = []
    for i in range(count):
        made.append((Never if i < first else Kept)(x * x))
    result = x
    for each in made:
        result += each.value
    return result


def test_objects_on_a_list_of_which_some_cannot_be_made() -> None:
    assert ad.grad(total)(2.0, 3, 0) == 13.0
    assert ad.grad(total)(2.0, 0, 1) == 1.0
    with pytest.raises(ValueError, match="none of these"):
        ad.grad(total)(2.0, 3, 1)
