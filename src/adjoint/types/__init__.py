"""Differentiable types: what values are made of, their tangent vectors, and moving along them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjoint.types.differentiable import move, moved
    from adjoint.types.marks import NoDerivative, no_derivative
    from adjoint.types.protocols import (
        AdditiveArithmetic,
        Differentiable,
        ElementaryFunctions,
        PointwiseMultiplicative,
        VectorNumeric,
        VectorSpace,
    )
    from adjoint.types.registry import register_type
    from adjoint.types.structure import leaves_of, map_structure, memberwise
    from adjoint.types.variables import differentiable_variables, with_variables
    from adjoint.types.vectors import TangentVector, shadow_class, tangent_class

__all__ = [
    "AdditiveArithmetic",
    "Differentiable",
    "ElementaryFunctions",
    "NoDerivative",
    "PointwiseMultiplicative",
    "TangentVector",
    "VectorNumeric",
    "VectorSpace",
    "differentiable_variables",
    "leaves_of",
    "map_structure",
    "memberwise",
    "move",
    "moved",
    "no_derivative",
    "register_type",
    "shadow_class",
    "tangent_class",
    "with_variables",
]

_HOMES = dict.fromkeys(__all__, "protocols") | {
    "NoDerivative": "marks",
    "TangentVector": "vectors",
    "differentiable_variables": "variables",
    "leaves_of": "structure",
    "map_structure": "structure",
    "memberwise": "structure",
    "move": "differentiable",
    "moved": "differentiable",
    "no_derivative": "marks",
    "register_type": "registry",
    "shadow_class": "vectors",
    "tangent_class": "vectors",
    "with_variables": "variables",
}


def __getattr__(name: str) -> Any:
    """Loaded at the first use: derivatives of functions of numbers need little of this."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return value
