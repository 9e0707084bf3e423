"""The ways into this package: what leaves by an exception looks as if it had been raised where the user called.

A traceback names the user's lines and those of derivatives, not the compiler's. A fault of the compiler keeps all of
its frames, and so does everything where the environment has ``ADJOINT_TRACEBACK=full``.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from adjoint.diagnostics.errors import DifferentiationError
from adjoint.diagnostics.request import place_of_request
from adjoint.diagnostics.user_lines import GENERATED, RAISE, tell_users_line

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_MACHINE = os.path.join(_PACKAGE, "native", "")
"""What calls machine code, whose exceptions have no lines of their own."""


def hand_over(failure: BaseException) -> None:
    """Prepares an exception that leaves this package; to be called where it is caught, before a bare ``raise``."""
    raised = tell_users_line(failure)
    if isinstance(failure, DifferentiationError) and not all(problem.labels for problem in failure.diagnostics):
        span = raised or place_of_request()
        if span is not None:
            failure.place_at(span)
    if os.environ.get("ADJOINT_TRACEBACK") != "full" and not _is_fault(failure):
        failure.__traceback__ = _without_own(failure.__traceback__)
        if isinstance(failure, DifferentiationError) and not any(p.code == "AD0901" for p in failure.diagnostics):
            failure.__cause__ = None  # what the compiler met is told in the message


def entrance(function: Callable[P, R]) -> Callable[P, R]:
    """A public function whose exceptions are prepared."""

    @functools.wraps(function)
    def enter(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except Exception as failure:
            if (
                isinstance(failure, TypeError)
                and failure.__traceback__ is not None
                and not failure.__traceback__.tb_next
            ):
                _answer(failure, function, kwargs)
            else:
                hand_over(failure)
            raise

    return enter


def behind(function: Any) -> Any:
    """The function that an entrance leads to; None for what is none."""
    return function.__wrapped__ if getattr(function, "__code__", None) is _ENTRANCE else None


_ENTRANCE = entrance(hand_over).__code__


def _answer(failure: TypeError, function: Callable[..., Any], named: Mapping[str, Any]) -> None:
    """Says of a call that does not fit a public function what to write instead."""
    from adjoint.diagnostics.other_names import keyword  # lazy

    answer = keyword(function, named)
    if answer is not None:
        said = str(failure).partition(". Did you mean")[0]  # what Python 3.14 guesses itself
        failure.args = (f"{said}: {answer}",)
    failure.__traceback__ = None


def _is_fault(failure: BaseException) -> bool:
    """Whether something went wrong in the compiler: no refusal, and neither meant nor in the user's code."""
    if isinstance(failure, (DifferentiationError, Warning)):
        return False
    last = failure.__traceback__
    while last is not None:
        file = last.tb_frame.f_code.co_filename
        if file.startswith((GENERATED, _MACHINE)):
            return False
        if last.tb_next is None:
            return file.startswith(_PACKAGE) and last.tb_frame.f_code.co_code[last.tb_lasti] != RAISE
        last = last.tb_next
    return False


def _without_own(traceback: TracebackType | None) -> TracebackType | None:
    kept = []
    while traceback is not None:
        if not traceback.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            kept.append(traceback)
        traceback = traceback.tb_next
    shown: TracebackType | None = None
    for one in reversed(kept):
        shown = TracebackType(shown, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return shown
