"""A list that changes while a loop runs through it is refused, under whatever name."""

import pytest

import adjoint as ad


def through_an_alias(x, n):
    xs = [x * i for i in range(n)]
    box = [xs]
    total = 0.0
    for v in xs:
        if len(xs) < 6:
            box[n - n].append(v * x)
        total += v
    return total


def test_through_an_alias() -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0306"):
        ad.grad(through_an_alias)(2.0, 3)
