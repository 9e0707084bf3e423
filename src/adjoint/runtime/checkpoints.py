"""What the primal of a derivative hands to its adjoint."""

from __future__ import annotations

from typing import Any, ClassVar


class Checkpoints:
    """Base of the dataclasses with a field for each value that a primal keeps; one for each derivative."""

    compiled: ClassVar[Any] = None
    """The compiled primal and adjoint that they are for."""
    made_for: ClassVar[Any] = None
    """What tells the derivative from others."""
