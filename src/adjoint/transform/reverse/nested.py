"""Calls of functions that have derivatives of their own: recursive functions, and reverse derivatives.

A recursive function is split in two, which call themselves: a primal that gives its results and what its adjoint
needs, and the adjoint. A reverse derivative is never reversed itself: its own reverse derivative is the reverse
derivative of a forward derivative.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from adjoint.ir.builder import Builder
from adjoint.ir.effects import effects_of, storages, written_places
from adjoint.ir.join import type_of_atom
from adjoint.ir.nodes import Atom, Block, Branch, Call, Definition, Derived, Function, Statement, Terminator, Var
from adjoint.ir.types import OPAQUE, Array, Opaque, Scalar, Storage, is_handle
from adjoint.ir.walk import clone_function, inline, map_blocks, operands, rebuild_terminator, statements_in, substitute
from adjoint.records import dataclass
from adjoint.rules.typing import type_of_call
from adjoint.runtime import tangents
from adjoint.transform.reverse.contents import content
from adjoint.transform.reverse.flows import unite_flows
from adjoint.transform.reverse.notes import Notes
from adjoint.transform.reverse.scopes import cotangent_type, cotangent_var

if TYPE_CHECKING:
    from adjoint.transform.reverse.reverser import Reverser
    from adjoint.transform.reverse.scopes import Scope


@dataclass(slots=True)
class Family:
    """The halves of the recursive functions that one derivative calls, each made once."""

    halves: dict[tuple[Definition, tuple[int, ...], tuple[int, ...]], tuple[Definition, Definition]] = field(
        default_factory=dict
    )
    wholes: dict[tuple[Definition, tuple[int, ...], tuple[int, ...], tuple[int, ...]], Whole] = field(
        default_factory=dict
    )

    def of(
        self, definition: Definition, wrt: tuple[int, ...], outputs: tuple[int, ...]
    ) -> tuple[Definition, Definition]:
        """The primal and the adjoint of a recursive function."""
        key = (definition, wrt, outputs)
        if key in self.halves:
            return self.halves[key]
        primal, adjoint = Definition(f"{definition.name}_primal"), Definition(f"{definition.name}_adjoint")
        self.halves[key] = primal, adjoint
        from adjoint.transform.reverse.build import split_recursive

        assert definition.function is not None
        primal.function, adjoint.function = split_recursive(definition.function, wrt, outputs, self)
        return primal, adjoint

    def whole(
        self, definition: Definition, wrt: tuple[int, ...], outputs: tuple[int, ...], lent: tuple[int, ...]
    ) -> Whole:
        """The adjoint of a recursive function that runs it again: it is given the memory of cotangents of arrays."""
        key = (definition, wrt, outputs, lent)
        if key not in self.wholes:
            adjoint = Definition(f"{definition.name}_adjoint")
            self.wholes[key] = Whole(adjoint, ())  # to its own calls
            from adjoint.transform.reverse.build import reverse_again, without_results
            from adjoint.transform.reverse.together import results_of, together

            assert definition.function is not None
            function = reverse_again(definition.function, wrt, outputs, lent, self)
            results = results_of(function, len(operands(function.body.terminator)) - len(wrt) + len(lent))
            adjoint.function = without_results(function, len(results))
            known = {whole.adjoint: key[0] for key, whole in self.wholes.items() if whole.results}
            both = together(clone_function(function), definition, adjoint, known)
            if both is not None:
                self.wholes[key] = Whole(both, results)
        return self.wholes[key]


@dataclass(frozen=True, slots=True)
class Whole:
    """The adjoint of a recursive function that runs it again, and which results of that it gives before cotangents."""

    adjoint: Definition
    results: tuple[Var, ...]


def reverse_definition(reverser: Reverser, call: Call, scope: Scope) -> None:
    """The reverse of a recursive call is a call of the adjoint."""
    if call.kwargs:
        raise AssertionError("a recursive function is called with positional arguments")
    if reverser.is_idle(call):
        return
    if reverser.compiled and run_again(reverser, call, scope):
        return
    outputs = tuple(place for place, target in enumerate(call.targets) if reverser.active(target))
    wrt = tuple(place for place, arg in enumerate(call.args) if reverser.active(arg))
    if not wrt:
        return
    varying = [arg for place, arg in enumerate(call.args) if place in wrt and isinstance(arg, Var)]
    handles = [arg for arg in varying if is_handle(arg.type)]
    if any(is_handle(call.targets[place].type) for place in outputs):
        reverser.context.problem("AD0303", call.span, "a recursive function returns memory that varies")
        return
    cotangents = [reverser.take(scope, call.targets[place]) for place in outputs]
    if not handles and all(cotangent is None for cotangent in cotangents):
        return
    primal, adjoint = reverser.family.of(call.callee, wrt, outputs)
    residual = Var("residual", OPAQUE)
    reverser.bind_at(residual, call, after=True)
    reverser.context.edits.replace[id(call)] = Call((*call.targets, residual), primal, call.args, (), call.span)
    seeds = [
        reverser.context.zero(scope.sweep, call.targets[place]) if cotangent is None else cotangent
        for place, cotangent in zip(outputs, cotangents, strict=True)
    ]
    shadows = [reverser.shadows.of(handle) for handle in handles]
    values = [arg for arg in varying if not is_handle(arg.type)]
    targets = tuple(map(cotangent_var, values))
    scope.sweep.emit(Call(targets, adjoint, (residual, *seeds, *shadows), (), call.span))
    for value, target in zip(values, targets, strict=True):
        reverser.add(scope, value, target)


def run_again(reverser: Reverser, call: Call, scope: Scope) -> bool:
    """Calls an adjoint that computes anew what it needs, where the function does nothing but give its results."""
    found = effects_of(call)
    outputs = tuple(place for place, target in enumerate(call.targets) if reverser.active(target))
    wrt = tuple(place for place, arg in enumerate(call.args) if reverser.active(arg))
    if not found.known or not found.pure or any(is_handle(target.type) for target in call.targets):
        return False
    if not all(isinstance(type_of_atom(arg), (Scalar, Array, Opaque)) for arg in call.args):
        return False
    lent = tuple(place for place in wrt if isinstance(type_of_atom(call.args[place]), Array))
    memory = [reverser.memory(arg) for place in lent if isinstance(arg := call.args[place], Var)]
    cotangents = [reverser.take(scope, call.targets[place]) for place in outputs]
    if len(memory) < len(lent) or None in memory:
        return False
    if not wrt or all(cotangent is None for cotangent in cotangents):
        return True
    whole = reverser.family.whole(call.callee, wrt, outputs, lent)
    seeds = [
        reverser.context.zero(scope.sweep, call.targets[place]) if cotangent is None else cotangent
        for place, cotangent in zip(outputs, cotangents, strict=True)
    ]
    values = [arg for place in wrt if place not in lent and isinstance(arg := call.args[place], Var)]
    targets = tuple(map(cotangent_var, values))
    unused = tuple(Var(result.hint, result.type) for result in whole.results)
    args = tuple(content(reverser, arg, call) for arg in call.args)
    shadows = tuple(own for own in memory if own is not None)
    scope.sweep.emit(Call((*unused, *targets), whole.adjoint, (*args, *seeds, *shadows), (), call.span))
    for value, target in zip(values, targets, strict=True):
        reverser.add(scope, value, target)
    return True


def reverse_derived(reverser: Reverser, call: Call, scope: Scope) -> None:
    """Reverses ``y, x_bar = D(args, v)``: one reverse derivative of the forward derivative of the same function.

    Where an argument is a reference, the cotangent of its ``x_bar`` is a shadow of ``x_bar``: laid out as the memory
    itself, it is the direction that the forward derivative takes.
    """
    from adjoint.transform.forward import forward

    derived = call.callee
    assert isinstance(derived, Derived)
    count = len(derived.function.params)
    results = len(call.targets) - len(derived.wrt)
    cotangents = [reverser.take(scope, target) for target in call.targets]
    if all(cotangent is None for cotangent in cotangents) or _changes_memory(reverser, call, derived, results):
        return
    atoms = [content(reverser, arg, call) for arg in call.args]
    dots = [
        _zero(reverser, scope, target) if cotangent is None else cotangent
        for target, cotangent in zip(call.targets[results:], cotangents[results:], strict=True)
    ]
    tangent = forward(derived.function, derived.wrt, derived.outputs, keep_derived=True)
    wrt = tuple(place for place, arg in enumerate(call.args[:count]) if reverser.active(arg))
    values = tuple(place for place in range(results) if cotangents[place] is not None)
    outputs = (*values, *(results + place for place in range(len(derived.outputs))))
    second = Derived(tangent, wrt, outputs)
    given = [cotangent for cotangent in cotangents[:results] if cotangent is not None]
    unused = tuple(Var(target.hint, target.type) for target in call.targets[:results])
    receivers = (*call.args[count:], *(call.args[place] for place in wrt))
    bars = tuple(_bar(reverser, atom) for atom in receivers)
    operands = (*atoms[:count], *dots, *given, *atoms[count:])
    scope.sweep.emit(Call((*unused, *bars), second, operands, (), call.span))
    for atom, bar in zip(receivers, bars, strict=True):
        if isinstance(atom, Var) and is_handle(atom.type) and not isinstance(atom.type, Array):
            if reverser.active(atom):
                scope.sweep.effect(tangents.pour, reverser.shadows.of(atom), bar)
        else:
            reverser.add(scope, atom, bar)


def _changes_memory(reverser: Reverser, call: Call, derived: Derived, results: int) -> bool:
    """Refuses a derivative of a function that writes its arguments, or returns part of them, where it varies."""
    unite_flows(derived.function)
    written = [call.args[place] for place in written_places(derived.function)]
    memory: set[Storage] = set().union(*(storages(type_of_atom(arg)) for arg in call.args))
    lent = {storage for storage in memory if storage.written}
    returned = [target for target in call.targets[:results] if is_handle(target.type)]
    shared = [target for target in returned if not lent.isdisjoint(storages(target.type))]
    if not any(map(reverser.active, (*written, *shared))):
        return False
    label = "the derivative of a function that writes its arguments is differentiated again"
    reverser.context.problem("AD0303", call.span, label)
    return True


def _zero(reverser: Reverser, scope: Scope, var: Var) -> Atom:
    return reverser.shadows.none(scope.sweep, var) if is_handle(var.type) else reverser.context.zero(scope.sweep, var)


def _bar(reverser: Reverser, atom: Atom) -> Var:
    """A variable for the cotangent of what a derivative is called with."""
    type_ = type_of_atom(atom)
    assert type_ is not None
    return Var(f"{_hint(atom)}_bar", reverser.shadows.type_of(type_) if is_handle(type_) else cotangent_type(type_))


def _hint(atom: Atom) -> str:
    return atom.hint if isinstance(atom, Var) else "t"


def expand(function: Function, notes: Notes | None = None) -> Function:
    """Writes out the reverse derivatives that a function calls by name, in what it calls too."""
    return _Expansion(notes).function(function)


class _Expansion:
    """One walk over a function and the recursive functions that it calls, each written out once."""

    def __init__(self, notes: Notes | None) -> None:
        self.notes = notes
        self.definitions: dict[Definition, Definition] = {}

    def function(self, function: Function) -> Function:
        return Function(function.name, function.params, self.block(function.body), function.doc)

    def block(self, block: Block) -> Block:
        if not any(_is_named(statement) for statement in statements_in(block)):
            return block
        builder = Builder(type_of_call)
        renamed: dict[Var, Atom] = {}
        for statement in block.statements:
            current: Statement = substitute(statement, renamed)
            if isinstance(current, Call) and isinstance(current.callee, Derived):
                values = inline(builder, self.written_out(current.callee), current.args)
                renamed.update(zip(current.targets, values, strict=True))
            elif isinstance(current, Call) and isinstance(current.callee, Definition):
                callee = self.definition(current.callee)
                builder.emit(Call(current.targets, callee, current.args, current.kwargs, current.span))
            else:
                builder.emit(map_blocks(current, self.block))
        end: Terminator = substitute(block.terminator, renamed)
        if isinstance(end, Branch):
            end = rebuild_terminator(end, lambda atom: atom, self.block)
        return builder.block(end)

    def written_out(self, derived: Derived) -> Function:
        from adjoint.transform.reverse.build import shared_reverse

        return self.function(shared_reverse(derived.function, derived.wrt, derived.outputs, self.notes))

    def definition(self, definition: Definition) -> Definition:
        if definition not in self.definitions:
            new = self.definitions[definition] = Definition(definition.name)
            self.definitions[new] = new
            assert definition.function is not None
            new.function = self.function(definition.function)
        return self.definitions[definition]


def _is_named(statement: Statement) -> bool:
    return isinstance(statement, Call) and isinstance(statement.callee, (Derived, Definition))
