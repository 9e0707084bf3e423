"""Ways out of what control may leave by several: where they meet, and which lead further out."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.blocks import Exiting, is_behind_one_side
from adjoint.frontend.interpreter.values import Value

CLOSING = "@"
"""Behind the name of an action: a generator is left by it, for that is what its consumer does."""


def is_closing(action: str) -> bool:
    """Whether a generator is closed where it leaves a region by this action."""
    return action.endswith(CLOSING)


def behind(lo: Lowerer, exits: Sequence[Exiting], orelse: Sequence[ast.stmt]) -> list[Exiting]:
    """Ways out of an unrolled loop; ``done`` goes on behind it, and ``break`` in its ``else`` leaves the next loop."""
    found: list[Exiting] = []
    for leaf in exits:
        if leaf.action == "exhausted":
            lo.block, lo.store = leaf.block, leaf.store
            with lo.region("loop") as region:
                lo.run(orelse)
                lo.leave("done")
            found += region.exits
        else:
            leaf.action = "done" if leaf.action == "break" else leaf.action
            found.append(leaf)
    return found


def settle(
    lo: Lowerer,
    exits: list[Exiting],
    origin: Any,
    base: dict[Any, Value],
    falling_action: str,
    at_exit: Callable[[], Any] | None = None,
) -> None:
    """Goes on where the exits of one kind meet; the others leave the region around. ``at_exit`` runs on each way."""
    falling = [leaf for leaf in exits if leaf.action == falling_action]
    leaving = [leaf for leaf in exits if leaf.action != falling_action]
    if at_exit is not None:
        for leaf in exits:
            lo.block, lo.store = leaf.block, leaf.store
            at_exit()
            assert lo.block is not None
            leaf.block, leaf.store = lo.block, lo.store
    if len(falling) < 2:
        if leaving:
            lo.regions[-1].exits.extend(leaving)
        lo.block = falling[0].block if falling else None
        lo.store = falling[0].store if falling else base
        return
    joined = lo.join_leaves(falling + leaving, base, enclosed=is_behind_one_side(origin, exits))
    for leaf, atoms in zip(falling + leaving, joined.columns, strict=True):
        leaf.block.terminator = ir.Yield(atoms)
    assert origin.branch is not None
    cond, then, orelse, span = origin.branch
    origin.branch = None
    lo.block, lo.store = origin, joined.store
    lo.emit(ir.If(cond, then.seal(), orelse.seal(), joined.targets, span))
    if leaving:
        lo.dispatch(joined.kind, leaving, joined)
