"""Updates in place as a person would write them.

``t = x_bar[1:]`` and ``t += y`` is ``x_bar[1:] += y``; ``x += -y`` is ``x -= y``; what is added to fresh zeros is the
sum; what is taken out and put back stays; and a copy that only an element-wise operation reads, before anything is
written, need not be made.
"""

from __future__ import annotations

import operator
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from adjoint.ir.effects import effects_of
from adjoint.ir.nodes import (
    Atom,
    Block,
    Branch,
    Call,
    Const,
    Function,
    Key,
    Load,
    Slice,
    Statement,
    Store,
    Subscript,
    Var,
)
from adjoint.ir.types import Array, Scalar, is_float_dtype
from adjoint.ir.walk import blocks_of, map_blocks, operands, read_counts, targets_of
from adjoint.rules.declare import Elementwise
from adjoint.rules.registry import rule_for
from adjoint.transform.memory import Memory

if TYPE_CHECKING:
    from adjoint.transform.extents import Extents


def direct_updates(function: Function) -> Function:
    """The function with its updates in their shortest forms."""
    updater = _Updater(function)
    body = updater.block(function.body)
    return Function(function.name, function.params, body, function.doc) if updater.changed else function


class _Updater:
    def __init__(self, function: Function) -> None:
        self.counts: Counter[Var] = read_counts(function.body)
        self.function = function
        self.known: Extents | None = None
        self.aliases: Memory | None = None
        self.changed = False

    @property
    def extents(self) -> Extents:
        if self.known is None:
            from adjoint.transform.extents import Extents

            self.known = Extents(self.function)
        return self.known

    @property
    def memory(self) -> Memory:
        if self.aliases is None:
            self.aliases = Memory(self.function)
        return self.aliases

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        made: dict[Var, Statement] = {}
        for old in block.statements:
            statement = map_blocks(old, self.block) if blocks_of(old) else old
            if isinstance(statement, Store):
                statement = self.positive(self.through_view(statement, made), made, statements)
                if self.starts_from_zeros(statement, statements) or self.is_put_back(statement, statements, made):
                    continue
            elif isinstance(statement, Call):
                statement = self.without_copy(statement, statements)
            statements.append(statement)
            for target in targets_of(statement):
                made[target] = statement
        end = block.terminator
        if isinstance(end, Branch):
            end = Branch(end.cond, self.block(end.then), self.block(end.orelse), end.span)
        return Block(tuple(statements), end)

    def through_view(self, store: Store, made: dict[Var, Statement]) -> Store:
        """A view that is made to be written once is written as a part of what it looks at."""
        view = made.get(store.base) if isinstance(store.base, Var) else None
        if store.key is not None or store.mode not in ("add", "sub") or not isinstance(view, Load):
            return store
        if self.counts[view.target] != 1 or not _is_slice(view):
            return store
        self.changed = True
        return Store(view.base, view.key, store.value, store.mode, store.span)

    def positive(self, store: Store, made: dict[Var, Statement], statements: list[Statement]) -> Store:
        """``x += -y`` and ``x += -y * c`` as subtractions."""
        value = store.value
        maker = made.get(value) if isinstance(value, Var) and self.counts[value] == 1 else None
        if store.mode not in ("add", "sub") or not isinstance(maker, Call) or not _is_float(value):
            return store
        flipped = "sub" if store.mode == "add" else "add"
        if maker.callee is operator.neg:
            if not self.still_there(maker, statements):
                return store
            self.changed = True
            return Store(store.base, store.key, maker.args[0], flipped, store.span)  # type: ignore[arg-type]
        inner = made.get(maker.args[0]) if maker.args and isinstance(maker.args[0], Var) else None
        if maker.callee not in (operator.mul, operator.truediv) or not isinstance(inner, Call):
            return store
        if inner.callee is not operator.neg or self.counts[inner.targets[0]] != 1 or maker not in statements:
            return store
        if not self.still_there(inner, statements):
            return store
        self.changed = True
        positive = Call(maker.targets, maker.callee, (inner.args[0], *maker.args[1:]), (), maker.span)
        statements[statements.index(maker)] = positive
        return Store(store.base, store.key, value, flipped, store.span)  # type: ignore[arg-type]

    def still_there(self, negation: Call, statements: list[Statement]) -> bool:
        """Whether what was negated has not been written since."""
        if not self.memory.written(negation.args[0]):
            return True
        places = [place for place, statement in enumerate(statements) if statement is negation]
        return bool(places) and all(map(_only_computes, statements[places[0] :]))

    def starts_from_zeros(self, store: Statement, statements: list[Statement]) -> bool:
        """``x = np.zeros_like(y)`` and ``x += fresh``, one right after the other, as ``x = fresh``."""
        if not isinstance(store, Store) or store.key is not None or store.mode != "add" or len(statements) < 2:
            return False
        zeros, base, value = statements[-1], store.base, store.value
        place = len(statements) - 1
        maker = statements[place - 1]
        if not isinstance(zeros, Call) or zeros.targets != (base,) or zeros.callee is not np.zeros_like:
            zeros, maker, place = maker, zeros, place - 1  # the value may be made between the two
        if not isinstance(zeros, Call) or zeros.targets != (base,) or zeros.callee is not np.zeros_like:
            return False
        if not isinstance(maker, Call) or maker.targets != (value,) or zeros.kwargs:
            return False
        fresh = isinstance(rule_for(maker.callee), Elementwise) and not maker.kwargs
        if not fresh or not isinstance(value, Var) or self.counts[value] != 1 or base in operands(maker):
            return False
        if not self.same_array(base, value):
            return False
        self.changed = True
        del statements[-2:]
        assert isinstance(base, Var)
        statements.append(Call((base,), maker.callee, maker.args, maker.kwargs, maker.span))
        return True

    def is_put_back(self, store: Statement, statements: list[Statement], made: dict[Var, Statement]) -> bool:
        """``t = copy(x[k])``, ``x[k] = 0`` and ``x[k] += t`` leave everything as it was."""
        if not isinstance(store, Store) or store.mode != "add" or not isinstance(store.value, Var) or not statements:
            return False
        cleared, copied = statements[-1], made.get(store.value)
        if not isinstance(cleared, Store) or cleared.mode != "set" or cleared.value != Const(0.0):
            return False
        if cleared.base is not store.base or cleared.key != store.key:
            return False
        if len(statements) < 2 or statements[-2] is not copied or not isinstance(copied, Call):
            return False
        taken = made.get(copied.args[0]) if copied.callee is np.copy and isinstance(copied.args[0], Var) else None
        if (
            not isinstance(taken, Load)
            or taken.base is not store.base
            or taken.key != store.key
            or not _is_slice(taken)
        ):
            return False
        self.changed = True
        statements.pop()
        return True

    def same_array(self, one: Atom, other: Atom) -> bool:
        """Whether two values are arrays of one shape and one dtype of floats."""
        return is_float_dtype(getattr(getattr(one, "type", None), "dtype", None)) and bool(
            self.extents.alike(one, other)
        )

    def without_copy(self, call: Call, statements: list[Statement]) -> Call:
        """Reads the original of a copy that is read once, if nothing was written since."""
        if not isinstance(rule_for(call.callee), Elementwise) or call.kwargs or not call.targets:
            return call
        if not isinstance(call.targets[0].type, Array):
            return call
        for place in range(len(statements) - 1, -1, -1):
            made = statements[place]
            if isinstance(made, Call) and made.callee is np.copy and made.targets[0] in call.args:
                (copy,) = made.targets
                if self.counts[copy] != 1 or not isinstance(getattr(made.args[0], "type", None), Array):
                    return call
                self.changed = True
                del statements[place]
                args = tuple(made.args[0] if arg is copy else arg for arg in call.args)
                return Call(call.targets, call.callee, args, call.kwargs, call.span)
            if not _only_computes(made):
                return call
        return call


def _is_slice(load: Load) -> bool:
    """Whether a load gives a view by basic indices."""
    key: Key = load.key
    if not isinstance(load.base, Var) or not isinstance(load.base.type, Array) or not isinstance(key, Subscript):
        return False
    if not isinstance(load.target.type, Array):
        return False
    from adjoint.transform.extents import is_basic

    if not all(map(is_basic, key.items)):
        return False
    dims = load.base.type.dims
    return any(isinstance(item, Slice) for item in key.items) or (dims is not None and len(dims) > len(key.items))


def _is_float(atom: Atom) -> bool:
    type_ = getattr(atom, "type", None)
    return (isinstance(type_, Array) and is_float_dtype(type_.dtype)) or (
        isinstance(type_, Scalar) and type_.kind == "float"
    )


def _only_computes(statement: Statement) -> bool:
    return isinstance(statement, Load) or (isinstance(statement, Call) and effects_of(statement).pure)


__all__ = ["direct_updates"]
