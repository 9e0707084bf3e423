"""Rematerialization: what loops keep for their reverse is computed again from less, where that is cheaper.

An iteration that keeps ``a * b``, ``a + b`` and ``a`` keeps ``a`` and ``b`` instead. Both sides count: keeping an array
costs a store and a load of each element, computing it again its arithmetic. What to keep is then a closure of largest
weight, which a minimum cut finds, as in Jain et al., "Checkmate" (MLSys 2020), and in the partitioner of PyTorch's
AOTAutograd.

It is legal because all that is read again lies in memory that nobody writes: an element is what it was. Only
element-wise functions and views of such memory are computed again.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from adjoint import ir
from adjoint.analysis.closures import largest_closure
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.alias import Aliases
from adjoint.analysis.memory.array_layout import asks_layouts
from adjoint.analysis.shapes.extents import Extents
from adjoint.analysis.shapes.tapes import tapes_of
from adjoint.ir.join import is_array
from adjoint.ir.rebuild import map_blocks, map_branch, rebuild
from adjoint.ir.walk import binders_of, blocks_of, operands, targets_of, vars_of
from adjoint.native.costs import KEPT
from adjoint.native.fusion.nodes.recipes import recipe_for
from adjoint.native.fusion.scalars import dtype_of_target, is_supported, rank_of
from adjoint.records import dataclass, field
from adjoint.runtime import display

_VIEWS = (np.roll, np.flip, np.transpose, np.expand_dims, np.squeeze)
"""Functions of which an element is an element of their argument."""
_WHOLE = (operator.add, operator.sub, operator.mul, operator.neg)
_SMALL, _LARGE = 1, 64
"""What arrays of fewer axes weigh beside those of most: a number is kept, or computed again, for next to nothing."""

Chain = tuple[ir.Block, ...]
"""A block after those around it."""


def with_values_rematerialized(function: ir.Function) -> ir.Function:
    """The function with fewer arrays on its tapes."""
    tapes = tapes_of(function.body)
    if not tapes or asks_layouts(function):
        return function
    aliases = Aliases(function)
    sites = _Sites(function, set(tapes), aliases)
    groups = sites.groups()
    if not groups:
        return function
    changes, extents = _Changes(), Extents(function)
    for group in groups:
        _Choice(sites, aliases, group, extents.tapes.indices(group.tapes[0].tape)).apply(changes)
    if not changes.dropped:
        return function
    return ir.Function(function.name, function.params, changes.block(function.body), function.doc)


@dataclass(eq=False, slots=True)
class _Tape:
    """A list that one statement fills, and that one statement reads."""

    made: ir.Statement
    put: ir.Call
    value: ir.Var
    taken: ir.Call | ir.Load
    target: ir.Var

    @property
    def tape(self) -> ir.Var:
        """The list."""
        return targets_of(self.made)[0]


@dataclass(eq=False, slots=True)
class _Group:
    """The tapes that are filled in one block, and read in one block."""

    forward: Chain
    backward: Chain
    tapes: list[_Tape] = field(default_factory=list)


class _Sites:
    """Where variables are bound, and where tapes are filled and read.

    Attributes
    ----------
    made
        The statements that bind variables; of a copy, that which computed what was copied.
    homes
        The blocks in which variables are bound; none for parameters.
    copied
        For each statement the copies of memory that hold what it reads there.
    """

    def __init__(self, function: ir.Function, tapes: set[ir.Var], aliases: Aliases) -> None:
        self.made: dict[ir.Var, ir.Statement] = {}
        self.homes: dict[ir.Var, ir.Block] = {}
        self.copied: dict[int, dict[ir.Var, ir.Var]] = {}
        self._tapes = tapes
        self._aliases = aliases
        self._uses: Counter[ir.Atom] = Counter()
        self._puts: dict[ir.Var, tuple[ir.Call, Chain]] = {}
        self._takes: dict[ir.Var, tuple[ir.Call | ir.Load, Chain]] = {}
        self._block(function.body, ())

    def _block(self, block: ir.Block, around: Chain) -> None:
        chain = (*around, block)
        held = _Held(self._aliases)
        for statement in block.statements:
            if held.copies:
                self.copied[id(statement)] = dict(held.copies)
            self._uses.update(operands(statement))
            self.made.update(dict.fromkeys(targets_of(statement), statement))
            self.homes.update(dict.fromkeys(targets_of(statement), block))
            self._take_down(statement, chain)
            original = held.original(statement)
            if original in held.new:
                self.made[targets_of(statement)[0]] = self.made[original]
            held.follow(statement)
            for inner in blocks_of(statement):
                self.homes.update(dict.fromkeys(binders_of(statement), inner))
                self._block(inner, chain)
        for inner in blocks_of(block.terminator):
            self._block(inner, chain)

    def _take_down(self, statement: ir.Statement, chain: Chain) -> None:
        match statement:
            case ir.Call(callee=list.append, args=(ir.Var() as tape, _)) if tape in self._tapes:
                self._puts[tape] = statement, chain
            case ir.Call(callee=list.pop, args=(ir.Var() as tape,), targets=(_,)) | ir.Load(base=ir.Var() as tape) if (
                tape in self._tapes
            ):
                self._takes[tape] = statement, chain

    def groups(self) -> list[_Group]:
        """The tapes that are filled and read in one place each, by these places."""
        found: dict[tuple[int, int], _Group] = {}
        for tape, (put, forward) in self._puts.items():
            taken, backward = self._takes.get(tape, (None, ()))
            if taken is None or self._uses[tape] != 2 or not isinstance(put.args[1], ir.Var):
                continue
            if any(var in self.made and self.homes[var] is backward[-1] for var in vars_of(operands(taken))):
                continue  # the place in the list is computed there
            (target,) = targets_of(taken)
            group = found.setdefault((id(forward[-1]), id(backward[-1])), _Group(forward, backward))
            group.tapes.append(_Tape(self.made[tape], put, put.args[1], taken, target))
        return [group for group in found.values() if any(is_array(each.value) for each in group.tapes)]


class _Held:
    """What memory holds at a statement of a block.

    Attributes
    ----------
    copies
        The copies of memory that has not been written since.
    new
        Arrays whose memory has not been written since the block bound them.
    """

    def __init__(self, aliases: Aliases) -> None:
        self.copies: dict[ir.Var, ir.Var] = {}
        self.new: set[ir.Var] = set()
        self._parts: dict[tuple[ir.Atom, ir.Key], ir.Var] = {}
        self._aliases = aliases

    def original(self, statement: ir.Statement) -> ir.Var | None:
        """The memory that a statement copies."""
        match statement:
            case ir.Call(callee=np.copy, targets=(_,), args=(ir.Var() as original,), kwargs=()):
                return original
            case _:
                return None

    def follow(self, statement: ir.Statement) -> None:
        """Goes on behind a statement."""
        match statement:
            case ir.Call(callee=list.append | list.pop):
                pass
            case ir.Load(target=target, base=base, key=key):
                first = self._parts.setdefault((base, key), target)
                if first in self.copies:
                    self.copies[target] = self.copies[first]
            case ir.Call(args=args):
                found = effects_of(statement)
                self._write(None if not found.known else found.written(args))
            case ir.Store(base=base):
                self._write([base])
            case _:
                self._write(None)
        if (original := self.original(statement)) is not None:
            self.copies[original] = targets_of(statement)[0]
        self.new.update(targets_of(statement))

    def _write(self, written: Sequence[ir.Atom] | None) -> None:
        if written is None:
            self.copies, self.new = {}, set()
        elif written:
            classes = self._aliases.classes(written)
            self.copies = {var: copy for var, copy in self.copies.items() if self._aliases.of(var) not in classes}
            self.new = {var for var in self.new if self._aliases.of(var) not in classes}


@dataclass(eq=False, slots=True)
class _Changes:
    """What becomes of statements: what is left out, what stands around them, and what blocks end with."""

    dropped: set[int] = field(default_factory=set)
    before: dict[int, list[ir.Statement]] = field(default_factory=lambda: defaultdict(list))
    after: dict[int, list[ir.Statement]] = field(default_factory=lambda: defaultdict(list))
    last: dict[int, list[ir.Statement]] = field(default_factory=lambda: defaultdict(list))

    def block(self, old: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in old.statements:
            statements += self.before.get(id(statement), ())
            if id(statement) not in self.dropped:
                statements.append(map_blocks(statement, self.block) if blocks_of(statement) else statement)
            statements += self.after.get(id(statement), ())
        statements += self.last.get(id(old), ())
        end = old.terminator
        return ir.Block(tuple(statements), map_branch(end, self.block) if isinstance(end, ir.Branch) else end)


class _Choice:
    """Chooses for one group what is kept, and what is computed again.

    ``indices`` of the loops that fill the tapes are known as those of the loops that read them.
    """

    def __init__(self, sites: _Sites, aliases: Aliases, group: _Group, indices: Mapping[ir.Var, ir.Var]) -> None:
        self.sites = sites
        self.indices = indices
        self.aliases = aliases
        self.group = group
        self.tape_of = {tape.value: tape for tape in group.tapes}
        self.most_axes = max(rank_of(value) for value in self.tape_of)
        self.outside = {id(block) for block in group.backward}
        self.weights: dict[tuple[str, ir.Var], int] = {}
        self.requires: dict[tuple[str, ir.Var], list[tuple[str, ir.Var]]] = {}

    def apply(self, changes: _Changes) -> None:
        for value in self.tape_of:
            if is_array(value):
                self._weigh(value)
        chosen = largest_closure(self.weights, self.requires)
        again = [var for what, var in self.weights if what == "again" and (what, var) in chosen]
        if any(var in self.tape_of for var in again):
            self._write(again, changes)

    # What it costs

    def _scale(self, var: ir.Var) -> int:
        return _LARGE if rank_of(var) == self.most_axes else _SMALL

    def _weigh(self, var: ir.Var) -> None:
        """Enters what it costs, or spares, to keep a variable and to compute it again."""
        if ("known", var) in self.weights:
            return
        kept = KEPT * self._scale(var)
        self.weights["known", var] = 0 if var in self.tape_of else -kept
        found = self._computation(var)
        if found is None:
            return
        cost, read = found
        self.weights["again", var] = kept - cost * self._scale(var)
        self.requires["again", var] = [("known", var), *(("known", each) for each in read)]
        for each in read:
            self._weigh(each)

    def _computation(self, var: ir.Var) -> tuple[int, list[ir.Var]] | None:
        """What it costs to compute an array again, and what has to be known for it; None where it cannot be."""
        statement = self.sites.made.get(var)
        if not isinstance(statement, (ir.Call, ir.Load)) or not is_supported(var.type):
            return None
        if self.aliases.is_written(var):
            return None
        cost = _cost(statement, var) if is_array(var) else _cost_of_number(statement)
        if cost is None:
            return None
        read = [each for each in self._read(statement) if not self._is_known_outside(each)]
        return (cost, read) if all(map(self._can_be_known, read)) else None

    def _read(self, statement: ir.Statement) -> list[ir.Var]:
        copies = self.sites.copied.get(id(statement), {})
        return [copies.get(var, var) for var in vars_of(operands(statement))]

    def _is_known_outside(self, var: ir.Var) -> bool:
        """Whether the block that computes again sees a variable itself, as it was, or knows it by another name."""
        if var in self.indices:
            return True
        home = self.sites.homes.get(var)
        return (home is None or id(home) in self.outside) and not self.aliases.is_written(var)

    def _can_be_known(self, var: ir.Var) -> bool:
        if isinstance(var.type, ir.Scalar):
            return True
        return is_supported(var.type) and not self.aliases.is_written(var)

    # What is written

    def _write(self, again: Sequence[ir.Var], changes: _Changes) -> None:
        computed = set(again)
        names = dict(self.indices)
        kept: list[ir.Var] = []
        order = list(self._in_order(again, kept))
        for tape in self.group.tapes:
            names[tape.value] = tape.target
            if tape.value in computed:
                changes.dropped |= {id(tape.made), id(tape.put), id(tape.taken)}
        first = self._first_taken()
        written = changes.before[id(first.taken)]
        for tape in self.group.tapes:
            if tape.value not in computed:  # what is computed again may be read before this one is
                changes.dropped.add(id(tape.taken))
                written.append(tape.taken)
        for var in kept:
            names[var] = self._keep(var, first, changes)
        for var in order:
            target = names.setdefault(var, ir.Var(var.hint, var.type, var.named))
            others = [tape.target for tape in self.group.tapes if tape.value is var and tape.target is not target]
            written += [self._again(var, each, names) for each in (target, *others)]

    def _in_order(self, again: Sequence[ir.Var], kept: list[ir.Var]) -> Iterator[ir.Var]:
        """What is computed again, each after what it reads; what else that is becomes ``kept``."""
        computed, done = set(again), set[ir.Var]()

        def visit(var: ir.Var) -> Iterator[ir.Var]:
            if var in done or self._is_known_outside(var):
                return
            done.add(var)
            if var in computed:
                for each in self._read(self.sites.made[var]):
                    yield from visit(each)
                yield var
            elif var not in self.tape_of:
                kept.append(var)

        for var in again:
            yield from visit(var)

    def _first_taken(self) -> _Tape:
        block = self.group.backward[-1]
        places = {id(statement): place for place, statement in enumerate(block.statements)}
        return min(self.group.tapes, key=lambda tape: places[id(tape.taken)])

    def _keep(self, var: ir.Var, model: _Tape, changes: _Changes) -> ir.Var:
        """A tape of its own for a variable, beside another one; what comes off it."""
        tape = ir.Var(f"{var.hint}_kept", ir.List(var.type, ir.Storage(written=True)))
        target = ir.Var(var.hint, var.type, var.named)
        span = model.put.span
        changes.after[id(model.made)].append(ir.Call((tape,), display.make_list, (), (), span))
        changes.last[id(self.group.forward[-1])].append(ir.Call((), list.append, (tape, var), (), span))
        taken: ir.Statement = ir.Call((target,), list.pop, (tape,), (), span)
        if isinstance(model.taken, ir.Load):
            taken = ir.Load(target, tape, model.taken.key, span)
        changes.before[id(model.taken)].append(taken)
        return target

    def _again(self, var: ir.Var, target: ir.Var, names: Mapping[ir.Var, ir.Var]) -> ir.Statement:
        statement = self.sites.made[var]
        copies = self.sites.copied.get(id(statement), {})

        def renamed(atom: ir.Atom) -> ir.Atom:
            if not isinstance(atom, ir.Var):
                return atom
            atom = copies.get(atom, atom)
            return names.get(atom, atom)

        return rebuild(statement, renamed, binder=lambda _: target)


def _cost_of_number(statement: ir.Call | ir.Load) -> int | None:
    """What a sum, difference or product of whole numbers costs; None for anything else."""
    is_cheap = isinstance(statement, ir.Call) and statement.callee in _WHOLE and targets_of(statement)[0].type == ir.INT
    return 1 if is_cheap else None


def _cost(statement: ir.Call | ir.Load, target: ir.Var) -> int | None:
    """What each element costs; None for what is not element-wise, or a view."""
    if isinstance(statement, ir.Load):
        is_view = isinstance(statement.key, ir.Subscript) and not any(
            isinstance(item, ir.Var) and not isinstance(item.type, ir.Scalar) for item in statement.key.items
        )
        return 0 if is_view and isinstance(statement.base, ir.Var) and is_array(statement.base) else None
    if statement.callee in _VIEWS:
        return 0
    if statement.kwargs:
        return None
    found = recipe_for(statement.callee, statement.args, dtype_of_target(target))
    return None if found is None else found[1]
