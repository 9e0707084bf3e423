"""Putting both sweeps together: in one function, or in two with what the second needs of the first between them."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint import ir
from adjoint.differentiation.reverse.calls.calling_convention import Given
from adjoint.differentiation.reverse.calls.family import Family, with_family
from adjoint.differentiation.reverse.residuals.notes import Notes
from adjoint.differentiation.reverse.sweeps import Sweeps, again_of, sweeps_of, with_supports
from adjoint.ir.checked import checked
from adjoint.ir.rebuild import clone_function, substitute
from adjoint.passes import Context as PassContext
from adjoint.pipeline import PREPARE_WHOLE, REVERSE, run
from adjoint.records import dataclass
from adjoint.target import PYTHON, Target


@dataclass(frozen=True, slots=True)
class Split:
    """A function in two halves.

    Attributes
    ----------
    primal
        Takes the arguments and gives the results, then the residuals.
    adjoint
        Takes the residuals and one cotangent per output, and gives one cotangent per ``wrt``. It changes nothing
        that it takes, so that it may be called again.
    residuals
        The variables of ``primal`` that it hands over.
    """

    primal: ir.Function
    adjoint: ir.Function
    residuals: tuple[ir.Var, ...]


def reverse(
    function: ir.Function,
    wrt: Sequence[int],
    outputs: Sequence[int],
    notes: Notes | None = None,
    target: Target = PYTHON,
) -> ir.Function:
    """The reverse derivative of a function, in one function.

    Parameters
    ----------
    function
        A core function.
    wrt
        Indices of the parameters to differentiate with respect to.
    outputs
        Indices of the results that are differentiated.
    notes
        Takes down what is kept, and why.
    target
        What the derivative is made for.

    Returns
    -------
    Function
        Its parameters are those of ``function`` and one cotangent for each of ``outputs``; its results are those
        of ``function`` and one cotangent for each of ``wrt``.

    Raises
    ------
    DifferentiationError
        If anything in the function cannot be differentiated; all such places are named.
    """
    return checked(clone_function(shared_reverse(function, wrt, outputs, notes, target)), "reverse")


def shared_reverse(
    function: ir.Function, wrt: Sequence[int], outputs: Sequence[int], notes: Notes | None, target: Target
) -> ir.Function:
    """As :func:`reverse`; but the derivative shares variables with the function: for those who copy it."""
    return run(REVERSE, function, PassContext(target, wrt, outputs, notes=notes))


def reversed_whole(
    function: ir.Function, wrt: Sequence[int], outputs: Sequence[int], notes: Notes | None, target: Target
) -> ir.Function:
    """The reverse derivative of a function that is prepared."""
    if not isinstance(function.body.terminator, ir.Return):
        seeds = tuple(ir.Var("ct", ir.OPAQUE) for _ in outputs)
        return ir.Function(function.name, (*function.params, *seeds), function.body, function.doc)

    def make(family: Family) -> Sweeps:
        again = again_of(family)
        sweeps = sweeps_of(
            function, tuple(wrt), tuple(outputs), family, Given(), halves=False, notes=notes, again=again
        )
        return with_supports(sweeps, family)

    sweeps = with_family(make, target, runs_once=True)
    statements = (*sweeps.forward, *sweeps.backward)
    body = ir.Block(statements, ir.Return((*sweeps.results, *sweeps.cotangents)))
    return ir.Function(function.name, (*function.params, *sweeps.seeds), body, function.doc)


def split(
    function: ir.Function,
    wrt: Sequence[int],
    outputs: Sequence[int],
    *,
    copies: bool = True,
    target: Target = PYTHON,
) -> Split:
    """The reverse derivative of a function, in two functions.

    Parameters
    ----------
    function, wrt, outputs, target
        As in :func:`reverse`.
    copies
        Whether arrays that the caller can write meanwhile (arguments, results) are copied where they are kept.
    """
    from adjoint.differentiation.reverse.residuals.handed_over import (  # lazy
        copied,
        fresh_memory,
        memory_of_the_caller,
        residuals_of,
        without_idle_residuals,
    )

    function = run(PREPARE_WHOLE, function, PassContext(target, wrt, outputs))
    if not isinstance(function.body.terminator, ir.Return):
        raise ValueError(f"{function.name} never returns")
    shared = Given(exposed=memory_of_the_caller(function) if copies else frozenset())

    def make(family: Family) -> Sweeps:
        sweeps = sweeps_of(function, tuple(wrt), tuple(outputs), family, shared, halves=True, again=again_of(family))
        return with_supports(sweeps, family)

    sweeps = with_family(make, target)
    sweeps = without_idle_residuals(sweeps, function)
    residuals = residuals_of(sweeps)
    forward, returned = sweeps.forward, (*sweeps.results, *residuals)
    if copies:
        forward, returned = copied(sweeps, function, residuals)
    whole = ir.Function(function.name, function.params, ir.Block(forward, ir.Return(returned)), function.doc)
    primal = checked(clone_function(whole), "primal")
    end = primal.body.terminator
    assert isinstance(end, ir.Return)
    handed = tuple(atom for atom in end.values[len(sweeps.results) :] if isinstance(atom, ir.Var))
    start, renamed = fresh_memory(sweeps, residuals)
    backward = substitute(ir.Block(sweeps.backward, ir.Return(sweeps.cotangents)), renamed)
    given = {var: ir.Var(var.hint, ir.fresh(var.type), var.named) for var in renamed}
    body = ir.Block((*(substitute(made, given) for made in start), *backward.statements), backward.terminator)
    params = (*(given.get(var, var) for var in residuals), *sweeps.seeds)
    adjoint = ir.Function(f"{function.name}_adjoint", params, body)
    return Split(primal, checked(clone_function(adjoint), "adjoint"), handed)
