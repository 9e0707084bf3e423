"""Derivatives that run without supports as long as their results are numbers, and without questions to arrays.

See :mod:`adjoint.differentiation.zeros.speculation` and :mod:`adjoint.differentiation.zeros.plain_arithmetic`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.types.structure import numbers_in

if TYPE_CHECKING:
    from adjoint.codegen.texts import Emitted
    from adjoint.dispatch.specialize import Specialization


_FAILED = object()


class Speculative:
    """A compiled entry without supports, and the one with them, which takes over for good where a result is NaN.

    Parameters
    ----------
    quick
        The entry without supports.
    make
        Compiles the other.
    make_silent
        Where the entry prints: compiles the other without that, to be run after the first.
    notes_errors
        Whether the entry is right only as long as NumPy finds no error in arithmetic. Of errors that the program makes
        itself the other tells, as the error state of the caller says.
    """

    def __init__(
        self,
        quick: Callable[..., Any],
        make: Callable[[], Specialization],
        make_silent: Callable[[], Specialization] | None = None,
        *,
        notes_errors: bool = False,
    ) -> None:
        self.quick = quick
        self._run: Callable[..., Any] = getattr(quick, "run", quick)
        self._make = make
        self._exact: Specialization | None = None
        self._make_silent = make_silent
        self._silent: Specialization | None = None
        self.notes_errors = notes_errors

    @property
    def prints(self) -> bool:
        """Whether the entry prints."""
        return self._make_silent is not None

    @property
    def emitted(self) -> Emitted:
        """The text without supports, as the compiler takes it."""
        emitted: Emitted = self.quick.emitted  # type: ignore[attr-defined]
        return emitted

    def exact(self) -> Specialization:
        """The derivative with supports."""
        if self._exact is None:
            self._exact = self._make()
        return self._exact

    def silent(self) -> Specialization:
        """The derivative with supports that prints nothing."""
        if self._make_silent is None:
            return self.exact()
        if self._silent is None:
            self._silent = self._make_silent()
        return self._silent

    def run(self, *inputs: Any) -> Any:
        """Calls an entry."""
        if self._exact is None or self._make_silent is not None:
            run = self._noting if self.notes_errors else self._run
            result = run(*inputs)
            if result is not _FAILED and not holds_nan(result):
                return result
        exact = self.silent()
        return (exact.in_place_of or exact.call)(*inputs)

    def _noting(self, *inputs: Any) -> Any:
        """The result of the entry without supports, if NumPy finds no error."""
        errors: list[str] = []
        try:
            with np.errstate(divide="call", over="call", invalid="call", call=lambda kind, _: errors.append(kind)):
                result = self._run(*inputs)
        except ArithmeticError:  # the program's own, or one of the derivative, which the other does not raise
            return _FAILED
        except Exception:
            if not errors:
                raise
        return _FAILED if errors else result

    __call__ = run


def holds_nan(value: Any) -> bool:
    """Whether anything in a structure is not a number; this is asked of each result."""
    kind = type(value)
    if kind is float:
        return bool(value != value)
    if kind is np.ndarray:
        return value.dtype.kind in "fc" and _is_nan(value)
    if kind is tuple or kind is list:
        return any(map(holds_nan, value))
    if kind is dict:
        return any(map(holds_nan, value.values()))
    return any(map(_is_nan, numbers_in(value)))


def _is_nan(leaf: Any) -> bool:
    if not isinstance(leaf, np.ndarray):
        return bool(leaf != leaf)
    flat = leaf.ravel()
    total = np.vdot(flat, flat)  # of squares: a number where all of them are, and faster than to look at each
    return bool(total != total) and bool(np.isnan(leaf).any())
