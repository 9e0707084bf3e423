"""Dead store elimination: what is stored in arrays of a function's own, and never read from there, is not stored.

The value of a program that is built up in an array is the last thing that happens to the array: a gradient asks only
for its shape from then on.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.alias import Aliases
from adjoint.analysis.memory.storage_alias import owns_result
from adjoint.analysis.shapes.shape_arguments import shape_argument
from adjoint.ir.rebuild import map_blocks
from adjoint.ir.walk import blocks_of, is_basic, operands, statements_in, targets_of, terminators_in

Classes = set[Hashable]


def without_dead_stores(function: ir.Function) -> ir.Function:
    """The function without stores into arrays of its own that nobody reads afterwards."""
    if not any(isinstance(each, ir.Store) for each in statements_in(function.body)):
        return function
    search = _Search(function)
    if not search.own:
        return function
    body, _ = search.block(function.body, set())
    return function if body is function.body else ir.Function(function.name, function.params, body, function.doc)


class _Search:
    """``own`` are the classes of memory that the function makes and that only variables of it refer to."""

    def __init__(self, function: ir.Function) -> None:
        self._aliases = Aliases(function)
        self.own = self._classes(
            each.base for each in statements_in(function.body) if isinstance(each, ir.Store)
        ) - self._shared(function)

    def _shared(self, function: ir.Function) -> Classes:
        """The classes of memory that also comes from elsewhere, or that flows where variables do not tell it."""
        others: list[object] = list(function.params)
        for statement in statements_in(function.body):
            if not _is_about_arrays_alone(statement):
                others += (*operands(statement), *targets_of(statement))
        return self._classes(others)

    def _classes(self, atoms: Iterable[object]) -> Classes:
        return self._aliases.classes(atoms)

    # Backwards, with the memory that is read later

    def block(self, block: ir.Block, later: Classes) -> tuple[ir.Block, Classes]:
        """The block without dead stores, and the memory that is read from its start on."""
        end: ir.Terminator = block.terminator
        later = later | self._classes(operands(end))
        if isinstance(end, ir.Branch):
            (then, one), (orelse, other) = self.block(end.then, later), self.block(end.orelse, later)
            later = one | other
            if then is not end.then or orelse is not end.orelse:
                end = ir.Branch(end.cond, then, orelse, end.span)
        kept: list[ir.Statement] = []
        for statement in reversed(block.statements):
            if isinstance(statement, ir.Store) and self._is_dead(statement, later):
                continue
            inside, later = self._statement(statement, later)
            kept.append(inside)
        kept.reverse()
        is_same = end is block.terminator and len(kept) == len(block.statements)
        if is_same and all(map(operator.is_, kept, block.statements)):
            return block, later
        return ir.Block(tuple(kept), end), later

    def _is_dead(self, store: ir.Store, later: Classes) -> bool:
        memory = self._classes([store.base])
        return bool(memory) and memory <= self.own and memory.isdisjoint(later)

    def _statement(self, statement: ir.Statement, later: Classes) -> tuple[ir.Statement, Classes]:
        inner = blocks_of(statement)
        if not inner:
            return statement, later | self._read(statement)
        if isinstance(statement, (ir.Loop, ir.Guarded)):  # what comes before in the text may come later
            later = later | {each for block in inner for each in self._read_in(block)}
        found = later | self._read(statement)

        def without(block: ir.Block) -> ir.Block:
            nonlocal found
            changed, before = self.block(block, later)
            found |= before
            return changed

        return map_blocks(statement, without), found

    def _read_in(self, block: ir.Block) -> Classes:
        found: Classes = set()
        for statement in statements_in(block):
            found |= self._read(statement)
        for end in terminators_in(block):
            found |= self._classes(operands(end))
        return found

    def _read(self, statement: ir.Statement) -> Classes:
        """The memory of which a statement reads elements, or which it hands to somebody who may."""
        match statement:
            case ir.Store(value=value):
                return self._classes((*operands(statement)[1:-1], value))
            case ir.Load(target=ir.Var(type=ir.Array()), base=ir.Var(type=ir.Array())) if _makes_view(statement):
                return self._classes(operands(statement)[1:])
            case ir.Call(callee=callee):
                asked = shape_argument(callee)
                named = (value for _, value in statement.kwargs)
                return self._classes((*(arg for at, arg in enumerate(statement.args) if at != asked), *named))
            case _:
                return self._classes(operands(statement))


def _is_about_arrays_alone(statement: ir.Statement) -> bool:
    """Whether a statement makes arrays, views of them or numbers, writes arrays, and hands them to nobody."""
    match statement:
        case ir.Load(target=target, base=ir.Var(type=ir.Array() | ir.Tuple())):
            return isinstance(target.type, (ir.Array, ir.Scalar, ir.Tuple))
        case ir.Store(base=ir.Var(type=ir.Array()), value=value):
            return not _has_other_memory(value)
        case ir.Call(targets=targets):
            found = effects_of(statement)
            if owns_result(statement, found):
                return isinstance(targets[0].type, ir.Array)
            if not found.known or found.hands_on:
                return False
            return not any(map(_has_other_memory, (*operands(statement), *targets)))
        case _:
            return False


def _has_other_memory(atom: ir.Atom) -> bool:
    if not isinstance(atom, ir.Var) or isinstance(atom.type, (ir.Array, ir.Scalar)):
        return False
    return not (isinstance(atom.type, ir.Tuple) and all(isinstance(item, ir.Scalar) for item in atom.type.items))


def _makes_view(load: ir.Load) -> bool:
    return isinstance(load.key, ir.Subscript) and all(map(is_basic, load.key.items))
