"""Whether arrays share memory, where only a running program tells."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.diagnostics import error


def check_separate(one: Any, other: Any) -> None:
    """Refuses two arrays that share memory.

    Raises
    ------
    DifferentiationError
        AD0303.
    """
    if np.shares_memory(one, other):
        label = "two arguments share memory, and the function that is differentiated writes one"
        raise error("AD0303", None, label, helps=("pass a copy of one of them",))
