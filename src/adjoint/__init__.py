"""Automatic differentiation as a property of Python: ordinary code in, readable derivative code out."""

from adjoint.diagnostics import DifferentiationError, DifferentiationWarning
from adjoint.operators import grad, hessian, hvp, jacobian, jvp, source, stages, value_and_grad, vjp

__version__ = "0.1.0"

__all__ = [
    "DifferentiationError",
    "DifferentiationWarning",
    "__version__",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "source",
    "stages",
    "value_and_grad",
    "vjp",
]
