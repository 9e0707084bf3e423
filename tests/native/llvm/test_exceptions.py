"""Exceptions that machine code raises say what those of the program say."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad


def formatted(x, n):
    if x[0] > 1.0:
        raise ValueError(f"too large: {x[0]:.3f} at {n} of {x.shape}, {n > 2} and {n!r}, {len(x):>5d}")
    if x[0] < -1.0:
        raise KeyError(n)
    if x[1] > 5.0:
        raise NotImplementedError
    if x[1] < -5.0:
        raise RuntimeError("x is " + str(n) + "!")
    if x[2] < -5.0:
        raise IndexError
    if x[2] > 6.0:
        raise ValueError("both", n)
    if x[2] > 5.0:
        raise ValueError(x[2])
    if x[2] > 4.0:
        raise ArithmeticError()
    assert x[2] < 3.0, f"third: {x[2]}"
    return np.sum(x * x) * n


REFUSED = [
    [2.0, 0.0, 0.0],
    [-2.0, 0.0, 0.0],
    [0.0, 6.0, 0.0],
    [0.0, -6.0, 0.0],
    [0.0, 0.0, -6.0],
    [0.0, 0.0, 7.0],
    [0.0, 0.0, 6.0],
    [0.0, 0.0, 4.5],
    [0.0, 0.0, 3.5],
]


def said(run, *args):
    with pytest.raises(Exception) as caught:
        run(*args)
    return type(caught.value), caught.value.args, str(caught.value)


@pytest.mark.parametrize("x", REFUSED, ids=str)
def test_they_tell_what_the_call_has(x, own):
    own_run, python_run = ad.grad(formatted, native="strict"), ad.grad(formatted)
    assert said(own_run, np.array(x), 4) == said(python_run, np.array(x), 4)
    assert own_run(np.array([0.5, 0.5, 0.5]), 4).tolist() == [4.0, 4.0, 4.0]
    assert own


def inner(x, n):
    if n == 3:
        raise ValueError(f"{n} is too many for {x * 2.0:.1f}")
    return inner(x, n + 1) * x if n < 5 else x


def test_they_come_through_functions(own):
    for native in ("strict", False):
        with pytest.raises(ValueError, match=r"^3 is too many for 3\.0"):
            ad.grad(inner, native=native)(1.5, 0)
    assert own


def unpacked(x):
    items = []
    for i in range(len(x)):
        items.append(x[i] * x[i])
    if len(items) > 4:
        a, b, c = items
        return a * b * c
    first, *rest = items
    total = first
    for k in range(len(rest)):
        total += rest[k] * k
    return total


@pytest.mark.parametrize("size", [0, 5])
def test_unpacking_tells_how_many_there_are(size, own):
    runs = ad.grad(unpacked, native="strict"), ad.grad(unpacked)
    one, other = (said(run, np.ones(size)) for run in runs)
    assert own and one[0] is other[0] and one[1][0].partition("\n")[0] == other[1][0].partition("\n")[0]


def test_stages_end_with_llvm_ir():
    titles = [line for line in ad.stages(ad.grad(unpacked), np.ones(3), native=True).splitlines() if line[:3] == "-- "]
    assert titles[-2:] == ["-- text", "-- llvm"]
