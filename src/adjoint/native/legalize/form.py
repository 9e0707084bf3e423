"""What is done to a finished derivative before it is machine code's.

Both back ends begin with the same passes. What was made last is remembered: where Adjoint's own back end finds a
statement that only Numba compiles, Numba goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.passes import Context
from adjoint.pipeline import EMITTED, LEGALIZE, NATIVE, run
from adjoint.target import MACHINE, Target

if TYPE_CHECKING:
    from adjoint.native.compile.signatures import Agreement

_SHARED = NATIVE[: next(place for place, pair in enumerate(zip(NATIVE, EMITTED, strict=False)) if pair[0] != pair[1])]
"""The passes with which both pipelines begin."""
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
    pipeline: Sequence[str] = NATIVE,
) -> ir.Function:
    """A finished function as a back end is to see it.

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
    pipeline
        The passes: those of Numba, or ``EMITTED`` for what LLVM IR is written of.
    """
    context = Context(target, handed=handed, by_rows=by_rows, agreeing=agreeing)
    key = (function, target, handed, by_rows, tuple(agreeing))
    begun = _remembered("begun", key, lambda: run(_SHARED, function, context))
    return run(pipeline[len(_SHARED) :], begun, context)


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
