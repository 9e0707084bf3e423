"""What the reverse region asks of the forward region: statements to insert, values to hand out, slots to carry.

The forward region is not touched while the reverse region is written. Requests are collected here, by identity of the
statement or block that they are about, and carried out at the end in one walk.
"""

from __future__ import annotations

from collections.abc import Callable

from adjoint.ir.nodes import (
    UNDEFINED,
    Atom,
    Block,
    Branch,
    Const,
    Continue,
    Exit,
    Guarded,
    If,
    Loop,
    Statement,
    Terminator,
    Var,
    Yield,
)
from adjoint.ir.rebuild import map_blocks
from adjoint.ir.types import Scalar, Type
from adjoint.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Slot:
    """One more value that a loop carries (or, without ``param``, hands out).

    ``value`` gives it at a leaf of the body; the flag tells whether the iteration was a full one.
    """

    param: Var | None
    init: Atom
    target: Var
    value: Callable[[Continue | Exit, bool], Atom]


@dataclass(slots=True)
class Edits:
    """Requests to the forward region, keyed by ``id`` of what they are about."""

    before: dict[int, list[Statement]] = field(default_factory=dict)
    after: dict[int, list[Statement]] = field(default_factory=dict)
    start: dict[int, list[Statement]] = field(default_factory=dict)
    yields: dict[int, list[tuple[Var, tuple[Atom, ...]]]] = field(default_factory=dict)
    slots: dict[int, list[Slot]] = field(default_factory=dict)
    index: dict[int, Var] = field(default_factory=dict)
    defined: dict[int, set[int]] = field(default_factory=dict)
    filled: set[Var] = field(default_factory=set)
    """What is handed out or carried in addition, and needs a value on all paths."""
    replace: dict[int, Statement] = field(default_factory=dict)

    def put_before(self, statement: Statement, new: Statement) -> None:
        self.before.setdefault(id(statement), []).append(new)

    def put_after(self, statement: Statement, new: Statement) -> None:
        self.after.setdefault(id(statement), []).append(new)

    def put_first(self, block: Block, new: Statement) -> None:
        self.start.setdefault(id(block), []).append(new)

    def hand_out(self, statement: If | Guarded, target: Var, values: tuple[Atom, ...]) -> None:
        """Makes a statement yield one more value, ``values`` from its blocks in turn."""
        self.yields.setdefault(id(statement), []).append((target, values))

    def define(self, statement: If | Guarded | Loop, place: int) -> None:
        """Makes sure that a target has a value on all paths, so that it can be kept where it is bound."""
        self.defined.setdefault(id(statement), set()).add(place)

    def carry(self, loop: Loop, slot: Slot) -> None:
        self.slots.setdefault(id(loop), []).append(slot)


def apply(body: Block, edits: Edits, cores: dict[int, Block]) -> Block:
    """The forward region with all requests carried out; ``cores`` are the loops' full iterations."""
    return _Applier(edits, cores).block(body, None, False)


Leaf = Callable[[Terminator, bool], Terminator]


class _Applier:
    def __init__(self, edits: Edits, cores: dict[int, Block]) -> None:
        self.edits = edits
        self.cores = {id(block) for block in cores.values()}

    def block(self, block: Block, leaf: Leaf | None, full: bool) -> Block:
        full = full or id(block) in self.cores
        statements = list(self.edits.start.get(id(block), ()))
        for statement in block.statements:
            statements += self.edits.before.get(id(statement), ())
            statements.append(self.edits.replace.get(id(statement)) or self.statement(statement))
            statements += self.edits.after.get(id(statement), ())
        end = block.terminator
        if isinstance(end, Branch):
            then, orelse = self.block(end.then, leaf, full), self.block(end.orelse, leaf, full)
            return Block(tuple(statements), Branch(end.cond, then, orelse, end.span))
        return Block(tuple(statements), end if leaf is None else leaf(end, full))

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case If(cond, then, orelse, targets, span):
                more = self.edits.yields.get(id(statement), [])
                first, second = (
                    self.yielding(statement, block, more, side) for side, block in enumerate((then, orelse))
                )
                return If(cond, first, second, (*targets, *(target for target, _ in more)), span)
            case Loop():
                return self.loop(statement)
            case Guarded():
                return self.guarded(statement)
            case _:
                return map_blocks(statement, lambda block: self.block(block, None, False))

    def yielding(
        self, statement: If | Guarded, block: Block, more: list[tuple[Var, tuple[Atom, ...]]], side: int
    ) -> Block:
        places = self.edits.defined.get(id(statement), set())

        def leaf(end: Terminator, full: bool) -> Terminator:
            if not isinstance(end, Yield):
                return end
            own = [
                filler(statement.targets[place].type) if value is UNDEFINED and place in places else value
                for place, value in enumerate(end.values)
            ]
            return Yield((*own, *(self.filled(target, values[side]) for target, values in more)))

        return self.block(block, leaf, False)

    def filled(self, target: Var | None, value: Atom) -> Atom:
        return Const(None) if value is UNDEFINED and target in self.edits.filled else value

    def guarded(self, statement: Guarded) -> Guarded:
        more = self.edits.yields.get(id(statement), [])
        sides = iter(range(1 + len(statement.handlers)))

        def block(old: Block) -> Block:
            side = next(sides, None)
            return self.block(old, None, False) if side is None else self.yielding(statement, old, more, side)

        new = map_blocks(statement, block)
        assert isinstance(new, Guarded)
        targets = (*new.targets, *(target for target, _ in more))
        return Guarded(new.context, new.name, new.body, new.handlers, new.final, targets, new.span)

    def loop(self, loop: Loop) -> Loop:
        slots = self.edits.slots.get(id(loop), [])
        carried = [(slot.param, slot) for slot in slots if slot.param is not None]
        given = [slot for slot in slots if slot.param is None]
        own, places = len(loop.params), self.edits.defined.get(id(loop), set())
        late = [place for place in sorted(places) if place >= own]
        later = {place: Var(loop.targets[place].hint, loop.targets[place].type) for place in late}
        rest = [place for place in range(own, len(loop.targets)) if place not in later]

        def leaf(end: Terminator, full: bool) -> Terminator:
            match end:
                case Continue(values):
                    return Continue(
                        (
                            *values,
                            *(self.filled(param, slot.value(end, full)) for param, slot in carried),
                            *later.values(),
                        )
                    )
                case Exit(kind, values):
                    inner = tuple(self.filled(slot.target, slot.value(end, full)) for _, slot in carried)
                    promoted = tuple(
                        param if values[place] is UNDEFINED else values[place] for place, param in later.items()
                    )
                    outer = tuple(self.filled(slot.target, slot.value(end, full)) for slot in given)
                    return Exit(kind, (*values[:own], *inner, *promoted, *(values[place] for place in rest), *outer))
                case _:
                    return end

        body = self.block(loop.body, leaf, False)
        inits = [
            filler(loop.params[place].type) if init is UNDEFINED and place in places else init
            for place, init in enumerate(loop.inits)
        ]
        inits += [self.filled(param, slot.init) for param, slot in carried] + [
            filler(param.type) for param in later.values()
        ]
        targets = (
            *loop.targets[:own],
            *(slot.target for _, slot in carried),
            *(loop.targets[place] for place in later),
            *(loop.targets[place] for place in rest),
            *(slot.target for slot in given),
        )
        params = (*loop.params, *(param for param, _ in carried), *later.values())
        index = self.edits.index.get(id(loop), loop.index)
        return Loop(loop.over, index, params, tuple(inits), body, targets, loop.exit, loop.span)


def filler(type_: Type) -> Const:
    """A value of a type, for paths on which nobody reads it."""
    kinds = {"float": 0.0, "int": 0, "bool": False, "complex": 0j}
    return Const(kinds[type_.kind] if isinstance(type_, Scalar) else None)
