"""What a derivative is made for: a value that is handed down, as some choices are good for machine code only."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from adjoint import ir
from adjoint.dispatch.options import ALL_CHECKED, Checked
from adjoint.records import dataclass, field
from adjoint.types.array_libraries import Library

Watch = Callable[[str, ir.Function, ir.Function, float], None]
"""Is told of each pass: its name, the function before and after it, and the seconds it took."""

SKIPPED = frozenset(filter(None, os.environ.get("ADJOINT_SKIP", "").replace(" ", "").split(",")))
"""The passes that the environment variable leaves out: to find out what they buy."""

INLINED = int(os.environ.get("ADJOINT_INLINE", "30"))
"""How many statements inlining may repeat of one function; of 0, every call of a function stays a call."""
ALL_INLINED = sys.maxsize


@dataclass(frozen=True, slots=True)
class Target:
    """What a derivative is made for, and how.

    Attributes
    ----------
    machine
        Whether it becomes machine code.
    checked
        What of Python's arithmetic raises exceptions in machine code too.
    threads
        In how many chunks its outermost loops run side by side.
    inlined
        How many statements inlining one function may repeat; a function that exceeds that stays a function.
    recomputes
        Whether a result that is not a number is computed again, with everything inlined.
    skipped
        The names of passes that are left out.
    library
        The library of the arrays, where it is not NumPy.
    watch
        Is told what each pass does.
    """

    machine: bool = False
    checked: Checked = ALL_CHECKED
    threads: int = 1
    inlined: int = INLINED
    recomputes: bool = True
    skipped: frozenset[str] = SKIPPED
    library: Library | None = None
    watch: Watch | None = field(default=None, compare=False, repr=False)


PYTHON = Target()
"""Derivatives that Python runs."""
MACHINE = Target(machine=True)
"""Derivatives that become machine code, with all of Python's exceptions."""
