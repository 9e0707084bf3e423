"""Tangents of arrays that are written after a rule has made them: second derivatives know that they are written."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.api.jvp_vjp import specialized_jvp
from adjoint.ir.walk import statements_in
from regressions.differences import right, second

X = np.array([0.5, 0.3, 0.8])


def divided(x):
    s = x / 3.0
    s[0] = s[1] * x[2]
    s *= x
    return np.sum(s * s)


def divided_by_a_root(x):
    m = np.stack([x, x * 2.0])
    s = m @ m.T / np.sqrt(3.0)
    s -= s.max(axis=1, keepdims=True)
    s[0, -1] = -3.0
    return np.sum(np.exp(s) * s)


@pytest.mark.parametrize("function", [divided, divided_by_a_root])
def test_right_to_second_order(function) -> None:
    right(function, X)
    second(function, X)
    hessian = ad.hessian(function)(X)
    for row in range(3):
        found = ad.grad(lambda x, row=row: ad.grad(function)(x)[row])(X)
        np.testing.assert_allclose(found, hessian[row], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("function", [divided, divided_by_a_root])
def test_types_say_what_is_written(function) -> None:
    quick = specialized_jvp(function, (X,), (np.ones(3),))
    for compiled in (quick, quick.exact):
        for statement in statements_in(compiled.function.body):
            if isinstance(statement, ir.Store) and isinstance(statement.base.type, ir.Array):
                assert statement.base.type.storage.written, statement.base
