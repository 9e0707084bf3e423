"""What takes matrices takes stacks of them, too: of an array whose rank is not known, it does not tell the rank."""

from __future__ import annotations

import numpy as np
import pytest

from adjoint import ir
from adjoint.rules.typing import type_of_call
from adjoint.testing import check_grads


def of_eigenvalues(stack, function):
    w, v = np.linalg.eigh(stack)
    return v @ (function(w)[..., None] * np.swapaxes(v, -1, -2))


def mean_of_matrices(stack):
    """The rank of the mean is not known: which axes are summed over is told by lists."""
    mean = np.mean(stack, axis=0)
    for _ in range(3):
        logarithms = of_eigenvalues(mean @ stack @ mean, np.log)
        mean = of_eigenvalues(0.1 * np.tensordot(np.ones(len(stack)), logarithms, axes=([0], [0])), np.exp)
    return np.sum(np.sin(mean))


def test_stacks_in_a_loop():
    a = np.random.default_rng(0).standard_normal((3, 3, 3))
    check_grads(mean_of_matrices, (a @ np.swapaxes(a, 1, 2) + np.eye(3),), order=1)


FUNCTIONS = (np.linalg.inv, np.linalg.cholesky, np.linalg.eigvalsh, np.linalg.pinv, np.diagonal, np.matrix_transpose)
NUMBERS = (np.linalg.det, np.trace)


@pytest.mark.parametrize("function", (*FUNCTIONS, *NUMBERS), ids=lambda function: function.__name__)
def test_types_of_results(function):
    (found,) = type_of_call(function, (ir.Var("x", ir.Array(np.dtype(float), None)),))
    assert found == (ir.Number() if function in NUMBERS else ir.Array(np.dtype(float), None))
