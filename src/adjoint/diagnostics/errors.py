"""The exception and the warning through which diagnostics reach the user."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable

from adjoint.diagnostics.diagnostic import Diagnostic, diagnostic
from adjoint.diagnostics.spans import Span

_PACKAGE = os.path.dirname(os.path.dirname(__file__))


class _WithDiagnostics(Exception):
    """Problems, and the text of them all."""

    def __init__(self, *diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        self.diagnostics = _flat(diagnostics)
        super().__init__(_rendered(self.diagnostics))

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), self.diagnostics, _besides(self)


class DifferentiationError(_WithDiagnostics, TypeError):
    """A program that cannot be differentiated; raised before any of it runs.

    Parameters
    ----------
    *diagnostics
        The problems, one by one or as sequences. What is said twice is kept once.

    Attributes
    ----------
    diagnostics : tuple of Diagnostic
        All problems that were found, in the order in which they were found.
    args : tuple of str
        The text, as ``str(error)``: some programs print ``error.args[0]``.
    """

    __module__ = "adjoint"

    def place_at(self, span: Span) -> None:
        """Gives problems that have no place of their own that of the call that asked."""
        self.diagnostics = _flat(problem.placed_at(span) for problem in self.diagnostics)
        self.args = (_rendered(self.diagnostics),)


class ComplexPower(DifferentiationError):
    """A power that was taken for a float turns out to be complex when the derivative runs."""

    __module__ = "adjoint"
    __qualname__ = "DifferentiationError"

    def __init__(self, *diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        super().__init__(*(diagnostics or (diagnostic("AD0414", None, "it counts as a float here"),)))


class InexactInteger(DifferentiationError):
    """An integer that lies among floats turns out to be so large that not all of them are floats."""

    __module__ = "adjoint"
    __qualname__ = "DifferentiationError"

    def __init__(self, *diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        label = "in this call an integer counts as a float that is too large for that: floats hold 53 bits"
        helps = ("make it a float where it is made, float(n), or keep it apart from floats",)
        super().__init__(*(diagnostics or (diagnostic("AD0402", None, label, helps=helps),)))


class DifferentiationWarning(_WithDiagnostics, UserWarning):
    """Something that can be differentiated, but hardly means what it says."""

    __module__ = "adjoint"


def error(
    code: str,
    span: Span | None,
    label: str = "",
    *,
    notes: Iterable[str] = (),
    helps: Iterable[str] | None = None,
    others: Iterable[tuple[Span, str]] = (),
    **fields: object,
) -> DifferentiationError:
    """An exception with one diagnostic; the parameters are those of :func:`diagnostic`."""
    return DifferentiationError(diagnostic(code, span, label, notes=notes, helps=helps, others=others, **fields))


def warn(problem: Diagnostic) -> None:
    """Issues a :class:`DifferentiationWarning` at the innermost caller outside this package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(DifferentiationWarning(problem), stacklevel=level + 1)


def _besides(problem: _WithDiagnostics) -> dict[str, object] | None:
    """What was set on an exception, such as its notes."""
    return {name: value for name, value in vars(problem).items() if name != "diagnostics"} or None


def _rendered(diagnostics: tuple[Diagnostic, ...]) -> str:
    from adjoint.diagnostics.render import render  # lazy

    return render(diagnostics)


def _flat(diagnostics: Iterable[Diagnostic | Iterable[Diagnostic]]) -> tuple[Diagnostic, ...]:
    found: dict[Diagnostic, None] = {}
    for item in diagnostics:
        found.update(dict.fromkeys((item,) if isinstance(item, Diagnostic) else item))
    return tuple(found)
