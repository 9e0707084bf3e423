"""Derivatives that run without supports as long as their results are numbers.

See :mod:`adjoint.differentiation.zeros.speculation`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.frontend.entry.inputs import has_fields
from adjoint.types.structure import fields_of

if TYPE_CHECKING:
    from adjoint.codegen.python import Emitted
    from adjoint.dispatch.specialize import Specialization


class Speculative:
    """A compiled entry without supports, and the one with them, which takes over for good where a result is NaN.

    Parameters
    ----------
    quick
        The entry without supports.
    make
        Compiles the other.
    """

    def __init__(self, quick: Callable[..., Any], make: Callable[[], Specialization]) -> None:
        self.quick = quick
        self._run: Callable[..., Any] = getattr(quick, "run", quick)
        self._make = make
        self._exact: Specialization | None = None

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

    def run(self, *inputs: Any) -> Any:
        """Calls an entry."""
        if self._exact is None:
            result = self._run(*inputs)
            if not holds_nan(result):
                return result
        return self.exact().call(*inputs)

    __call__ = run


def holds_nan(value: Any, seen: set[int] | None = None) -> bool:
    """Whether anything in a structure is not a number."""
    kind = type(value)
    if kind is float:
        return bool(value != value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc" and _holds_nan(value)
    if isinstance(value, (float, complex, np.inexact)):
        return bool(value != value)
    if value is None or isinstance(value, (int, str, np.generic)):
        return False
    if isinstance(value, (tuple, list)):
        return any(holds_nan(part, seen) for part in value)
    if isinstance(value, dict):
        return any(holds_nan(part, seen) for part in value.values())
    seen = set() if seen is None else seen
    if id(value) in seen or not has_fields(value):
        return False
    seen.add(id(value))
    return any(holds_nan(part, seen) for part in fields_of(value).values())


def _holds_nan(array: np.ndarray[Any, Any]) -> bool:
    flat = array.ravel()
    total = np.vdot(flat, flat)  # of squares: a number where all of them are, and faster than to look at each
    return bool(total != total) and bool(np.isnan(array).any())
