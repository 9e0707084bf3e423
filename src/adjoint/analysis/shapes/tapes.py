"""Tapes: lists that a function makes, fills and reads, and that nobody else sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from adjoint import ir
from adjoint.ir.walk import blocks_of, operands, statements_in, terminators_in
from adjoint.runtime import display


def tapes_of(body: ir.Block) -> list[ir.Var]:
    """Lists that are made here and only ever filled, read and emptied, in the order in which they are made."""
    statements = statements_in(body)
    made = [each.targets[0] for each in statements if isinstance(each, ir.Call) and _is_empty_list(each)]
    if not made:
        return []
    other: set[ir.Atom] = set()
    for statement in statements:
        match statement:
            case ir.Call() if _is_empty_list(statement):
                pass
            case ir.Call(callee=list.append, args=(_, *rest)):
                other.update(rest)
            case ir.Call(callee=list.pop, args=(_,)):  # the last item: in the middle of a tape nothing moves
                pass
            case ir.Call(callee=callee) if callee is len:
                pass
            case ir.Load(key=ir.Subscript(items=items)):
                other.update(item for item in items if isinstance(item, ir.Var))
            case ir.Store(key=ir.Subscript(items=items), value=value):
                other.update((value, *(item for item in items if isinstance(item, ir.Var))))
            case _:
                other.update(operands(statement))
    other.update(atom for end in terminators_in(body) for atom in operands(end))
    return [tape for tape in made if tape not in other]


def put_on_tape(statement: ir.Statement) -> tuple[ir.Var, ir.Atom] | None:
    """The list to which a statement adds an item, or in which it replaces one, and the item."""
    match statement:
        case ir.Call(callee=list.append, args=(ir.Var() as tape, item)):
            return tape, item
        case ir.Store(base=ir.Var() as tape, key=ir.Subscript(), value=item):
            return tape, item
        case _:
            return None


def taken_from_tape(statement: ir.Statement) -> tuple[ir.Var, ir.Var] | None:
    """The list from which a statement takes an item, or reads one, and the item."""
    match statement:
        case ir.Load(target=target, base=ir.Var() as tape, key=ir.Subscript()):
            return tape, target
        case ir.Call(targets=(target,), callee=list.pop, args=(ir.Var() as tape,)):
            return tape, target
        case _:
            return None


def _is_empty_list(call: ir.Call) -> bool:
    return call.callee is display.make_list and not call.args and len(call.targets) == 1


def pushed_together(body: ir.Block) -> Mapping[ir.Var, Mapping[ir.Atom, ir.Var]]:
    """Of each tape that is filled in one place, the tapes of the values that are put down in the same block with it.

    Items of such tapes at one index are of one turn.
    """
    counts: Counter[ir.Var] = Counter()
    blocks: list[dict[ir.Var, ir.Atom]] = []
    _collect(body, counts, blocks)
    found: dict[ir.Var, Mapping[ir.Atom, ir.Var]] = {}
    for pushed in blocks:
        single = {tape: value for tape, value in pushed.items() if counts[tape] == 1}
        of_value = {value: tape for tape, value in single.items()}
        found |= dict.fromkeys(single, of_value)
    return found


def _collect(block: ir.Block, counts: Counter[ir.Var], blocks: list[dict[ir.Var, ir.Atom]]) -> None:
    own: dict[ir.Var, ir.Atom] = {}
    blocks.append(own)
    for statement in block.statements:
        put = put_on_tape(statement)
        if put is not None:
            tape, value = put
            counts[tape] += 1 if isinstance(statement, ir.Call) else 2  # what is replaced counts as another place
            own[tape] = value
        elif isinstance(statement, ir.Call) and statement.callee is list.pop and isinstance(statement.args[0], ir.Var):
            counts[statement.args[0]] += 2  # then an index is that of several turns
        for inner in blocks_of(statement):
            _collect(inner, counts, blocks)
    if isinstance(block.terminator, ir.Branch):
        _collect(block.terminator.then, counts, blocks)
        _collect(block.terminator.orelse, counts, blocks)
