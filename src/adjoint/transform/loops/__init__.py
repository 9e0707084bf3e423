"""Loops as machine code likes them: nothing is made in them, indices are plain, and order is kept only where it counts."""

from __future__ import annotations

from adjoint.ir.nodes import Function
from adjoint.transform.loops.hoisting import without_allocations_in_loops


def tuned(function: Function) -> Function:
    """The function with its loops in the form that compiles best."""
    return without_allocations_in_loops(function)


__all__ = ["tuned"]
