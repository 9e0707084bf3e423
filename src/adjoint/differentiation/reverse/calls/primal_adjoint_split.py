"""The halves of a function that is called: a primal that keeps what its adjoint needs, and the adjoint.

The shadow of memory that both a function and its callers refer to is one and the same. Where references lie in it, or
where the function returns it, the primal takes the shadows of its arguments and gives those of its results: which
shadow it is, is then told as the program tells which memory it is.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.differentiation.reverse.calls.calling_convention import Given, Halves, Request
from adjoint.differentiation.reverse.memory.overwritten_values import only_asked
from adjoint.differentiation.reverse.residuals.handed_over import (
    fresh_memory,
    residuals_of,
    without_idle_residuals,
)
from adjoint.differentiation.reverse.sweeps import Sweeps, sweeps_of, with_supports
from adjoint.ir.builder import Builder
from adjoint.ir.checked import checked
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import clone_function, rebuild, substitute
from adjoint.ir.walk import free_vars, operands, targets_of, vars_of
from adjoint.optimize.simplify import simplify
from adjoint.optimize.touch_up.array_peepholes import polish
from adjoint.passes import Context
from adjoint.pipeline import PREPARE, run
from adjoint.records import replace
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display, tangents
from adjoint.target import Target

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.calls.family import Family


def split_called(request: Request, halves: Halves, family: Family, *, carries: bool) -> Halves:
    """Fills in the primal and the adjoint of a function that is called.

    The primal takes what the function does, and shadows; it gives the results, the shadows of those that are
    references, and what the adjoint needs besides arguments and results. The adjoint takes all that, the cotangents of
    the other outputs, and the shadows of all references; it gives the cotangents of the parameters that are none. If
    it ``carries`` supports, those of cotangents and shadows are behind them.
    """
    function = request.definition.function
    assert function is not None
    lent = frozenset(function.params[place] for place in request.wrt if ir.is_handle(function.params[place].type))
    function = run(PREPARE, function, Context(family.target, request.wrt, request.outputs, lent))
    given = _given(function, request, family)
    partial = family.treatment(request.definition).partial
    sweeps = sweeps_of(
        function, request.wrt, request.outputs, family, given, request=request, nameless="out", partial=partial
    )
    shadow_of = sweeps.reverser.shadows.found
    lent_in_order = [function.params[place] for place in request.wrt if function.params[place] in lent]
    shadow_of = {param: _unused_shadow(sweeps, param) for param in lent_in_order} | shadow_of
    references = [shadow_of[param] for param in lent_in_order]
    memory = [*references, *filter(None, map(shadow_of.get, vars_of([sweeps.results[p] for p in request.references])))]
    sweeps = with_supports(sweeps, family, called=request.definition, carries=carries, memory=memory)
    sweeps = _simplified(without_idle_residuals(sweeps, function), family.target)
    made, returned = _shadows_of_results(sweeps, request)
    first = (shadow_of[function.params[place]] for place in request.first)
    hands_over = request not in family.meets_itself
    known = _Known(sweeps, request, (*returned, *references), hands_over=hands_over)
    ends = (*sweeps.results, *returned, *known.read)
    body = ir.Block((*sweeps.forward, *made), ir.Return(ends))
    whole = simplify(
        clone_function(ir.Function(f"{function.name}_primal", (*function.params, *first), body)), family.target
    )
    known.find(whole)
    is_value = [function.params[place] not in lent for place in request.wrt]
    values = tuple(compress(sweeps.cotangents, is_value))
    supports = tuple(compress(sweeps.cotangents[len(is_value) :], is_value))
    backward = known.unpacked(ir.Block(sweeps.backward, ir.Return((*values, *supports))))
    seeds = (*sweeps.seeds, *known.given, *sweeps.supports)
    params = (*known.args.values(), *known.results.values(), *known.packs, *seeds)
    name = f"{function.name}_{'adjoint' if known.packs else 'pullback'}"
    name += family.difference(request.definition, request.wrt)
    adjoint = checked(clone_function(ir.Function(name, params, backward)), "adjoint")
    args, results = tuple(known.args), tuple(known.results)
    shapes = only_asked(adjoint)
    asked = frozenset(place for place, param in zip(args, adjoint.params, strict=False) if param in shapes)
    if not known.packs:
        return Halves(request.definition, ir.Definition(name, adjoint), args, results, keeps=False, asked=asked)
    halves.adjoint.function = adjoint
    end = operands(whole.body.terminator)[: len(ends) - len(known.read)]
    statements, tuples = whole.body.statements, tuple(known.alone)
    if not tuples:
        packs = {pack.hint: items for pack, items in known.packs.items()}
        statements, tuples = packed(statements, packs, set(end), family.target)
    primal = ir.Function(whole.name, whole.params, ir.Block(statements, ir.Return((*end, *tuples))))
    halves.primal.function = checked(primal, "primal")
    return Halves(halves.primal, halves.adjoint, args, results, asked=asked)


def _unused_shadow(sweeps: Sweeps, param: ir.Var) -> ir.Var:
    """What the adjoint calls the shadow of a reference through which no derivative flows in the function."""
    return ir.Var(f"{param.hint}_bar", sweeps.reverser.shadows.type_of(param.type))


def _simplified(sweeps: Sweeps, target: Target) -> Sweeps:
    """Both sweeps, of which the second reads no more than it needs."""
    body = ir.Block(sweeps.backward, ir.Return(sweeps.cotangents))
    reads = ir.Function("adjoint", tuple(free_vars(body)), body)
    body = simplify(polish(simplify(reads, target)), target).body
    return replace(sweeps, backward=body.statements, cotangents=operands(body.terminator))


def _given(function: ir.Function, request: Request, family: Family) -> Given:
    """What the callers of a recursive function share with its halves."""
    params, treatment = function.params, family.treatments[request.definition]
    end = function.body.terminator
    results = end.values if isinstance(end, ir.Return) else ()
    shared = [*(params[place] for place in treatment.arguments), *(results[place] for place in treatment.results)]
    return Given(
        shadows=frozenset(params[place] for place in request.wrt if ir.is_handle(params[place].type)),
        first=frozenset(params[place] for place in request.first),
        returned=frozenset(vars_of([results[place] for place in request.references])),
        elsewhere=frozenset(storage for atom in vars_of(shared) for storage in ir.storages(atom.type)),
    )


def _shadows_of_results(sweeps: Sweeps, request: Request) -> tuple[list[ir.Statement], list[ir.Var]]:
    """The shadows of the references that a function returns; of what cannot vary they are made at its end."""
    made: list[ir.Statement] = []
    shadows = []
    for place in request.references:
        value = sweeps.results[place]
        shadow = sweeps.reverser.shadows.found.get(value) if isinstance(value, ir.Var) else None
        if shadow is None:
            shadow = ir.Var("t_bar", ir.OPAQUE)
            made.append(ir.Call((shadow,), tangents.shadow_like, (value,)))
        shadows.append(shadow)
    return made, shadows


class _Known:
    """What the adjoint knows of the primal's variables.

    Numbers, and arrays that nobody writes, are handed over by the caller where they are arguments or results. Shadows
    are given. The rest is kept in a tuple; shadows that are kept lie in a tuple of their own where others have some of
    them, too: then nobody but the outermost derivative may copy them.

    Attributes
    ----------
    hands_over
        Whether callers hand over arguments and results: not where calls were written before this is known.
    read
        The variables of the primal that the adjoint reads.
    args, results
        By places of arguments and results that the adjoint takes, what it calls them.
    packs
        What it calls tuples, and what the primal puts in them.
    """

    def __init__(self, sweeps: Sweeps, request: Request, shadows: tuple[ir.Var, ...], *, hands_over: bool) -> None:
        self.sweeps = sweeps
        self.hands_over = hands_over
        self.moves_shadows = request.moves_shadows
        self.given = [ir.Var(shadow.hint, shadow.type) for shadow in shadows]
        self.names: dict[ir.Var, ir.Atom] = dict(zip(shadows, self.given, strict=True))
        self.read = [var for var in residuals_of(sweeps) if var not in self.names]
        self.args: dict[int, ir.Var] = {}
        self.results: dict[int, ir.Var] = {}
        self.packs: dict[ir.Var, list[ir.Atom]] = {}
        self.alone: list[ir.Atom] = []
        """What is kept, where that is one value: then it needs no tuple."""
        self.values: dict[ir.Var, ir.Atom] = {}
        """What the primal calls the variables that are kept."""
        self.again: list[ir.Statement] = []
        """What computes variables again, the last first."""

    def find(self, primal: ir.Function) -> None:
        """Finds out where variables come from; ``primal`` returns, after the results, what the adjoint reads."""
        ends = operands(primal.body.terminator)
        results, values = ends[: len(self.sweeps.results)], ends[len(ends) - len(self.read) :]
        kept: dict[ir.Atom, list[ir.Var]] = {}
        for var, value in zip(self.read, values, strict=True):
            is_handed_over = self.hands_over and isinstance(value, ir.Var) and _is_plain(value)
            if isinstance(value, ir.Const) and not isinstance(value.value, (list, dict, set)):
                self.names[var] = value
            elif is_handed_over and value in primal.params:
                self.names[var] = self.arg(primal.params.index(value), var)
            elif is_handed_over and value in results:
                self.names[var] = self.results.setdefault(results.index(value), ir.Var(var.hint, var.type, var.named))
            else:
                kept.setdefault(value, []).append(var)
        if self.hands_over:
            self.compute_again(primal, kept)
        made = [target for statement in primal.body.statements for target in targets_of(statement)]
        order = {var: place for place, var in enumerate((*primal.params, *made))}
        kept = {value: kept[value] for value in sorted(kept, key=lambda value: order[value])}  # type: ignore[index]
        self.values = {var: value for value, names in kept.items() for var in names}
        if len(kept) == 1 and self.hands_over and not self.moves_shadows:
            self.alone = list(kept)
            self.packs = {kept[value][0]: [value] for value in kept}
        else:
            self.pack(kept)
        self.args, self.results = dict(sorted(self.args.items())), dict(sorted(self.results.items()))

    def arg(self, place: int, like: ir.Var) -> ir.Var:
        return self.args.setdefault(place, ir.Var(like.hint, like.type, like.named))

    def compute_again(self, primal: ir.Function, kept: dict[ir.Atom, list[ir.Var]]) -> None:
        """Takes out of what is kept the numbers that one operation makes of the rest, and of what is handed over."""
        for statement in reversed(primal.body.statements):
            names = [var for target in targets_of(statement) for var in kept.get(target, ())]
            if not names or not _is_one_operation(statement):
                continue
            read = [atom for atom in operands(statement) if isinstance(atom, ir.Var)]
            taken = [primal.params.index(atom) for atom in read if atom in primal.params and _is_plain(atom)]
            if len(taken) + sum(atom in kept for atom in read) < len(read) or len(set(taken) - set(self.args)) > 1:
                continue
            known: dict[ir.Atom, ir.Atom] = {
                atom: self.arg(primal.params.index(atom), atom) for atom in read if atom in primal.params
            }
            known |= {atom: kept[atom][0] for atom in read if atom in kept}
            (target,) = targets_of(statement)
            self.again.append(_renamed(statement, known, names[0]))
            self.names |= dict.fromkeys(names[1:], names[0])
            del kept[target]

    def pack(self, kept: dict[ir.Atom, list[ir.Var]]) -> None:
        """Puts what is left in tuples."""
        own = {value for value, names in kept.items() if not self.sweeps.context.forward_shadows.isdisjoint(names)}
        items = [value for value in kept if not (self.moves_shadows and value in own)]
        if items or self.moves_shadows or not self.hands_over:
            self.packs[ir.Var("kept", ir.Pack(count=len(items)))] = items
        if self.moves_shadows:
            shadows = [value for value in kept if value in own]
            self.packs[ir.Var("shadows", ir.Pack(count=len(shadows)))] = shadows

    def unpacked(self, backward: ir.Block) -> ir.Block:
        """The reverse sweep, which finds what it reads in the tuples."""
        builder = Builder(type_of_call)
        found: dict[ir.Atom, ir.Var] = {}
        for pack, items in self.packs.items():
            if self.alone:
                found[items[0]] = pack
                continue
            for place, value in enumerate(items):
                like = next(var for var, own in self.values.items() if own is value)
                found[value] = builder.load(pack, ir.Subscript((ir.Const(place),)), like.type, like.hint, like.named)
        parts = {var: found[value] for var, value in self.values.items()}
        own = [var for var, value in self.values.items() if value in next(iter(self.packs.values()))]
        start, renamed = fresh_memory(self.sweeps, own)
        backward = substitute(backward, renamed)
        statements = (*reversed(self.again), *start, *backward.statements)
        backward = substitute(ir.Block(statements, backward.terminator), parts | self.names)
        return ir.Block((*builder.statements, *backward.statements), backward.terminator)


def _renamed(statement: ir.Statement, known: Mapping[ir.Atom, ir.Atom], target: ir.Var) -> ir.Statement:
    return rebuild(statement, lambda atom: known.get(atom, atom), binder=lambda _: target)


def _is_one_operation(statement: ir.Statement) -> bool:
    """Whether a statement computes a number from numbers, or reads one at a fixed place of an array."""
    match statement:
        case ir.Call(targets=(target,), callee=callee, args=args) if callee in _OPERATIONS:
            return all(isinstance(type_of_atom(atom), ir.Scalar) for atom in (target, *args))
        case ir.Load(target=target, base=ir.Var(type=ir.Array()) as base, key=ir.Subscript(items=items)):
            is_fixed = _is_plain(base) and all(isinstance(item, ir.Const) for item in items)
            return is_fixed and isinstance(target.type, ir.Scalar)
        case _:
            return False


_OPERATIONS = frozenset({operator.neg, operator.add, operator.sub, operator.mul, operator.truediv})


def _is_plain(var: ir.Var) -> bool:
    """Whether a value is a number, or an array that nobody writes."""
    return isinstance(var.type, (ir.Scalar, ir.Array)) and not ir.is_handle(var.type)


# Tuples of what a function keeps, made on each of its paths: what is kept on others is nothing there


Packs = Mapping[str, Sequence[ir.Atom]]
"""What tuples hold, by what they are called."""


def packed(
    statements: Sequence[ir.Statement], packs: Packs, used: set[ir.Atom], target: Target
) -> tuple[tuple[ir.Statement, ...], tuple[ir.Var, ...]]:
    """Statements that end with making tuples, and the tuples.

    Parameters
    ----------
    statements
        A block's; its last may be a branch that hands out what the tuples are to hold.
    packs
        The tuples.
    used
        What else is read behind the statements.
    target
        What they are made for.
    """
    last = statements[-1] if statements else None
    if target.machine or not isinstance(last, ir.If) or not _is_sunk(last, packs, used):
        made = {ir.Var(hint, ir.OPAQUE): items for hint, items in packs.items()}
        calls = [ir.Call((pack,), display.make_tuple, tuple(items)) for pack, items in made.items()]
        return (*statements, *calls), tuple(made)
    places = [place for place, target in enumerate(last.targets) if target in used]
    then, orelse = (_side(block, last, places, packs, target) for block in (last.then, last.orelse))
    tuples = tuple(ir.Var(hint, ir.OPAQUE) for hint in packs)
    targets = (*(last.targets[place] for place in places), *tuples)
    return (*statements[:-1], ir.If(last.cond, then, orelse, targets, last.span)), tuples


def _is_sunk(branch: ir.If, packs: Packs, used: set[ir.Atom]) -> bool:
    """Whether what a branch hands out is for the tuples, and both sides come to its end."""
    if not all(isinstance(block.terminator, ir.Yield) for block in (branch.then, branch.orelse)):
        return False
    kept = {item for items in packs.values() for item in items}
    return any(target in kept and target not in used for target in branch.targets)


def _side(block: ir.Block, branch: ir.If, places: Sequence[int], packs: Packs, target: Target) -> ir.Block:
    end = block.terminator
    assert isinstance(end, ir.Yield)
    here: dict[ir.Atom, ir.Atom] = dict(zip(branch.targets, end.values, strict=True))
    inner = {hint: [_something(here.get(item, item)) for item in items] for hint, items in packs.items()}
    handed_out = tuple(end.values[place] for place in places)
    statements, tuples = packed(block.statements, inner, set(handed_out), target)
    return ir.Block(statements, ir.Yield((*handed_out, *tuples)))


def _something(atom: ir.Atom) -> ir.Atom:
    return ir.Const(None) if atom is ir.UNDEFINED else atom
