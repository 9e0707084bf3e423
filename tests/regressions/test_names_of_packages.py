"""A module of a user's may begin with the name of a library."""

import numpy as np
import pytest

import adjoint as ad
from sampling import check_grads


class Activation:
    """Something that is called, as layers and kernels are."""

    def __init__(self, slope: float) -> None:
        self.slope = slope

    def __call__(self, x):
        return np.where(x > 0, x, self.slope * x * x)


@pytest.mark.parametrize("module", ["numpy_models", "numba_kernels", "jax_tools", "numpyro_like.layers"])
def test_objects_that_are_called(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Activation, "__module__", module)

    def f(activation, x):
        return np.sum(activation(x))

    x = np.array([-1.5, 2.0])
    assert ad.grad(f)(Activation(0.5), x).slope == 2.25
    check_grads(lambda slope, x: f(Activation(slope), x), (0.5, x))
    check_grads(f, (Activation(0.5), x))
