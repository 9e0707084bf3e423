"""Reverse mode: from a function to its values and cotangents."""

from adjoint.transform.reverse.build import Split, reverse, split
from adjoint.transform.reverse.nested import expand

__all__ = ["Split", "expand", "reverse", "split"]
