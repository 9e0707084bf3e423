"""Copies that need not be made.

A copy of an array that was made here, and that nobody uses behind the copy, is the array. So is one that stays in the
function, of which nobody writes the memory, nor that of the array, where nobody sees how arrays lie. A copy of a copy
is one of the first array as long as nobody has written to the copy between them.
"""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.array_layout import asks_layouts, layout_readers
from adjoint.analysis.memory.identities import asks_identities
from adjoint.analysis.memory.storage_alias import Memory
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import rebuild, same_atom, substitute, without_statements
from adjoint.ir.walk import blocks_of, operands, statements_in, vars_used, with_inner

_MAKERS = {id(callee) for callee in (np.empty, np.zeros, np.ones, np.full, np.copy)}
"""What makes arrays of NumPy's own class, as a copy is."""


def without_needless_copies(function: ir.Function) -> ir.Function:
    """The function without copies of its own arrays that nobody uses any more, or writes."""
    if asks_identities(function):
        return function
    return _without_last_copies(_without_frozen_copies(function))


def _without_frozen_copies(function: ir.Function) -> ir.Function:
    """The function without copies that are like their arrays as long as anybody looks."""
    copies = list(filter(_is_copy, statements_in(function.body)))
    if not copies or asks_layouts(function) or any(True for _ in layout_readers(function)):
        return function
    memory = Memory(function)
    same = _copies_of_copies(function.body, memory) if len(copies) > 1 else {}
    for call in copies:
        array, target = call.args[0], call.targets[0]
        ends = [array, target]
        is_frozen = not any(memory.written(end) or memory.returned(end) for end in ends)
        if isinstance(array, ir.Var) and _is_like(array, target) and is_frozen:
            same[target] = array
    if not same:
        return function
    for copy in same:
        while same[copy] in same:
            same[copy] = same[same[copy]]
    body = without_statements(function.body, lambda each: _is_copy(each) and each.targets[0] in same)
    return ir.Function(function.name, function.params, substitute(body, {**same}), function.doc)


def _copies_of_copies(block: ir.Block, memory: Memory) -> dict[ir.Var, ir.Var]:
    """The copies of copies that nobody writes, and the arrays that they are like, which nobody writes either."""
    found: dict[ir.Var, ir.Var] = {}
    like: dict[ir.Var, ir.Var] = {}
    for statement in block.statements:
        if not _is_copy(statement):
            like = {copy: array for copy, array in like.items() if not _may_write(statement, copy, memory)}
            for inner in blocks_of(statement):
                found |= _copies_of_copies(inner, memory)
            continue
        array, target = statement.args[0], statement.targets[0]
        first = like.get(array) if isinstance(array, ir.Var) else None
        if first is not None and not memory.written(target) and not memory.returned(target):
            found[target] = first
        elif isinstance(array, ir.Var) and _is_like(array, target) and not memory.written(array):
            like[target] = array
    for inner in blocks_of(block.terminator):
        found |= _copies_of_copies(inner, memory)
    return found


def _may_write(statement: ir.Statement, array: ir.Var, memory: Memory) -> bool:
    """Whether a statement, or one within it, may write the memory of an array."""
    for inner in with_inner(statement):
        if isinstance(inner, ir.Store) and memory.may_share(inner.base, array):
            return True
        if isinstance(inner, ir.Call):
            facts = effects_of(inner)
            if not facts.known or any(memory.may_share(arg, array) for arg in facts.written(operands(inner))):
                return True
    return False


def _is_copy(statement: ir.Statement) -> TypeGuard[ir.Call]:
    if not isinstance(statement, ir.Call) or statement.callee not in (np.copy, np.ndarray.copy):
        return False
    return len(statement.args) == 1 and not statement.kwargs


def _is_like(array: ir.Atom, copy: ir.Var) -> bool:
    """Whether an array is of the class and the rank of its copy."""
    one, other = type_of_atom(array), copy.type
    if not isinstance(array, ir.Var) or not isinstance(one, ir.Array) or not isinstance(other, ir.Array):
        return False
    return bool(one.dims) and one.dims == other.dims and one.dtype == other.dtype and one.dtype is not None


def _without_last_copies(function: ir.Function) -> ir.Function:
    """The function without copies of its own arrays that nobody uses any more."""
    memory: Memory | None = None
    made: set[ir.Var] = set()
    statements = function.body.statements
    for place, statement in enumerate(statements):
        if not isinstance(statement, ir.Call) or id(statement.callee) not in _MAKERS:
            continue
        array = _copied(statement, made)
        made.update(statement.targets)
        if array is None:
            continue
        memory = memory or Memory(function)
        rest = ir.Block(statements[place + 1 :], function.body.terminator)
        (target,) = statement.targets
        others = (*function.params, *(var for var in vars_used(rest) if var is not target))
        if not any(memory.may_share(array, other) for other in others):
            body = _united(ir.Block((*statements[:place], *rest.statements), rest.terminator), array, target)
            return _without_last_copies(ir.Function(function.name, function.params, body, function.doc))
    return function


def _united(body: ir.Block, array: ir.Var, copy: ir.Var) -> ir.Block:
    """A body in which an array is its copy: of memory that is written, where that of one of the two is."""
    one = ir.Var(array.hint, array.type if _is_written(array) else copy.type, array.named)
    body = substitute(body, {array: one, copy: one})
    made = [rebuild(each, same_atom, binder=lambda var: one if var is array else var) for each in body.statements]
    return ir.Block(tuple(made), body.terminator)


def _is_written(array: ir.Var) -> bool:
    return isinstance(array.type, ir.Array) and array.type.storage.written


def _copied(call: ir.Call, made: set[ir.Var]) -> ir.Var | None:
    """The array of our own that a call copies."""
    array = call.args[0] if call.callee is np.copy and len(call.args) == 1 and not call.kwargs else None
    return array if isinstance(array, ir.Var) and array in made else None
