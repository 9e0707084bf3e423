"""What is done to a finished derivative before it is machine code's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.passes import Context
from adjoint.pipeline import LEGALIZE, NATIVE, run
from adjoint.target import MACHINE, Target

if TYPE_CHECKING:
    from adjoint.native.compile.agreements import Agreement

_latest: dict[str, tuple[tuple[Any, ...], ir.Function]] = {}


def loops_of(function: ir.Function, target: Target = MACHINE) -> ir.Function:
    """A finished function of which all that computes with arrays is loops over numbers."""
    return _remembered("loops", (function, target), lambda: run(LEGALIZE, function, Context(target)))


def native_form(
    function: ir.Function,
    target: Target = MACHINE,
    handed: frozenset[ir.Storage] | None = None,
    by_rows: frozenset[ir.Var] = frozenset(),
    agreeing: Sequence[Agreement] = (),
) -> ir.Function:
    """A finished function as machine code is made of it.

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
    context = Context(target, handed=handed, by_rows=by_rows, agreeing=agreeing)
    return run(NATIVE, function, context)


def _remembered(what: str, key: tuple[Any, ...], make: Callable[[], ir.Function]) -> ir.Function:
    """What was made last, if it is asked for again; who watches sees all passes."""
    function, target, *_ = key
    if target.watch is not None:
        return make()
    known = _latest.get(what)
    if known is not None and known[0][0] is function and known[0][1:] == key[1:]:
        return known[1]
    made = make()
    _latest[what] = (key, made)
    return made
