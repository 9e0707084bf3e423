"""Where the variables of a function are used, and what may happen to the memory of its arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from adjoint.ir.effects import effects_of
from adjoint.ir.nodes import Attribute, Block, Call, Function, Load, Slice, Statement, Store, Subscript, Terminator, Var
from adjoint.ir.types import Array, Scalar, Storage
from adjoint.ir.walk import blocks_of, operands, statements_in, targets_of

Node = Statement | Terminator


class Uses:
    """The nodes that read each variable; the statement that makes it."""

    def __init__(self, body: Block) -> None:
        self.of: defaultdict[Var, list[Node]] = defaultdict(list)
        self.made: dict[Var, Statement] = {}
        self.scan(body)

    def scan(self, block: Block) -> None:
        for node in (*block.statements, block.terminator):
            for atom in dict.fromkeys(operands(node)):
                if isinstance(atom, Var):
                    self.of[atom].append(node)
            if isinstance(node, Statement):
                self.made.update(dict.fromkeys(targets_of(node), node))
            for inner in blocks_of(node):
                self.scan(inner)

    def stays(self, array: Var, *, lent_to: tuple[Node, ...] = ()) -> bool:
        """Whether nothing holds on to an array beyond the block that makes it, other than some nodes."""
        return all(node in lent_to or self.only_accesses(node, array) for node in self.of[array])

    def only_accesses(self, node: Node, array: Var) -> bool:
        """Whether a node reads or writes elements of an array, or makes something new of it."""
        match node:
            case Load(base=base, target=target, key=key) if base is array:
                if isinstance(key, Attribute) or isinstance(target.type, Scalar):
                    return not _in_key(key, array)
                return isinstance(target.type, Array) and self.stays(target)
            case Store(base=base, key=key, value=value) if base is array:
                return value is not array and not (key is not None and _in_key(key, array))
            case Store(base=base, value=value) if value is array:
                return isinstance(base, Var) and isinstance(base.type, Array)  # its elements are copied
            case Call():
                found = effects_of(node)
                return found.known and found.pure and not found.hands_on and found.view_of is None
            case _:
                return False


def _in_key(key: object, var: Var) -> bool:
    return isinstance(key, Subscript) and any(atom is var for atom in _atoms(key))


def _atoms(key: Subscript) -> Iterator[object]:
    for item in key.items:
        if isinstance(item, Slice):
            yield from (item.lower, item.upper, item.step)
        else:
            yield item


def own_arrays(function: Function) -> dict[Var, int]:
    """Arrays that the function makes, of which no other variable shows any part, and that it does not hand out.

    With the number of statements that use their elements.
    """
    uses = Uses(function.body)
    names: dict[Storage, set[Var]] = {}
    for statement in statements_in(function.body):
        for var in targets_of(statement):
            if isinstance(var.type, Array):
                names.setdefault(var.type.storage.find(), set()).add(var)
    found = {}
    for var, made in uses.made.items():
        fresh = isinstance(made, Call) and effects_of(made).fresh
        if isinstance(var.type, Array) and fresh and names[var.type.storage.find()] == {var} and uses.stays(var):
            found[var] = sum(not _asks_for_shape(node) for node in uses.of[var])
    return found


def _asks_for_shape(node: Node) -> bool:
    return isinstance(node, Load) and isinstance(node.key, Attribute)


def count_of_uses(node: Node, var: Var) -> int:
    """How many statements use the elements of an array, from a statement inwards."""
    if _asks_for_shape(node):
        return 0
    inner = (inner for block in blocks_of(node) for inner in (*block.statements, block.terminator))
    return any(atom is var for atom in operands(node)) + sum(count_of_uses(part, var) for part in inner)
