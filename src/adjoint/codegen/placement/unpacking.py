"""What a function takes out of a tuple, item by item, it takes in one line: ``a, b = kept``."""

from __future__ import annotations

from collections import Counter

from adjoint import ir
from adjoint.ir.walk import read_counts
from adjoint.runtime import display


def with_packs_unpacked(function: ir.Function) -> ir.Function:
    """The function with its tuples of known length taken apart where it starts."""
    packs = [param for param in function.params if isinstance(param.type, ir.Pack) and param.type.count > 1]
    if not packs:
        return function
    counts, statements = read_counts(function.body), function.body.statements
    first: list[ir.Statement] = []
    for pack in packs:
        found = _items(pack, statements, counts)
        if found is not None:
            assert isinstance(pack.type, ir.Pack)
            targets = tuple(
                found[place].target if place in found else ir.Var("unused", pack.type)
                for place in range(pack.type.count)
            )
            first.append(ir.Call(targets, display.unpack, (pack,)))
            idle = set(map(id, found.values()))
            statements = tuple(statement for statement in statements if id(statement) not in idle)
    body = ir.Block((*first, *statements), function.body.terminator)
    return ir.Function(function.name, function.params, body, function.doc)


def _items(pack: ir.Var, statements: tuple[ir.Statement, ...], counts: Counter[ir.Var]) -> dict[int, ir.Load] | None:
    """What is taken out of a tuple, by its place; None where something else is done with it."""
    found: dict[int, ir.Load] = {}
    for statement in statements:
        match statement:
            case ir.Load(base=base, key=ir.Subscript(items=(ir.Const(value=int(place)),))) if base is pack:
                if place in found:
                    return None
                found[place] = statement
    return found if found and len(found) == counts[pack] else None
