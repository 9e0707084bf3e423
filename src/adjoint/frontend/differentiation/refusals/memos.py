"""Memos: functions that keep what varies outside of themselves, and find it there for arguments that they had before.

What an earlier call has kept is a constant of the next one. That is as it should be of a state that goes on from call
to call. What a memo gives depends on the arguments all the same, and its derivative would be zero. So a function is
refused that looks up, by what varies, what it keeps of what varies: in a dict by a key, or behind a comparison for
equality.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.dependence.may_vary import varying
from adjoint.analysis.effects import written_args
from adjoint.analysis.joins import joins
from adjoint.diagnostics import DifferentiationError, diagnostic
from adjoint.diagnostics.diagnostic import Diagnostic
from adjoint.ir.walk import blocks_of, key_atoms, leaves, operands, statements_in
from adjoint.runtime.objects import put_attribute
from adjoint.runtime.outside import assign_attribute, assign_captured, assign_global

_ASSIGNS = (put_attribute, assign_attribute, assign_global)
_EQUALITY = (
    operator.eq,
    operator.ne,
    operator.is_,
    operator.is_not,
    operator.contains,
    np.equal,
    np.not_equal,
    np.array_equal,
    np.array_equiv,
    np.allclose,
    np.isclose,
)


def refuse_memos(function: ir.Function, active: Sequence[ir.Var]) -> None:
    """Refuses a function whose parameters ``active`` vary, where it finds by them what it has kept outside before."""
    found = next(_lookups(function, frozenset(active), frozenset(function.params) - {*active}, set()), None)
    if found is not None:
        raise DifferentiationError([found])


def _lookups(
    function: ir.Function,
    active: frozenset[ir.Var],
    outside: frozenset[ir.Var],
    seen: set[tuple[ir.Definition, frozenset[int], frozenset[int]]],
) -> Iterator[Diagnostic]:
    """What looks up what is kept, in a function and in those that it calls."""
    memo = _Memo(function.body, active, outside)
    yield from memo.lookups()
    for call in statements_in(function.body):
        if not isinstance(call, ir.Call) or not isinstance(call.callee, ir.Definition) or not call.callee.function:
            continue
        kept = frozenset(place for place, arg in enumerate(call.args) if memo.root(arg) in outside)
        varied = frozenset(place for place, arg in enumerate(call.args) if kept and arg in memo.varied)
        if varied and (call.callee, varied, kept) not in seen:
            seen.add((call.callee, varied, kept))
            params = call.callee.function.params
            yield from _lookups(
                call.callee.function, frozenset(params[i] for i in varied), frozenset(params[i] for i in kept), seen
            )


class _Memo:
    """What a block keeps outside of itself, and what it finds there."""

    def __init__(self, block: ir.Block, active: Collection[ir.Var], outside: Collection[ir.Var]) -> None:
        self.block = block
        self.statements = statements_in(block)
        self.outside = outside
        self.active = active
        self.roots: dict[ir.Atom, ir.Atom] = {}
        for statement in self.statements:
            if isinstance(statement, ir.Load):
                self.roots[statement.target] = statement.base
            for source, target in joins(statement):
                self.roots.setdefault(target, source)

    @functools.cached_property
    def varied(self) -> set[ir.Atom]:
        """What depends on the arguments, and not only by a choice between values."""
        return varying(self.block, self.active, by_choice=False)

    def root(self, atom: ir.Atom) -> ir.Atom:
        """The memory from outside through which something was reached, if it was."""
        passed: set[ir.Atom] = set()
        while atom in self.roots and atom not in passed:
            passed.add(atom)
            atom = self.roots[atom]
        return atom

    def lookups(self) -> Iterator[Diagnostic]:
        keeping = [statement for statement in self.statements if self._keeps(statement)]
        places = {self.root(place) for statement in keeping for place in _places(statement)}
        names = {name for statement in keeping for name in _names(statement)}
        kept = [var for var in self.outside if var in places or var.hint in names]
        if not kept:
            return
        found = varying(self.block, kept, by_choice=False)
        ends = [leaf for leaf in leaves(self.block) if isinstance(leaf, ir.Return)]
        if not any(value in found for end in ends for value in end.values):
            return
        for statement in self.statements:
            if self._reads_by_key(statement, places) or self._compares(statement, found, keeping):
                yield _refusal(statement)

    def _keeps(self, statement: ir.Statement) -> bool:
        """Whether a statement puts what varies into memory from outside."""
        match statement:
            case ir.Store(value=value):
                values: Sequence[ir.Atom] = (value,)
            case ir.Call(callee=callee, args=args) if callee in _ASSIGNS or callee is assign_captured:
                values = args[-1:]
            case ir.Call(targets=()):
                values = operands(statement)
            case _:
                return False
        places = _places(statement)
        if not any(self.root(place) in self.outside or isinstance(place, ir.Const) for place in places):
            return False
        return any(value in self.varied and value not in places for value in values)

    def _reads_by_key(self, statement: ir.Statement, places: Collection[ir.Atom]) -> bool:
        return (
            isinstance(statement, ir.Load)
            and isinstance(statement.base, ir.Var)
            and isinstance(statement.base.type, ir.Dict)
            and self.root(statement.base) in places
            and self.root(statement.base) in self.outside
            and any(atom in self.varied for atom in key_atoms(statement.key))
        )

    def _compares(self, statement: ir.Statement, found: Collection[ir.Atom], keeping: Collection[ir.Statement]) -> bool:
        """Whether something is kept where what varies does not equal what was found."""
        if not isinstance(statement, ir.Call) or statement.callee not in _EQUALITY or len(statement.args) < 2:
            return False
        one, other = statement.args[:2]
        if not ((one in self.varied and other in found) or (one in found and other in self.varied)):
            return False
        decided = varying(self.block, statement.targets)
        return any(
            isinstance(each, ir.If)
            and each.cond in decided
            and any(inner in keeping for side in blocks_of(each) for inner in statements_in(side))
            for each in self.statements
        )


def _places(statement: ir.Statement) -> tuple[ir.Atom, ...]:
    """The memory that a statement writes."""
    if isinstance(statement, ir.Store):
        return (statement.base,)
    assert isinstance(statement, ir.Call)
    is_assignment = statement.callee in _ASSIGNS or statement.callee is assign_captured
    return statement.args[:1] if is_assignment else written_args(statement)


def _names(statement: ir.Statement) -> Iterator[str]:
    """The variables and attributes that a statement assigns."""
    if not isinstance(statement, ir.Call):
        return
    if statement.callee in _ASSIGNS and isinstance(statement.args[1], ir.Const):
        yield statement.args[1].value
    place = statement.args[0] if statement.args else None
    if statement.callee is assign_captured and isinstance(place, ir.Var):
        yield place.hint.removesuffix("_cell")


def _refusal(statement: ir.Statement) -> Diagnostic:
    label = "what an earlier call has kept for the same arguments is found here: it would count as a constant"
    helps = (
        "leave the memo to functools.lru_cache: what that decorates is differentiated itself",
        "or differentiate the function without its memo",
    )
    return diagnostic("AD0302", statement.span, label, helps=helps)
