"""Dead store elimination: what is stored in arrays of a function's own, and never read from there, is not stored.

The value of a program that is built up in an array is the last thing that happens to the array: a gradient asks only
for its shape from then on. And a cotangent that is read element by element is reset at places that nobody reads again.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.alias import Aliases
from adjoint.analysis.memory.storage_alias import owns_result
from adjoint.analysis.shapes.shape_arguments import shape_argument
from adjoint.ir.raising import handles, may_raise
from adjoint.ir.rebuild import map_blocks
from adjoint.ir.walk import blocks_of, is_view, operands, statements_in, targets_of, terminators_in
from adjoint.records import dataclass

Classes = set[Hashable]
"""Of memory; and elements, where only these are read of a class."""


@dataclass(frozen=True, slots=True)
class _Element:
    """A place in an array, by numbers."""

    memory: Hashable
    base: ir.Var
    at: tuple[int, ...]

    def is_other(self, other: _Element | None) -> bool:
        """Whether it is certain that this is another place than one in the same memory."""
        if other is None or self.base is not other.base or len(self.at) != len(other.at):
            return False
        pairs = zip(self.at, other.at, strict=True)
        return any(one != another and (one < 0) == (another < 0) for one, another in pairs)


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
        self._elements: defaultdict[Hashable, set[_Element]] = defaultdict(set)
        self.own = self._classes(
            each.base for each in statements_in(function.body) if isinstance(each, ir.Store)
        ) - self._shared(function)
        self._variables = Counter(self._bound(statements_in(function.body))) + Counter(self._classes(function.params))
        self._handled = False
        """Whether an exception is handled: then nobody leaves out what may raise one."""

    def _shared(self, function: ir.Function) -> Classes:
        """The classes of memory that also comes from elsewhere, or that flows where variables do not tell it."""
        others: list[object] = list(function.params)
        for statement in statements_in(function.body):
            if not _is_about_arrays_alone(statement):
                others += (*operands(statement), *targets_of(statement))
        return self._classes(others)

    def _classes(self, atoms: Iterable[object]) -> Classes:
        return self._aliases.classes(atoms)

    def _bound(self, statements: Iterable[ir.Statement]) -> Iterator[Hashable]:
        """The class of each variable that statements bind."""
        for var in _bound_by(statements):
            yield from self._classes([var])

    # Backwards, with the memory that is read later

    def block(self, block: ir.Block, later: Classes) -> tuple[ir.Block, Classes]:
        """The block without dead stores, and the memory that is read from its start on."""
        end: ir.Terminator = block.terminator
        later = {*later, *self._classes(operands(end))}
        if isinstance(end, ir.Branch):
            (then, one), (orelse, other) = self.block(end.then, later), self.block(end.orelse, later)
            later = one | other
            if then is not end.then or orelse is not end.orelse:
                end = ir.Branch(end.cond, then, orelse, end.span)
        kept: list[ir.Statement] = []
        for statement in reversed(block.statements):
            if isinstance(statement, ir.Store) and self._is_dead(statement, later):
                continue
            kept.append(self._statement(statement, later))
        kept.reverse()
        is_same = end is block.terminator and len(kept) == len(block.statements)
        if is_same and all(map(operator.is_, kept, block.statements)):
            return block, later
        return ir.Block(tuple(kept), end), later

    def _is_dead(self, store: ir.Store, later: Classes) -> bool:
        if self._handled and may_raise(store):
            return False
        memory = self._classes([store.base])
        if not memory or not memory <= self.own or not memory.isdisjoint(later):
            return False
        read = [each for part in memory for each in self._elements[part] if each in later]
        return not read or (len(memory) == 1 and self._are_others(store, read))

    def _are_others(self, store: ir.Store, read: list[_Element]) -> bool:
        stored = self._element(store.base, store.key)
        return all(each.is_other(stored) for each in read)

    def _element(self, base: object, key: ir.Key | None) -> _Element | None:
        """The place that an index of known numbers means in memory of the function's own."""
        memory = self._classes([base])
        if (
            not isinstance(base, ir.Var)
            or not isinstance(key, ir.Subscript)
            or len(memory) != 1
            or not memory <= self.own
        ):
            return None
        at = [item.value if isinstance(item, ir.Const) else None for item in key.items]
        if not at or any(type(each) is not int for each in at):
            return None
        found = _Element(next(iter(memory)), base, tuple(at))  # type: ignore[arg-type]
        self._elements[found.memory].add(found)
        return found

    def _statement(self, statement: ir.Statement, later: Classes) -> ir.Statement:
        """The statement without dead stores; what it reads is added to what is read later."""
        if not blocks_of(statement):
            later |= self._read(statement)
            return statement
        if isinstance(statement, (ir.Loop, ir.Guarded)):  # what comes before in the text may come later
            later |= self._read_again(statement)
        behind = set(later)
        later |= self._read(statement)

        def without(block: ir.Block) -> ir.Block:
            outside = self._handled
            self._handled |= isinstance(statement, ir.Guarded) and block is statement.body and handles(statement)
            changed, before = self.block(block, behind)
            self._handled = outside
            later.update(before)
            return changed

        return map_blocks(statement, without)

    def _read_again(self, statement: ir.Loop | ir.Guarded) -> Classes:
        """What may be read in another iteration, or by a handler; an iteration's own memory is gone by then."""
        inner = blocks_of(statement)
        read = {each for block in inner for each in self._read_in(block)}
        if isinstance(statement, ir.Guarded):
            return read
        statements = list(statements_in(statement.body))
        counted = Counter(self._bound(statements))
        anew = {memory for memory in self.own if counted[memory] == self._variables[memory]}
        bound = {*_bound_by([statement]), *_bound_by(statements)}
        widened = {each.memory if isinstance(each, _Element) and each.base in bound else each for each in read}
        return {each for each in widened if _memory_of(each) not in anew}

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
            case ir.Load(target=ir.Var(type=ir.Array()), base=ir.Var(type=ir.Array())) if is_view(statement.key):
                return self._classes(operands(statement)[1:])
            case ir.Load(target=ir.Var(type=ir.Scalar()), base=base, key=key):
                element = self._element(base, key)
                return {element} if element is not None else self._classes(operands(statement))
            case ir.Call(callee=callee):
                asked = shape_argument(callee)
                named = (value for _, value in statement.kwargs)
                return self._classes((*(arg for at, arg in enumerate(statement.args) if at != asked), *named))
            case _:
                return self._classes(operands(statement))


def _bound_by(statements: Iterable[ir.Statement]) -> Iterator[ir.Var]:
    for statement in statements:
        yield from targets_of(statement)
        if isinstance(statement, ir.Loop):
            yield from statement.params
            if statement.index is not None:
                yield statement.index


def _memory_of(read: Hashable) -> Hashable:
    return read.memory if isinstance(read, _Element) else read


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
