"""Updates in place as a person would write them.

``t = x_bar[1:]`` and ``t += y`` is ``x_bar[1:] += y``; what is added to fresh zeros is the sum, and so is what is first
added to a copy; what is taken out and put back stays; and a copy that only an element-wise operation reads, before
anything is written, need not be made.
"""

from __future__ import annotations

import operator
from collections import Counter
from functools import cached_property

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.array_layout import layout_readers
from adjoint.analysis.memory.storage_alias import Memory
from adjoint.analysis.shapes.extents import Extents
from adjoint.ir.rebuild import map_blocks, rebuild
from adjoint.ir.walk import blocks_of, is_basic, mentions, operands, read_counts, statements_in, targets_of
from adjoint.rules.kinds import Elementwise
from adjoint.rules.registry import rule_for


def direct_updates(function: ir.Function) -> ir.Function:
    """The function with its updates in their shortest forms."""
    updater = _Updater(function)
    body = updater.block(function.body)
    return ir.Function(function.name, function.params, body, function.doc) if updater.changed else function


class _Updater:
    def __init__(self, function: ir.Function) -> None:
        self.counts: Counter[ir.Var] = read_counts(function.body)
        self.function = function
        self.readers: list[ir.Call] | None = None
        self.changed = False

    @cached_property
    def extents(self) -> Extents:
        return Extents(self.function)

    @cached_property
    def memory(self) -> Memory:
        return Memory(self.function)

    def block(self, block: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        made: dict[ir.Var, ir.Statement] = {}
        for old in block.statements:
            statement = map_blocks(old, self.block) if blocks_of(old) else old
            if isinstance(statement, ir.Store):
                statement = self.through_view(statement, made)
                shortened = self.starts_from_zeros, self.starts_from_a_copy, self.is_put_back
                if any(is_short(statement, statements, made) for is_short in shortened):
                    continue
            elif isinstance(statement, ir.Call):
                statement = self.without_copy(statement, made, statements)
            statements.append(statement)
            for target in targets_of(statement):
                made[target] = statement
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = ir.Branch(end.cond, self.block(end.then), self.block(end.orelse), end.span)
        return ir.Block(tuple(statements), end)

    def through_view(self, store: ir.Store, made: dict[ir.Var, ir.Statement]) -> ir.Store:
        """A view that is made to be written once is written as a part of what it looks at."""
        view = made.get(store.base) if isinstance(store.base, ir.Var) else None
        if store.key is not None or store.mode not in ("add", "sub") or not isinstance(view, ir.Load):
            return store
        if self.counts[view.target] != 1 or not _is_slice(view):
            return store
        self.changed = True
        return ir.Store(view.base, view.key, store.value, store.mode, store.span)

    def starts_from_zeros(
        self, store: ir.Store, statements: list[ir.Statement], made: dict[ir.Var, ir.Statement]
    ) -> bool:
        """``x = np.zeros_like(y)`` and ``x += fresh`` as ``x = fresh``; where that is used later on, as a copy."""
        if store.key is not None or store.mode != "add":
            return False
        base, value = store.base, store.value
        zeros = made.get(base) if isinstance(base, ir.Var) else None
        if not isinstance(zeros, ir.Call) or zeros.callee is not np.zeros_like or zeros.kwargs or value is base:
            return False
        place = _place_of(zeros, statements)
        assert isinstance(base, ir.Var)
        if any(mentions(statement, base) for statement in statements[place + 1 :]) or not self.same_array(base, value):
            return False
        if self.layout_shows(base):
            return False
        assert isinstance(value, ir.Var)
        maker = made.get(value)
        uses = None if maker is None else self.uses_until_here(maker, value, statements)
        if uses is not None:
            for use in uses:
                renamed = _renamed(statements[use], value, base)
                statements[use] = renamed
                made.update(dict.fromkeys(targets_of(renamed), renamed))
        else:
            made[base] = ir.Call((base,), np.copy, (value,), (), store.span)
            statements.append(made[base])
        del statements[place]
        self.changed = True
        return True

    def starts_from_a_copy(
        self, store: ir.Store, statements: list[ir.Statement], made: dict[ir.Var, ir.Statement]
    ) -> bool:
        """``x = np.copy(y)`` and ``x += z`` as ``x = y + z``, where nobody looks at ``x`` or writes ``y`` between."""
        base, value = store.base, store.value
        copied = made.get(base) if isinstance(base, ir.Var) else None
        if store.key is not None or store.mode not in ("add", "sub") or value is base:
            return False
        if not isinstance(copied, ir.Call) or copied.callee is not np.copy or copied.kwargs:
            return False
        assert isinstance(base, ir.Var)
        (original,) = copied.args
        place = _place_of(copied, statements)
        between = statements[place + 1 :]
        if any(mentions(statement, base) or self.may_write(statement, original) for statement in between):
            return False
        if not self.same_array(base, value) or not self.same_array(base, original) or self.layout_shows(base):
            return False
        combine = operator.add if store.mode == "add" else operator.sub
        statements.append(ir.Call((base,), combine, (original, value), (), store.span))
        made[base] = statements[-1]
        del statements[place]
        self.changed = True
        return True

    def layout_shows(self, array: ir.Var) -> bool:
        """Whether it makes a difference how an array is laid out, which what it is made of now decides."""
        if self.readers is None:
            self.readers = list(layout_readers(self.function))
        return any(self.memory.may_share(array, call.args[0]) for call in self.readers)

    def may_write(self, statement: ir.Statement, array: ir.Atom) -> bool:
        """Whether a statement, or one inside of it, may write memory that an array refers to."""
        for part in (statement, *(part for block in blocks_of(statement) for part in statements_in(block))):
            if isinstance(part, ir.Store) and self.memory.may_share(part.base, array):
                return True
            if isinstance(part, ir.Call):
                facts = effects_of(part)
                if not facts.known or any(self.memory.may_share(part.args[place], array) for place in facts.writes):
                    return True
        return False

    def uses_until_here(self, maker: ir.Statement, value: ir.Var, statements: list[ir.Statement]) -> list[int] | None:
        """Where an array is made and used, if it is new and nothing else is done than to compute from it; None if not.

        One more use, the one that is looked at, is the last.
        """
        if not _computes_elements(maker):
            return None
        start = _place_of(maker, statements)
        places = [place for place in range(start + 1, len(statements)) if mentions(statements[place], value)]
        count = sum(operands(statements[place]).count(value) for place in places)
        only = all(_computes_elements(statements[place]) or _stores(statements[place], value) for place in places)
        return [start, *places] if only and count + 1 == self.counts[value] else None

    def is_put_back(self, store: ir.Store, statements: list[ir.Statement], made: dict[ir.Var, ir.Statement]) -> bool:
        """``t = copy(x[k])``, ``x[k] = 0`` and ``x[k] += t`` leave everything as it was."""
        if store.mode != "add" or not isinstance(store.value, ir.Var) or not statements:
            return False
        cleared, copied = statements[-1], made.get(store.value)
        if not isinstance(cleared, ir.Store) or cleared.mode != "set" or cleared.value != ir.Const(0.0):
            return False
        if cleared.base is not store.base or cleared.key != store.key:
            return False
        if len(statements) < 2 or statements[-2] is not copied or not isinstance(copied, ir.Call):
            return False
        taken = made.get(copied.args[0]) if copied.callee is np.copy and isinstance(copied.args[0], ir.Var) else None
        if (
            not isinstance(taken, ir.Load)
            or taken.base is not store.base
            or taken.key != store.key
            or not _is_slice(taken)
        ):
            return False
        self.changed = True
        statements.pop()
        return True

    def same_array(self, one: ir.Atom, other: ir.Atom) -> bool:
        """Whether two values are arrays of one shape and one dtype of floats."""
        return ir.is_float_dtype(getattr(getattr(one, "type", None), "dtype", None)) and bool(
            self.extents.alike(one, other)
        )

    def without_copy(self, call: ir.Call, known: dict[ir.Var, ir.Statement], statements: list[ir.Statement]) -> ir.Call:
        """Reads the original of a copy that is read once, if nothing was written since."""
        if not any(isinstance(arg, ir.Var) and _is_copy(known.get(arg)) for arg in call.args):
            return call
        if not isinstance(rule_for(call.callee), Elementwise) or call.kwargs or not call.targets:
            return call
        if not isinstance(call.targets[0].type, ir.Array):
            return call
        for place in range(len(statements) - 1, -1, -1):
            made = statements[place]
            if isinstance(made, ir.Call) and made.callee is np.copy and made.targets[0] in call.args:
                (copy,) = made.targets
                if self.counts[copy] != 1 or not isinstance(getattr(made.args[0], "type", None), ir.Array):
                    return call
                self.changed = True
                del statements[place]
                args = tuple(made.args[0] if arg is copy else arg for arg in call.args)
                return ir.Call(call.targets, call.callee, args, call.kwargs, call.span)
            if not only_computes(made):
                return call
        return call


def _is_copy(statement: ir.Statement | None) -> bool:
    return isinstance(statement, ir.Call) and statement.callee is np.copy


def _computes_elements(statement: ir.Statement) -> bool:
    """Whether a statement makes a new array or number of the elements of others."""
    if not isinstance(statement, ir.Call) or statement.kwargs:
        return False
    is_plain = isinstance(rule_for(statement.callee), Elementwise) and effects_of(statement).view_of is None
    return is_plain or statement.callee is np.copy


def _stores(statement: ir.Statement, value: ir.Var) -> bool:
    """Whether a statement copies the elements of an array to another."""
    return (
        isinstance(statement, ir.Store)
        and isinstance(getattr(statement.base, "type", None), ir.Array)
        and (statement.base is not value and statement.value is value)
    )


def _renamed(statement: ir.Statement, old: ir.Var, new: ir.Var) -> ir.Statement:
    return rebuild(statement, lambda atom: new if atom is old else atom, binder=lambda var: new if var is old else var)


def _place_of(statement: ir.Statement, statements: list[ir.Statement]) -> int:
    return next(place for place, other in enumerate(statements) if other is statement)


def _is_slice(load: ir.Load) -> bool:
    """Whether a load gives a view by basic indices."""
    key: ir.Key = load.key
    if (
        not isinstance(load.base, ir.Var)
        or not isinstance(load.base.type, ir.Array)
        or not isinstance(key, ir.Subscript)
    ):
        return False
    if not isinstance(load.target.type, ir.Array):
        return False
    if not all(map(is_basic, key.items)):
        return False
    dims = load.base.type.dims
    return any(isinstance(item, ir.Slice) for item in key.items) or (dims is not None and len(dims) > len(key.items))


def only_computes(statement: ir.Statement) -> bool:
    """Whether a statement leaves all memory as it is."""
    return isinstance(statement, ir.Load) or (isinstance(statement, ir.Call) and effects_of(statement).pure)


__all__ = ["direct_updates", "only_computes"]
