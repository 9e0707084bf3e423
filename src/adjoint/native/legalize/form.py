"""What is done to a finished derivative before Numba is given its text."""

from __future__ import annotations

from adjoint.ir.nodes import Function, Var
from adjoint.ir.types import Storage
from adjoint.pipeline import NATIVE, Context, run
from adjoint.target import MACHINE, Target


def native_form(
    function: Function,
    target: Target = MACHINE,
    handed: frozenset[Storage] | None = None,
    by_rows: frozenset[Var] = frozenset(),
) -> Function:
    """A finished function as Numba is to see it.

    Parameters
    ----------
    function
        The function.
    target
        What it was made for.
    handed
        Memory that others see; None for that of the parameters.
    by_rows
        Parameters that are arrays laid out by rows.
    """
    return run(NATIVE, function, Context(target, handed=handed, by_rows=by_rows))
