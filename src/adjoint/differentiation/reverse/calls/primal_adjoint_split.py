"""The halves of a recursive function: a primal that keeps what its adjoint needs, and the adjoint.

The shadow of memory that both a function and its callers refer to is one and the same. Where references lie in it, or
where the function returns it, the primal takes the shadows of its arguments and gives those of its results: which
shadow it is, is then told as the program tells which memory it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.differentiation.reverse.build import (
    Sweeps,
    fresh_memory,
    residuals_of,
    sweeps_of,
    vars_of,
    with_supports,
)
from adjoint.differentiation.reverse.calls.calling_convention import Given, Request
from adjoint.differentiation.reverse.residuals.packing import packed
from adjoint.ir.builder import Builder
from adjoint.ir.checked import checked
from adjoint.ir.effects import storages
from adjoint.ir.nodes import Block, Call, Const, Function, Return, Statement, Subscript, Var
from adjoint.ir.types import OPAQUE, is_handle
from adjoint.ir.walk import clone_function, substitute
from adjoint.pipeline import PREPARE, Context, run
from adjoint.rules.typing import type_of_call
from adjoint.runtime import tangents

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.derived_functions import Family


def split_recursive(request: Request, family: Family) -> tuple[Function, Function]:
    """The primal and the adjoint of a recursive function.

    The primal takes what the function does, and shadows; it gives the results, the shadows of those that are
    references, and what the adjoint needs. The adjoint takes that, the cotangents of the other outputs, and the shadows
    of all references; it gives the cotangents of the parameters that are none.
    """
    function = request.definition.function
    assert function is not None
    lent = frozenset(function.params[place] for place in request.wrt if is_handle(function.params[place].type))
    function = run(PREPARE, function, Context(family.target, request.wrt, request.outputs, lent))
    given = _given(function, request, family)
    sweeps = sweeps_of(function, request.wrt, request.outputs, family, given, request=request)
    sweeps = with_supports(sweeps, family, complete=not family.treatments[request.definition].computed_zeros)
    made, returned = _shadows_of_results(sweeps, request)
    shadow_of = sweeps.reverser.shadows.found
    references = [shadow_of[function.params[place]] for place in request.wrt if function.params[place] in lent]
    known = _Known(sweeps, request, (*returned, *references))
    results = (*sweeps.results, *returned)
    statements, packs = packed((*sweeps.forward, *made), known.kept, set(results), family.target)
    first = (shadow_of[function.params[place]] for place in request.first)
    body = Block(statements, Return((*results, *packs)))
    primal = Function(f"{function.name}_primal", (*function.params, *first), body)
    cotangents = zip(request.wrt, sweeps.cotangents, strict=True)
    values = tuple(cotangent for place, cotangent in cotangents if function.params[place] not in lent)
    params = (*known.taken, *sweeps.seeds, *known.given)
    adjoint = Function(f"{function.name}_adjoint", params, known.unpacked(Block(sweeps.backward, Return(values))))
    return checked(clone_function(primal), "primal"), checked(clone_function(adjoint), "adjoint")


def _given(function: Function, request: Request, family: Family) -> Given:
    """What the callers of a recursive function share with its halves."""
    params, treatment = function.params, family.treatments[request.definition]
    end = function.body.terminator
    results = end.values if isinstance(end, Return) else ()
    shared = [*(params[place] for place in treatment.arguments), *(results[place] for place in treatment.results)]
    return Given(
        shadows=frozenset(params[place] for place in request.wrt if is_handle(params[place].type)),
        first=frozenset(params[place] for place in request.first),
        returned=frozenset(vars_of([results[place] for place in request.references])),
        elsewhere=frozenset(storage for atom in vars_of(shared) for storage in storages(atom.type)),
    )


def _shadows_of_results(sweeps: Sweeps, request: Request) -> tuple[list[Statement], list[Var]]:
    """The shadows of the references that a function returns; of what cannot vary they are made at its end."""
    made: list[Statement] = []
    shadows = []
    for place in request.references:
        value = sweeps.results[place]
        shadow = sweeps.reverser.shadows.found.get(value) if isinstance(value, Var) else None
        if shadow is None:
            shadow = Var("t_bar", OPAQUE)
            made.append(Call((shadow,), tangents.shadow_like, (value,)))
        shadows.append(shadow)
    return made, shadows


class _Known:
    """What the adjoint knows of the primal's variables: tuples of what was kept, and shadows that it is given.

    Shadows that are kept lie in a tuple of their own where others have some of them, too: then nobody but the outermost
    derivative may copy them.
    """

    def __init__(self, sweeps: Sweeps, request: Request, shadows: tuple[Var, ...]) -> None:
        self.sweeps = sweeps
        self.given = [Var(shadow.hint, shadow.type) for shadow in shadows]
        self.names = dict(zip(shadows, self.given, strict=True))
        residuals = [var for var in residuals_of(sweeps) if var not in self.names]
        own = [var for var in residuals if request.moves_shadows and var in sweeps.context.forward_shadows]
        self.values = [var for var in residuals if var not in own]
        self.kept = {"residual": self.values} | ({"shadows": own} if request.moves_shadows else {})
        self.taken = [Var(hint, OPAQUE) for hint in self.kept]

    def unpacked(self, backward: Block) -> Block:
        """The reverse sweep, which finds what it reads in the tuples."""
        builder = Builder(type_of_call)
        parts = {
            var: builder.load(pack, Subscript((Const(place),)), var.type, var.hint)
            for pack, kept in zip(self.taken, self.kept.values(), strict=True)
            for place, var in enumerate(kept)
        }
        start, renamed = fresh_memory(self.sweeps, self.values)
        backward = substitute(backward, renamed)
        backward = substitute(Block((*start, *backward.statements), backward.terminator), parts | self.names)
        return Block((*builder.statements, *backward.statements), backward.terminator)
