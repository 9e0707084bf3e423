"""Helpers as functions of the IR: their text is read as that of a program is, once for each kind of arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.entry.entry import lower_helper
from adjoint.passes import Context
from adjoint.pipeline import HELPERS, run
from adjoint.target import MACHINE

Given = ir.Type | ir.Atom
"""The type of an argument, or what it is."""


def lowered(helper: Callable[..., Any], given: Sequence[Given]) -> ir.Function:
    """A helper for arguments of these types, ready to be written; what is known of them is in its text."""
    return run(HELPERS, lower_helper(helper, given), Context(MACHINE))
