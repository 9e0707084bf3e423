"""The values that the ends of blocks hand out to the construct around them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from adjoint import ir
from adjoint.ir.rebuild import map_leaves, with_values
from adjoint.ir.walk import leaves
from adjoint.records import replace


def only_value(target: ir.Var, atoms: Sequence[ir.Atom]) -> ir.Atom | None:
    """The one atom among those that are not undefined; a variable of the program that may be unbound stays so."""
    if target.named and ir.UNDEFINED in atoms:
        return None
    only: ir.Atom | None = None
    for atom in atoms:
        if type(atom) is ir.Undefined or atom == only:
            continue
        if only is not None:
            return None
        only = atom
    return only


def handing_out(
    block: ir.Block, kind: type[ir.Yield] | type[ir.Continue] | type[ir.Exit], positions: list[int]
) -> ir.Block:
    """A block whose leaves of a kind hand out only the values in some positions."""

    def leaf(terminator: ir.Terminator) -> ir.Terminator:
        if not isinstance(terminator, kind):
            return terminator
        return with_values(terminator, tuple([terminator.values[position] for position in positions]))

    return map_leaves(block, leaf)


def with_carried(loop: ir.Loop, params: list[int], targets: list[int]) -> ir.Loop:
    """A loop with some of its parameters and targets, in the order of their positions."""
    body = handing_out(handing_out(loop.body, ir.Continue, params), ir.Exit, targets)
    return replace(
        loop,
        params=tuple([loop.params[position] for position in params]),
        inits=tuple([loop.inits[position] for position in params]),
        body=body,
        targets=tuple([loop.targets[position] for position in targets]),
    )


def invariant_params(loop: ir.Loop, known_as: Callable[[ir.Atom], ir.Atom]) -> Iterator[tuple[int, bool]]:
    """The positions of carried variables that keep their first value; and whether exits hand out that, too.

    Parameters
    ----------
    loop
        The loop.
    known_as
        The atom that stands for another by now.
    """
    ends = list(leaves(loop.body))
    continues = [leaf.values for leaf in ends if isinstance(leaf, ir.Continue)]
    exits = [leaf.values for leaf in ends if isinstance(leaf, ir.Exit)]
    for position, (param, init) in enumerate(zip(loop.params, loop.inits, strict=True)):
        same = (param, init, ir.UNDEFINED)
        if init != ir.UNDEFINED and all(known_as(values[position]) in same for values in continues):
            in_exits = all(known_as(values[position]) in same for values in exits)
            if in_exits or loop.over is None:
                yield position, in_exits


def is_truth_of(cond: ir.Atom, then: ir.Block, orelse: ir.Block, position: int) -> bool:
    """Whether what a choice hands out at a position only spells out the truth value of its condition."""
    match then, orelse:
        case ir.Block((), ir.Yield(yes)), ir.Block((), ir.Yield(no)) if (
            isinstance(cond, ir.Var) and cond.type == ir.BOOL
        ):
            return yes[position] == ir.Const(True) and no[position] == ir.Const(False)
        case _:
            return False
