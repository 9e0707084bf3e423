"""Where each variable of the forward region is bound, as the reverse region needs to know it.

A region is a part of the forward code that has one mirror image in the reverse code: the function's body, a branch of
an ``If``, the body of a loop, a side of a ``Branch`` in a loop. The head of a ``while`` loop, whose last evaluation
only finds that there is nothing more to do, belongs to the region of the iteration that follows it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from adjoint import ir
from adjoint.ir.walk import blocks_of, targets_of
from adjoint.records import dataclass, field

Kind = Literal["top", "branch", "guarded", "loop", "tail"]


@dataclass(eq=False, slots=True)
class Region:
    """A part of the forward code with one mirror image.

    Attributes
    ----------
    parent, owner, side
        The region around it; the statement (or ``Branch``) that holds it; which of the owner's blocks it is.
    start
        The block at whose start everything that is bound before the region proper is visible.
    in_loop
        Whether it is in the body of a loop, so that one run of the function visits it many times.
    """

    kind: Kind
    parent: Region | None
    owner: ir.Statement | ir.Branch | None
    side: int
    start: ir.Block
    in_loop: bool

    def within(self, other: Region) -> bool:
        """Whether this region is ``other`` or inside of it."""
        region: Region | None = self
        while region is not None and region is not other:
            region = region.parent
        return region is other


@dataclass(eq=False, slots=True)
class Binding:
    """How a variable of the forward region comes about.

    ``statement`` is None for parameters and loop variables. ``order`` counts bindings in program order.
    """

    region: Region
    statement: ir.Statement | None
    order: int
    block: ir.Block


@dataclass(slots=True)
class Regions:
    """The regions of a function and the bindings of its variables."""

    top: Region
    bindings: dict[ir.Var, Binding] = field(default_factory=dict)
    of_block: dict[int, Region] = field(default_factory=dict)
    places: dict[int, ir.Block] = field(default_factory=dict)
    cores: dict[int, ir.Block] = field(default_factory=dict)
    index_of: dict[ir.Var, ir.Loop] = field(default_factory=dict)

    def bind(self, var: ir.Var, region: Region, statement: ir.Statement | None, block: ir.Block) -> None:
        self.bindings[var] = Binding(region, statement, len(self.bindings), block)

    def block_of(self, statement: ir.Statement) -> ir.Block:
        """The block of the forward region that a statement is in."""
        return self.places[id(statement)]

    def bind_beside(self, var: ir.Var, statement: ir.Statement) -> None:
        """Binds a new variable of the forward region where a statement is."""
        block = self.block_of(statement)
        self.bind(var, self.of_block[id(block)], None, block)

    def core(self, loop: ir.Loop) -> ir.Block:
        """The block of a loop's body that only full iterations run."""
        return self.cores[id(loop)]


def find_regions(
    function: ir.Function, has_reverse: Callable[[ir.Block | ir.Statement], bool], slot: Callable[[ir.Var], bool]
) -> Regions:
    """The regions of a function in normal form.

    Parameters
    ----------
    function
        The function.
    has_reverse
        Whether a statement, or anything in a block, has to be reversed.
    slot
        Whether a loop's parameter or target carries a derivative.
    """
    top = Region("top", None, None, 0, function.body, False)
    found = Regions(top)
    for param in function.params:
        found.bind(param, top, None, function.body)
    _Finder(found, has_reverse, slot).block(function.body, top)
    return found


class _Finder:
    def __init__(
        self, found: Regions, has_reverse: Callable[[ir.Block | ir.Statement], bool], slot: Callable[[ir.Var], bool]
    ) -> None:
        self.found = found
        self.has_reverse = has_reverse
        self.slot = slot

    def block(self, block: ir.Block, region: Region) -> None:
        self.found.of_block[id(block)] = region
        for statement in block.statements:
            self.statement(statement, region, block)
        branch = block.terminator
        if isinstance(branch, ir.Branch):
            for side, inner in enumerate(blocks_of(branch)):
                if id(inner) not in self.found.of_block:
                    self.block(inner, Region("tail", region, branch, side, inner, region.in_loop))

    def statement(self, statement: ir.Statement, region: Region, block: ir.Block) -> None:
        self.found.places[id(statement)] = block
        match statement:
            case ir.If():
                for side, inner in enumerate(blocks_of(statement)):
                    self.block(inner, Region("branch", region, statement, side, inner, region.in_loop))
            case ir.Guarded(name=name, handlers=handlers):
                body = Region("guarded", region, statement, 0, statement.body, region.in_loop)
                if name is not None:
                    self.found.bind(name, body, None, statement.body)
                self.block(statement.body, body)
                for side, inner in enumerate(blocks_of(statement)[1:], 1):
                    other = Region("guarded", region, statement, side, inner, region.in_loop)
                    if side <= len(handlers) and handlers[side - 1].name is not None:
                        self.found.bind(handlers[side - 1].name, other, None, inner)  # type: ignore[arg-type]
                    self.block(inner, other)
            case ir.Loop():
                self.loop(statement, region)
        for target in targets_of(statement):
            self.found.bind(target, region, statement, block)

    def loop(self, loop: ir.Loop, region: Region) -> None:
        core = self.core_of(loop, loop.body)
        self.found.cores[id(loop)] = core
        inner = Region("loop", region, loop, 0, core, True)
        if loop.index is not None:
            self.found.bind(loop.index, inner, None, loop.body)
            self.found.index_of[loop.index] = loop
        for param in loop.params:
            self.found.bind(param, inner, None, loop.body)
        self.head(loop.body, core, inner)

    def head(self, block: ir.Block, core: ir.Block, region: Region) -> None:
        """Walks through the blocks before the core: their variables belong to the core's region."""
        if block is core:
            self.block(block, region)
            return
        self.found.of_block[id(block)] = region
        for statement in block.statements:
            self.statement(statement, region, block)
        branch = block.terminator
        assert isinstance(branch, ir.Branch)
        for side, inner in enumerate(blocks_of(branch)):
            if self.contains(inner, core):
                self.head(inner, core, region)
            else:
                self.block(inner, Region("tail", region, branch, side, inner, True))

    def contains(self, block: ir.Block, core: ir.Block) -> bool:
        if block is core:
            return True
        return isinstance(block.terminator, ir.Branch) and any(
            self.contains(inner, core) for inner in blocks_of(block.terminator)
        )

    def core_of(self, loop: ir.Loop, block: ir.Block) -> ir.Block:
        branch = block.terminator
        if not isinstance(branch, ir.Branch) or any(map(self.has_reverse, block.statements)):
            return block
        if self.passes(loop, branch.orelse):
            return self.core_of(loop, branch.then)
        if self.passes(loop, branch.then):
            return self.core_of(loop, branch.orelse)
        return block

    def passes(self, loop: ir.Loop, block: ir.Block) -> bool:
        """Whether a side only leaves the loop, with the derivatives of its parameters passing through."""
        if isinstance(block.terminator, ir.Raise):
            return True
        if not isinstance(block.terminator, ir.Exit) or any(map(self.has_reverse, block.statements)):
            return False
        for slot, (value, target) in enumerate(zip(block.terminator.values, loop.targets, strict=True)):
            own = loop.params[slot] if slot < len(loop.params) else None
            carries = self.slot(target) or (own is not None and self.slot(own))
            if carries and value is not ir.UNDEFINED and value is not own:
                return False
        return True
