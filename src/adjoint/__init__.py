"""Automatic differentiation as a property of Python: ordinary code in, readable derivative code out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjoint import testing
    from adjoint.diagnostics import DifferentiationError, DifferentiationWarning
    from adjoint.exporting import export
    from adjoint.inspection import source, stages
    from adjoint.operators import grad, hessian, hvp, jacobian, jvp, value_and_grad, vjp

__version__ = "0.1.0"

__all__ = [
    "DifferentiationError",
    "DifferentiationWarning",
    "__version__",
    "export",
    "grad",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "source",
    "stages",
    "testing",
    "value_and_grad",
    "vjp",
]

_HOMES = {name: "adjoint.operators" for name in __all__} | {
    "DifferentiationError": "adjoint.diagnostics",
    "DifferentiationWarning": "adjoint.diagnostics",
    "export": "adjoint.exporting",
    "source": "adjoint.inspection",
    "stages": "adjoint.inspection",
}


def __getattr__(name: str) -> Any:
    """Public names are loaded at their first use, so that importing the package costs next to nothing."""
    if name == "testing":
        return import_module("adjoint.testing")
    if name not in __all__:
        raise AttributeError(f"module 'adjoint' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
