"""Arrays that are joined with ``dtype=``."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


@pytest.mark.parametrize("join", [np.concatenate, np.stack, np.vstack, np.hstack])
def test_dtypes_of_what_is_joined(join: Callable[..., Any]) -> None:
    x = np.array([1.0, 2.0, 0.5])
    for options in ({"dtype": None}, {"dtype": float}, {"dtype": "f8", "casting": "unsafe"}, {"casting": "same_kind"}):
        check_grads(lambda x, options=options: np.sum(join((x, x * x), **options) ** 2), (x,))
    assert ad.value_and_grad(lambda x: np.sum(join((x, x), dtype=np.float32)))(x)[0].dtype == np.float32
    with pytest.raises(ad.DifferentiationError, match="AD0204"):
        ad.grad(lambda x: np.sum(join((x, x), dtype=int, casting="unsafe")))(x)
