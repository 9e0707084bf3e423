"""Verifies what passes make, where that is asked for.

The environment variable ``ADJOINT_CHECK`` asks for it when Adjoint is imported. The tests do; users' programs need not.
"""

from __future__ import annotations

import os

from adjoint import ir

CHECKING = os.environ.get("ADJOINT_CHECK", "") not in ("", "0")
"""Whether functions are verified after each pass."""


def checked(function: ir.Function, stage: str) -> ir.Function:
    """The function itself; verified, where that is asked for, with the name of what made it for the message.

    Raises
    ------
    InvalidIR
        If it is not well-formed.
    """
    if CHECKING:
        from adjoint.ir.verifier import verify  # lazy

        verify(function, stage)
    return function
