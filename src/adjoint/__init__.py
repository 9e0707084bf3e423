"""Automatic differentiation as a property of Python: ordinary code in, readable derivative code out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjoint import manifolds, optim, rules, tangents, testing, types
    from adjoint.checkpoints import checkpoint, checkpointed
    from adjoint.declare import derivative_of, differential_of, stop_gradient, transpose_of
    from adjoint.diagnostics import DifferentiationError, DifferentiationWarning
    from adjoint.directions import jvps
    from adjoint.exporting import export
    from adjoint.flow import derivative
    from adjoint.functions import Fn, differentiable_function
    from adjoint.inline import adjoint
    from adjoint.inspection import source, stages
    from adjoint.jets import jet
    from adjoint.keypaths import (
        KeyPath,
        KeyPathError,
        KeyPathIterable,
        WritableKeyPath,
        all_key_paths,
        all_writable_key_paths,
        keypath,
        recursively_all_key_paths,
        recursively_all_writable_key_paths,
    )
    from adjoint.linear import linearize, transpose
    from adjoint.operators import compile, grad, hessian, jacobian, value_and_grad
    from adjoint.parameters import (
        GroupParameterized,
        ParameterAggregate,
        Parameterized,
        for_parameters,
        for_zipped_parameters,
        parameter,
        unrolled,
        zip_parameters,
    )
    from adjoint.products import hvp, jvp, vjp
    from adjoint.reporting import tape_report
    from adjoint.solutions import implicit
    from adjoint.surgery import backward, replace_gradient, with_derivative, without_derivative
    from adjoint.types import (
        AdditiveArithmetic,
        Differentiable,
        ElementaryFunctions,
        NoDerivative,
        PointwiseMultiplicative,
        TangentVector,
        VectorNumeric,
        VectorSpace,
        differentiable_variables,
        memberwise,
        move,
        moved,
        no_derivative,
        register_type,
        with_variables,
    )
    from adjoint.types.declaring import differentiable

__version__ = "0.1.0"

__all__ = [
    "AdditiveArithmetic",
    "Differentiable",
    "DifferentiationError",
    "DifferentiationWarning",
    "ElementaryFunctions",
    "Fn",
    "GroupParameterized",
    "KeyPath",
    "KeyPathError",
    "KeyPathIterable",
    "NoDerivative",
    "ParameterAggregate",
    "Parameterized",
    "PointwiseMultiplicative",
    "TangentVector",
    "VectorNumeric",
    "VectorSpace",
    "WritableKeyPath",
    "__version__",
    "adjoint",
    "all_key_paths",
    "all_writable_key_paths",
    "backward",
    "checkpoint",
    "checkpointed",
    "compile",
    "derivative",
    "derivative_of",
    "differentiable",
    "differentiable_function",
    "differentiable_variables",
    "differential_of",
    "export",
    "for_parameters",
    "for_zipped_parameters",
    "grad",
    "hessian",
    "hvp",
    "implicit",
    "jacobian",
    "jet",
    "jvp",
    "jvps",
    "keypath",
    "linearize",
    "manifolds",
    "memberwise",
    "move",
    "moved",
    "no_derivative",
    "optim",
    "parameter",
    "recursively_all_key_paths",
    "recursively_all_writable_key_paths",
    "register_type",
    "replace_gradient",
    "rules",
    "source",
    "stages",
    "stop_gradient",
    "tangents",
    "tape_report",
    "testing",
    "transpose",
    "transpose_of",
    "types",
    "unrolled",
    "value_and_grad",
    "vjp",
    "with_derivative",
    "with_variables",
    "without_derivative",
    "zip_parameters",
]

_HOMES = dict.fromkeys(__all__, "adjoint.operators") | {
    "DifferentiationError": "adjoint.diagnostics",
    "DifferentiationWarning": "adjoint.diagnostics",
    "checkpoint": "adjoint.checkpoints",
    "checkpointed": "adjoint.checkpoints",
    "derivative_of": "adjoint.declare",
    "differential_of": "adjoint.declare",
    "transpose_of": "adjoint.declare",
    "export": "adjoint.exporting",
    "implicit": "adjoint.solutions",
    "jet": "adjoint.jets",
    "linearize": "adjoint.linear",
    "transpose": "adjoint.linear",
    "jvps": "adjoint.directions",
    "source": "adjoint.inspection",
    "stages": "adjoint.inspection",
    "stop_gradient": "adjoint.declare",
    "tape_report": "adjoint.reporting",
}
_TYPES = (
    "AdditiveArithmetic",
    "Differentiable",
    "ElementaryFunctions",
    "NoDerivative",
    "PointwiseMultiplicative",
    "TangentVector",
    "VectorNumeric",
    "VectorSpace",
    "differentiable_variables",
    "manifolds",
    "memberwise",
    "move",
    "moved",
    "no_derivative",
    "register_type",
    "with_variables",
)
_HOMES |= dict.fromkeys(_TYPES, "adjoint.types") | {"differentiable": "adjoint.types.declaring"}
_HOMES |= dict.fromkeys(("Fn", "differentiable_function"), "adjoint.functions")
_HOMES |= dict.fromkeys(("hvp", "jvp", "vjp"), "adjoint.products")
_HOMES |= {name: "adjoint.keypaths" for name in __all__ if "key" in name.lower()}
_HOMES |= dict.fromkeys(("unrolled", *(name for name in __all__ if "parameter" in name.lower())), "adjoint.parameters")
_HOMES |= {"adjoint": "adjoint.inline", "derivative": "adjoint.flow"}
_SURGERY = ("backward", "replace_gradient", "with_derivative", "without_derivative")
_HOMES |= dict.fromkeys(_SURGERY, "adjoint.surgery")
_MODULES = ("manifolds", "optim", "rules", "tangents", "testing", "types")


def __getattr__(name: str) -> Any:
    """Public names are loaded at their first use, so that importing the package costs next to nothing."""
    if name in _MODULES:
        return import_module(f"adjoint.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'adjoint' has no attribute {name!r}")
    from adjoint.garbage import Lasting

    with Lasting():
        value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
