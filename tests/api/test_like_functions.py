"""Derivatives tell Python's tools what functions tell them."""

from __future__ import annotations

import functools
import inspect
import math
import pickle
from typing import Any

import numpy as np
import pytest

import adjoint as ad


def loss(weight: float, *, scale: float = 2.0) -> float:
    """A loss."""
    return weight * weight * scale


@pytest.mark.parametrize("operator", [ad.grad, ad.value_and_grad, ad.jacobian, ad.hessian])
def test_of_a_function(operator: Any) -> None:
    derivative = operator(loss)
    assert derivative.__name__ == derivative.__qualname__ == f"loss_{operator.__name__}"
    assert derivative.__module__ == __name__
    assert derivative.__wrapped__ is loss
    assert str(inspect.signature(derivative)) == "(weight: 'float', *, scale: 'float' = 2.0)"
    assert inspect.getdoc(derivative).endswith("of loss.\n\nA loss.")
    assert pickle.loads(pickle.dumps(derivative)).__name__ == derivative.__name__
    assert callable(derivative)


def test_of_what_has_no_signature() -> None:
    derivative = ad.grad(np.sum)
    assert derivative.__name__ == "sum_grad"
    assert ad.grad(lambda x: x).__name__ == "function_grad"
    assert ad.grad(functools.partial(loss, scale=3.0)).__name__ == "loss_grad"
    assert ad.grad(ad.grad(loss)).__name__ == "loss_grad_grad"
    assert ad.grad(ad.grad(loss))(3.0) == 4.0
    assert ad.grad(math.sin)(0.0) == 1.0


def test_of_sparse_matrices() -> None:
    assert ad.jacobian(np.sin, sparsity=np.eye(2)).__name__ == "sin_jacobian"


def test_wraps() -> None:
    @functools.wraps(ad.grad(loss))
    def gradient(*args: Any, **kwargs: Any) -> Any:
        return ad.grad(loss)(*args, **kwargs)

    assert gradient.__name__ == "loss_grad" and gradient(3.0) == 12.0
