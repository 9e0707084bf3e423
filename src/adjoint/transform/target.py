"""What a derivative is made for: a value that is handed down, as some choices are good for machine code only."""

from __future__ import annotations

from adjoint.compiling import ALL_CHECKED, Checked
from adjoint.records import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """What a derivative is made for.

    Attributes
    ----------
    machine
        Whether it becomes machine code.
    checked
        What of Python's arithmetic raises exceptions in machine code too.
    threads
        In how many chunks its outermost loops run side by side.
    """

    machine: bool = False
    checked: Checked = ALL_CHECKED
    threads: int = 1


PYTHON = Target()
"""Derivatives that Python runs."""
MACHINE = Target(machine=True)
"""Derivatives that become machine code, with all of Python's exceptions."""
