"""Who asked for a derivative: the innermost place outside this package, and the operator that was called there."""

from __future__ import annotations

import os
import sys
from itertools import islice
from types import FrameType
from typing import Any

from adjoint.diagnostics.spans import Span, place
from adjoint.diagnostics.user_lines import GENERATED

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_ENTRANCES = os.path.join(os.path.dirname(__file__), "entrances.py")
_NOT_REQUESTS = (f"{_PACKAGE}/cli", f"{_PACKAGE}/testing.py")
"""From here the user's place is on the command line, or in the function under test."""


def request_note(operator: str, function: Any) -> str | None:
    """``differentiated from train.py:30:8, ad.grad(apply)``; None where no place of the user's asked."""
    asked = _asking()
    if asked is None:
        return None
    innermost, span = asked
    return f"differentiated from {place(span)}, {_called(innermost, operator, function)}"


def place_of_request() -> Span | None:
    """The place of the user's that called into this package; None where there is none."""
    asked = _asking()
    return None if asked is None else asked[1]


def _asking() -> tuple[FrameType, Span] | None:
    """The outermost frame of this package, and the place that it was called from."""
    frame: FrameType | None = sys._getframe(2)
    innermost = frame
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        if frame.f_code.co_filename.startswith(_NOT_REQUESTS):
            return None
        innermost, frame = frame, frame.f_back
    if frame is None or innermost is None or frame.f_code.co_filename.startswith(GENERATED):
        return None
    span = position(frame)
    return None if span is None else (innermost, span)


def _called(innermost: FrameType, operator: str, function: Any) -> str:
    """The operator that the user called, which may have used another: a Jacobian is made of pullbacks."""
    entered = _entered_by(innermost)
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


def _entered_by(frame: FrameType) -> tuple[str, Any] | None:
    """The name of the public function that a frame enters, and its first argument; None for other frames."""
    if frame.f_code.co_filename != _ENTRANCES or "function" not in frame.f_locals:
        return None
    args, kwargs = frame.f_locals["args"], frame.f_locals["kwargs"]
    return frame.f_locals["function"].__name__, args[0] if args else kwargs.get("f")


def position(frame: FrameType) -> Span | None:
    """The place of the call that a frame is at."""
    instruction = frame.f_lasti // 2
    line, end_line, column, end_column = next(islice(frame.f_code.co_positions(), instruction, None), (None,) * 4)
    if line is None:
        line = frame.f_lineno
    if line is None:
        return None
    return Span(frame.f_code.co_filename, line, column or 0, end_line or line, end_column or 0)
