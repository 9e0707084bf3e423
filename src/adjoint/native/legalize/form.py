"""What is done to a finished derivative before Numba is given its text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adjoint.ir.nodes import Function, Var
from adjoint.ir.types import Storage
from adjoint.pipeline import EMITTED, LEGALIZE, NATIVE, Context, run
from adjoint.target import MACHINE, Target

if TYPE_CHECKING:
    from adjoint.native.compile.signatures import Agreement


def loops_of(function: Function, target: Target = MACHINE) -> Function:
    """A finished function of which all that computes with arrays is loops over numbers."""
    return run(LEGALIZE, function, Context(target))


def native_form(
    function: Function,
    target: Target = MACHINE,
    handed: frozenset[Storage] | None = None,
    by_rows: frozenset[Var] = frozenset(),
    agreeing: Sequence[Agreement] = (),
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
    agreeing
        Extents of parameters that agree.
    """
    return run(NATIVE, function, Context(target, handed=handed, by_rows=by_rows, agreeing=agreeing))


def emitted_form(
    function: Function,
    target: Target = MACHINE,
    handed: frozenset[Storage] | None = None,
    by_rows: frozenset[Var] = frozenset(),
    agreeing: Sequence[Agreement] = (),
) -> Function:
    """A finished function as LLVM IR is written of it; the parameters are those of :func:`native_form`."""
    return run(EMITTED, function, Context(target, handed=handed, by_rows=by_rows, agreeing=agreeing))
