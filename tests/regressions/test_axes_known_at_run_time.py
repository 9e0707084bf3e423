"""An axis that is a variable: machine code took one column where all examples of a call had an extent of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import adjoint as ad
from sampling import check_grads

M = np.cos(np.arange(30.0)).reshape(5, 6)
W = np.sin(np.arange(30.0)).reshape(5, 6)


def edges_of_each_axis(m, s):
    found = m * 1.0
    for axis in range(2):
        along = np.moveaxis(found, axis, 0)
        along[: axis + 1] = s
    return np.sum(found * W)


def padded_axis_by_axis(m, s):
    found = m
    for axis in range(2):
        widths = [(1, 1) if k == axis else (0, 0) for k in range(2)]
        wide = np.pad(found, widths, constant_values=s)
        found = wide[:-2] * 2.0 if axis == 0 else wide[:, :-2] * 2.0
    return np.sum(found * W)


def smoothed_in_a_frame(m, s):
    return np.sum(ndimage.uniform_filter(m, 3, mode="constant", cval=s) * W)


@pytest.mark.parametrize("function", [edges_of_each_axis, padded_axis_by_axis, smoothed_in_a_frame])
def test_in_machine_code(function: Callable[..., Any]) -> None:
    value, grads = ad.value_and_grad(function, wrt=(0, 1), native=True)(M, 1.3)
    assert value == pytest.approx(function(M, 1.3), rel=1e-12)
    for found, wanted in zip(grads, ad.grad(function, wrt=(0, 1))(M, 1.3), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
    check_grads(function, (M, 1.3), order=1)
