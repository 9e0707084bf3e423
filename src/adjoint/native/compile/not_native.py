"""Why something cannot be compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from adjoint.diagnostics import DifferentiationError, Span, diagnostic
from adjoint.ir.verifier import InvalidIR


class NotNative(Exception):
    """Why a text cannot be compiled."""

    def __init__(self, reason: str, notes: Sequence[str] = (), span: Span | None = None) -> None:
        super().__init__(reason)
        self.problem = diagnostic("AD0601", span, reason, notes=notes)


@contextlib.contextmanager
def faults_as_reasons(*others: type[Exception]) -> Iterator[None]:
    """Within it, a fault of the compiler is a reason not to compile: interpreted, a derivative needs no such step.

    Raises
    ------
    NotNative
        In place of any exception that is no refusal, none of the ``others``, and not about invalid IR: who asks for it
        to be verified wants to see it.
    """
    passed: tuple[type[Exception], ...] = (NotNative, DifferentiationError, InvalidIR, *others)
    try:
        yield
    except passed:
        raise
    except Exception as failure:
        raise NotNative(reason_of_fault(failure)) from failure


def reason_of_fault(failure: Exception) -> str:
    """A fault of the compiler, in words."""
    return f"Adjoint fails at it, which is a bug: {type(failure).__name__}: {failure}".splitlines()[0]
