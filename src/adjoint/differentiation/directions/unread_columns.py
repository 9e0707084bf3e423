"""Columns of a product that nobody reads are not computed: the last row of a transform in homogeneous coordinates."""

from __future__ import annotations

from collections.abc import Iterator

from adjoint.ir.join import is_whole_number
from adjoint.ir.nodes import Atom, Block, Call, Const, Function, Load, Slice, Statement, Subscript, Var
from adjoint.ir.types import Array
from adjoint.ir.walk import map_blocks, operands, rebuild_terminator, same_atom, statements_in, terminators_in
from adjoint.runtime.sparse_products import product_of_moving

_NOTHING = Const(None)


def with_narrow_products(function: Function) -> Function:
    """The function with products of a direction as wide as the elements that are read of their rows."""
    widths = dict(_Reads(function).widths())
    if not widths:
        return function

    def block(old: Block) -> Block:
        statements = tuple(new for statement in old.statements for new in narrowed(map_blocks(statement, block)))
        return Block(statements, rebuild_terminator(old.terminator, same_atom, block))

    def narrowed(statement: Statement) -> Iterator[Statement]:
        if isinstance(statement, Call) and statement.targets and statement.targets[0] in widths:
            a, b, *how = statement.args
            assert isinstance(b, Var)
            columns = Slice(_NOTHING, Const(widths[statement.targets[0]]), _NOTHING)
            part = Var(b.hint, b.type, b.named)
            yield Load(part, b, Subscript((Slice(_NOTHING, _NOTHING, _NOTHING), columns), tupled=True), statement.span)
            yield Call(statement.targets, statement.callee, (a, part, *how), (), statement.span)
        else:
            yield statement

    return Function(function.name, function.params, block(function.body), function.doc)


class _Reads:
    """What a function reads of products: elements of their rows, or anything else."""

    def __init__(self, function: Function) -> None:
        self._products: list[Var] = []
        self._loads: dict[Atom, list[Load]] = {}
        self._others: set[Atom] = set()
        for statement in statements_in(function.body):
            match statement:
                case Load(base=base, key=Subscript(items=items)):
                    self._loads.setdefault(base, []).append(statement)
                    self._others.update(item for item in items if not isinstance(item, Slice))
                    continue
                case Call(callee=callee, targets=(product,)) if callee is product_of_moving:
                    self._products.append(product)
            self._others.update(operands(statement))
        for end in terminators_in(function.body):
            self._others.update(operands(end))

    def widths(self) -> Iterator[tuple[Var, int]]:
        """The products of which only elements of rows are read, at known places; and how far these reach."""
        for product in self._products:
            places = list(self._places(product))
            known = [place for place in places if place is not None]
            if known and len(known) == len(places):
                yield product, 1 + max(known)

    def _places(self, product: Var) -> Iterator[int | None]:
        """The columns that are read; None for what is not known."""
        if product in self._others:
            yield None
        for load in self._loads.get(product, ()):
            match load.key:
                case Subscript(items=(place,)) if is_whole_number(place) and isinstance(load.target.type, Array):
                    yield from self._places_in_row(load.target)
                case Subscript(items=(place, Const(value=column))) if is_whole_number(place):
                    yield _known(column)
                case _:
                    yield None

    def _places_in_row(self, row: Var) -> Iterator[int | None]:
        if row in self._others:
            yield None
        for load in self._loads.get(row, ()):
            match load.key:
                case Subscript(items=(Const(value=column),)):
                    yield _known(column)
                case _:
                    yield None


def _known(column: object) -> int | None:
    return column if type(column) is int and column >= 0 else None
