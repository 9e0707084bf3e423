"""Adjoints of functions that are run again instead of being kept: both sweeps in one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.differentiation.reverse.calls.calling_convention import Given
from adjoint.differentiation.reverse.sweeps import Sweeps, accumulator, reversed_iteration, sweeps_of, with_supports
from adjoint.ir.rebuild import clone_function
from adjoint.optimize.simplify import simplify
from adjoint.passes import Context as PassContext
from adjoint.pipeline import PREPARE_WHOLE, run
from adjoint.records import replace

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.family import Family


def reverse_again(
    function: ir.Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    lent: tuple[int, ...],
    family: Family,
    *,
    called: ir.Definition,
    carries: bool,
) -> ir.Function:
    """The adjoint of a function that calls itself, which computes anew what it needs.

    It takes the arguments, the cotangents of the outputs, and for the parameters in ``lent``, arrays, the memory in
    which their cotangents accumulate; it gives the results, and the cotangents of the others in ``wrt``. If it
    ``carries`` supports, they follow what it takes and gives.
    """
    sweeps, memory = sweeps_again(function, wrt, outputs, lent, family, called=called, carries=carries)
    body = ir.Block((*sweeps.forward, *sweeps.backward), ir.Return((*sweeps.results, *sweeps.cotangents)))
    params = (*sweeps.reverser.context.function.params, *sweeps.seeds, *memory, *sweeps.supports)
    return ir.Function(f"{function.name}_adjoint", params, body)


def sweeps_again(
    function: ir.Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    lent: tuple[int, ...],
    family: Family,
    *,
    called: ir.Definition,
    carries: bool,
) -> tuple[Sweeps, tuple[ir.Var, ...]]:
    """Both sweeps of a function that is run again, and the memory of cotangents that they are given.

    The cotangents of the sweeps are those of the parameters that have no such memory.
    """
    arrays = [function.params[place] for place in lent]
    given = frozenset(param for param in arrays if ir.is_handle(param.type))
    function = run(PREPARE_WHOLE, function, PassContext(family.target, wrt, outputs, given))
    memory = {param: accumulator(param) for param in arrays}
    sweeps = sweeps_of(
        function,
        wrt,
        outputs,
        family,
        Given(given),
        halves=False,
        again=partial(reversed_iteration, family),
        lent=memory,
        nameless="out",
        partial=family.treatment(called).partial,
    )
    homes = tuple(memory.values())
    sweeps = with_supports(sweeps, family, called=called, carries=carries, memory=homes)
    backward = list(sweeps.backward)
    own_supports = dict(zip(homes, sweeps.supports[len(sweeps.seeds) :], strict=False))
    cotangents, supports = sweeps.cotangents[: len(wrt)], sweeps.cotangents[len(wrt) :]
    values: list[ir.Atom] = []
    besides: list[ir.Atom] = []
    for number, (place, cotangent) in enumerate(zip(wrt, cotangents, strict=True)):
        own = memory.get(function.params[place])
        if own is None:
            values.append(cotangent)
            besides += supports[number : number + 1]
        elif cotangent is not own:
            backward.append(ir.Store(own, None, cotangent, "add"))
            if supports:
                backward.append(ir.Store(own_supports[own], None, supports[number], "add"))
    return replace(sweeps, backward=tuple(backward), cotangents=(*values, *besides)), homes


def without_results(function: ir.Function, count: int) -> ir.Function:
    """A function without what it returns first."""
    end = function.body.terminator
    assert isinstance(end, ir.Return)
    body = ir.Block(function.body.statements, ir.Return(end.values[count:], end.span))
    return simplify(clone_function(ir.Function(function.name, function.params, body, function.doc)))
