"""What was decided about values that the reverse region reads, for people who ask."""

from __future__ import annotations

from dataclasses import field

from adjoint.diagnostics import Span
from adjoint.records import dataclass


@dataclass(eq=False, slots=True)
class Notes:
    """Filled by the transform; keys are the name of the variable and the place where it is computed.

    Attributes
    ----------
    kept
        Why a value is kept rather than computed again.
    recomputed
        The values that are computed again, in the order in which this was decided.
    """

    kept: dict[tuple[str, Span | None], str] = field(default_factory=dict)
    recomputed: dict[tuple[str, Span | None], None] = field(default_factory=dict)
