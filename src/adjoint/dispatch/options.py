"""How derivatives are to be compiled, as users say it."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from adjoint.diagnostics import error
from adjoint.records import dataclass, replace

if TYPE_CHECKING:
    from adjoint.native.options import Options

MARK = "__adjoint_native__"
"""The attribute of a function that tells how its derivatives are compiled."""


@dataclass(frozen=True, slots=True)
class Compiling:
    """How a derivative is compiled, where it is told more than that it is.

    Attributes
    ----------
    mode
        True, ``"strict"`` or ``"background"``.
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

Native = bool | str | Compiling | None
"""Whether to compile: True, False, ``"strict"`` or ``"background"``; None leaves it to the function."""

_FAST = ("arcp", "contract", "nsz", "reassoc")


def resolve(
    native: Native, function: Any, fastmath: bool = False, boundscheck: bool = False, threads: int = 1
) -> Native:
    """What a user's ``native=`` means for a function; raises where llvmlite is needed and missing."""
    if native not in (None, True, False, "strict", "background") and not isinstance(native, Compiling):
        raise ValueError(f"native={native!r}: it is True, False, 'strict', 'background' or None")
    if type(threads) is not int or threads < 1:
        raise ValueError(f"threads={threads!r}: it is a whole number from 1")
    if native is None:
        native = _wish_of(function) or fastmath or boundscheck or threads > 1
    if native and importlib.util.find_spec("llvmlite") is None:
        raise error("AD0601", None, "llvmlite is not installed", helps=('pip install "adjoint[native]"',))
    if native and (fastmath or boundscheck or threads > 1):
        mode = native.mode if isinstance(native, Compiling) else native
        return Compiling(mode, fastmath, boundscheck, threads)
    return native


def _wish_of(function: Any) -> Native:
    """Whether derivatives of a function are compiled without asking."""
    if hasattr(function, "__adjoint_operator__"):
        return getattr(function, "native", None) or False
    marked: Native = getattr(function, MARK, None)
    return type(function).__name__ == "CPUDispatcher" if marked is None else marked


def threads_of(native: Native) -> int:
    """In how many chunks loops run side by side."""
    return native.threads if isinstance(native, Compiling) else 1


def is_strict(native: Native) -> bool:
    """Whether it is an error if a derivative cannot be compiled."""
    return _mode(native) == "strict"


def in_background(native: Native) -> bool:
    """Whether a derivative runs as Python until a child process has compiled it."""
    return _mode(native) == "background"


def _mode(native: Native) -> bool | str | None:
    return native.mode if isinstance(native, Compiling) else native


def as_strict(native: Native) -> Native:
    """The same, but an error if a derivative cannot be compiled."""
    return replace(native, mode="strict") if isinstance(native, Compiling) else "strict"


def options_of(function: Any, native: Native = True) -> Options:
    """What machine code is asked: what changes the arithmetic of a user's ``@njit`` holds for the derivative too."""
    from adjoint.native.options import Options  # lazy

    chosen = getattr(function, "targetoptions", {}).get("fastmath", False)
    words = ("fast",) if chosen is True else tuple(sorted(chosen or ()))
    if isinstance(native, Compiling) and native.fastmath:
        words = words or _FAST
    return Options(" ".join(words), isinstance(native, Compiling) and native.boundscheck)


def checked_of(function: Any, native: Native = True) -> Checked:
    """What of Python's arithmetic raises exceptions in machine code too; for functions of ``@njit`` what does there."""
    if isinstance(native, Compiling) and native.fastmath:
        return Checked(divisions=False, functions=False)
    at_once = isinstance(native, Compiling) and native.boundscheck
    options = getattr(function, "targetoptions", None)
    if options is None:
        return Checked(at_once=at_once)
    divisions = options.get("error_model", "python") == "python"
    return Checked(divisions, functions=False, at_once=at_once or options.get("boundscheck", False))
