"""Differentiable types: what values are made of, their tangent vectors, and moving along them."""

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
