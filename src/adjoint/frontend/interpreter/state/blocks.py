"""Blocks under construction, and the points at which control leaves the constructs around them."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.diagnostics.spans import Span
from adjoint.frontend.interpreter.values import Value
from adjoint.ir.builder import Builder
from adjoint.ir.raising import raises_itself
from adjoint.records import dataclass, field
from adjoint.rules.typing import type_of_call

if TYPE_CHECKING:
    from adjoint.frontend.interpreter.state.attempts import Repeated, Run


class Open(Builder):
    """A block under construction, whose end may be decided by what follows.

    Attributes
    ----------
    is_conditional
        Whether a condition or an exception decides whether it runs at all; the steps of a loop count as running.
    """

    def __init__(
        self,
        run: Run | None = None,
        parent: Open | None = None,
        outer: Open | None = None,
        *,
        is_conditional: bool = False,
    ) -> None:
        super().__init__(type_of_call)
        self.run = run
        self.parent = parent
        self.is_conditional: bool = is_conditional or (outer is not None and outer.is_conditional)
        self.branch: tuple[ir.Atom, Open, Open, Span | None] | None = None
        self.terminator: ir.Terminator | None = None

    def emit(self, statement: ir.Statement) -> None:
        self.statements.append(statement)
        run = self.run
        if run is None:
            return
        run.emitted += 1
        if run.handled and raises_itself(statement):
            run.raising += 1
        for watch in run.watches:
            watch.append(statement)

    def seal(self) -> ir.Block:
        if self.branch is not None:
            cond, then, orelse, span = self.branch
            return self.block(ir.Branch(cond, then.seal(), orelse.seal(), span))
        assert self.terminator is not None, "a block without an end"
        return self.block(self.terminator)


@dataclass(eq=False, slots=True)
class Checkpoint:
    """Where lowering was, for a part of a function that is lowered again."""

    block: Open
    store: dict[Any, Value]
    depth: int
    lengths: list[tuple[list[Any], int]]
    emitted: int
    inlined: dict[ast.AST, tuple[Repeated, ...]]


@dataclass(eq=False, slots=True)
class Exiting:
    """A point at which control leaves a region: the block to end there, the store, and what is carried out."""

    block: Open
    store: dict[Any, Value]
    action: str
    """``fall``, ``break``, ``continue``, ``return``"""
    value: Value = ir.UNDEFINED


@dataclass(eq=False, slots=True)
class Region:
    """A construct that control can leave: ``function``, ``loop`` or ``guarded``."""

    kind: str
    exits: list[Exiting] = field(default_factory=list)


def is_behind_one_side(origin: Open, leaves: Sequence[Exiting]) -> bool:
    """Whether all leaves are on one side of a block's branch, where values may be bound that they have in common."""
    if origin.branch is None:
        return False
    ends = {id(leaf.block) for leaf in leaves}
    return not all(any(id(block) in ends for block in _within(side)) for side in origin.branch[1:3])


def _within(block: Open) -> Iterator[Open]:
    """A block and those that it branches to."""
    pending = [block]
    while pending:
        block = pending.pop()
        yield block
        if block.branch is not None:
            pending += block.branch[1:3]


def changed_keys(leaves: Sequence[Exiting], base: dict[Any, Value]) -> Iterator[Any]:
    """Variables and objects whose value some path changed, in the order in which they were first bound."""
    seen: dict[Any, None] = {}
    for leaf in leaves:
        for key, value in leaf.store.items():
            if key not in seen and (key not in base or base[key] is not value):
                seen[key] = None
    return iter(seen)


@dataclass(eq=False, slots=True)
class Joined:
    """What :meth:`~adjoint.frontend.interpreter.core.Lowerer.join_leaves` found."""

    store: dict[Any, Value]
    targets: tuple[ir.Var, ...]
    columns: list[tuple[ir.Atom, ...]]
    kind: ir.Atom
    kinds: tuple[str, ...]
    values: dict[str, Value]

    def value_of(self, action: str) -> Value:
        return self.values[action]

    @property
    def value(self) -> Value:
        """What the paths give that go on."""
        return self.values.get("fall", self.values.get("return", ir.UNDEFINED))
