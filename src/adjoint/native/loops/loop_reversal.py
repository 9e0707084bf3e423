"""Loops that run backwards run forwards where nobody can tell, which memory and vector units like better.

Reverse sweeps alone run backwards, and what their loops add up are cotangents, in an order that the program does not
say: it stays free, so that such sums are vectorized.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from collections.abc import Collection
from typing import NamedTuple

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.memory.reachable import all_memory
from adjoint.ir.builder import Builder
from adjoint.ir.join import is_array
from adjoint.ir.rebuild import map_blocks, rebuild_terminator, substitute
from adjoint.ir.walk import free_vars, leaves, operands, statements_in, targets_of, terminators_in
from adjoint.native.loops.reductions import adds_up, in_free_order
from adjoint.records import dataclass
from adjoint.rules.typing import type_of_call
from adjoint.runtime import display
from adjoint.runtime.arithmetic import fused_loops, indices

Key = tuple[ir.Atom | ir.Slice, ...] | None


def forwards(function: ir.Function) -> ir.Function:
    """The function with its loops forwards where only roundings may differ."""
    return ir.Function(function.name, function.params, _block(function.body), function.doc)


def _block(block: ir.Block) -> ir.Block:
    statements: list[ir.Statement] = []
    renamed: dict[ir.Var, ir.Atom] = {}
    for statement in block.statements:
        current = map_blocks(substitute(statement, renamed), _block)
        if isinstance(current, ir.Loop) and isinstance(current.over, ir.Range) and current.over.backward:
            builder = Builder(type_of_call, current.span)
            current = _turned(current, current.over, builder, renamed)
            statements += builder.statements
        statements.append(current)
    end = substitute(block.terminator, renamed)
    return ir.Block(tuple(statements), rebuild_terminator(end, lambda atom: atom, _block))


def _turned(loop: ir.Loop, over: ir.Range, before: Builder, renamed: dict[ir.Var, ir.Atom]) -> ir.Loop:
    """The loop forwards, if it may be: its counters then start where they ended, and count back."""
    end = loop.body.terminator
    counters = _counters(loop) if isinstance(end, ir.Continue) and over.step == ir.Const(1) else {}
    if not isinstance(end, ir.Continue) or not commutes(loop, counters):
        return loop
    statements = list(loop.body.statements)
    params, inits, values, targets = list(loop.params), list(loop.inits), list(end.values), list(loop.targets)
    inside: dict[ir.Var, ir.Atom] = {}
    for slot, counter in counters.items():
        count = (
            over.stop if over.start == ir.Const(0) else before.call(operator.sub, over.stop, over.start, hint="count")
        )
        trips = before.call(max, count, ir.Const(0), hint="count")
        width = ir.Const(abs(counter.step))
        far = trips if width == ir.Const(1) else before.call(operator.mul, trips, width, hint="far")
        ahead = operator.add if counter.step > 0 else operator.sub
        last = before.call(ahead, inits[slot], far, hint=params[slot].hint)
        old, params[slot] = params[slot], ir.Var(params[slot].hint, ir.INT, params[slot].named)
        statements.remove(counter.made)
        previous = ir.Var(old.hint, ir.INT, old.named)
        back = operator.sub if counter.step > 0 else operator.add
        statements.insert(0, ir.Call((previous,), back, (params[slot], width), (), loop.span))
        inside |= {old: previous, counter.made.targets[0]: params[slot]}
        inits[slot], values[slot] = last, previous
        renamed[targets[slot]] = last
    first = set(statements[: len(counters)])
    body = tuple(s if s in first else substitute(s, inside) for s in statements)
    after = tuple(value if slot in counters else inside.get(value, value) for slot, value in enumerate(values))  # type: ignore[arg-type]
    sums = [param for slot, param in enumerate(params) if slot not in counters]
    return ir.Loop(
        ir.Range(over.start, over.stop, over.step, free=True),
        loop.index,
        tuple(params),
        tuple(inits),
        in_free_order(ir.Block(body, ir.Continue(after)), sums),
        tuple(targets),
        loop.exit,
        loop.span,
    )


class _Counter(NamedTuple):
    """A whole number to which each iteration adds the same; the statement that does it."""

    step: int
    made: ir.Call


def _counters(loop: ir.Loop) -> dict[int, _Counter]:
    found: dict[int, _Counter] = {}
    end = loop.body.terminator
    assert isinstance(end, ir.Continue)
    for slot, (param, value) in enumerate(zip(loop.params, end.values, strict=True)):
        made = next((s for s in loop.body.statements if value in targets_of(s)), None)
        if param.type != ir.INT or not isinstance(made, ir.Call):
            continue
        match made.callee, made.args:
            case operator.add, (first, ir.Const(value=int() as step)) if first is param:
                found[slot] = _Counter(step, made)
            case operator.sub, (first, ir.Const(value=int() as step)) if first is param:
                found[slot] = _Counter(-step, made)
            case _:
                pass
    return found


@dataclass(frozen=True, slots=True)
class Access:
    """How an iteration touches an array: by which name, what it does, and at which index (None: all of it)."""

    root: ir.Var
    adds: bool
    writes: bool
    key: Key


def commutes(loop: ir.Loop, counters: Collection[int] = ()) -> bool:
    """Whether the iterations of a loop may be run in any order, sums apart, whose roundings may differ.

    The parameters in the slots of ``counters`` are set right by the caller.
    """
    slots = [slot for slot in range(len(loop.params)) if slot not in counters]
    if not all(adds_up(loop, slot) for slot in slots) or not all(
        isinstance(end, ir.Continue) for end in leaves(loop.body)
    ):
        return False
    found = Accesses(loop)
    return found.known and all(_may_mix(accesses, found.apart) for accesses in found.from_outside().values())


def _nodes(block: ir.Block) -> list[ir.Statement | ir.Terminator]:
    return [*statements_in(block), *terminators_in(block)]


class Accesses:
    """The accesses of one iteration to arrays, by the memory that they touch.

    Attributes
    ----------
    known
        Whether these are all.
    own
        Memory that each iteration makes for itself.
    apart
        Variables that are never the same in two iterations.
    """

    def __init__(self, loop: ir.Loop) -> None:
        self.known = True
        self._index = loop.index
        self.apart: set[ir.Atom] = set() if loop.index is None else {loop.index}
        self._lists: set[ir.Storage] = set()
        self._made: dict[ir.Atom, ir.Call] = {}
        self._step = loop.over.step if isinstance(loop.over, ir.Range) else None
        self.of: defaultdict[ir.Storage, list[Access]] = defaultdict(list)
        self.own: set[ir.Storage] = set()
        self.views: dict[ir.Var, tuple[ir.Var, tuple[ir.Atom | ir.Slice, ...]]] = {}
        for node in _nodes(loop.body):
            self.note(node)
        for var in free_vars(loop.body):
            self.own.difference_update(storage.find() for storage in all_memory(var.type))
        self.known &= self._lists <= self.own

    def from_outside(self) -> dict[ir.Storage, list[Access]]:
        """The accesses to memory that iterations share, by the class of memory."""
        return {storage: accesses for storage, accesses in self.of.items() if storage not in self.own}

    def note(self, node: ir.Statement | ir.Terminator) -> None:
        match node:
            case ir.Load(base=base, key=ir.Subscript(items=items), target=target) if is_array(base):
                if isinstance(target.type, ir.Array) and isinstance(base, ir.Var) and _all_numbers(items):
                    root, prefix = self.views.get(base, (base, ()))
                    self.views[target] = root, (*prefix, *items)
                elif isinstance(target.type, ir.Scalar):
                    self.access(base, items)
                else:
                    self.access(base, None)
            case ir.Load(base=base, key=ir.Attribute()) if is_array(base):
                pass
            case ir.Store(base=base, key=key, value=value, mode=mode) if is_array(base):
                place = key.items if isinstance(key, ir.Subscript) else None
                self.access(base, place, writes=True, adds=mode in ("add", "sub"))
                if is_array(value):
                    self.access(value, None)
            case (
                ir.Load(base=ir.Var(type=ir.List(storage=storage)))
                | ir.Store(base=ir.Var(type=ir.List(storage=storage)))
            ):
                self._lists.add(storage.find())
            case ir.Guarded() | ir.Raise() | ir.Store():
                self.known = False
            case ir.Call(callee=list.append, args=(ir.Var(type=ir.List(storage=storage)), _)):
                self._lists.add(storage.find())
            case ir.Call(callee=display.make_list, args=(), targets=(ir.Var(type=ir.List(storage=storage)),)):
                self.own.add(storage.find())
            case ir.Call():
                self.call(node)
            case ir.Load(base=base):
                self.known &= not isinstance(base, ir.Var) or not hasattr(base.type, "storage")
            case ir.Loop(over=over, index=index):
                self.known &= over is None or isinstance(over, ir.Range)
                if index is not None and isinstance(over, ir.Range) and self._is_block(over):
                    self.apart.add(index)
            case ir.Exit() | ir.Continue() | _:
                self.known &= not any(map(is_array, operands(node)))

    def _is_block(self, over: ir.Range) -> bool:
        """Whether an inner loop runs from the index of the outer one to the next."""
        start, end = self._made.get(over.start), self._made.get(over.stop)
        first = start.args[0] if start is not None and start.callee is indices.natural else over.start
        if end is None or end.callee is not fused_loops.block_end or over.step != ir.Const(1):
            return False
        return first is self._index and end.args[:2] == (first, self._step)

    def call(self, call: ir.Call) -> None:
        self._made.update(dict.fromkeys(call.targets, call))
        found = effects_of(call)
        written = [operands(call)[place] for place in found.writes]
        added = [operands(call)[place] for place in found.adds]
        if not found.known or not found.confined or (found.hands_on and any(map(is_array, operands(call)))):
            self.known = False
            return
        for atom in operands(call):
            if isinstance(atom, ir.Var) and isinstance(atom.type, ir.List):
                self._lists.add(atom.type.storage.find())
            elif atom in added and is_array(atom):
                self.access(atom, None, writes=True, adds=True)
            elif atom in written:
                self.known = False
        if found.fresh:
            self.own.update(t.type.storage.find() for t in call.targets if isinstance(t.type, (ir.Array, ir.List)))
        elif any(isinstance(target.type, ir.Array) for target in call.targets) and found.view_of is not None:
            self.known = False
        reads = range(len(operands(call))) if found.reads is None else found.reads
        for place in reads:
            if place not in found.adds and is_array(operands(call)[place]):
                self.access(operands(call)[place], None)

    def access(self, base: ir.Atom, items: Key, *, writes: bool = False, adds: bool = False) -> None:
        assert isinstance(base, ir.Var) and isinstance(base.type, ir.Array)
        root, prefix = self.views.get(base, (base, ()))
        key = None if items is None else (*prefix, *items)
        self.of[base.type.storage.find()].append(Access(root, adds, writes, key))


def _all_numbers(items: tuple[ir.Atom | ir.Slice, ...]) -> bool:
    return all(
        (isinstance(item, ir.Var) and isinstance(item.type, ir.Scalar))
        or (isinstance(item, ir.Const) and type(item.value) is int)
        for item in items
    )


def _may_mix(accesses: list[Access], apart: set[ir.Atom]) -> bool:
    """Whether accesses to one array in different iterations may change their order."""
    return not any(access.writes for access in accesses) or only_adds(accesses) or touch_apart(accesses, apart)


def only_adds(accesses: list[Access]) -> bool:
    """Whether all that is done to an array is to add to it."""
    return all(access.adds for access in accesses)


def touch_apart(accesses: list[Access], apart: set[ir.Atom]) -> bool:
    """Whether no iteration touches a place that another one touches."""
    keys = [access.key for access in accesses]
    if any(key is None or not _all_numbers(key) for key in keys):
        return False
    if len({access.root for access in accesses}) > 1:
        return False
    axes = [{axis for axis, item in enumerate(key) if item in apart} for key in keys if key is not None]
    return bool(set.intersection(*axes))


__all__ = ["Access", "Accesses", "commutes", "forwards", "only_adds", "touch_apart"]
