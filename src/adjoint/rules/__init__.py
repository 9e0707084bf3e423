"""How derivatives of functions are declared, and the library of rules for NumPy, math and Python's operators.

>>> import adjoint as ad
>>> from scipy.special import digamma, gammaln
>>> rule = ad.rules.elementwise(gammaln, lambda x, y: digamma(x), domain=(0.5, 3.0))
>>> ad.rules.no_derivative(digamma)
>>> def f(x):
...     return gammaln(x)
>>> bool(abs(ad.grad(f)(1.0) + 0.5772156649) < 1e-9)
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
