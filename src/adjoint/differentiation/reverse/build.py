"""Putting both sweeps together: in one function, or in two with what the second needs of the first between them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from adjoint.differentiation.reverse.calls.calling_convention import Given
from adjoint.differentiation.reverse.calls.derived_functions import Family, with_family
from adjoint.differentiation.reverse.residuals.notes import Notes
from adjoint.ir.checked import checked
from adjoint.ir.nodes import Atom, Block, Definition, Function, Return, Store, Var
from adjoint.ir.rebuild import clone_function, substitute
from adjoint.ir.types import OPAQUE, fresh, is_handle
from adjoint.optimize.simplify import simplify
from adjoint.pipeline import PREPARE_WHOLE, REVERSE, run
from adjoint.pipeline import Context as PassContext
from adjoint.records import dataclass, replace
from adjoint.target import PYTHON, Target

if TYPE_CHECKING:
    pass


from adjoint.differentiation.reverse.sweeps import (
    Sweeps,
    accumulator,
    again_of,
    reversed_iteration,
    sweeps_of,
    with_supports,
)


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

    primal: Function
    adjoint: Function
    residuals: tuple[Var, ...]


def reverse(
    function: Function,
    wrt: Sequence[int],
    outputs: Sequence[int],
    notes: Notes | None = None,
    target: Target = PYTHON,
) -> Function:
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
    function: Function, wrt: Sequence[int], outputs: Sequence[int], notes: Notes | None, target: Target
) -> Function:
    """As :func:`reverse`; but the derivative shares variables with the function: for those who copy it."""
    return run(REVERSE, function, PassContext(target, wrt, outputs, notes=notes))


def reversed_whole(
    function: Function, wrt: Sequence[int], outputs: Sequence[int], notes: Notes | None, target: Target
) -> Function:
    """The reverse derivative of a function that is prepared."""
    if not isinstance(function.body.terminator, Return):
        seeds = tuple(Var("ct", OPAQUE) for _ in outputs)
        return Function(function.name, (*function.params, *seeds), function.body, function.doc)

    def make(family: Family) -> Sweeps:
        again = again_of(family)
        sweeps = sweeps_of(
            function, tuple(wrt), tuple(outputs), family, Given(), halves=False, notes=notes, again=again
        )
        return with_supports(sweeps, family)

    sweeps = with_family(make, target, runs_once=True)
    statements = (*sweeps.forward, *sweeps.backward)
    body = Block(statements, Return((*sweeps.results, *sweeps.cotangents)))
    return Function(function.name, (*function.params, *sweeps.seeds), body, function.doc)


def split(
    function: Function,
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
    if not isinstance(function.body.terminator, Return):
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
    whole = Function(function.name, function.params, Block(forward, Return(returned)), function.doc)
    primal = checked(clone_function(whole), "primal")
    end = primal.body.terminator
    assert isinstance(end, Return)
    handed = tuple(atom for atom in end.values[len(sweeps.results) :] if isinstance(atom, Var))
    start, renamed = fresh_memory(sweeps, residuals)
    backward = substitute(Block(sweeps.backward, Return(sweeps.cotangents)), renamed)
    given = {var: Var(var.hint, fresh(var.type), var.named) for var in renamed}
    body = Block((*(substitute(made, given) for made in start), *backward.statements), backward.terminator)
    params = (*(given.get(var, var) for var in residuals), *sweeps.seeds)
    adjoint = Function(f"{function.name}_adjoint", params, body)
    return Split(primal, checked(clone_function(adjoint), "adjoint"), handed)


def reverse_again(
    function: Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    lent: tuple[int, ...],
    family: Family,
    *,
    called: Definition,
    carries: bool,
) -> Function:
    """The adjoint of a function that calls itself, which computes anew what it needs.

    It takes the arguments, the cotangents of the outputs, and for the parameters in ``lent``, arrays, the memory in
    which their cotangents accumulate; it gives the results, and the cotangents of the others in ``wrt``. If it
    ``carries`` supports, they follow what it takes and gives.
    """
    sweeps, memory = sweeps_again(function, wrt, outputs, lent, family, called=called, carries=carries)
    body = Block((*sweeps.forward, *sweeps.backward), Return((*sweeps.results, *sweeps.cotangents)))
    params = (*sweeps.reverser.context.function.params, *sweeps.seeds, *memory, *sweeps.supports)
    return Function(f"{function.name}_adjoint", params, body)


def sweeps_again(
    function: Function,
    wrt: tuple[int, ...],
    outputs: tuple[int, ...],
    lent: tuple[int, ...],
    family: Family,
    *,
    called: Definition,
    carries: bool,
) -> tuple[Sweeps, tuple[Var, ...]]:
    """Both sweeps of a function that is run again, and the memory of cotangents that they are given.

    The cotangents of the sweeps are those of the parameters that have no such memory.
    """
    arrays = [function.params[place] for place in lent]
    given = frozenset(param for param in arrays if is_handle(param.type))
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
    values: list[Atom] = []
    besides: list[Atom] = []
    for number, (place, cotangent) in enumerate(zip(wrt, cotangents, strict=True)):
        own = memory.get(function.params[place])
        if own is None:
            values.append(cotangent)
            besides += supports[number : number + 1]
        elif cotangent is not own:
            backward.append(Store(own, None, cotangent, "add"))
            if supports:
                backward.append(Store(own_supports[own], None, supports[number], "add"))
    return replace(sweeps, backward=tuple(backward), cotangents=(*values, *besides)), homes


def without_results(function: Function, count: int) -> Function:
    """A function without what it returns first."""
    end = function.body.terminator
    assert isinstance(end, Return)
    body = Block(function.body.statements, Return(end.values[count:], end.span))
    return simplify(clone_function(Function(function.name, function.params, body, function.doc)))


# What lies between the halves
