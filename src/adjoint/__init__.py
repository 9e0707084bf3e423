"""Automatic differentiation as a property of Python: ordinary code in, readable derivative code out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjoint import rules, testing
    from adjoint.declare import derivative_of, stop_gradient
    from adjoint.diagnostics import DifferentiationError, DifferentiationWarning
    from adjoint.exporting import export
    from adjoint.inspection import source, stages
    from adjoint.operators import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp

__version__ = "0.1.0"

__all__ = [
    "DifferentiationError",
    "DifferentiationWarning",
    "__version__",
    "derivative_of",
    "export",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "rules",
    "source",
    "stages",
    "stop_gradient",
    "testing",
    "value_and_grad",
    "vjp",
]

_HOMES = dict.fromkeys(__all__, "adjoint.operators") | {
    "DifferentiationError": "adjoint.diagnostics",
    "DifferentiationWarning": "adjoint.diagnostics",
    "derivative_of": "adjoint.declare",
    "export": "adjoint.exporting",
    "source": "adjoint.inspection",
    "stages": "adjoint.inspection",
    "stop_gradient": "adjoint.declare",
}


def __getattr__(name: str) -> Any:
    """Public names are loaded at their first use, so that importing the package costs next to nothing."""
    if name in ("rules", "testing"):
        return import_module(f"adjoint.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'adjoint' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
