"""What the reverse sweep finds of the forward sweep: as little as will do, and where it can be looked up at once."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint.testing import check_grads
from golden.programs import vibrating
from native.machine_form import machine_text

X = np.array([0.7, -0.4, 0.9, 0.3, 1.1])


def test_one_number_is_kept_rather_than_the_three_that_it_is_made_of() -> None:
    text = ad.source(ad.grad(vibrating), X, 3)
    assert text.count("_kept = []") == 1
    check_grads(lambda c: vibrating(c, 3), (X,))


@pytest.mark.usefixtures("machine_form")
def test_loops_whose_ends_are_computed_in_others_keep_numbers_in_one_array() -> None:
    expected = [ad.grad(vibrating)(X[:count], 3) for count in (0, 1, 2, 3, 5)]
    gradient = ad.grad(vibrating, native=True)
    for count, slope in zip((0, 1, 2, 3, 5), expected, strict=True):
        np.testing.assert_allclose(gradient(X[:count], 3), slope, rtol=1e-13)
    text = machine_text(gradient, X, 3)
    assert ".append(" not in text
    assert text.count("t_kept = np.empty(") == 1
