"""Grids of which the rank is known as programs are read: no lists are made, and machine code knows the arrays."""

import warnings

import numpy as np
import pytest

import adjoint as ad


def waves(speed, n):
    line = np.linspace(0.0, 1.0, n)
    y, x = np.meshgrid(line, line)
    columns, rows = np.meshgrid(range(n), range(n + 1))
    return np.sum(np.sin(speed * x) * y) + np.sum(np.cos(speed * rows) * columns)


def test_grids_are_made_without_lists():
    text = ad.source(ad.grad(waves), 1.5, 4)
    assert "append" not in text
    assert "for " not in text


def test_grids_of_lines_and_ranges_run_natively():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ad.grad(waves, native=True)(1.5, 4) == pytest.approx(ad.grad(waves)(1.5, 4), rel=1e-12)


def test_grids_are_told_in_words_that_numpy_knows():
    def f(x):
        return np.sum(np.meshgrid(x, x, indexing="yx")[0])

    with pytest.raises(ad.DifferentiationError, match="raises"):
        ad.grad(f)(np.ones(2))
