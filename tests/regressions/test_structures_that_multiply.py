"""Code that runs for each structure of several values is refused where these multiply; it was compiled without end."""

import numpy as np
import pytest

import adjoint as ad

FORM = 12 * "{}"


def four(x):
    a = [x] if x > 1.0 else None
    b = [x] if x > 2.0 else None
    c = (x,) if x > 3.0 else None
    d = {"x": x} if x > 4.0 else None
    text = "{} {} {} {}".format(*map(str, (a, b, c, d is None)))
    return x * len(text) + x * x * (0.0 if a is None else a[0])


def twelve(x):
    a, b, c = ([x] if x > bound else None for bound in (1.0, 2.0, 3.0))
    d, e, f = ([x] if x > bound else None for bound in (1.5, 2.5, 3.5))
    g, h, i = ([x] if x > bound else None for bound in (1.2, 2.2, 3.2))
    j, k, m = ([x] if x > bound else None for bound in (1.7, 2.7, 3.7))
    return x * len(FORM.format(a, b, c, d, e, f, g, h, i, j, k, m))


@pytest.mark.parametrize("x", [0.5, 2.5, 4.5])
def test_few(x):
    cubed = x**3 if x > 1.0 else 0.0
    length = (four(x) - cubed) / x  # which steps: x has another text beside it
    assert np.isclose(ad.grad(four)(x), length + 3.0 * cubed / x)


def test_many_are_refused_soon():
    with pytest.raises(ad.DifferentiationError, match=r"AD0402(.|\n)*structure of values that have 2048 together"):
        ad.grad(twelve)(2.0)
