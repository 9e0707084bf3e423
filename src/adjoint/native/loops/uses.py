"""Where the variables of a function are used, and what may happen to the memory of its arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

from adjoint import ir
from adjoint.analysis.effects import effects_of
from adjoint.analysis.shapes.shape_arguments import asks_about_array
from adjoint.ir.walk import blocks_of, operands, statements_in, targets_of

Node = ir.Statement | ir.Terminator


class Uses:
    """The nodes that read each variable; the statement that makes it."""

    def __init__(self, body: ir.Block) -> None:
        self.of: defaultdict[ir.Var, list[Node]] = defaultdict(list)
        self.made: dict[ir.Var, ir.Statement] = {}
        self.scan(body)

    def scan(self, block: ir.Block) -> None:
        for node in (*block.statements, block.terminator):
            for atom in dict.fromkeys(operands(node)):
                if isinstance(atom, ir.Var):
                    self.of[atom].append(node)
            if isinstance(node, ir.Statement):
                self.made.update(dict.fromkeys(targets_of(node), node))
            for inner in blocks_of(node):
                self.scan(inner)

    def stays(self, array: ir.Var, *, lent_to: tuple[Node, ...] = ()) -> bool:
        """Whether nothing holds on to an array beyond the block that makes it, other than some nodes."""
        return all(node in lent_to or self.only_accesses(node, array) for node in self.of[array])

    def only_accesses(self, node: Node, array: ir.Var) -> bool:
        """Whether a node reads or writes elements of an array, or makes something new of it."""
        match node:
            case ir.Load(base=base, target=target, key=key) if base is array:
                if isinstance(target.type, ir.Scalar) or asks_about_array(node):
                    return not _in_key(key, array)
                return isinstance(target.type, ir.Array) and self.stays(target)
            case ir.Store(base=base, key=key, value=value) if base is array:
                return value is not array and not (key is not None and _in_key(key, array))
            case ir.Store(base=base, value=value) if value is array:
                return isinstance(base, ir.Var) and isinstance(base.type, ir.Array)  # its elements are copied
            case ir.Call():
                found = effects_of(node)
                return found.known and found.pure and not found.hands_on and found.view_of is None
            case _:
                return False


def _in_key(key: object, var: ir.Var) -> bool:
    return isinstance(key, ir.Subscript) and any(atom is var for atom in _atoms(key))


def _atoms(key: ir.Subscript) -> Iterator[object]:
    for item in key.items:
        if isinstance(item, ir.Slice):
            yield from (item.lower, item.upper, item.step)
        else:
            yield item


def own_arrays(function: ir.Function, new: Collection[Any] = ()) -> dict[ir.Var, int]:
    """Arrays that the function makes, of which no other variable shows any part, and that it does not hand out.

    With the number of statements that use their elements. ``new`` are functions whose results are new arrays, besides
    those that are known to share memory with no argument.
    """
    uses = Uses(function.body)
    names: dict[ir.Storage, set[ir.Var]] = {}
    for statement in statements_in(function.body):
        for var in targets_of(statement):
            if isinstance(var.type, ir.Array):
                names.setdefault(var.type.storage.find(), set()).add(var)
    found = {}
    for var, made in uses.made.items():
        fresh = isinstance(made, ir.Call) and (effects_of(made).fresh or any(made.callee is each for each in new))
        if isinstance(var.type, ir.Array) and fresh and names[var.type.storage.find()] == {var} and uses.stays(var):
            found[var] = sum(not asks_about_array(node) for node in uses.of[var])
    return found


def count_of_uses(node: Node, var: ir.Var) -> int:
    """How many statements use the elements of an array, from a statement inwards."""
    if asks_about_array(node):
        return 0
    inner = (inner for block in blocks_of(node) for inner in (*block.statements, block.terminator))
    return any(atom is var for atom in operands(node)) + sum(count_of_uses(part, var) for part in inner)
