"""Register promotion: a place of an array that a loop works on again and again is a variable as long as it runs.

Legal where nothing else in the loop touches that place: other elements of the array may be touched whose indices surely
differ (`IndexOrder`), as ``x_bar[j]`` beside ``x_bar[i]`` for ``j`` in ``range(i)``. Memory that others see is written
in each iteration where an exception may leave the loop, or Python that it calls may look.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.reachable import memory_seen
from adjoint.analysis.shapes.index_order import IndexOrder
from adjoint.ir.builder import Builder
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, substitute
from adjoint.ir.walk import blocks_of, defined_by, operands, statements_in, targets_of, terminators_in, vars_used
from adjoint.native.legalize.numbers.arithmetic_checks import refuses_something
from adjoint.native.legalize.numbers.deferred_checks import only_computes
from adjoint.native.loops.reductions import OPERATORS, added
from adjoint.rules.typing import type_of_call
from adjoint.target import PYTHON, Target


def with_places_as_variables(
    function: ir.Function, handed: Collection[ir.Storage] | None = None, target: Target = PYTHON
) -> ir.Function:
    """The function with places of arrays that a loop works on read before the loop and written after it.

    Parameters
    ----------
    function
        The function.
    handed
        Memory that others see; None for that of the parameters.
    target
        What it is made for: what of arithmetic raises exceptions.
    """
    witnesses = Witnesses(function, handed, target)
    body = in_block(function.body, order=IndexOrder(function), witnesses=witnesses)
    return ir.Function(function.name, function.params, body, function.doc)


def in_block(
    block: ir.Block,
    along: ir.Var | None = None,
    order: IndexOrder | None = None,
    witnesses: Witnesses | None = None,
) -> ir.Block:
    """The same of a block: of all places, or of those with one number among their indices.

    Without ``order`` different indices may be the same number; without ``witnesses`` nobody looks before the end.
    """

    def inner(part: ir.Block) -> ir.Block:
        return in_block(part, along, order, witnesses)

    statements: list[ir.Statement] = []
    for statement in block.statements:
        current = map_blocks(statement, inner)
        statements += _promoted(current, along, order, witnesses) if isinstance(current, ir.Loop) else [current]
    return ir.Block(tuple(statements), rebuild_terminator(block.terminator, lambda atom: atom, inner))


def _promoted(
    loop: ir.Loop, along: ir.Var | None, order: IndexOrder | None, witnesses: Witnesses | None
) -> list[ir.Statement]:
    """The loop, with places as variables; if it does not run, nothing is read or written."""
    end, over = loop.body.terminator, loop.over
    if (
        not isinstance(end, ir.Continue)
        or not isinstance(over, ir.Range)
        or over.step != ir.Const(1)
        or loop.exit is not None
    ):
        return [loop]
    accesses = _Accesses(loop, order)
    loads = [load for load in accesses.loads() if _is_along(along, load.key)]
    places = [place for place in accesses.places() if _is_along(along, place[1])]
    if witnesses is not None:
        seen = witnesses.seen_in(loop.body, [_storage(base) for base, _ in places])
        places = [place for place in places if _storage(place[0]) not in seen]
    if not places and not loads:
        return [loop]
    before, after = Builder(type_of_call, loop.span), Builder(type_of_call, loop.span)
    body, values = loop.body.statements, end.values
    outer = tuple(ir.Var(target.hint, target.type, target.named) for target in loop.targets)
    params, inits, targets = loop.params, loop.inits, outer
    known: dict[ir.Var, ir.Atom] = {}
    for load in loads:
        known[load.target] = before.load(load.base, load.key, load.target.type, load.target.hint)
    body, values = _without(body, values, known)
    for base, key in places:
        param, target = ir.Var(base.hint, ir.FLOAT), ir.Var(base.hint, ir.FLOAT)
        inits = (*inits, before.load(base, key, ir.FLOAT, base.hint))
        body, values, last = _on_variable(body, values, (base, key), param, free=over.free)
        params, values, targets = (*params, param), (*values, last), (*targets, target)
        after.store(base, key, target)
    inner = ir.Loop(over, loop.index, params, inits, ir.Block(body, ir.Continue(values)), targets, None, loop.span)
    runs = ir.Var("runs", ir.BOOL)
    then = ir.Block((*before.statements, inner, *after.statements), ir.Yield(outer))
    return [
        ir.Call((runs,), operator.lt, (over.start, over.stop), (), loop.span),
        ir.If(runs, then, ir.Block((), ir.Yield(loop.inits)), loop.targets, loop.span),
    ]


def _is_along(number: ir.Var | None, key: ir.Key) -> bool:
    return number is None or (isinstance(key, ir.Subscript) and number in key.items)


def _without(
    statements: Sequence[ir.Statement], values: tuple[ir.Atom, ...], known: Mapping[ir.Var, ir.Atom]
) -> tuple[tuple[ir.Statement, ...], tuple[ir.Atom, ...]]:
    """Statements, and what they hand on, with what is known in place of the loads that give it."""
    kept = [s for s in statements if not (isinstance(s, ir.Load) and s.target in known)]
    block = substitute(ir.Block(tuple(kept), ir.Continue(values)), known)
    assert isinstance(block.terminator, ir.Continue)
    return block.statements, block.terminator.values


Place = tuple[ir.Var, ir.Subscript]
"""An element of an array."""


class _Accesses:
    """Which elements of arrays the iterations of a loop touch, one by one, and which arrays they touch otherwise."""

    def __init__(self, loop: ir.Loop, order: IndexOrder | None) -> None:
        self._order = order
        self._inside = defined_by(loop)
        self._elements: dict[ir.Storage, list[tuple[ir.Statement, Place]]] = {}
        self._otherwise: set[ir.Storage] = set()
        self._written: set[ir.Storage] = set()
        self._is_pure = True
        for statement in statements_in(loop.body):
            if isinstance(statement, ir.Store) and is_array(statement.base):
                self._written.add(_storage(statement.base))
            self._is_pure &= not isinstance(statement, ir.Call) or effects_of(statement).pure
        for statement in loop.body.statements:
            place, rest = _element(statement), operands(statement)
            if place is not None:
                self._elements.setdefault(_storage(place[0]), []).append((statement, place))
                rest = tuple(atom for atom in rest if atom is not place[0])
            inside = [atom for block in blocks_of(statement) for atom in vars_used(block)]
            self._otherwise.update(_storage(atom) for atom in (*rest, *inside) if is_array(atom))

    def loads(self) -> list[ir.Load]:
        """The loads that give the same number in each iteration: nobody writes there."""
        if not self._is_pure:
            return []
        return [
            statement
            for storage, elements in self._elements.items()
            for statement, place in elements
            if isinstance(statement, ir.Load) and self._is_the_same(place) and self._is_never_written(storage, place)
        ]

    def _is_never_written(self, storage: ir.Storage, place: Place) -> bool:
        if storage not in self._written:
            return True
        stores = [other for statement, other in self._elements[storage] if isinstance(statement, ir.Store)]
        return storage not in self._otherwise and all(self._are_apart(place, other) for other in stores)

    def places(self) -> list[Place]:
        """The elements that the iterations touch again and again, and write, and which no other access may touch."""
        found: list[Place] = []
        for storage, elements in self._elements.items():
            if storage in self._otherwise or storage not in self._written:
                continue
            for statement, place in elements:
                if not isinstance(statement, ir.Store) or place in found or not self._is_promotable(place):
                    continue
                if all(other == place or self._are_apart(place, other) for _, other in elements):
                    found.append(place)
        return found

    def _is_promotable(self, place: Place) -> bool:
        type_ = place[0].type
        assert isinstance(type_, ir.Array)
        return type_.dtype == np.float64 and self._is_the_same(place)

    def _is_the_same(self, place: Place) -> bool:
        """Whether all iterations mean the same element."""
        base, key = place
        return base not in self._inside and self._inside.isdisjoint(key.items)

    def _are_apart(self, one: Place, other: Place) -> bool:
        return self._order is not None and one[0] is other[0] and self._order.are_apart(one[1], other[1])


def _element(statement: ir.Statement) -> Place | None:
    """The element of an array that a statement reads or writes, if it does just that."""
    match statement:
        case ir.Load(
            target=ir.Var(type=ir.Scalar()),
            base=ir.Var(type=ir.Array(dims=tuple() as dims)) as base,
            key=ir.Subscript() as key,
        ):
            pass
        case ir.Store(
            base=ir.Var(type=ir.Array(dims=tuple() as dims)) as base, key=ir.Subscript() as key, mode=mode
        ) if mode in ("set", *OPERATORS):
            pass
        case _:
            return None
    is_element = len(key.items) == len(dims) and all(
        isinstance(item, (ir.Var, ir.Const)) and type_of_atom(item) == ir.INT for item in key.items
    )
    return (base, key) if is_element else None


def _on_variable(
    statements: Sequence[ir.Statement], values: tuple[ir.Atom, ...], place: Place, param: ir.Var, *, free: bool
) -> tuple[tuple[ir.Statement, ...], tuple[ir.Atom, ...], ir.Atom]:
    """Statements in which a variable stands for the place; what they hand on; what is in the place at last."""
    current: ir.Atom = param
    renamed: dict[ir.Var, ir.Atom] = {}
    changed: list[ir.Statement] = []
    for statement in statements:
        statement = substitute(statement, renamed)
        match statement:
            case ir.Load(target=target, base=base, key=key) if (base, key) == place:
                renamed[target] = current
            case ir.Store(base=base, key=key, value=value, mode=mode, span=span) if (base, key) == place:
                if mode == "set":
                    current = value
                else:
                    following = ir.Var(place[0].hint, ir.FLOAT)
                    if free:
                        changed += added(following, current, value, mode, span)
                    else:
                        changed.append(ir.Call((following,), OPERATORS[mode], (current, value), (), span))
                    current = following
            case _:
                changed.append(statement)
    return tuple(changed), tuple(renamed.get(v, v) if isinstance(v, ir.Var) else v for v in values), current


def _storage(atom: ir.Atom) -> ir.Storage:
    assert isinstance(atom, ir.Var) and isinstance(atom.type, ir.Array)
    return atom.type.storage.find()


# Who may look at memory while a loop runs: whoever is left with it by an exception, and Python that the loop calls


class Witnesses:
    """Who else sees the memory of a function.

    Parameters
    ----------
    function
        The function.
    handed
        Memory that others see; None for that of the parameters.
    target
        What it is made for: what of arithmetic raises exceptions.
    """

    def __init__(self, function: ir.Function, handed: Collection[ir.Storage] | None, target: Target) -> None:
        self._function = function
        self._handed = handed
        self._checked = target.checked

    def seen_in(self, body: ir.Block, written: Collection[ir.Storage]) -> frozenset[ir.Storage]:
        """Which of the memory that the body of a loop writes others may see before the loop has ended."""
        found = self._shared.intersection(written)
        return found if found and self._is_watched(body) else frozenset()

    @cached_property
    def _shared(self) -> frozenset[ir.Storage]:
        return memory_seen(self._function, self._handed).union(self._found())

    def _found(self) -> Iterator[ir.Storage]:
        """The memory of arrays that come from elsewhere: out of objects and containers, and from unknown calls."""
        for statement in statements_in(self._function.body):
            from_elsewhere = (isinstance(statement, ir.Call) and not effects_of(statement).known) or (
                isinstance(statement, ir.Load) and not is_array(statement.base)
            )
            for target in targets_of(statement):
                if from_elsewhere and isinstance(target.type, ir.Array):
                    yield target.type.storage.find()

    def _is_watched(self, body: ir.Block) -> bool:
        if any(isinstance(end, (ir.Raise, ir.Return)) for end in terminators_in(body)):
            return True
        if not all(only_computes(part) for part in statements_in(body) if isinstance(part, ir.Call)):
            return True
        is_checked = self._checked.divisions or self._checked.functions
        return is_checked and refuses_something(body, self._checked.functions)
