"""How derivatives of functions are declared, and the library of rules for NumPy, SciPy, math and Python's operators.

>>> import adjoint as ad, numpy as np
>>> from scipy.special import spence
>>> rule = ad.rules.elementwise(spence, lambda x, y: np.log(x) / (1 - x), domain=(1.5, 3.0))
>>> def f(x):
...     return spence(x)
>>> bool(abs(ad.grad(f)(2.0) + 0.6931471806) < 1e-9)
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjoint.rules.declare import bilinear, constant, elementwise, general, linear, no_derivative, observer

__all__ = ["bilinear", "constant", "elementwise", "general", "linear", "no_derivative", "observer"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'adjoint.rules' has no attribute {name!r}")
    return getattr(import_module("adjoint.rules.declare"), name)
