"""How derivatives are to be compiled, as users say it."""

from __future__ import annotations

from adjoint.records import dataclass

MARK = "__adjoint_native__"
"""The attribute of a function that tells how its derivatives are compiled."""


@dataclass(frozen=True, slots=True)
class Compiling:
    """How a derivative is compiled, where it is told more than that it is.

    Attributes
    ----------
    mode
        True or ``"strict"``.
    fastmath
        Sums may be added up in another order, and products and sums joined; tests for NaN stay right.
    boundscheck
        Whether an index out of range raises an IndexError.
    """

    mode: bool | str = True
    fastmath: bool = False
    boundscheck: bool = False

    def __repr__(self) -> str:
        """As the options were given."""
        told = [f"{name}=True" for name in ("fastmath", "boundscheck") if getattr(self, name)]
        return ", ".join([repr(self.mode), *told])
