"""Statements that run as Python out of machine code, whether or not there is another form for them."""

from __future__ import annotations

import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.identities import ORDERS, compares_items, key_asked_for
from adjoint.codegen.python import emit
from adjoint.codegen.texts import ByPython
from adjoint.ir.rebuild import map_blocks, map_branch, substitute
from adjoint.ir.walk import blocks_of, free_vars, leaves, operands, statements_in, targets_of
from adjoint.native.legalize.undefined_values import with_all_bound
from adjoint.runtime import comparisons, display, lists
from adjoint.runtime.array_functions import arrays, places, sequences
from adjoint.sources.library_folders import package_of

BY_IDENTITY = (operator.is_, operator.is_not, id)
"""What asks whether objects are the same: those of arrays are made anew where machine code hands them over."""
BY_IDENTITY_OR_VALUE = (operator.contains, list.index, list.remove, list.count, lists.first_of_same)
"""What asks whether objects are the same, or equal."""
_READ_ONLY = (
    np.broadcast_to,
    np.lib.stride_tricks.sliding_window_view,
    places.strided,
    np.diagonal,
    np.ndarray.diagonal,
)
"""What gives views that nobody may write."""
_OF_ARRAYS = ("numpy", "scipy", "_operator")
"""Packages whose functions compute arrays of what they are given; shadows of our own may be None."""
_OF_ANYTHING = (np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy, np.array, np.asarray, np.where)
"""Of those, what makes something of None, too, where nobody reads it: shadows of what is not there."""
_COMPUTING = (arrays.unbroadcast, arrays.undiff, arrays.spread, arrays.restore_axes, sequences.hstack_of, display.draw)
"""Functions of our own that compute, too."""


def by_python(statement: ir.Statement) -> ir.Call:
    """A statement as a call of Python; of one with blocks nothing is known, but that it does what it says."""
    name = getattr(getattr(statement, "callee", None), "__name__", "") or "index"
    if not blocks_of(statement):
        return _called((statement,), targets_of(statement), name)
    computed = _computed_in(statement)
    return _called((statement,), targets_of(statement), "attempt", several=True, asks=True, computed=computed)


def by_python_together(
    statements: Sequence[ir.Statement], targets: tuple[ir.Var, ...], asks: bool, computed: Collection[ir.Var]
) -> ir.Call:
    """Statements one after another as a call of Python that gives these targets, of which some surely are arrays."""
    gives = tuple([target in computed for target in targets])
    views: dict[ir.Atom, bool | None] = {}
    for statement in statements:
        views.update(dict.fromkeys(targets_of(statement), gives_fixed_view(statement, views)))
    fixed = tuple([views.get(target, False) for target in targets])
    return _called(statements, targets, "steps", several=True, asks=asks, computed=gives, fixed=fixed)


def refusing_unknown(statement: ir.Statement) -> ir.Statement:
    """A statement with its comparisons of containers refused where they depend on which object a number is."""
    if blocks_of(statement):
        return map_blocks(statement, _refusing_unknown)
    if not compares_items(statement):
        return statement
    if (key := key_asked_for(statement)) is not None:
        return _by_key(statement, key)
    if isinstance(statement, ir.Call):
        refusing = comparisons.ordered if id(statement.callee) in ORDERS else comparisons.compared
        args = (ir.Const(statement.callee), *statement.args)
        return ir.Call(statement.targets, refusing, args, statement.kwargs, statement.span)
    return statement


def _by_key(statement: ir.Statement, key: ir.Atom) -> ir.Call:
    """A statement that asks a dict for a key that may be NaN, refused where the dict has a key that is NaN, too."""
    function: Any
    others: tuple[ir.Atom, ...] = ()
    match statement:
        case ir.Load(base=base):
            function = operator.getitem
        case ir.Store(base=base, value=value):
            function, others = operator.setitem, (value,)
        case ir.Call(callee=function, args=(base, _, *rest)):
            others = tuple(rest)
        case _:
            raise AssertionError(statement)
    args = (ir.Const(function), base, key, *others)
    return ir.Call(targets_of(statement), comparisons.by_key, args, (), statement.span)


def _refusing_unknown(block: ir.Block) -> ir.Block:
    end = block.terminator
    return ir.Block(
        tuple(map(refusing_unknown, block.statements)),
        map_branch(end, _refusing_unknown) if isinstance(end, ir.Branch) else end,
    )


def gives_fixed_view(statement: ir.Statement, known: Mapping[ir.Atom, bool | None]) -> bool | None:
    """Whether a statement gives a view that nobody may write, by what it is given; None where it may be one."""
    if isinstance(statement, ir.Load):
        return None if known.get(statement.base, False) is not False else False
    if not isinstance(statement, ir.Call):
        return False
    if any(statement.callee is each for each in _READ_ONLY):
        return True
    found = effects_of(statement)
    is_view = found.view_of is not None and known.get(operands(statement)[found.view_of], False) is not False
    return None if is_view else False


def _computed_in(statement: ir.Statement) -> tuple[bool, ...]:
    """For each result of a statement with blocks whether all of them compute it, or leave it to what is never read."""
    inside = statements_in(ir.Block((statement,), ir.Yield()))
    computed = {
        target
        for each in inside
        if not blocks_of(each)
        for target, is_computed in zip(targets_of(each), computed_by(each), strict=True)
        if is_computed
    }
    ends = [end for block in blocks_of(statement) for end in leaves(block) if isinstance(end, ir.Yield)]
    return tuple(
        [
            all(not isinstance(end.values[place], ir.Var) or end.values[place] in computed for end in ends)
            for place in range(len(targets_of(statement)))
        ]
    )


def computed_by(statement: ir.Statement) -> tuple[bool, ...]:
    """For each result of a statement whether it is computed, and no item of what the statement is given."""
    if not isinstance(statement, ir.Call):
        return (False,) * len(targets_of(statement))
    if isinstance(statement.callee, ByPython):
        return statement.callee.computed or (False,) * len(statement.targets)
    owner = getattr(statement.callee, "__objclass__", statement.callee)
    found = effects_of(statement)
    takes_anything = any(statement.callee is each for each in _OF_ANYTHING)
    is_ours = any(statement.callee is each for each in _COMPUTING)
    is_array = is_ours or (package_of(owner) in _OF_ARRAYS and not takes_anything)
    is_one = is_array and found.known and not found.hands_on
    return (is_one,) * len(statement.targets)


def _called(statements: Sequence[ir.Statement], targets: tuple[ir.Var, ...], name: str, **how: Any) -> ir.Call:
    taken = free_vars(ir.Block(tuple(statements), ir.Yield()))
    params = tuple([ir.Var(var.hint, var.type, var.named) for var in taken])
    given: dict[ir.Var, ir.Atom] = dict(zip(taken, params, strict=True))
    inside = tuple([refusing_unknown(substitute(statement, given)) for statement in statements])
    body = ir.Block(inside, ir.Return(targets or (ir.Const(None),)))
    function = with_all_bound(ir.Function(name.strip("_<>") or "call", params, body))
    return ir.Call(targets, ByPython(emit(function), **how), taken, (), statements[0].span)
