"""What loops keep only for its shape is kept once, where the shape is the same in each iteration.

Then the last array does for all: loops hand it on, and no list holds the others. What has no value on some path is kept
as it is: the last may be that.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from adjoint import ir
from adjoint.analysis.shapes.shape_arguments import may_have_no_shape
from adjoint.differentiation.reverse.residuals.shapes.unread_results import tapes_of_one_shape
from adjoint.ir.rebuild import map_blocks, map_branch, substitute, with_values
from adjoint.ir.walk import blocks_of, targets_of
from adjoint.records import replace


def without_equal_shapes(function: ir.Function) -> ir.Function:
    """The function with one array in place of each tape of arrays of one shape of which nothing else is asked."""
    tapes = tapes_of_one_shape(function)
    fills = _Fills(tapes, function.body)
    if fills.single:
        shapeless = may_have_no_shape(function.body)
        fills.single -= {tape for tape, kept in fills.kept.items() if kept in shapeless}
    if not fills.single:
        return function
    last = _Last([tape for tape in tapes if tape in fills.single], fills)
    body = last.block(function.body, {})
    if not last.taken:
        return function
    return ir.Function(function.name, function.params, substitute(body, last.taken), function.doc)


class _Fills:
    """Where tapes are filled.

    Attributes
    ----------
    inside
        The tapes that are filled by a statement or inside of it, by its identity.
    kept
        What is put on a tape.
    single
        The tapes that are filled at one place, around which are only loops and branches, and taken from behind those.
    """

    def __init__(self, tapes: Collection[ir.Var], body: ir.Block) -> None:
        self.inside: dict[int, set[ir.Var]] = {}
        self.kept: dict[ir.Var, ir.Var] = {}
        self.single: set[ir.Var] = set()
        self._tapes = frozenset(tapes)
        self._others: set[ir.Var] = set()
        if tapes:
            self._block(body)
            self.single -= self._others

    def _block(self, block: ir.Block) -> tuple[set[ir.Var], set[ir.Var]]:
        """Looks through a block; gives the tapes that are filled in it, and those that something is taken from."""
        made: set[ir.Var] = set()
        filled: set[ir.Var] = set()
        taken: set[ir.Var] = set()
        for statement in block.statements:
            inside, from_ = self._statement(statement)
            self._others |= from_ & made - filled | from_ & inside
            made |= self._tapes.intersection(statement.targets) if isinstance(statement, ir.Call) else set()
            filled |= inside
            taken |= from_
        self.single |= made & filled
        for side in blocks_of(block.terminator):
            inside, from_ = self._block(side)
            filled |= inside
            taken |= from_
        return filled, taken

    def _statement(self, statement: ir.Statement) -> tuple[set[ir.Var], set[ir.Var]]:
        filled: set[ir.Var] = set()
        taken: set[ir.Var] = set()
        for block in blocks_of(statement):
            inside, from_ = self._block(block)
            filled |= inside
            taken |= from_
        if not isinstance(statement, (ir.If, ir.Loop)):
            self._others |= filled
        if isinstance(statement, (ir.Call, ir.Load)):
            tape, use = _use_of(statement)
            if tape in self._tapes:
                assert isinstance(tape, ir.Var)
                if use == "fill" and tape not in self.kept:
                    self.kept[tape] = statement.args[1]  # type: ignore[union-attr, assignment]
                    filled.add(tape)
                elif use == "take":
                    taken.add(tape)
                else:
                    self._others.add(tape)
        elif isinstance(statement, ir.Store) and statement.base in self._tapes:
            self._others.add(statement.base)  # type: ignore[arg-type]
        self.inside[id(statement)] = filled
        return filled, taken


def _use_of(statement: ir.Call | ir.Load) -> tuple[ir.Atom | None, str]:
    """What a statement does something with that may be a tape, and what."""
    if isinstance(statement, ir.Load):
        return statement.base, "take"
    use = {list.append: "fill", list.pop: "take", len: "measure"}.get(statement.callee) if statement.args else None
    return (None, "") if use is None else (statement.args[0], use)


class _Last:
    """Hands on what was put on tapes last; ``taken`` has what stands for what was taken from them."""

    def __init__(self, tapes: Sequence[ir.Var], fills: _Fills) -> None:
        self._tapes = tapes
        self._fills = fills
        self.taken: dict[ir.Var, ir.Atom] = {}

    def block(
        self, block: ir.Block, last: Mapping[ir.Var, ir.Atom], handed: Sequence[ir.Var] = (), slot: int = 0
    ) -> ir.Block:
        """The block without the tapes; at its ends it hands out what was put on those in ``handed``, in a slot."""
        current = dict(last)
        statements: list[ir.Statement] = []
        for statement in block.statements:
            if isinstance(statement, (ir.Call, ir.Load)):
                if not self._is_done(statement, current):
                    statements.append(statement)
                continue
            inside = self._fills.inside[id(statement)]
            filled = [tape for tape in self._tapes if tape in inside and tape in current]
            if filled:
                assert isinstance(statement, (ir.If, ir.Loop))
                statements.append(self._handing_on(statement, current, filled))
            else:
                statements.append(map_blocks(statement, lambda inner: self.block(inner, current)))
        end: ir.Terminator = block.terminator
        if isinstance(end, ir.Branch):
            end = map_branch(end, lambda side: self.block(side, current, handed, slot))
        elif handed and isinstance(end, (ir.Yield, ir.Continue, ir.Exit)):
            end = with_values(end, (*end.values[:slot], *(current[tape] for tape in handed), *end.values[slot:]))
        return ir.Block(tuple(statements), end)

    def _is_done(self, statement: ir.Call | ir.Load, current: dict[ir.Var, ir.Atom]) -> bool:
        """Whether a statement makes, fills or reads a tape, which takes down what was put on it last."""
        if isinstance(statement, ir.Call) and statement.targets and statement.targets[0] in self._fills.single:
            current[statement.targets[0]] = ir.UNDEFINED
            return True
        tape, use = _use_of(statement)
        if tape not in self._fills.single:
            return False
        assert isinstance(tape, ir.Var)
        if use == "fill":
            current[tape] = self._fills.kept[tape]
        else:
            self.taken[targets_of(statement)[0]] = current[tape]
        return True

    def _handing_on(
        self, statement: ir.If | ir.Loop, current: dict[ir.Var, ir.Atom], tapes: Sequence[ir.Var]
    ) -> ir.Statement:
        """The statement that hands on what is put on tapes inside of it."""
        if isinstance(statement, ir.Loop):
            slot = len(statement.params)
            params = {tape: self._named(tape) for tape in tapes}
            mapped: ir.If | ir.Loop = replace(
                statement,
                params=(*statement.params, *params.values()),
                inits=(*statement.inits, *(current[tape] for tape in tapes)),
                body=self.block(statement.body, {**current, **params}, tapes, slot),
            )
        else:
            slot = len(statement.targets)
            then, orelse = (self.block(side, current, tapes, slot) for side in (statement.then, statement.orelse))
            mapped = replace(statement, then=then, orelse=orelse)
        targets = {tape: self._named(tape) for tape in tapes}
        current.update(targets)
        return replace(mapped, targets=(*statement.targets[:slot], *targets.values(), *statement.targets[slot:]))

    def _named(self, tape: ir.Var) -> ir.Var:
        kept = self._fills.kept[tape]
        return ir.Var(kept.hint, kept.type, kept.named)
