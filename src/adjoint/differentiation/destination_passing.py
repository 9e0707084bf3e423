"""Cotangents of arrays that functions sum up are summed where their callers do: destination-passing style.

The adjoint of a function that reads ``x[i]`` would make zeros like ``x``, add one number, and give all of it to its
caller, which adds that to zeros of its own: each call would cost as much as the array is long. It takes the caller's
array instead, and adds to that: so a gradient costs a small multiple of its function, whatever calls there are. After
A. Shaikhha, A. Fitzgibbon, S. Peyton Jones and D. Vytiniotis, Destination-passing style for efficient memory
management, FHPC 2017.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.differentiation.definitions import called_by, everywhere, with_called
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, map_leaves, rebuild_terminator, same_atom, substitute
from adjoint.ir.walk import blocks_of, mentions, operands, read_counts, statements_in, terminators_in
from adjoint.records import dataclass, replace
from adjoint.runtime import display
from adjoint.runtime.array_functions.arrays import zeros_in_memory, zeros_like

_ZEROS = (np.zeros_like, zeros_in_memory, zeros_like)
_SUMS = ("add", "sub", "add_at")


def with_destinations(function: ir.Function) -> ir.Function:
    """The function in which others add to arrays of their callers, wherever a caller only adds what they give."""
    definitions = called_by(function)
    found = {each: sums for each in definitions if each.checkpoints is None and (sums := _sums_of(each.function))}
    if not found:
        return function
    whole = with_called(function)
    added = [_Added(each, found) for each in whole]
    wanted = {place for each in added for place in each.destinations.values()}
    found = {
        each: kept
        for each, sums in found.items()
        if (kept := {place: made for place, made in sums.items() if (each, place) in wanted})
    }
    if not found:
        return function
    passing = _Passing(found, {id(each): more for each, more in zip(whole, added, strict=True)}, definitions)
    return everywhere(function, passing.function)


def _sums_of(function: ir.Function | None) -> dict[int, ir.Call]:
    """The results of a function that start as zeros, to which it only adds: what makes the zeros, by their places."""
    assert function is not None
    ends = [end for end in terminators_in(function.body) if isinstance(end, ir.Return)]
    found = {}
    for call in function.body.statements:
        if not isinstance(call, ir.Call) or call.callee not in _ZEROS or len(call.args) != 1 or call.span is not None:
            continue
        (made,) = call.targets
        places = {tuple(place for place, value in enumerate(end.values) if value is made) for end in ends}
        if not isinstance(made.type, ir.Array) or len(places) != 1 or len(place := places.pop()) != 1:
            continue
        if _like(function, call) is not None and _is_only_added_to(function, made):
            found[place[0]] = call
    return found


@dataclass(frozen=True, slots=True)
class _Like:
    """What zeros are made like: a parameter, or what is kept at a place of one."""

    param: int
    item: int | None = None


def _like(function: ir.Function, zeros: ir.Call) -> _Like | None:
    (like,) = zeros.args
    if like in function.params:
        return _Like(function.params.index(like))
    for load in function.body.statements:
        if isinstance(load, ir.Load) and load.target is like and load.base in function.params:
            match load.key:
                case ir.Subscript(items=(ir.Const(value=int() as item),)):
                    return _Like(function.params.index(load.base), item)
    return None


def _is_only_added_to(
    function: ir.Function, memory: ir.Var, *, also_read: bool = False, also_returned: bool = True
) -> bool:
    """Whether a function does nothing with an array, and views of it, but add to it, and return the array.

    ``also_read``: or read it, where nobody gets hold of it by that.
    """
    for statement in statements_in(function.body):
        if memory not in operands(statement):
            continue
        match statement:
            case ir.Store(base=base, value=value, mode=mode) if base is memory and value is not memory:
                if mode not in _SUMS:
                    return False
            case ir.Load(target=target, base=base) if base is memory and isinstance(target.type, ir.Array):
                if not _is_only_added_to(function, target, also_read=also_read, also_returned=False):
                    return False
            case ir.Load(target=target, base=base) if base is memory and isinstance(target.type, ir.Scalar):
                if not also_read:
                    return False
            case ir.Call() if also_read:
                facts = effects_of(statement)
                if not (facts.known and facts.fresh and not facts.hands_on and not facts.writes):
                    return False
            case _:
                return False
    ends = [end for end in terminators_in(function.body) if memory in operands(end)]
    return all(also_returned and isinstance(end, ir.Return) for end in ends)


class _Added:
    """The results that a function adds to arrays of its own, of which nobody else gets hold before.

    ``destinations`` has which result of which function each addition is of; ``arrays`` what it is added to.
    """

    def __init__(self, function: ir.Function, found: Mapping[ir.Definition, Mapping[int, ir.Call]]) -> None:
        self.destinations: dict[ir.Store, tuple[ir.Definition, int]] = {}
        self.arrays: dict[ir.Var, ir.Var] = {}
        self.function = function
        statements = statements_in(function.body)
        if any(isinstance(statement, ir.Guarded) for statement in statements):
            return
        self.found = found
        self.reads = read_counts(function.body)
        self.own = {
            call.targets[0]
            for call in statements
            if isinstance(call, ir.Call)
            and call.callee in _ZEROS
            and _is_only_added_to(function, call.targets[0], also_read=True)
        }
        if self.own:
            self.block(function.body)

    def block(self, block: ir.Block) -> None:
        given: dict[ir.Var, tuple[int, ir.Definition, int]] = {}
        for at, statement in enumerate(block.statements):
            match statement:
                case ir.Call(targets=targets, callee=ir.Definition() as callee) if callee in self.found:
                    given |= {targets[place]: (at, callee, place) for place in self.found[callee]}
                case ir.Store(value=ir.Var() as value) if value in given and self.reads[value] == 1:
                    start, callee, place = given[value]
                    if self.is_sum(statement, block.statements[start + 1 : at]):
                        assert isinstance(statement.base, ir.Var)
                        self.destinations[statement] = callee, place
                        self.arrays[value] = statement.base
            for inner in blocks_of(statement):
                self.block(inner)
        for inner in blocks_of(block.terminator):
            self.block(inner)

    def is_sum(self, store: ir.Store, between: tuple[ir.Statement, ...]) -> bool:
        """Whether a result is added as a whole, and nobody looks in between."""
        memory = store.base
        whole = store.key is None or store.key == ir.WHOLE
        if not whole or store.mode != "add" or not isinstance(memory, ir.Var) or memory not in self.own:
            return False
        alike = _are_alike(memory.type, type_of_atom(store.value))
        return alike and all(_leaves_alone(statement, memory) for statement in between)


def _are_alike(one: ir.Type | None, other: ir.Type | None) -> bool:
    if not isinstance(one, ir.Array) or not isinstance(other, ir.Array):
        return False
    ranks = [None if each.dims is None else len(each.dims) for each in (one, other)]
    return ir.same_dtype(one.dtype, other.dtype) and ranks[0] == ranks[1]


def _leaves_alone(statement: ir.Statement, memory: ir.Var) -> bool:
    """Whether a statement does not ask what an array holds; views of it are made right before they are used."""
    if isinstance(statement, ir.Store) and statement.base is memory:
        return True
    return isinstance(statement, (ir.Call, ir.Load, ir.Store)) and not mentions(statement, memory)


def _kept(function: ir.Function, pack: ir.Atom, item: int) -> ir.Atom | None:
    """The argument that a call in the function's own block has put in a tuple, where it always puts that one."""
    for call in function.body.statements:
        if isinstance(call, ir.Call) and pack in call.targets and isinstance(call.callee, ir.Definition):
            called = call.callee.function
            end = called.body.terminator if called is not None else None
            if called is not None and isinstance(end, ir.Return):
                put = _put(called.body, end.values[call.targets.index(pack)], item)
                return call.args[called.params.index(put)] if put in called.params else None
    return None


def _put(block: ir.Block, pack: ir.Atom, item: int) -> ir.Atom | None:
    """What is at a place of a tuple that a block makes, or the branches of an ``If`` in it."""
    for statement in block.statements:
        match statement:
            case ir.Call(callee=display.make_tuple, targets=(made,), args=args) if made is pack:
                return args[item]
            case ir.If(targets=targets, then=then, orelse=orelse) if pack in targets:
                place = targets.index(pack)
                ends = [(way, way.terminator) for way in (then, orelse)]
                put = [_put(way, end.values[place], item) for way, end in ends if isinstance(end, ir.Yield)]
                return put[0] if len(put) == 2 and put[0] is put[1] else None
    return None


class _Passing:
    """``found`` has by definition what makes the zeros of each result that is added to an array of the caller."""

    def __init__(
        self,
        found: Mapping[ir.Definition, Mapping[int, ir.Call]],
        added: Mapping[int, _Added],
        definitions: list[ir.Definition],
    ) -> None:
        self.found = found
        self.added = added
        self.definitions = {id(each.function): each for each in definitions}
        self.likes = {each: self._likes(each) for each in found}
        self.idle = {each: self._idle(each) for each in found}

    def _likes(self, definition: ir.Definition) -> dict[int, _Like | None]:
        function = definition.function
        assert function is not None
        return {place: _like(function, made) for place, made in self.found[definition].items()}

    def _idle(self, definition: ir.Definition) -> set[int]:
        """The parameters that only told how long the zeros are."""
        function = definition.function
        assert function is not None
        reads = read_counts(function.body)
        reads.subtract(arg for made in self.found[definition].values() for arg in made.args if isinstance(arg, ir.Var))
        asked = {like.param for like in self.likes[definition].values() if like is not None and like.item is None}
        return {place for place in asked if not reads[function.params[place]]}

    def function(self, function: ir.Function) -> ir.Function:
        """A function with all its calls, and itself where it is one of those, in the new form."""
        added = self.added[id(function)]
        definition = self.definitions.get(id(function))
        sums = self.found.get(definition, {}) if definition is not None else {}
        caller = _Caller(self, added, set(map(id, sums.values())))
        body = caller.block(function.body)
        body = substitute(body, caller.renamed) if caller.renamed else body
        if not sums:
            return ir.Function(function.name, function.params, body, function.doc)
        assert definition is not None
        body = map_leaves(body, lambda end: _without_results(end, sums))
        params = [param for place, param in enumerate(function.params) if place not in self.idle[definition]]
        params += [sums[place].targets[0] for place in sorted(sums)]
        return ir.Function(function.name, tuple(params), body, function.doc)


class _Caller:
    """The calls of one function; ``gone`` are its own zeros, ``renamed`` has the memory of results that were new."""

    def __init__(self, passing: _Passing, added: _Added, gone: set[int]) -> None:
        self.passing = passing
        self.added = added
        self.gone = gone
        self.renamed: dict[ir.Var, ir.Atom] = {}

    def block(self, old: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in old.statements:
            if id(statement) in self.gone or self.is_passed(statement):
                continue
            if isinstance(statement, ir.Call) and isinstance(statement.callee, ir.Definition):
                statements += self.call(statement)
            else:
                statements.append(map_blocks(statement, self.block))
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, same_atom, self.block))

    def is_passed(self, statement: ir.Statement) -> bool:
        if not isinstance(statement, ir.Store) or statement not in self.added.destinations:
            return False
        definition, place = self.added.destinations[statement]
        return place in self.passing.found.get(definition, {})

    def call(self, call: ir.Call) -> list[ir.Statement]:
        """A call that is given what it adds to, and before it zeros where there was none."""
        if call.callee not in self.passing.found:
            return [call]
        statements: list[ir.Statement] = []
        destinations: list[ir.Atom] = []
        sums, likes = self.passing.found[call.callee], self.passing.likes[call.callee]
        for place in sorted(sums):
            target = call.targets[place]
            if target in self.added.arrays:
                destinations.append(self.added.arrays[target])
                continue
            like = likes[place]
            assert like is not None
            shape = call.args[like.param]
            if like.item is not None:
                known = _kept(self.added.function, shape, like.item)
                if known is None:
                    known = ir.Var("x", type_of_atom(sums[place].args[0]) or ir.OPAQUE)
                    statements.append(ir.Load(known, shape, ir.Subscript((ir.Const(like.item),))))
                shape = known
            assert isinstance(target.type, ir.Array)
            zeros = ir.Var(target.hint, replace(target.type, storage=ir.Storage(written=True)), target.named)
            statements.append(replace(sums[place], targets=(zeros,), args=(shape,)))
            destinations.append(zeros)
            self.renamed[target] = zeros
        targets = tuple(compress(call.targets, [place not in sums for place in range(len(call.targets))]))
        args = [arg for place, arg in enumerate(call.args) if place not in self.passing.idle[call.callee]]
        return [*statements, replace(call, targets=targets, args=(*args, *destinations))]


def _without_results(end: ir.Terminator, sums: Mapping[int, ir.Call]) -> ir.Terminator:
    if not isinstance(end, ir.Return):
        return end
    return ir.Return(tuple(value for place, value in enumerate(end.values) if place not in sums), end.span)
