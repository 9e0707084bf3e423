"""Differentiable types: what values are made of, their tangent vectors, and moving along them."""

from adjoint.types.differentiable import Differentiable, move, moved
from adjoint.types.structure import leaves_of, map_structure
from adjoint.types.vectors import TangentVector, tangent_class

__all__ = ["Differentiable", "TangentVector", "leaves_of", "map_structure", "move", "moved", "tangent_class"]
