"""Signs as a person writes them: ``x + -y * c`` is ``x - y * c``, and ``-y`` needs no name as a factor of two terms.

The sign of a factor moves out of products and quotients to where something is added, subtracted or negated, which is
exact, but for the sign of a difference that is zero. That is done where a negation goes by it, or is left with one
reader, in whose expression it is written.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.memory.storage_alias import Memory
from adjoint.ir.rebuild import rebuild, rebuild_terminator
from adjoint.ir.walk import blocks_of, operands, statements_in, terminators_in
from adjoint.optimize.touch_up.in_place_updates import only_computes
from adjoint.records import replace
from adjoint.runtime.arithmetic.numbers import product, quotient
from adjoint.runtime.array_functions.arrays import unbroadcast

_ODD: dict[Any, tuple[int, ...]] = {
    operator.mul: (0, 1),
    operator.truediv: (0, 1),
    product: (0, 1),
    quotient: (0, 1),
    unbroadcast: (0,),
    **dict.fromkeys((operator.matmul, np.matmul, np.outer, np.dot, np.vdot), (0, 1)),
}
"""In which arguments a function is odd, to the bit."""


def signs_outside(function: ir.Function) -> ir.Function:
    """The function with signs of factors where their terms are added."""
    statements = list(statements_in(function.body))
    negations = [each for each in statements if isinstance(each, ir.Call) and _is_negation(each)]
    if not negations:
        return function
    signs = _Signs(function, statements)
    for negation in negations:
        signs.move(negation)
    return signs.rewritten() if signs.instead else function


class _Signs:
    def __init__(self, function: ir.Function, statements: list[ir.Statement]) -> None:
        self.function = function
        self.readers: dict[ir.Var, list[ir.Statement | None]] = {}
        self.instead: dict[int, ir.Statement | None] = {}
        """By the identity of a statement: what it becomes; None for one that goes."""
        self.renamed: dict[ir.Var, ir.Atom] = {}
        self._memory: Memory | None = None
        self.homes: dict[int, int] = {}
        """The identities of the blocks in which statements stand, by theirs."""
        for block in _blocks(function.body):
            self.homes.update((id(statement), id(block)) for statement in block.statements)
        for statement in statements:
            self._read(operands(statement), statement)
        for end in terminators_in(function.body):
            self._read(operands(end), None)

    def _read(self, atoms: tuple[ir.Atom, ...], reader: ir.Statement | None) -> None:
        for atom in atoms:
            if isinstance(atom, ir.Var):
                self.readers.setdefault(atom, []).append(reader)

    def move(self, negation: ir.Call) -> None:
        """Moves the sign of a negated value out of the terms that it is a factor of."""
        (negative,), (positive,) = negation.targets, negation.args
        if id(negation) in self.instead or negative.named or self._is_its_name(negative, positive):
            return
        if isinstance(positive, ir.Var) and isinstance(positive.type, ir.Array) and not self._stays(positive, negation):
            return
        kept = self.instead.copy(), self.renamed.copy()
        left = 0
        for reader in self.readers.get(negative, ()):
            before = self.instead.copy(), self.renamed.copy()
            if not self._flipped(reader, negative, positive):
                self.instead, self.renamed = before
                left += 1
        if left > 1:
            self.instead, self.renamed = kept

    def _is_its_name(self, negative: ir.Var, positive: ir.Atom) -> bool:
        """Whether the negative is the only one of the two that needs a name."""
        if not isinstance(positive, ir.Var) or positive.named or positive in self.function.params:
            return False
        readers, (negation, *others) = self.readers.get(negative, []), self.readers[positive]
        is_inside = len(readers) == 1 and self.homes.get(id(readers[0])) == self.homes[id(negation)]
        return not others and not is_inside

    def _flipped(self, reader: ir.Statement | None, value: ir.Var, positive: ir.Atom | None = None) -> bool:
        """Whether a statement takes the negative of a value for it; notes what it becomes.

        ``positive`` stands for that negative; without, the value itself has become its negative.
        """
        statement = None if reader is None else self.instead.get(id(reader), reader)
        if reader is None or statement is None or operands(statement).count(value) != 1:
            return False
        taken = value if positive is None else positive
        match statement:
            case ir.Store(base=base, key=key, mode="add" | "sub" as mode) if statement.value is value:
                flipped = ir.Store(base, key, taken, "sub" if mode == "add" else "add", statement.span)
                self.instead[id(reader)] = flipped
                return True
            case ir.Call(callee=operator.neg, targets=(target,)) if not target.named and positive is None:
                self.instead[id(reader)] = None
                self.renamed[target] = value
                return True
            case ir.Call(targets=(target,), args=args, kwargs=()) if _is_float(target):
                return self._of_term(reader, statement, target, args.index(value), taken)
            case _:
                return False

    def _of_term(self, reader: ir.Statement, call: ir.Call, target: ir.Var, place: int, taken: ir.Atom) -> bool:
        args = call.args
        if call.callee in (operator.add, operator.sub) and len(args) == 2:
            if place == 1:
                opposite = operator.sub if call.callee is operator.add else operator.add
                self.instead[id(reader)] = replace(call, callee=opposite, args=(args[0], taken))
                return True
            if call.callee is operator.add:
                self.instead[id(reader)] = replace(call, callee=operator.sub, args=(args[1], taken))
                return True
            self.instead[id(reader)] = replace(call, callee=operator.add, args=(taken, args[1]))
            return self._passed_on(target)
        if place not in _ODD.get(call.callee, ()):
            return False
        self.instead[id(reader)] = replace(call, args=(*args[:place], taken, *args[place + 1 :]))
        return self._passed_on(target)

    def _passed_on(self, target: ir.Var) -> bool:
        """Whether the one that reads a value takes its negative for it."""
        readers = self.readers.get(target, [])
        return len(readers) == 1 and not target.named and self._flipped(readers[0], target)

    def _stays(self, array: ir.Var, negation: ir.Call) -> bool:
        """Whether an array is the same where its negative is read as where it was negated."""
        if self._memory is None:
            self._memory = Memory(self.function)
        if not self._memory.written(array):
            return True
        block = next(block for block in _blocks(self.function.body) if _holds(block, negation))
        waiting = {id(reader) for reader in self.readers.get(negation.targets[0], ())}
        place = next(place for place, statement in enumerate(block.statements) if statement is negation)
        for statement in block.statements[place + 1 :]:
            waiting.discard(id(statement))
            if not waiting:
                return True
            if not only_computes(statement):
                return False
        return False

    def rewritten(self) -> ir.Function:
        function = self.function
        return ir.Function(function.name, function.params, self._block(function.body), function.doc)

    def _block(self, block: ir.Block) -> ir.Block:
        statements = [self.instead.get(id(statement), statement) for statement in block.statements]
        kept = [rebuild(statement, self._atom, self._block) for statement in statements if statement is not None]
        return ir.Block(tuple(kept), rebuild_terminator(block.terminator, self._atom, self._block))

    def _atom(self, atom: ir.Atom) -> ir.Atom:
        while isinstance(atom, ir.Var) and atom in self.renamed:
            atom = self.renamed[atom]
        return atom


def _blocks(block: ir.Block) -> Iterator[ir.Block]:
    """A block and all that are in it."""
    yield block
    for node in (*block.statements, block.terminator):
        for inner in blocks_of(node):
            yield from _blocks(inner)


def _holds(block: ir.Block, statement: ir.Statement) -> bool:
    return any(each is statement for each in block.statements)


def _is_negation(call: ir.Call) -> bool:
    return call.callee is operator.neg and _is_float(call.targets[0])


def _is_float(var: ir.Var) -> bool:
    type_ = var.type
    is_array = isinstance(type_, ir.Array) and ir.is_float_dtype(type_.dtype)
    return is_array or (isinstance(type_, ir.Scalar) and type_.kind == "float")
