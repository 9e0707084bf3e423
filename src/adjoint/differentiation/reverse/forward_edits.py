"""What the reverse region asks of the forward region: statements to insert, values to hand out, slots to carry.

The forward region is not touched while the reverse region is written. Requests are collected here, by identity of the
statement or block that they are about, and carried out at the end in one walk.
"""

from __future__ import annotations

from collections.abc import Callable

from adjoint import ir
from adjoint.ir.rebuild import map_blocks
from adjoint.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Slot:
    """One more value that a loop carries (or, without ``param``, hands out).

    ``value`` gives it at a leaf of the body; the flag tells whether the iteration was a full one.
    """

    param: ir.Var | None
    init: ir.Atom
    target: ir.Var
    value: Callable[[ir.Continue | ir.Exit, bool], ir.Atom]


@dataclass(slots=True)
class Edits:
    """Requests to the forward region, keyed by ``id`` of what they are about."""

    before: dict[int, list[ir.Statement]] = field(default_factory=dict)
    after: dict[int, list[ir.Statement]] = field(default_factory=dict)
    start: dict[int, list[ir.Statement]] = field(default_factory=dict)
    yields: dict[int, list[tuple[ir.Var, tuple[ir.Atom, ...]]]] = field(default_factory=dict)
    slots: dict[int, list[Slot]] = field(default_factory=dict)
    index: dict[int, ir.Var] = field(default_factory=dict)
    defined: dict[int, set[int]] = field(default_factory=dict)
    filled: set[ir.Var] = field(default_factory=set)
    """What is handed out or carried in addition, and needs a value on all paths."""
    replace: dict[int, ir.Statement] = field(default_factory=dict)

    def put_before(self, statement: ir.Statement, new: ir.Statement) -> None:
        self.before.setdefault(id(statement), []).append(new)

    def put_after(self, statement: ir.Statement, new: ir.Statement) -> None:
        self.after.setdefault(id(statement), []).append(new)

    def put_first(self, block: ir.Block, new: ir.Statement) -> None:
        self.start.setdefault(id(block), []).append(new)

    def hand_out(self, statement: ir.If | ir.Guarded, target: ir.Var, values: tuple[ir.Atom, ...]) -> None:
        """Makes a statement yield one more value, ``values`` from its blocks in turn."""
        self.yields.setdefault(id(statement), []).append((target, values))

    def define(self, statement: ir.If | ir.Guarded | ir.Loop, place: int) -> None:
        """Makes sure that a target has a value on all paths, so that it can be kept where it is bound."""
        self.defined.setdefault(id(statement), set()).add(place)

    def carry(self, loop: ir.Loop, slot: Slot) -> None:
        self.slots.setdefault(id(loop), []).append(slot)


def apply(body: ir.Block, edits: Edits, cores: dict[int, ir.Block]) -> ir.Block:
    """The forward region with all requests carried out; ``cores`` are the loops' full iterations."""
    return _Applier(edits, cores).block(body, None, False)


Leaf = Callable[[ir.Terminator, bool], ir.Terminator]


class _Applier:
    def __init__(self, edits: Edits, cores: dict[int, ir.Block]) -> None:
        self.edits = edits
        self.cores = {id(block) for block in cores.values()}

    def block(self, block: ir.Block, leaf: Leaf | None, full: bool) -> ir.Block:
        full = full or id(block) in self.cores
        statements = list(self.edits.start.get(id(block), ()))
        for statement in block.statements:
            statements += self.edits.before.get(id(statement), ())
            statements.append(self.edits.replace.get(id(statement)) or self.statement(statement))
            statements += self.edits.after.get(id(statement), ())
        end = block.terminator
        if isinstance(end, ir.Branch):
            then, orelse = self.block(end.then, leaf, full), self.block(end.orelse, leaf, full)
            return ir.Block(tuple(statements), ir.Branch(end.cond, then, orelse, end.span))
        return ir.Block(tuple(statements), end if leaf is None else leaf(end, full))

    def statement(self, statement: ir.Statement) -> ir.Statement:
        match statement:
            case ir.If(cond, then, orelse, targets, span):
                more = self.edits.yields.get(id(statement), [])
                first, second = (
                    self.yielding(statement, block, more, side) for side, block in enumerate((then, orelse))
                )
                return ir.If(cond, first, second, (*targets, *(target for target, _ in more)), span)
            case ir.Loop():
                return self.loop(statement)
            case ir.Guarded():
                return self.guarded(statement)
            case _:
                return map_blocks(statement, lambda block: self.block(block, None, False))

    def yielding(
        self, statement: ir.If | ir.Guarded, block: ir.Block, more: list[tuple[ir.Var, tuple[ir.Atom, ...]]], side: int
    ) -> ir.Block:
        places = self.edits.defined.get(id(statement), set())

        def leaf(end: ir.Terminator, full: bool) -> ir.Terminator:
            if not isinstance(end, ir.Yield):
                return end
            own = [
                filler(statement.targets[place].type) if value is ir.UNDEFINED and place in places else value
                for place, value in enumerate(end.values)
            ]
            return ir.Yield((*own, *(self.filled(target, values[side]) for target, values in more)))

        return self.block(block, leaf, False)

    def filled(self, target: ir.Var | None, value: ir.Atom) -> ir.Atom:
        return ir.Const(None) if value is ir.UNDEFINED and target in self.edits.filled else value

    def guarded(self, statement: ir.Guarded) -> ir.Guarded:
        more = self.edits.yields.get(id(statement), [])
        sides = iter(range(1 + len(statement.handlers)))

        def block(old: ir.Block) -> ir.Block:
            side = next(sides, None)
            return self.block(old, None, False) if side is None else self.yielding(statement, old, more, side)

        new = map_blocks(statement, block)
        assert isinstance(new, ir.Guarded)
        targets = (*new.targets, *(target for target, _ in more))
        return ir.Guarded(new.context, new.name, new.body, new.handlers, new.final, targets, new.span)

    def loop(self, loop: ir.Loop) -> ir.Loop:
        slots = self.edits.slots.get(id(loop), [])
        carried = [(slot.param, slot) for slot in slots if slot.param is not None]
        given = [slot for slot in slots if slot.param is None]
        own, places = len(loop.params), self.edits.defined.get(id(loop), set())
        late = [place for place in sorted(places) if place >= own]
        later = {place: ir.Var(loop.targets[place].hint, loop.targets[place].type) for place in late}
        rest = [place for place in range(own, len(loop.targets)) if place not in later]

        def leaf(end: ir.Terminator, full: bool) -> ir.Terminator:
            match end:
                case ir.Continue(values):
                    return ir.Continue(
                        (
                            *values,
                            *(self.filled(param, slot.value(end, full)) for param, slot in carried),
                            *later.values(),
                        )
                    )
                case ir.Exit(kind, values):
                    inner = tuple(self.filled(slot.target, slot.value(end, full)) for _, slot in carried)
                    promoted = tuple(
                        param if values[place] is ir.UNDEFINED else values[place] for place, param in later.items()
                    )
                    outer = tuple(self.filled(slot.target, slot.value(end, full)) for slot in given)
                    return ir.Exit(kind, (*values[:own], *inner, *promoted, *(values[place] for place in rest), *outer))
                case _:
                    return end

        body = self.block(loop.body, leaf, False)
        inits = [
            filler(loop.params[place].type) if init is ir.UNDEFINED and place in places else init
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
        return ir.Loop(loop.over, index, params, tuple(inits), body, targets, loop.exit, loop.span)


def filler(type_: ir.Type) -> ir.Const:
    """A value of a type, for paths on which nobody reads it."""
    kinds = {"float": 0.0, "int": 0, "bool": False, "complex": 0j}
    return ir.Const(kinds[type_.kind] if isinstance(type_, ir.Scalar) else None)
