"""Automatic differentiation as a property of Python: ordinary code in, readable derivative code out."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjoint import data, distributed, interop, manifolds, nn, optim, rules, tangents, testing, types
    from adjoint.api.gradients import compile, grad, hessian, jacobian, sparsity, value_and_grad
    from adjoint.api.jvp_vjp import hvp, jvp, vjp
    from adjoint.api.linear_maps import linearize, transpose
    from adjoint.api.raveling import ravel
    from adjoint.api.sweeps.many_directions import jvps
    from adjoint.api.taylor_mode import jet
    from adjoint.api.tools.export import export
    from adjoint.api.tools.inspection import source, stages
    from adjoint.api.tools.tape_report import tape_report
    from adjoint.declarations.checkpointing import checkpoint, checkpointed
    from adjoint.declarations.custom_derivatives import derivative_of, differential_of, stop_gradient, transpose_of
    from adjoint.declarations.differentiable_types import differentiable
    from adjoint.declarations.flow_derivatives import derivative
    from adjoint.declarations.function_values import Fn, differentiable_function
    from adjoint.declarations.implicit import implicit
    from adjoint.declarations.inline_adjoints import adjoint
    from adjoint.declarations.surgery import backward, replace_gradient, with_derivative, without_derivative
    from adjoint.diagnostics import DifferentiationError, DifferentiationWarning
    from adjoint.interop.ipopt import nlp
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
    "data",
    "derivative",
    "derivative_of",
    "differentiable",
    "differentiable_function",
    "differentiable_variables",
    "differential_of",
    "distributed",
    "export",
    "for_parameters",
    "for_zipped_parameters",
    "grad",
    "hessian",
    "hvp",
    "implicit",
    "interop",
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
    "nlp",
    "nn",
    "no_derivative",
    "optim",
    "parameter",
    "ravel",
    "recursively_all_key_paths",
    "recursively_all_writable_key_paths",
    "register_type",
    "replace_gradient",
    "rules",
    "source",
    "sparsity",
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

_HOMES = dict.fromkeys(__all__, "adjoint.api.gradients") | {
    "DifferentiationError": "adjoint.diagnostics",
    "DifferentiationWarning": "adjoint.diagnostics",
    "checkpoint": "adjoint.declarations.checkpointing",
    "checkpointed": "adjoint.declarations.checkpointing",
    "derivative_of": "adjoint.declarations.custom_derivatives",
    "differential_of": "adjoint.declarations.custom_derivatives",
    "transpose_of": "adjoint.declarations.custom_derivatives",
    "export": "adjoint.api.tools.export",
    "implicit": "adjoint.declarations.implicit",
    "jet": "adjoint.api.taylor_mode",
    "linearize": "adjoint.api.linear_maps",
    "nlp": "adjoint.interop.ipopt",
    "transpose": "adjoint.api.linear_maps",
    "jvps": "adjoint.api.sweeps.many_directions",
    "ravel": "adjoint.api.raveling",
    "source": "adjoint.api.tools.inspection",
    "stages": "adjoint.api.tools.inspection",
    "stop_gradient": "adjoint.declarations.custom_derivatives",
    "tape_report": "adjoint.api.tools.tape_report",
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
_HOMES |= dict.fromkeys(_TYPES, "adjoint.types") | {"differentiable": "adjoint.declarations.differentiable_types"}
_HOMES |= dict.fromkeys(("Fn", "differentiable_function"), "adjoint.declarations.function_values")
_HOMES |= dict.fromkeys(("hvp", "jvp", "vjp"), "adjoint.api.jvp_vjp")
_HOMES |= {name: "adjoint.keypaths" for name in __all__ if "key" in name.lower()}
_HOMES |= dict.fromkeys(("unrolled", *(name for name in __all__ if "parameter" in name.lower())), "adjoint.parameters")
_HOMES |= {"adjoint": "adjoint.declarations.inline_adjoints", "derivative": "adjoint.declarations.flow_derivatives"}
_SURGERY = ("backward", "replace_gradient", "with_derivative", "without_derivative")
_HOMES |= dict.fromkeys(_SURGERY, "adjoint.declarations.surgery")
_MODULES = ("data", "distributed", "interop", "manifolds", "nn", "optim", "rules", "tangents", "testing", "types")


def _home(name: str) -> tuple[str, str]:
    """The module that a public name is loaded from, and its name there; modules themselves have none."""
    return (f"adjoint.{name}", "") if name in _MODULES else (_HOMES[name], name)


def __getattr__(name: str) -> Any:
    """Public names are loaded at their first use, so that importing the package costs next to nothing."""
    if name in _MODULES:
        return import_module(f"adjoint.{name}")
    if name not in __all__:
        from importlib.util import find_spec  # lazy

        if name.startswith("__") or find_spec(f"adjoint.{name}") is not None:  # which is imported next
            raise AttributeError(f"module 'adjoint' has no attribute {name!r}")
        from adjoint.diagnostics.other_names import attribute  # lazy

        refusal = AttributeError(attribute(name, __all__), name=name, obj=object())  # Python would guess once more
        try:
            raise refusal
        except AttributeError:
            refusal.__traceback__ = None  # which leaves this frame out
            raise
    from adjoint.gc_pause import Lasting  # lazy

    with Lasting():
        value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
