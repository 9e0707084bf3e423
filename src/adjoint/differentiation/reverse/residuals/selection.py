"""What the reverse region reads of the forward region, and how it gets it.

In this order: it is still there; the next iteration began with it; it can be recomputed cheaply from what is there;
the trip count is known, and one array holds a number for each iteration; else a list grows in the forward region and
shrinks in the reverse region, which visits everything in the opposite order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import effects
from adjoint.differentiation.reverse.bindings import Binding, Region
from adjoint.differentiation.reverse.context import sources
from adjoint.differentiation.reverse.forward_edits import filler
from adjoint.differentiation.reverse.region import ReverseIf, ReverseLoop, Sweep, blocks, own_reads
from adjoint.differentiation.reverse.residuals.keeping import Keeping, span_of
from adjoint.differentiation.reverse.residuals.loop_carried import loop_carried, unwound
from adjoint.differentiation.reverse.residuals.notes import Notes
from adjoint.differentiation.reverse.residuals.recomputed_values import sliced
from adjoint.ir.raising import goes_on
from adjoint.ir.rebuild import rebuild
from adjoint.ir.walk import blocks_of, operands, targets_of, vars_of, vars_used
from adjoint.rules.kinds import Observer
from adjoint.rules.registry import rule_for

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.statements import Reverser


class Keeper(Keeping):
    """Finds for each variable of the forward region what stands for it in the reverse region."""

    def __init__(
        self, reverser: Reverser, known: Mapping[ir.Var, ir.Var], *, halves: bool, notes: Notes | None = None
    ) -> None:
        super().__init__(reverser)
        self.known = known
        self.notes = notes
        self.halves = halves
        self.bindings = self.context.regions.bindings
        self.loops: dict[int, ReverseLoop] = {}
        self.naturals: set[ir.Var] | None = None
        self.leaf_sets: dict[ir.Var, frozenset[ir.Var] | None] = {}
        self.settled: set[ir.Var] = set()
        self.recomputed: set[ir.Var] = set()
        self.to_keep: set[ir.Var] = set()
        self.defined: set[ir.Var] = set()
        self.needed: set[ir.Var] = set()

    def is_natural(self, atom: ir.Atom) -> bool:
        """Whether a whole number of the forward region is never negative."""
        if isinstance(atom, ir.Const):
            return type(atom.value) is int and atom.value >= 0
        if self.naturals is None:
            from adjoint.analysis.shapes.nonnegative import naturals_of  # lazy

            self.naturals = naturals_of(self.context.function)
        return atom in self.naturals

    def run(self, root: Sweep, results: list[ir.Atom]) -> None:
        """Settles everything that the reverse region and its results read."""
        self.find_indices(root)
        needed: dict[ir.Var, None] = {}
        self.collect_reads(root, needed)
        needed.update(dict.fromkeys(vars_of(results)))
        needed = dict.fromkeys(self.known.get(var, var) for var in needed)
        self.ask_sources()
        counts = [var for var in needed if var in self.reverser.counts]
        plain = self.closed_over_recipes([var for var in needed if var not in self.reverser.counts])
        self.needed.update(plain)
        self.plan(plain)
        for var in plain:
            self.settle(var)
        for var in self.inner_first(counts):
            self.count(var)
            self.settle(var)

    def resolve(self, atom: ir.Atom) -> ir.Atom:
        """What stands for an atom in the reverse region."""
        if not isinstance(atom, ir.Var):
            return atom
        var = self.known.get(atom, atom)
        return self.stands_for.get(var, var)

    # What is read

    def find_indices(self, sweep: Sweep) -> None:
        for node in sweep.content():
            if isinstance(node, ReverseLoop):
                self.indices[id(node.body.region)] = node.index
                self.loops[id(node.body.region)] = node
            for block in blocks(node):
                self.find_indices(block)

    def collect_reads(self, sweep: Sweep, found: dict[ir.Var, None]) -> None:
        for node in sweep.content():
            found.update(dict.fromkeys(own_reads(node)))
            for block in blocks(node):
                self.collect_reads(block, found)
            if isinstance(node, ReverseIf):
                found.update(dict.fromkeys(vars_of([atom for pair in node.values for atom in pair])))
            elif isinstance(node, ReverseLoop):
                found.update(dict.fromkeys(vars_of((*node.inits, *node.values))))

    def closed_over_recipes(self, needed: list[ir.Var]) -> list[ir.Var]:
        found = dict.fromkeys(needed)
        work = list(needed)
        while work:
            var = work.pop()
            if var in self.context.recipes:
                for atom in own_reads(self.context.recipes[var][2]):
                    if atom not in found:
                        found[atom] = None
                        work.append(atom)
        return list(found)

    def ask_sources(self) -> None:
        """What is asked for its shape must have a value on all paths, and so must what it is one of."""
        work = list(self.context.asked)
        while work:
            var = work.pop()
            if not self.context.may_be_undefined(var):
                continue
            for atom in sources(var, self.bindings[var]):
                if isinstance(atom, ir.Var) and atom not in self.context.asked:
                    self.context.asked.add(atom)
                    work.append(atom)

    # What is recomputed

    def plan(self, needed: list[ir.Var]) -> None:
        """Decides, region by region, whether to recompute values or to keep them: whichever keeps less."""
        groups: dict[Region, list[ir.Var]] = {}
        for var in needed:
            binding = self.bindings.get(var)
            if binding is not None and binding.region.in_loop and var not in self.context.recipes:
                groups.setdefault(binding.region, []).append(var)
        for group in groups.values():
            sets = {var: self.leaves_of(var) for var in group}
            can = {var: below for var, below in sets.items() if below is not None}
            kept = {var for var in group if var not in can}
            everything = frozenset().union(*can.values()) - kept if can else frozenset()
            if len(everything) <= sum(not below <= kept for below in can.values()):
                self.recomputed.update(can)
                continue
            for var, below in can.items():
                if len(below - kept) <= 1:
                    self.recomputed.add(var)
                    kept |= below
                else:
                    kept.add(var)
                    self.to_keep.add(var)

    def leaves_of(self, var: ir.Var) -> frozenset[ir.Var] | None:
        """The variables to keep if this one is recomputed; None where it cannot be."""
        if var in self.leaf_sets:
            return self.leaf_sets[var]
        self.leaf_sets[var] = None
        found = self.leaf_sets[var] = self.find_leaves(var)
        return found

    def find_leaves(self, var: ir.Var) -> frozenset[ir.Var] | None:
        binding = self.bindings.get(var)
        if binding is None or not binding.region.in_loop or self.is_index(var):
            return frozenset()
        if var in self.context.forward_shadows or binding.statement is None:
            return None
        statement = binding.statement
        if not self.cheap(statement):
            return None
        found: set[ir.Var] = set()
        for atom in self.outer_reads(statement):
            below = self.leaves_of(atom)
            if below is None:
                # a view of what is kept anyway, and not for its shape only
                is_kept = isinstance(statement, ir.Call) and atom in self.needed and var not in self.context.asked
                if not (
                    isinstance(atom.type, ir.Scalar) or is_kept or self.is_array_from_outside(atom, binding.region)
                ):
                    return None
                below = frozenset((atom,))
            found |= below
        return frozenset(found)

    def is_array_from_outside(self, atom: ir.Var, region: Region) -> bool:
        """Whether one array is kept for all iterations of a loop that reads its elements."""
        binding = self.bindings.get(atom)
        if (
            not isinstance(atom.type, ir.Array)
            or binding is None
            or not isinstance(binding.statement, (ir.Call, type(None)))
        ):
            return False
        home = binding.region
        around: Region | None = region
        while around is not None and around is not home and around.kind != "loop":
            around = around.parent
        return around is not home and region.within(home)

    def is_index(self, var: ir.Var) -> bool:
        loop = self.context.regions.index_of.get(var)
        return loop is not None and isinstance(loop.over, ir.Range)

    def outer_reads(self, statement: ir.Statement) -> list[ir.Var]:
        reads = vars_of(operands(statement))
        if not blocks_of(statement):
            return reads
        inner = {var for block in blocks_of(statement) for var in vars_used(block)}
        bound = {var for block in blocks_of(statement) for nested in block.statements for var in targets_of(nested)}
        outer = inner - bound
        return reads + [var for var in self.bindings if var in outer]

    def cheap(self, statement: ir.Statement) -> bool:
        """Whether a statement may be, and is worth being, executed again."""
        match statement:
            case ir.Call(targets=(target,), callee=callee):
                if not _repeatable(callee):
                    return False
                if isinstance(target.type, ir.Array):
                    return self.is_settled_view(statement)
                if not isinstance(target.type, ir.Scalar) and callee is not np.shape:
                    return False
                return all(_number_or_shape(atom, callee) for atom in operands(statement))
            case ir.Load(target=target):
                return isinstance(target.type, (ir.Scalar, ir.Array)) and self.reverser.writes.is_repeatable(statement)
            case ir.If(targets=targets):
                if not targets or not all(isinstance(target.type, ir.Scalar) for target in targets):
                    return False
                return all(self.cheap_block(block) for block in blocks_of(statement))
            case _:
                return False

    def is_settled_view(self, call: ir.Call) -> bool:
        """Whether a call gives a view of an array that is the same later."""
        rule = rule_for(call.callee)
        if rule is None or rule.view_of is None or rule.view_of >= len(call.args):
            return False
        base = call.args[rule.view_of]
        others = [atom for atom in operands(call) if atom is not base]
        plain = all(isinstance(atom, ir.Const) or isinstance(getattr(atom, "type", None), ir.Scalar) for atom in others)
        return plain and isinstance(base, ir.Var) and self.reverser.writes.settled(call, base)

    def cheap_block(self, block: ir.Block) -> bool:
        return isinstance(block.terminator, ir.Yield) and all(map(self.cheap, block.statements))

    # Settling one variable

    def settle(self, var: ir.Var) -> None:
        if var in self.settled:
            return
        self.settled.add(var)
        if var in self.context.recipes:
            self.settle_recipe(var)
            return
        binding = self.bindings.get(var)
        if binding is None:
            return
        if var in self.context.copies:
            self.make_copy(var)
        region = binding.region
        if region.kind == "top":
            if self.halves or var in self.context.asked:
                self.define(var)
            return
        if not region.in_loop:
            self.stands_for[var] = self.handed_out(var, binding)
        elif self.is_index(var):
            self.stands_for[var] = self.indices[id(region)]
        elif (carried := loop_carried(self, var, binding)) is not None:
            self.stands_for[var] = carried
        elif var in self.recomputed or (self.leaves_of(var) == frozenset()):
            self.recompute(var, binding)
        elif is_left_by_exceptions(region):  # what was put on a list there would stay
            self.stands_for[var] = self.handed_out(var, binding)
        else:
            self.keep(var, binding)

    def settle_recipe(self, var: ir.Var) -> None:
        region, order, statement = self.context.recipes[var]
        self.context.sweeps[region].first(order, statement)
        for atom in own_reads(statement):
            self.settle(atom)
            self.define(atom)

    def make_copy(self, var: ir.Var) -> None:
        statement, after = self.context.anchors[var]
        edits = self.context.edits
        (edits.put_after if after else edits.put_before)(statement, self.context.copies[var])

    def define(self, var: ir.Var) -> None:
        """Gives a variable a value also on the paths on which nobody reads it: there it will be kept, too."""
        binding = self.bindings.get(var)
        if var in self.context.forward_shadows:
            self.define_shadow(var)
        if binding is None or var in self.defined or not self.context.may_be_undefined(var):
            return
        self.defined.add(var)
        owner = binding.statement or binding.region.owner
        assert isinstance(owner, (ir.If, ir.Guarded, ir.Loop))
        names = owner.targets if var in owner.targets else owner.params if isinstance(owner, ir.Loop) else ()
        self.context.edits.define(owner, names.index(var))
        for atom in sources(var, binding):
            if isinstance(atom, ir.Var):
                self.define(atom)

    def define_shadow(self, shadow: ir.Var) -> None:
        """The same for a shadow that moves beside its memory."""
        found = self.reverser.shadows.found
        var = next((var for var, own in found.items() if own is shadow), None)
        if var is None or shadow in self.context.edits.filled or not self.context.may_be_undefined(var):
            return
        self.context.edits.filled.add(shadow)
        for atom in sources(var, self.bindings[var]):
            if isinstance(atom, ir.Var) and atom in found:
                self.define_shadow(found[atom])

    def handed_out(self, var: ir.Var, binding: Binding) -> ir.Atom:
        """A variable of a branch, handed out so that the reverse of the branch can read it."""
        owner, parent = binding.region.owner, binding.region.parent
        assert isinstance(owner, (ir.If, ir.Guarded)) and parent is not None
        target = ir.Var(var.hint, var.type, var.named)
        elsewhere: ir.Atom = ir.UNDEFINED
        is_kept = self.halves or parent.in_loop
        if is_kept or var in self.context.asked:
            self.define(var)
            self.context.asked.add(target)
        if is_kept:  # nobody reads it where another path was taken, but there it is kept, too
            elsewhere = filler(var.type)
        sides = range(len(blocks_of(owner)))
        values = tuple(var if side == binding.region.side else elsewhere for side in sides)
        self.context.edits.hand_out(owner, target, values)
        block = self.context.regions.block_of(owner) if parent.in_loop else parent.start
        self.context.regions.bind(target, parent, None, block)
        self.context.anchors[target] = owner, True
        if var in self.context.forward_shadows:
            self.context.forward_shadows.add(target)
        self.settle(target)
        return self.resolve(target)

    def recompute(self, var: ir.Var, binding: Binding) -> None:
        """Executes the statement that binds a variable again, where the reverse of its region starts."""
        statement = binding.statement
        assert statement is not None
        if self.notes is not None:
            self.notes.note(var, statement.span, None)
        sweep = self.context.sweeps[binding.region]
        new = ir.Var(var.hint, var.type, var.named)
        self.stands_for[var] = new
        if isinstance(statement, ir.If):
            copy: ir.Statement = sliced(statement, var, new, self.context.asked)
        else:
            copy = rebuild(statement, lambda atom: atom, binder=lambda old: new if old is var else old)
        for atom in self.outer_reads(copy):
            if atom not in self.to_keep and self.leaves_of(atom) is not None:
                self.recomputed.add(atom)
            self.settle(atom)
        sweep.first(self.place_of(binding), copy)

    # Keeping

    def keep(self, var: ir.Var, binding: Binding) -> None:
        counted_back = unwound(self, var, binding)
        if counted_back is not None:
            self.stands_for[var] = counted_back
            return
        loop = binding.region.owner
        if self.notes is not None:
            self.notes.note(var, span_of(binding), self.reason(var, binding))
        if binding.region.kind == "loop" and isinstance(loop, ir.Loop) and self.countable(loop, binding.region, var):
            self.keep_in_array(var, binding, loop)
            return
        if self.reverser.compiled:
            from adjoint.differentiation.reverse.residuals.arrays import keep_in_grid  # lazy

            if keep_in_grid(self, var, binding):
                return
        self.keep_in_list(var, binding)

    def reason(self, var: ir.Var, binding: Binding) -> str:
        """Why a variable is not computed again."""
        if var in self.reverser.originals:
            return f"what {self.reverser.originals[var].hint!r} holds here is overwritten later"
        if var in self.context.forward_shadows:
            return "references move: their shadows are kept beside them"
        if binding.statement is None or isinstance(binding.statement, ir.Loop):
            return "each iteration changes it"
        if not self.cheap(binding.statement):
            return "computing it again costs more"
        return "what it is made of is not kept"

    def inner_first(self, counts: list[ir.Var]) -> list[ir.Var]:
        def depth(var: ir.Var) -> int:
            region: Region | None = self.context.region(self.context.regions.core(self.reverser.counts[var]))
            found = 0
            while region is not None:
                region, found = region.parent, found + 1
            return found

        return sorted(counts, key=depth, reverse=True)


def is_left_by_exceptions(region: Region) -> bool:
    """Whether an exception may leave a region, and control go on behind it."""
    owner = region.owner
    return region.kind == "guarded" and region.side == 0 and isinstance(owner, ir.Guarded) and goes_on(owner)


def _repeatable(callee: object) -> bool:
    """Whether a call only computes its result."""
    if isinstance(callee, (ir.Function, ir.Definition, ir.Declared, ir.Derived, ir.Applied)):
        return False
    rule = rule_for(callee)
    if rule is not None and (not rule.pure or isinstance(rule, Observer)):
        return False
    return effects(callee).pure


def _number_or_shape(atom: ir.Atom, callee: object) -> bool:
    if isinstance(atom, ir.Const):
        return True
    if not isinstance(atom, ir.Var):
        return False
    return isinstance(atom.type, ir.Scalar) or (
        callee in (len, np.shape, np.size, np.ndim) and isinstance(atom.type, ir.Array)
    )
