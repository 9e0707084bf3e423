"""Spans, codes, rendering: the only place that words a message."""

from adjoint.diagnostics.diagnostic import Diagnostic, Label, diagnostic
from adjoint.diagnostics.errors import (
    ComplexPower,
    DifferentiationError,
    DifferentiationWarning,
    InexactInteger,
    error,
    warn,
)
from adjoint.diagnostics.spans import Span, calls_through, place, span_of

__all__ = [
    "ComplexPower",
    "Diagnostic",
    "DifferentiationError",
    "DifferentiationWarning",
    "InexactInteger",
    "Label",
    "Span",
    "calls_through",
    "diagnostic",
    "error",
    "place",
    "span_of",
    "warn",
]
