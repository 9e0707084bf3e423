"""Why something cannot be compiled."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.diagnostics import Span, diagnostic


class NotNative(Exception):
    """Why a text cannot be compiled."""

    def __init__(self, reason: str, notes: Sequence[str] = (), span: Span | None = None) -> None:
        super().__init__(reason)
        self.problem = diagnostic("AD0601", span, reason, notes=notes)
