"""What derivatives are made for, as users say it."""

from __future__ import annotations

from typing import Any

from adjoint.dispatch.options import Native, checked_of, threads_of
from adjoint.frontend.entry.captured import differentiated
from adjoint.target import PYTHON, Target


def target_of(function: Any, native: Native) -> Target:
    """What a derivative of a function is made for."""
    return Target(True, checked_of(differentiated(function), native), threads_of(native)) if native else PYTHON
