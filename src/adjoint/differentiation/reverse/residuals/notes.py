"""What was decided about values that the reverse region reads, for people who ask."""

from __future__ import annotations

from adjoint import ir
from adjoint.diagnostics import Span
from adjoint.records import dataclass, field


@dataclass(eq=False, slots=True)
class Notes:
    """Filled by the transform; keys are the name of the variable and the place where it is computed.

    Attributes
    ----------
    kept
        Why a value is kept rather than computed again.
    recomputed
        The values that are computed again, in the order in which this was decided.
    named
        Those of both that have a name in the program.
    """

    kept: dict[tuple[str, Span | None], str] = field(default_factory=dict)
    recomputed: dict[tuple[str, Span | None], None] = field(default_factory=dict)
    named: set[tuple[str, Span | None]] = field(default_factory=set)

    def note(self, var: ir.Var, span: Span | None, reason: str | None) -> None:
        """Takes down one value: why it is kept, or without a reason that it is computed again."""
        if reason is None:
            self.recomputed[var.hint, span] = None
        else:
            self.kept[var.hint, span] = reason
        if var.named:
            self.named.add((var.hint, span))
