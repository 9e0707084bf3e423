"""Passes: named functions from IR to IR, run in order; what each of them makes is verified where that is asked for.

The environment variable ``ADJOINT_CHECK`` asks for it when Adjoint is imported. The tests do; users' programs need not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from adjoint.ir.nodes import Function
from adjoint.records import dataclass

CHECKING = os.environ.get("ADJOINT_CHECK", "") not in ("", "0")
"""Whether functions are verified after each pass."""


@dataclass(frozen=True, slots=True)
class Pass:
    """A step of a pipeline.

    Attributes
    ----------
    name
        What it is called in messages.
    apply
        Takes a valid function and gives a valid function.
    """

    name: str
    apply: Callable[[Function], Function]


def run(pipeline: Iterable[Pass], function: Function) -> Function:
    """Applies passes in order."""
    for step in pipeline:
        made = step.apply(function)
        function = function if made is function else checked(made, step.name)
    return function


def checked(function: Function, stage: str) -> Function:
    """The function itself; verified, where that is asked for, with the name of what made it for the message.

    Raises
    ------
    InvalidIR
        If it is not well-formed.
    """
    if CHECKING:
        from adjoint.ir.verifier import verify

        verify(function, stage)
    return function
