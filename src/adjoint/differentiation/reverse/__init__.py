"""Reverse mode: from a function to its values and cotangents."""

from adjoint.differentiation.reverse.build import Split, reverse, split
from adjoint.differentiation.reverse.calls.expansion import expand

__all__ = ["Split", "expand", "reverse", "split"]
