"""Tapes that keep factors of matrices, where nothing but systems and determinants is asked of what they keep.

Newton's method solves with another matrix in each iteration, and the reverse sweep with its transpose. The forward
sweep has factorised the matrix; with its factors on the tape in its place the reverse sweep need not do it again. It is
legal where the tape is read for nothing else, and nothing writes to the matrix between the factorisation and the tape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from adjoint import ir
from adjoint.ir.rebuild import map_blocks
from adjoint.ir.walk import blocks_of, operands, statements_in, terminators_in
from adjoint.optimize.touch_up.shared_factors import (
    TRANSPOSES,
    Factorisation,
    Factorising,
    arms_of,
    asked_of_factors,
    factors_of,
    is_asking,
    is_left_alone,
    is_matrix,
)
from adjoint.records import dataclass, field
from adjoint.runtime import display


def with_factors_kept(function: ir.Function) -> ir.Function:
    """The function with factors in place of matrices on tapes."""
    tapes = _Reads(function.body).tapes()
    if not tapes:
        return function
    return ir.Function(function.name, function.params, _Keeping(tapes).block(function.body), function.doc)


Pair = tuple[ir.Var, ir.Var]
"""Factors and pivots."""


@dataclass(frozen=True, slots=True)
class _Tape(Factorisation):
    """A tape of matrices, and where they are factorised.

    Attributes
    ----------
    made, filled
        What makes the list, and what appends a matrix to it.
    lists
        The tapes of factors and pivots.
    loads
        What is read of them, by the statement that reads the matrix.
    askers
        The calls that ask for factors: which, and whether they ask for the transpose.
    dropped
        Transposes that nobody reads any longer.
    """

    made: ir.Statement
    filled: ir.Call
    lists: Pair
    loads: dict[int, Pair] = field(default_factory=dict)
    askers: dict[int, tuple[Pair, bool]] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)


class _Reads:
    """Who reads what in a function."""

    def __init__(self, body: ir.Block) -> None:
        self.readers: dict[ir.Var, list[ir.Statement]] = defaultdict(list)
        self.homes: dict[int, tuple[ir.Block, int]] = {}
        self.lists: dict[ir.Var, ir.Statement] = {}
        for statement in statements_in(body):
            for atom in operands(statement):
                if isinstance(atom, ir.Var):
                    self.readers[atom].append(statement)
            if isinstance(statement, ir.Call) and statement.callee is display.make_list and not statement.args:
                self.lists[statement.targets[0]] = statement
        self.handed = {atom for end in terminators_in(body) for atom in operands(end)}
        self._find_homes(body)

    def _find_homes(self, block: ir.Block) -> None:
        for place, statement in enumerate(block.statements):
            self.homes[id(statement)] = block, place
            for inner in blocks_of(statement):
                self._find_homes(inner)
        for inner in arms_of(block):
            self._find_homes(inner)

    def tapes(self) -> list[_Tape]:
        found = [self.tape(made, kept) for kept, made in self.lists.items() if kept not in self.handed]
        return [tape for tape in found if tape is not None]

    def tape(self, made: ir.Statement, kept: ir.Var) -> _Tape | None:
        """A list as a tape of factors; None where it is read for anything else."""
        fills = [each for each in self.readers[kept] if _is_call(each, list.append)]
        loads = [each for each in self.readers[kept] if _is_read(each, kept)]
        if len(fills) != 1 or len(fills) + len(loads) != len(self.readers[kept]):
            return None
        (filled,) = fills
        assert isinstance(filled, ir.Call)
        matrix = filled.args[1]
        if not isinstance(matrix, ir.Var) or not is_matrix(matrix):
            return None
        block, end = self.homes[id(filled)]
        asking = [each for each in self.readers[matrix] if self.homes[id(each)][0] is block and is_asking(each, matrix)]
        places = [end, *(self.homes[id(each)][1] for each in asking)]
        if not asking or not is_left_alone(matrix, block, min(places), max(places)):
            return None
        tape = _Tape(matrix, block, min(places), factors_of(), made, filled, _lists())
        tape.askers.update((id(each), (tape.factors, False)) for each in asking)
        return tape if all(self.adds(load, tape) for load in loads) and len(tape.askers) > len(asking) else None

    def adds(self, load: ir.Statement, tape: _Tape) -> bool:
        """Takes note of a matrix that is read of a tape; whether nothing but factors is asked of it."""
        assert isinstance(load, (ir.Load, ir.Call))
        matrix = load.target if isinstance(load, ir.Load) else load.targets[0]
        pair = tape.loads[id(load)] = factors_of()
        for reader in self.readers[matrix]:
            if is_asking(reader, matrix):
                tape.askers[id(reader)] = pair, False
            elif isinstance(reader, ir.Call) and reader.callee in TRANSPOSES and len(reader.args) == 1:
                (turned,) = reader.targets
                tape.dropped.add(id(reader))
                if turned in self.handed or not all(
                    _is_call(each, np.linalg.solve) and is_asking(each, turned) for each in self.readers[turned]
                ):
                    return False
                tape.askers.update((id(each), (pair, True)) for each in self.readers[turned])
            else:
                return False
        return matrix not in self.handed


def _is_call(statement: ir.Statement, callee: object) -> bool:
    return isinstance(statement, ir.Call) and statement.callee is callee


def _is_read(statement: ir.Statement, kept: ir.Var) -> bool:
    """Whether a statement takes one item of a list."""
    if _is_call(statement, list.pop):
        return isinstance(statement, ir.Call) and statement.args == (kept,)
    is_item = isinstance(statement, ir.Load) and isinstance(statement.key, ir.Subscript)
    return is_item and statement.base is kept and len(statement.key.items) == 1  # type: ignore[union-attr]


def _lists() -> Pair:
    lu, pivots = factors_of()
    return tuple(  # type: ignore[return-value]
        ir.Var(f"{item.hint}_kept", ir.List(item.type, ir.Storage(written=True)), False) for item in (lu, pivots)
    )


class _Keeping(Factorising):
    plans: Sequence[_Tape]

    def statement(self, old: ir.Statement) -> list[ir.Statement]:
        for tape in self.plans:
            if old is tape.made:
                return [ir.Call((kept,), display.make_list, ()) for kept in tape.lists]
            if old is tape.filled:
                pairs = zip(tape.lists, tape.factors, strict=True)
                return [ir.Call((), list.append, (kept, item)) for kept, item in pairs]
            if id(old) in tape.loads:
                return [_taken(old, kept, item) for kept, item in zip(tape.lists, tape.loads[id(old)], strict=True)]
            if id(old) in tape.dropped:
                return []
            if id(old) in tape.askers and isinstance(old, ir.Call):
                pair, turned = tape.askers[id(old)]
                return [asked_of_factors(old, pair, turned)]
        return [map_blocks(old, self.block)]


def _taken(old: ir.Statement, kept: ir.Var, item: ir.Var) -> ir.Statement:
    """One half of what is read of a tape."""
    if isinstance(old, ir.Load):
        return ir.Load(item, kept, old.key, old.span)
    return ir.Call((item,), list.pop, (kept,))
