"""Random numbers in machine code: what is drawn is a new array by rows, so that views of it may be written."""

import warnings

import pytest

import adjoint as ad
from programs.random_numbers import draws_that_are_written


def test_what_is_drawn_is_laid_out_as_machine_code_knows():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = ad.value_and_grad(draws_that_are_written, native=True)(0.4, 3)
    assert found == pytest.approx(ad.value_and_grad(draws_that_are_written)(0.4, 3), rel=1e-12)
