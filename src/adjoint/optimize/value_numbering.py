"""One walk from the first statement to the last that carries what is known: copies, repeated values, decided branches.

A variable that turns out to be another atom is replaced from there on; its definition is left to dead code removal.
What is known in a block is known in the blocks inside it, and forgotten at its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Set

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.known_effects import Effects
from adjoint.analysis.memory.array_layout import asks_layouts, layout_readers
from adjoint.analysis.memory.identities import told_apart
from adjoint.analysis.memory.storage_alias import Memory
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import rebuild, rebuild_terminator
from adjoint.ir.walk import leaves, operands, read_counts
from adjoint.optimize.algebraic_simplification import fold, negated
from adjoint.optimize.block_results import handing_out, invariant_params, is_truth_of, only_value, with_carried
from adjoint.optimize.correlated_conditions import Place, Rewritten, RewrittenSide, SameChoices, Seen
from adjoint.optimize.dead_code import load_is_pure
from adjoint.records import dataclass, replace

_IMMUTABLE = (bool, int, float, complex, str, bytes, tuple, range, type, type(None), np.dtype)


@dataclass(frozen=True, slots=True)
class Walk:
    """What came of a walk over a function.

    Attributes
    ----------
    function
        With what is known put to use.
    changed
        Whether anything was.
    unsettled
        Whether a choice or a loop, or what a call computes, became another one: the next walk may know more.
    shared
        The variables that are not folded into what reads them, as several do.
    """

    function: ir.Function
    changed: bool
    unsettled: bool
    shared: Set[ir.Var]

    def leaves_more(self, cleaned: ir.Function) -> bool:
        """Whether another walk may find more in what dead code removal made of the function."""
        if self.unsettled or not self.shared:
            return self.unsettled
        counts = read_counts(cleaned.body)
        return any(counts[var] == 1 for var in self.shared)


def rewrite(function: ir.Function, shapes_once: bool = False) -> Walk:
    """Puts to use what is known.

    Parameters
    ----------
    function : Function
    shapes_once
        Whether an array is asked for its shape once: people read ``x.shape[1]`` more easily where it is used.
    """
    rewriter = _Rewriter(function, shapes_once)
    body = rewriter.block(function.body)
    if rewriter.changed:
        function = ir.Function(function.name, function.params, body, function.doc)
    return Walk(function, rewriter.changed, rewriter.unsettled, rewriter.shared)


class _Rewriter:
    def __init__(self, function: ir.Function, shapes_once: bool) -> None:
        self.function = function
        self.shapes_once = shapes_once
        self.memory = Memory(function)
        self.shows: bool | None = None
        self.apart = told_apart(function)
        self.counts: Counter[ir.Var] = read_counts(function.body)
        self.changed = False
        self.unsettled = False
        self.shared: set[ir.Var] = set()
        self.depth = 0
        self.level: dict[ir.Var, int] = {}
        self.replacement: dict[ir.Var, ir.Atom] = {}
        self.definitions: dict[ir.Var, ir.Call] = {}
        self.seen: Seen = {}
        self.seen_last: Seen = {}  # at the end of the block that was left last
        self.seen_lately: Seen = {}  # since something was written
        self.known: dict[ir.Atom, bool] = {}
        self.choices: dict[ir.Atom, SameChoices] = {}
        self.called: dict[ir.Var, ir.Var] = {}
        self.bind(function.params)

    # Facts, for folding

    def definition(self, atom: ir.Atom) -> ir.Call | None:
        return self.definitions.get(atom) if type(atom) is ir.Var else None

    def used_once(self, atom: ir.Atom) -> bool:
        if type(atom) is not ir.Var:
            return False
        if self.counts[atom] > 1:
            self.shared.add(atom)
        return self.counts[atom] == 1

    def steady(self, atom: ir.Atom) -> bool:
        return not self.memory.written(atom)

    def may_share(self, target: ir.Var, atom: ir.Atom) -> bool:
        memory = self.memory
        return not (memory.written(target) or memory.written(atom) or memory.returned(target))

    def returned(self, target: ir.Var) -> bool:
        return self.memory.returned(target)

    def layout_shows(self) -> bool:
        if self.shows is None:
            returned = (atom for end in leaves(self.function.body) for atom in operands(end))
            self.shows = any(isinstance(type_of_atom(atom), ir.Array) for atom in returned)
            self.shows = self.shows or any(True for _ in layout_readers(self.function)) or asks_layouts(self.function)
        return self.shows

    # Names

    def bind(self, variables: Iterable[ir.Var]) -> None:
        for var in variables:
            self.level[var] = self.depth

    def hand(self, atom: ir.Atom) -> ir.Atom:
        """The atom that now stands for another, where it may be undefined."""
        if type(atom) is not ir.Var:
            return atom
        found = self.replacement.get(atom, atom)
        return self.called.get(found, found) if self.called and type(found) is ir.Var else found

    def read(self, atom: ir.Atom) -> ir.Atom:
        """The atom that now stands for another, where it is read: a value of a path that is never taken is None."""
        found = self.hand(atom)
        return ir.Const(None) if type(found) is ir.Undefined and type(atom) is ir.Var else found

    def is_renamed(self, call: ir.Call) -> bool:
        """Whether other atoms stand for arguments of a call now."""
        replacement, called = self.replacement, self.called
        return bool([arg for arg in operands(call) if type(arg) is ir.Var and (arg in replacement or arg in called)])

    def settle(self, var: ir.Var, atom: ir.Atom) -> None:
        """Replaces what a choice or a loop binds."""
        self.unsettled = True
        self.replace(var, atom)

    def replace(self, var: ir.Var, atom: ir.Atom) -> None:
        self.changed = True
        self.replacement[var] = atom
        if type(atom) is ir.Var:
            self.counts[atom] += self.counts[var] - 1
            self.memory.unite(var, atom)

    def is_outside(self, atom: ir.Atom) -> bool:
        """Whether an atom is known in the block that is open now (and not only inside of a statement there)."""
        return type(atom) is ir.Const or (type(atom) is ir.Var and self.level.get(atom, self.depth + 1) <= self.depth)

    # Blocks

    def block(self, block: ir.Block, assume: tuple[ir.Atom, bool] | None = None, *, forget: bool = False) -> ir.Block:
        outer_seen, outer_known, outer_choices = self.seen, self.known, self.choices
        self.seen = {} if forget else dict(outer_seen)
        self.seen_lately = {}
        self.choices = {} if forget else dict(outer_choices)
        if assume is not None and isinstance(getattr(assume[0], "type", None), ir.Scalar):
            self.known = {**outer_known, assume[0]: assume[1]}
        self.depth += 1
        out: list[ir.Statement] = []
        terminator = self.fill(block, out)
        self.depth -= 1
        self.seen_last = self.seen
        self.seen, self.known, self.choices = outer_seen, outer_known, outer_choices
        self.seen_lately = {}
        return ir.Block(tuple(out), terminator)

    def fill(self, block: ir.Block, out: list[ir.Statement]) -> ir.Terminator:
        """Appends a block's statements to ``out`` and gives the terminator; decided branches are followed."""
        while True:
            for statement in block.statements:
                left = self.statement(statement, out)
                if left is not None:
                    return left
            terminator = block.terminator
            if not isinstance(terminator, ir.Branch):
                leaves_function = isinstance(terminator, (ir.Raise, ir.Return))
                return rebuild_terminator(terminator, self.read if leaves_function else self.hand)
            cond = self.read(terminator.cond)
            decided = self.decide(cond)
            if decided is None:
                return self.branch(terminator, cond)
            self.changed = True
            block = terminator.then if decided else terminator.orelse

    def sides(self, choice: ir.If | ir.Branch, cond: ir.Atom) -> tuple[ir.Block, ir.Block, Rewritten | None]:
        """The sides of a choice; and what to take down of it, where there may be others on its condition."""
        if type(cond) is not ir.Var or type(cond.type) is not ir.Scalar:
            return self.block(choice.then, (cond, True)), self.block(choice.orelse, (cond, False)), None
        same = self.choices.get(cond)
        then, orelse = self.side(choice.then, cond, True, same), self.side(choice.orelse, cond, False, same)
        rewritten = {True: then, False: orelse}
        if same is None:
            return then.block, orelse.block, rewritten
        outside, handed_out = same.outside(rewritten, choice.targets if isinstance(choice, ir.If) else None)
        for var, called, place in handed_out:
            self.level[var] = place.depth
            self.counts[var] += 1
            self.memory.unite(var, called)
        return outside[True], outside[False], rewritten

    def side(self, block: ir.Block, cond: ir.Var, which: bool, same: SameChoices | None) -> RewrittenSide:
        outer_seen, outer_called = self.seen, self.called
        if same is not None:
            known = same.sides[which]
            self.seen = {**known.seen, **outer_seen}
            self.called = {**outer_called, **known.called}
        before = len(self.seen)
        rewritten = self.block(block, (cond, which))
        self.seen, self.called = outer_seen, outer_called
        return RewrittenSide(rewritten, self.seen_last, before)

    def branch(self, branch: ir.Branch, cond: ir.Atom) -> ir.Terminator:
        then, orelse, _ = self.sides(branch, cond)
        if not then.statements and not orelse.statements and then.terminator == orelse.terminator:
            self.changed = self.unsettled = True
            return then.terminator
        return ir.Branch(cond, then, orelse, branch.span)

    def decide(self, cond: ir.Atom) -> bool | None:
        if type(cond) is ir.Const:
            return bool(cond.value) if isinstance(cond.value, (bool, int, float, str, type(None))) else None
        return self.known.get(cond)

    # Statements

    def statement(self, statement: ir.Statement, out: list[ir.Statement]) -> ir.Terminator | None:
        """Appends what stands for a statement now; gives a terminator if control never gets past it."""
        if type(statement) is ir.Call:
            self.call(statement, out)
            return None
        match statement:
            case ir.Load():
                self.load(statement, out)
            case ir.Store():
                out.append(self.store(statement))
                self.seen_lately = {}
            case ir.If():
                return self.choice(statement, out)
            case ir.Loop():
                out.append(self.loop(statement))
            case ir.Guarded():
                out.append(self.guarded(statement))
        return None

    def call(self, call: ir.Call, out: list[ir.Statement]) -> None:
        if self.is_renamed(call):
            args = tuple([self.read(arg) for arg in call.args])
            kwargs = tuple([(name, self.read(value)) for name, value in call.kwargs])
            call = ir.Call(call.targets, call.callee, args, kwargs, call.span)
        folded = fold(call, self)
        if type(folded) is ir.Call:
            self.changed = self.unsettled = True
            call = folded
        elif folded is not None and not (type(folded) is ir.Var and call.targets[0] in self.apart):
            self.replace(call.targets[0], folded)  # type: ignore[arg-type]
            return
        found = effects_of(call)
        key = (id(call.callee), call.args, call.kwargs)
        if call.targets and self.is_a_value(call, found):
            seen = self.seen if self.stays(call, found) else self.seen_lately
            if self.repeats(seen, key, call.targets):
                return
            seen[key] = call.targets
        elif not found.pure:
            self.seen_lately = {}
        self.bind(call.targets)
        if len(call.targets) == 1:
            self.definitions[call.targets[0]] = call
        out.append(call)

    def repeats(self, seen: Seen, key: Hashable, targets: tuple[ir.Var, ...]) -> bool:
        """Whether values are at hand already; then they replace the targets."""
        earlier = seen.get(key)
        if earlier is None or len(earlier) != len(targets):
            return False
        for old, new in zip(earlier, targets, strict=True):
            if type(new.type) is not ir.Scalar and self.returned(old) and self.returned(new):
                return False  # two results are two objects
        for old, new in zip(earlier, targets, strict=True):
            self.replace(new, old)
        return True

    def stays(self, call: ir.Call, found: Effects) -> bool:
        """Whether nobody writes what a call reads."""
        return found.reads == () or not any(map(self.memory.written, operands(call)))

    def is_a_value(self, call: ir.Call, found: Effects) -> bool:
        """Whether a later call of the same gives the same, if nothing that it reads was written."""
        if not found.pure or found.fresh or (self.apart and not self.apart.isdisjoint(call.targets)):
            return False
        for target in call.targets:
            match target.type:
                case ir.Scalar():
                    continue
                case ir.Tuple() if self.shapes_once and call.callee is np.shape:
                    continue
                case ir.Array() | ir.Number():
                    if self.memory.written(target):
                        return False
                case ir.Opaque(cls=cls):
                    if cls is None or not issubclass(cls, _IMMUTABLE):
                        return False
                case _:
                    return False
        return True

    def load(self, load: ir.Load, out: list[ir.Statement]) -> None:
        load = rebuild(load, self.read)  # type: ignore[assignment]
        gives_another = load.target in self.apart and isinstance(type_of_atom(load.base), (ir.Array, ir.Number))
        part = None if gives_another else self.known_part(load)
        if part is not None:
            self.replace(load.target, part)
            return
        if not gives_another and self.stable(load):
            key = ("load", load.base, load.key)
            if self.repeats(self.seen, key, (load.target,)):
                return
            self.seen[key] = (load.target,)
        self.seen_lately = self.seen_lately if load_is_pure(load) else {}
        self.bind((load.target,))
        out.append(load)

    def stable(self, load: ir.Load) -> bool:
        """Whether a later load of the same gives the same."""
        base = load.base
        if type(base) is ir.Const:
            return isinstance(base.value, (tuple, str, bytes))
        if type(base) is not ir.Var or not load_is_pure(load):
            return False
        if load.key == ir.Attribute("dtype") and isinstance(base.type, ir.Array):
            return True
        return self.memory.same_again(load)

    def known_part(self, load: ir.Load) -> ir.Atom | None:
        """The element that a load takes out of a tuple or list which was just put together."""
        definition = self.definition(load.base)
        if definition is None or not isinstance(load.key, ir.Subscript) or len(load.key.items) != 1:
            return None
        callee = definition.callee
        if getattr(callee, "__module__", None) != "adjoint.runtime.display":
            return None
        fixed = callee.__name__ == "make_tuple" or (
            callee.__name__ == "make_list" and not self.memory.written(load.base)
        )
        index = load.key.items[0]
        if not fixed or not isinstance(index, ir.Const) or type(index.value) is not int:
            return None
        if not -len(definition.args) <= index.value < len(definition.args):
            return None
        return definition.args[index.value]

    def store(self, store: ir.Store) -> ir.Store:
        mapped = rebuild(store, self.read)
        assert isinstance(mapped, ir.Store)
        if mapped.mode not in ("add", "sub"):
            return mapped
        operand = negated(mapped.value, self)
        if operand is None:
            return mapped
        self.changed = self.unsettled = True
        return replace(mapped, value=operand, mode="sub" if mapped.mode == "add" else "add")

    # Constructs

    def choice(self, statement: ir.If, out: list[ir.Statement]) -> ir.Terminator | None:
        cond = self.read(statement.cond)
        decided = self.decide(cond)
        if decided is not None:
            self.changed = self.unsettled = True
            return self.splice(statement.then if decided else statement.orelse, statement, out)
        then, orelse, rewritten = self.sides(statement, cond)
        handed = [leaf.values for block in (then, orelse) for leaf in leaves(block) if isinstance(leaf, ir.Yield)]
        kept = self.settle_choice(statement.targets, handed)
        if len(kept) == 1 and is_truth_of(cond, then, orelse, kept[0]):
            self.settle(statement.targets[kept[0]], cond)
            kept = []
        if len(kept) != len(statement.targets):
            then, orelse = handing_out(then, ir.Yield, kept), handing_out(orelse, ir.Yield, kept)
        targets = tuple([statement.targets[position] for position in kept])
        self.bind(targets)
        out.append(ir.If(cond, then, orelse, targets, statement.span))
        if rewritten is not None:
            earlier = self.choices.get(cond) or SameChoices()
            self.choices[cond] = earlier.with_choice(Place(out, len(out) - 1, self.depth), rewritten, kept)
        return None

    def splice(self, block: ir.Block, statement: ir.If, out: list[ir.Statement]) -> ir.Terminator | None:
        """Puts the block that is always chosen in the place of its ``If``."""
        for inner in block.statements:
            left = self.statement(inner, out)
            if left is not None:
                return left
        match block.terminator:
            case ir.Yield(values):
                for target, value in zip(statement.targets, values, strict=True):
                    self.settle(target, self.hand(value))
                return None
            case ir.Branch(cond, then, orelse, span):
                return self.choice(ir.If(cond, then, orelse, statement.targets, span), out)
            case terminator:
                return rebuild_terminator(terminator, self.read)

    def settle_choice(self, targets: tuple[ir.Var, ...], handed: list[tuple[ir.Atom, ...]]) -> list[int]:
        """Replaces each target that can only be one value; gives the positions of the others."""
        kept = []
        for position, target in enumerate(targets):
            only = only_value(target, [values[position] for values in handed])
            if only is not None and self.is_outside(only):
                self.settle(target, only)
            else:
                kept.append(position)
        return kept

    def loop(self, loop: ir.Loop) -> ir.Loop:
        mapped = rebuild(replace(loop, inits=()), self.read)
        assert isinstance(mapped, ir.Loop)
        loop = replace(mapped, inits=tuple([self.hand(init) for init in loop.inits]))
        loop = self.drop_invariant_params(loop)
        self.depth += 1
        self.bind(loop.params)
        if loop.index is not None:
            self.bind((loop.index,))
        self.depth -= 1
        loop = replace(loop, body=self.block(loop.body))
        self.unsettled = self.unsettled or any(invariant_params(loop, self.hand))
        loop = self.settle_targets(loop)
        exits = {leaf.kind for leaf in leaves(loop.body) if isinstance(leaf, ir.Exit)}
        if loop.exit is not None and loop.over is None and len(exits) == 1:
            self.settle(loop.exit, ir.Const(exits.pop()))
            loop = replace(loop, exit=None)
        self.bind(loop.targets)
        if loop.exit is not None:
            self.bind((loop.exit,))
        return loop

    def drop_invariant_params(self, loop: ir.Loop) -> ir.Loop:
        """Replaces each carried variable that never changes by its first value."""
        dropped: set[int] = set()
        move: list[int] = []
        for position, also_in_exits in invariant_params(loop, self.hand):
            self.settle(loop.params[position], loop.inits[position])
            dropped.add(position)
            if also_in_exits:
                self.settle(loop.targets[position], loop.inits[position])
            else:
                move.append(position)
        if not dropped:
            return loop
        stay = [position for position in range(len(loop.params)) if position not in dropped]
        return with_carried(loop, stay, stay + move + list(range(len(loop.params), len(loop.targets))))

    def settle_targets(self, loop: ir.Loop) -> ir.Loop:
        """Replaces each target that only exits hand out and that can only be one value."""
        exits = [leaf.values for leaf in leaves(loop.body) if isinstance(leaf, ir.Exit)]
        count = len(loop.params)
        kept = []
        for position, target in enumerate(loop.targets):
            only = None
            if position >= count or loop.over is None:
                only = only_value(target, [values[position] for values in exits])
            settled = only is not None and self.is_outside(only) and target not in self.replacement
            if settled:
                assert only is not None
                if self.counts[target]:
                    self.settle(target, only)
            if position < count or not settled:
                kept.append(position)
        return loop if len(kept) == len(loop.targets) else with_carried(loop, list(range(count)), kept)

    def guarded(self, guarded: ir.Guarded) -> ir.Guarded:
        mapped = rebuild(guarded, self.read)
        assert isinstance(mapped, ir.Guarded)
        guarded = mapped
        self.depth += 1
        self.bind(name for name in (guarded.name, *(h.name for h in guarded.handlers)) if name is not None)
        self.depth -= 1
        body = self.block(guarded.body, forget=guarded.context is not None)
        handlers = tuple([replace(handler, body=self.block(handler.body)) for handler in guarded.handlers])
        final = None if guarded.final is None else self.block(guarded.final)
        self.bind(guarded.targets)
        return replace(guarded, body=body, handlers=handlers, final=final)
