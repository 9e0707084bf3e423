"""Matrices that are factorised once, for all that is asked of their factors (common subexpressions inside of LAPACK).

The reverse of ``x = np.linalg.solve(a, b)`` solves with ``a.T``, that of ``np.linalg.slogdet(a)`` inverts ``a``: each
call factorises the matrix anew. Factors of a matrix that a loop does not change are computed before the loop. That is
legal where nothing writes to the matrix from the factorisation on to the last one that asks for it; the factorisation
itself raises nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence

import numpy as np

from adjoint import ir
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, same_atom
from adjoint.ir.walk import blocks_of, defined_by, statements_in, with_inner
from adjoint.optimize.redundant_loads import written_by
from adjoint.records import dataclass
from adjoint.runtime.array_functions.linalg import transposed
from adjoint.runtime.array_functions.lu import inverse_factored, lu_factors, slogdet_factored, solve_factored

_FLOAT = np.dtype(np.float64)
_ASKING = {np.linalg.solve: solve_factored, np.linalg.inv: inverse_factored, np.linalg.slogdet: slogdet_factored}
"""Functions that factorise a matrix, and what they become where its factors are known."""
TRANSPOSES = (np.transpose, transposed)


def with_shared_factors(function: ir.Function) -> ir.Function:
    """The function with factors of matrices in place of systems, inverses and determinants of one matrix."""
    askers = _Askers(function).by_matrix
    plans = [plan for matrix, asking in askers.items() if (plan := _plan(matrix, asking)) is not None]
    if not plans:
        return function
    return ir.Function(function.name, function.params, _Sharing(plans).block(function.body), function.doc)


@dataclass(frozen=True, slots=True)
class _Asker:
    """A call that factorises a matrix or its transpose.

    Attributes
    ----------
    path
        The blocks around it, the outermost first, and where in each the next one lies: behind all statements, if the
        block ends in a branch.
    """

    call: ir.Call
    turned: bool
    path: tuple[tuple[ir.Block, int], ...]


@dataclass(frozen=True, slots=True)
class Factorisation:
    """The factors of a matrix, made at a place of a block."""

    matrix: ir.Var
    block: ir.Block
    place: int
    factors: tuple[ir.Var, ir.Var]


@dataclass(frozen=True, slots=True)
class _Plan(Factorisation):
    """The same for those who ask for them."""

    askers: dict[int, _Asker]


class _Askers:
    """All calls that factorise matrices of 64-bit floats, by the matrix."""

    def __init__(self, function: ir.Function) -> None:
        self.by_matrix: dict[ir.Var, list[_Asker]] = {}
        self.turned: dict[ir.Var, ir.Var] = {}
        """The matrices whose transposes variables are."""
        self.block(function.body, ())

    def block(self, block: ir.Block, around: tuple[tuple[ir.Block, int], ...]) -> None:
        for place, statement in enumerate(block.statements):
            path = (*around, (block, place))
            if isinstance(statement, ir.Call):
                self.call(statement, path)
            for inner in blocks_of(statement):
                self.block(inner, path)
        for inner in arms_of(block):
            self.block(inner, (*around, (block, len(block.statements))))

    def call(self, call: ir.Call, path: tuple[tuple[ir.Block, int], ...]) -> None:
        if call.callee in TRANSPOSES and len(call.args) == 1 and not call.kwargs:
            if isinstance(call.args[0], ir.Var) and is_matrix(call.args[0]):
                self.turned[call.targets[0]] = call.args[0]
        elif is_asking(call):
            matrix = call.args[0]
            assert isinstance(matrix, ir.Var)
            turned = matrix in self.turned and call.callee is np.linalg.solve
            asker = _Asker(call, turned, path)
            self.by_matrix.setdefault(self.turned[matrix] if turned else matrix, []).append(asker)


def arms_of(block: ir.Block) -> tuple[ir.Block, ...]:
    """The blocks that a block ends in."""
    end = block.terminator
    return (end.then, end.orelse) if isinstance(end, ir.Branch) else ()


def is_asking(call: ir.Statement, matrix: ir.Var | None = None) -> bool:
    """Whether a statement factorises a matrix: that one, where it is given."""
    if not isinstance(call, ir.Call) or not isinstance(call.callee, Hashable) or call.callee not in _ASKING:
        return False
    if call.kwargs or not call.args or not is_matrix(call.args[0]) or matrix not in (None, call.args[0]):
        return False
    if matrix is not None and matrix in call.args[1:]:
        return False
    if call.callee is np.linalg.solve:
        return len(call.args) == 2 and (_is_of_floats(call.args[1], 1) or _is_of_floats(call.args[1], 2))
    return len(call.args) == 1 and len(call.targets) == (2 if call.callee is np.linalg.slogdet else 1)


def is_matrix(atom: ir.Atom) -> bool:
    """Whether something is a matrix of 64-bit floats."""
    return _is_of_floats(atom, 2)


def _is_of_floats(atom: ir.Atom, rank: int) -> bool:
    type_ = atom.type if isinstance(atom, ir.Var) else None
    is_known = isinstance(type_, ir.Array) and type_.dtype == _FLOAT and type_.dims is not None
    return is_known and len(type_.dims) == rank  # type: ignore[union-attr]


def _plan(matrix: ir.Var, askers: Sequence[_Asker]) -> _Plan | None:
    """Where the factors are made; None where nothing is won by that, or something may write to the matrix."""
    depth = _common_depth([each.path for each in askers])
    around = askers[0].path
    hoisted = depth
    while hoisted and _is_invariant(matrix, around[hoisted - 1]):
        hoisted -= 1
    if len(askers) < 2 and hoisted == depth:
        return None
    block = around[hoisted][0]
    places = [each.path[hoisted][1] for each in askers]
    if not is_left_alone(matrix, block, min(places), max(places)):
        return None
    return _Plan(matrix, block, min(places), factors_of(), {id(each.call): each for each in askers})


def factors_of() -> tuple[ir.Var, ir.Var]:
    """Variables for the factors of a matrix."""
    lu = ir.Var("lu", ir.Array(_FLOAT, ("many", "many"), ir.Storage()))
    return lu, ir.Var("pivots", ir.Array(np.dtype(np.int64), ("many",), ir.Storage()))


def asked_of_factors(call: ir.Call, factors: tuple[ir.Var, ir.Var], turned: bool) -> ir.Call:
    """A call that factorises a matrix, or its transpose, as one that is given the factors."""
    args = (*factors, *call.args[1:], *((ir.Const(True),) if turned else ()))
    return ir.Call(call.targets, _ASKING[call.callee], args, (), call.span)


def _common_depth(paths: Sequence[tuple[tuple[ir.Block, int], ...]]) -> int:
    """How deep the innermost block lies that is around all of some calls."""
    depth = 0
    while all(len(path) > depth + 1 for path in paths):
        if len({(id(path[depth][0]), path[depth][1], id(path[depth + 1][0])) for path in paths}) > 1:
            break
        depth += 1
    return depth


def _is_invariant(matrix: ir.Var, level: tuple[ir.Block, int]) -> bool:
    """Whether what lies at a place of a block is a loop that makes no such matrix."""
    block, place = level
    statement = block.statements[place] if place < len(block.statements) else None
    return isinstance(statement, ir.Loop) and matrix not in defined_by(statement)


def is_left_alone(matrix: ir.Var, block: ir.Block, first: int, last: int) -> bool:
    """Whether nothing in a part of a block may write to a matrix."""
    own = set(ir.storages(matrix.type))
    if not any(storage.written for storage in own):
        return True
    inside = [inner for statement in block.statements[first : last + 1] for inner in with_inner(statement)]
    if last == len(block.statements):
        inside += [inner for arm in arms_of(block) for inner in statements_in(arm)]
    written = [written_by(inner) for inner in inside]
    return all(each is not None and own.isdisjoint(each) for each in written)


class Factorising(ABC):
    """A walk that makes factors at places of blocks, and puts other statements in the place of those who ask."""

    def __init__(self, plans: Sequence[Factorisation]) -> None:
        self.plans = plans

    def block(self, old: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for place, statement in enumerate(old.statements):
            statements += self.factorisations(old, place)
            statements += self.statement(statement)
        statements += self.factorisations(old, len(old.statements))
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, same_atom, self.block))

    def factorisations(self, block: ir.Block, place: int) -> list[ir.Statement]:
        plans = [plan for plan in self.plans if plan.block is block and plan.place == place]
        return [ir.Call(plan.factors, lu_factors, (plan.matrix,)) for plan in plans]

    @abstractmethod
    def statement(self, old: ir.Statement) -> list[ir.Statement]:
        """What stands in the place of a statement."""


class _Sharing(Factorising):
    plans: Sequence[_Plan]

    def statement(self, old: ir.Statement) -> list[ir.Statement]:
        plan = next((plan for plan in self.plans if id(old) in plan.askers), None)
        if plan is None or not isinstance(old, ir.Call):
            return [map_blocks(old, self.block)]
        return [asked_of_factors(old, plan.factors, plan.askers[id(old)].turned)]
