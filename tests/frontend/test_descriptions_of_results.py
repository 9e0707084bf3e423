"""What a message says of a result."""

from __future__ import annotations

from adjoint import ir
from adjoint.frontend.differentiation.components import describe
from adjoint.frontend.interpreter import joins


def test_none_among_several_structures_is_called_so() -> None:
    shape = joins.UnionShape((joins.Leaf(ir.Opaque(type(None))), joins.Leaf(ir.FLOAT)))
    assert describe(shape) == "None or a number"
