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
    threads
        In how many parts outermost loops run side by side.
    """

    mode: bool | str = True
    fastmath: bool = False
    boundscheck: bool = False
    threads: int = 1

    def __repr__(self) -> str:
        """As the options were given."""
        told = [f"{name}=True" for name in ("fastmath", "boundscheck") if getattr(self, name)]
        if self.threads > 1:
            told.append(f"threads={self.threads}")
        return ", ".join([repr(self.mode), *told])


@dataclass(frozen=True, slots=True)
class Checked:
    """What of Python's arithmetic raises exceptions in machine code too.

    Attributes
    ----------
    divisions
        Division by zero.
    functions
        What functions of the module ``math`` refuse.
    at_once
        Before anything else happens, also where loops would be faster if it were told behind them.
    """

    divisions: bool = True
    functions: bool = True
    at_once: bool = False


ALL_CHECKED = Checked()
