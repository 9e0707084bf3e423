"""Where residuals are kept: in a list with a place for each iteration, or one that grows and is taken from its end."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

from adjoint import ir
from adjoint.diagnostics import Span
from adjoint.differentiation.reverse.bindings import Binding, Region
from adjoint.differentiation.reverse.forward_edits import Slot
from adjoint.ir.walk import leaves
from adjoint.runtime import display

if TYPE_CHECKING:
    from adjoint.differentiation.reverse.statements import Reverser


class Keeping:
    """Keeps variables of the forward region, and reads them back in the reverse region.

    :class:`~adjoint.differentiation.reverse.residuals.selection.Keeper` says which, and what is computed again instead.
    """

    def __init__(self, reverser: Reverser) -> None:
        self.reverser = reverser
        self.context = reverser.context
        self.stands_for: dict[ir.Var, ir.Atom] = {}
        self.indices: dict[int, ir.Var] = {}
        self.tapes: dict[ir.Var, Region] = {}
        self.taped: dict[Region, list[ir.Var]] = {}
        self.popped: list[ir.Var] = []

    def settle(self, var: ir.Var) -> None:
        """Sees to it that something stands for a variable in the reverse region."""
        raise NotImplementedError

    def define(self, var: ir.Var) -> None:
        """Sees to it that a variable is computed in the forward region."""
        raise NotImplementedError

    def countable(self, loop: ir.Loop, region: Region, var: ir.Var) -> bool:
        """Whether one array can hold the variable for all iterations."""
        outside = region.parent is not None and not region.parent.in_loop
        exits = any(isinstance(leaf, ir.Exit) for leaf in leaves(loop.body))
        fits = isinstance(var.type, ir.Scalar)
        return outside and not exits and fits and isinstance(loop.over, ir.Range) and not loop.over.backward

    def keep_in_array(self, var: ir.Var, binding: Binding, loop: ir.Loop) -> None:
        over = loop.over
        assert isinstance(over, ir.Range) and isinstance(var.type, ir.Scalar)
        kept = ir.Var(f"{var.hint}_kept", ir.List(var.type, ir.Storage(written=True)))
        one = ir.Var("t", ir.List(var.type, ir.Storage(written=True)))
        size = self.size(loop, over)
        edits = self.context.edits
        edits.put_before(loop, ir.Call((one,), display.make_list, (ir.Const(_BLANKS[var.type.kind]),)))
        edits.put_before(loop, ir.Call((kept,), operator.mul, (one, size), (), span_of(binding)))
        index = self.loop_index(loop)
        core = binding.region.start
        place = self.place(over, index, lambda statement: edits.put_first(core, statement))
        self.after_binding(var, binding, ir.Store(kept, ir.Subscript((place,)), var))
        sweep = self.context.sweeps[binding.region]
        new = ir.Var(var.hint, var.type, var.named)
        self.stands_for[var] = new
        back = self.place(over, self.indices[id(binding.region)], lambda statement: sweep.first((-1, 0), statement))
        self.to_parent(kept, binding.region)
        sweep.first(self.place_of(binding), ir.Load(new, kept, ir.Subscript((back,))))

    def to_parent(self, kept: ir.Var, region: Region) -> None:
        """Binds what is made before a loop in the region around the loop."""
        assert region.parent is not None
        self.context.regions.bind(kept, region.parent, None, region.parent.start)
        self.settle(kept)

    def size(self, loop: ir.Loop, over: ir.Range) -> ir.Atom:
        edits = self.context.edits
        if _counts_from_start(over):
            return over.stop  # a list repeated a negative number of times is empty
        steps, size = ir.Var("steps", ir.OPAQUE), ir.Var("size", ir.INT)
        edits.put_before(loop, ir.Call((steps,), range, (over.start, over.stop, over.step)))
        edits.put_before(loop, ir.Call((size,), len, (steps,)))
        return size

    def loop_index(self, loop: ir.Loop) -> ir.Var:
        if loop.index is not None:
            return loop.index
        return self.context.edits.index.setdefault(id(loop), ir.Var("i", ir.INT))

    def place(self, over: ir.Range, index: ir.Var, emit: Callable[[ir.Statement], None]) -> ir.Atom:
        """The number of the iteration with this index."""
        if _counts_from_start(over):
            return index
        distance, place = ir.Var("t", ir.INT), ir.Var("k", ir.INT)
        emit(ir.Call((distance,), operator.sub, (index, over.start)))
        if over.step == ir.Const(1):
            return distance
        emit(ir.Call((place,), operator.floordiv, (distance, over.step)))
        return place

    @staticmethod
    def place_of(binding: Binding) -> tuple[int, int]:
        """Where in the reverse of its region a kept value is read: parameters before what is made of them."""
        return (-1, 1 + binding.order) if binding.statement is None else (binding.order, 0)

    def after_binding(self, var: ir.Var, binding: Binding, statement: ir.Statement) -> None:
        """Puts a statement where a variable is known, once for each time that its region is reversed."""
        edits = self.context.edits
        owner = binding.statement
        self.define(var)
        if var in self.context.anchors and binding.block is binding.region.start:
            anchor, after = self.context.anchors[var]
            (edits.put_after if after else edits.put_before)(anchor, statement)
        elif owner is None or binding.block is not binding.region.start:
            edits.put_first(binding.region.start, statement)
        else:
            edits.put_after(owner, statement)

    def keep_in_list(self, var: ir.Var, binding: Binding) -> None:
        is_kept_already = var in self.context.packs
        kept = ir.Var(var.hint if is_kept_already else f"{var.hint}_kept", ir.List(var.type, ir.Storage(written=True)))
        region = binding.region
        while region.parent is not None and region.parent.kind != "top":
            region = region.parent
        owner = region.owner
        assert owner is not None
        made = ir.Call((kept,), display.make_list, (), (), span_of(binding))
        self.context.edits.put_before(owner, made)  # type: ignore[arg-type]
        self.after_binding(var, binding, ir.Call((), list.append, (kept, var)))
        new = ir.Var(var.hint, var.type, var.named)
        self.stands_for[var] = new
        self.context.sweeps[binding.region].first(self.place_of(binding), self.taken_back(new, kept, binding.region))
        self.tapes[kept] = binding.region
        self.taped.setdefault(binding.region, []).append(kept)
        if var in self.context.forward_shadows:
            self.context.forward_shadows.add(kept)
        else:
            self.popped.append(kept)
        self.context.regions.bind(kept, self.context.regions.top, None, self.context.function.body)

    def taken_back(self, new: ir.Var, kept: ir.Var, region: Region) -> ir.Statement:
        """Reads a kept value: by the number of the iteration where a list holds one for each, else from the end."""
        loop, index = region.owner, self.indices.get(id(region))
        outside = region.parent is not None and not region.parent.in_loop
        if region.kind != "loop" or not outside or index is None or not isinstance(loop, ir.Loop):
            return ir.Call((new,), list.pop, (kept,))
        if not isinstance(loop.over, ir.Range):
            return ir.Load(new, kept, ir.Subscript((index,)))
        over = loop.over
        if over.backward or over.start != ir.Const(0) or over.step != ir.Const(1):  # the list has no gap at its start
            return ir.Call((new,), list.pop, (kept,))
        return ir.Load(new, kept, ir.Subscript((index,)))

    def count(self, count: ir.Var) -> None:
        """Finds the number of full iterations: the length of a list that grows by one in each, or a counter."""
        loop = self.reverser.counts[count]
        core = self.context.regions.core(loop)
        region = self.context.region(core)
        parent = region.parent
        assert parent is not None
        tapes = self.taped.get(region, [])
        if tapes and not parent.in_loop:
            self.context.recipes[count] = (parent, (-1, 0), ir.Call((count,), len, (tapes[0],)))
            return
        param, following = ir.Var("count", ir.INT), ir.Var("count", ir.INT)
        self.context.edits.put_first(core, ir.Call((following,), operator.add, (param, ir.Const(1))))

        def value(leaf: ir.Continue | ir.Exit, full: bool) -> ir.Atom:
            return following if full else param

        self.context.edits.carry(loop, Slot(param, ir.Const(0), count, value))
        block = self.context.regions.block_of(loop)
        self.context.regions.bind(count, parent, loop, block)


_BLANKS = {"float": 0.0, "int": 0, "bool": False, "complex": 0j}


def _counts_from_start(over: ir.Range) -> bool:
    start = over.start
    return over.step == ir.Const(1) and isinstance(start, ir.Const) and start.value in (0, 1)


def span_of(binding: Binding) -> Span | None:
    """Where a variable is computed."""
    owner = binding.statement or binding.region.owner
    return None if owner is None else owner.span
