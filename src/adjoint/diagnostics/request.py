"""Who asked for a derivative: the innermost place outside this package, and the operator that was called there."""

from __future__ import annotations

import os
import sys
from itertools import islice
from types import FrameType
from typing import Any

from adjoint.diagnostics.entrances import entered_by
from adjoint.diagnostics.spans import Span, place

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_NOT_REQUESTS = (f"{_PACKAGE}/cli", f"{_PACKAGE}/testing.py")
"""From here the user's place is on the command line, or in the function under test."""


def request_note(operator: str, function: Any) -> str | None:
    """``differentiated from train.py:30:8, ad.grad(apply)``; None where no place of the user's asked."""
    frame: FrameType | None = sys._getframe(1)
    innermost = frame
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_code.co_filename.startswith(_NOT_REQUESTS):
            return None
        innermost, frame = frame, frame.f_back
    if frame is None or innermost is None:
        return None
    span = position(frame)
    return None if span is None else f"differentiated from {place(span)}, {_called(innermost, operator, function)}"


def _called(innermost: FrameType, operator: str, function: Any) -> str:
    """The operator that the user called, which may have used another: a Jacobian is made of pullbacks."""
    entered = entered_by(innermost)
    name = innermost.f_code.co_name
    derivative = innermost.f_locals.get("f" if name in _OF_FUNCTIONS else "self")
    if entered is not None:
        name, derivative = entered
    if derivative is not None and hasattr(derivative, "kind") and hasattr(derivative, "function"):
        operator, function = derivative.kind, derivative.function
    elif name in _OF_FUNCTIONS:
        operator, function = name, derivative
    name = getattr(function, "__name__", None) or type(function).__name__
    return f"ad.{operator}({'a lambda' if name == '<lambda>' else name})"


_OF_FUNCTIONS = ("vjp", "jvp", "hvp", "jvps", "jet", "linearize", "transpose")


def position(frame: FrameType) -> Span | None:
    """The place of the call that a frame is at."""
    instruction = frame.f_lasti // 2
    line, end_line, column, end_column = next(islice(frame.f_code.co_positions(), instruction, None), (None,) * 4)
    if line is None:
        line = frame.f_lineno
    if line is None:
        return None
    return Span(frame.f_code.co_filename, line, column or 0, end_line or line, end_column or 0)
