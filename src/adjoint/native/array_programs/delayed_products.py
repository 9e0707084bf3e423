"""Delayed updates: products that a loop adds to one matrix are kept, and added some at a time as a product of matrices.

``w_bar += np.outer(t, x)`` reads and writes the whole matrix for each vector; many of them at once do so once, in BLAS.
So do products of one matrix with a vector in each iteration, added to lines of another (``y[:, i] += a @ v``).
It is legal where a loop does nothing else with the matrix than to add to it, and where nobody sees the matrix if the
loop raises. Sums are added in another order.
"""

from __future__ import annotations

import operator
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import written_args
from adjoint.analysis.memory.accumulators import is_only_added_to
from adjoint.analysis.memory.alias import Aliases
from adjoint.ir.join import type_of_atom
from adjoint.ir.rebuild import map_blocks, map_body, rebuild_terminator, same_atom
from adjoint.ir.views import rank_of_part
from adjoint.ir.walk import defined_by, read_counts, statements_in, targets_of, with_inner
from adjoint.records import dataclass
from adjoint.runtime.array_functions import delayed
from adjoint.runtime.array_functions.delayed_updates import DTYPES

_PRODUCTS = (np.outer, operator.matmul, np.matmul)
_NUMBERS = np.dtype(np.int64)


def with_delayed_products(function: ir.Function) -> ir.Function:
    """The function with products that loops add to matrices added some at a time."""
    delays = _Delays(function)
    body = delays.block(function.body)
    return ir.Function(function.name, function.params, body, function.doc) if delays.changed else function


@dataclass(frozen=True, slots=True)
class _Around:
    """A loop, with what it binds, the statement that binds it, and the classes of memory that it may write."""

    bound: set[ir.Var]
    made: Mapping[ir.Var, ir.Statement]
    written: set[Hashable]


@dataclass(eq=False, slots=True)
class _Room:
    """Where products for one matrix are kept: what is called before the loop, and behind it."""

    before: list[ir.Statement]
    kept: tuple[ir.Var, ...]
    after: ir.Call


class _Delays:
    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.counts = read_counts(function.body)
        self.changed = False

    @cached_property
    def aliases(self) -> Aliases:
        return Aliases(self.function)

    def block(self, old: ir.Block) -> ir.Block:
        statements: list[ir.Statement] = []
        for statement in old.statements:
            if isinstance(statement, ir.Guarded):  # who handles an exception sees what was added before
                statements.append(statement)
                continue
            statement = map_blocks(statement, self.block)
            statements += self.loop(statement) if isinstance(statement, ir.Loop) else [statement]
        return ir.Block(tuple(statements), rebuild_terminator(old.terminator, same_atom, self.block))

    def loop(self, loop: ir.Loop) -> list[ir.Statement]:
        """A loop, with what has to be done before it and after it."""
        if not any(_is_update(each) for each in loop.body.statements):
            return [loop]
        around = self.around(loop)
        rooms: dict[object, _Room] = {}
        body: list[ir.Statement] = []
        for statement in loop.body.statements:
            instead = self.delayed(statement, loop, around, rooms) if isinstance(statement, ir.Store) else None
            body += [statement] if instead is None else instead
        if not rooms:
            return [loop]
        self.changed = True
        before = [statement for room in rooms.values() for statement in room.before]
        loop = map_body(loop, ir.Block(tuple(body), loop.body.terminator))
        return [*before, loop, *(room.after for room in rooms.values())]

    def around(self, loop: ir.Loop) -> _Around:
        inside = statements_in(loop.body)
        made = {target: statement for statement in loop.body.statements for target in targets_of(statement)}
        return _Around(defined_by(loop), made, set().union(*map(self.written_by, inside)))

    def written_by(self, statement: ir.Statement) -> set[Hashable]:
        if isinstance(statement, ir.Store):
            return self.aliases.classes([statement.base])
        if not isinstance(statement, ir.Call):
            return set()
        return self.aliases.classes(written_args(statement))

    def delayed(
        self, store: ir.Store, loop: ir.Loop, around: _Around, rooms: dict[object, _Room]
    ) -> list[ir.Statement] | None:
        """What takes the place of an addition to a matrix; None where it has to stay."""
        matrix, product = store.base, store.value
        maker = around.made.get(product) if isinstance(product, ir.Var) else None
        if not _is_update(store) or not isinstance(maker, ir.Call) or maker.callee not in (*_PRODUCTS, np.transpose):
            return None
        if self.counts[product] != 1 or not isinstance(matrix, ir.Var) or matrix in around.bound:  # type: ignore[index]
            return None
        part, loads = _part_of(matrix, store)
        if (
            ir.rank_of(type_of_atom(matrix)) != 2
            or part is None
            or not is_only_added_to(matrix, loop, self.function, self.aliases)
        ):
            return None
        takes = ir.Const(store.mode == "sub")
        if self.changes_before(maker, store, loop, around):
            return None
        if ir.rank_of(type_of_atom(part)) == 1:
            line = self.line(maker, matrix, around)
            if line is None:
                return None
            ahead, factor, a, v = line
            room = rooms.get((matrix, factor))
            if room is None:
                room = rooms[matrix, factor] = _room_for_lines(matrix, factor, ahead)
            return [
                *loads,
                ir.Call((), delayed.add_line, (matrix, part, factor, a, v, takes, *room.kept), (), store.span),
            ]
        found = self.pair(maker, around, matrix)
        if found is None:
            return None
        if matrix not in rooms:
            rooms[matrix] = _room_for_outer(matrix)
        ahead, callee, one, other = found
        args = (matrix, part, one, other, takes, *rooms[matrix].kept)
        return [*loads, *ahead, ir.Call((), callee, args, (), store.span)]

    def changes_before(self, maker: ir.Call, store: ir.Store, loop: ir.Loop, around: _Around) -> bool:
        """Whether something writes factors of a product before it is added, which is where they will be read."""
        (inner, *_) = maker.args
        found = around.made.get(inner) if maker.callee is np.transpose and isinstance(inner, ir.Var) else None
        first = found if isinstance(found, ir.Call) else maker
        statements = loop.body.statements
        between = statements[statements.index(first) + 1 : statements.index(store)]
        written = set().union(*(self.written_by(each) for outer in between for each in with_inner(outer)))
        return not written.isdisjoint(self.aliases.classes(first.args))

    def pair(
        self, maker: ir.Call, around: _Around, matrix: ir.Var
    ) -> tuple[list[ir.Statement], object, ir.Atom, ir.Atom] | None:
        """The factors of an outer product, or those of ``x.T @ y``, and what adds such a product."""
        swapped = maker.callee is np.transpose and len(maker.args) == 1
        if swapped:
            (inner,) = maker.args
            found = around.made.get(inner) if isinstance(inner, ir.Var) and self.counts[inner] == 1 else None
            if not isinstance(found, ir.Call):
                return None
            maker = found
        if maker.callee not in _PRODUCTS or maker.kwargs or len(maker.args) != 2:
            return None
        one, other = maker.args
        if not _are_alike(matrix, one, other):
            return None
        if maker.callee is np.outer:
            if ir.rank_of(type_of_atom(one)) != 1 or ir.rank_of(type_of_atom(other)) != 1:
                return None
            return [], delayed.add_outer, *((other, one) if swapped else (one, other))
        if ir.rank_of(type_of_atom(one)) != 2 or ir.rank_of(type_of_atom(other)) != 2:
            return None
        assert isinstance(one, ir.Var)
        turned = around.made.get(one)
        if isinstance(turned, ir.Call) and turned.callee is np.transpose and len(turned.args) == 1:
            ahead, x = list[ir.Statement](), turned.args[0]
        else:
            x = ir.Var(one.hint, one.type)
            ahead = [ir.Call((x,), np.transpose, (one,))]
        return ahead, delayed.add_rows, *((other, x) if swapped else (x, other))  # (a @ b).T is b.T @ a.T

    def line(
        self, maker: ir.Call, matrix: ir.Var, around: _Around
    ) -> tuple[list[ir.Statement], ir.Var, ir.Atom, ir.Atom] | None:
        """The factors of ``a @ v``, and the matrix, the same in all iterations, of which ``a`` is a part."""
        if maker.callee not in (operator.matmul, np.matmul) or len(maker.args) != 2 or maker.kwargs:
            return None
        a, v = maker.args
        ranks = ir.rank_of(type_of_atom(a)), ir.rank_of(type_of_atom(v))
        if not isinstance(a, ir.Var) or ranks != (2, 1) or not _are_alike(matrix, a, v):
            return None
        ahead: list[ir.Statement] = []
        factor = self.whole(a, around, ahead)
        if factor is None or self.aliases.of(a) in around.written or self.aliases.of(a) == self.aliases.of(matrix):
            return None
        return ahead, factor, a, v

    def whole(self, a: ir.Var, around: _Around, ahead: list[ir.Statement]) -> ir.Var | None:
        """The matrix from outside of a loop of which one is a view; ``ahead`` says how it is made there."""
        if a not in around.bound:
            return a
        match around.made.get(a):
            case ir.Load(base=ir.Var() as base, key=ir.Subscript(items=items)) if ir.rank_of(type_of_atom(base)) == 2:
                return self.whole(base, around, ahead) if all(isinstance(item, ir.Slice) for item in items) else None
            case ir.Call(callee=callee, args=(ir.Var() as base,), kwargs=()) if (
                callee is np.transpose and ir.rank_of(type_of_atom(base)) == 2
            ):
                outer = self.whole(base, around, ahead)
                if outer is None:
                    return None
                turned = ir.Var(outer.hint, outer.type)
                ahead.append(ir.Call((turned,), np.transpose, (outer,)))
                return turned
            case _:
                return None


def _is_update(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Store) and statement.mode in ("add", "sub") and isinstance(statement.value, ir.Var)


def _are_alike(*atoms: object) -> bool:
    """Whether all are arrays of real numbers of one dtype."""
    dtypes = [getattr(getattr(atom, "type", None), "dtype", None) for atom in atoms]
    return dtypes[0] in DTYPES and all(ir.same_dtype(dtype, dtypes[0]) for dtype in dtypes)


def _part_of(matrix: ir.Var, store: ir.Store) -> tuple[ir.Var | None, list[ir.Statement]]:
    """What is added to, and how it is made a view; None where its rank is not that of the product."""
    if store.key is None or store.key == ir.WHOLE:
        return matrix, []
    value = store.value
    if not isinstance(store.key, ir.Subscript) or ir.Const(Ellipsis) in store.key.items:
        return None, []
    if not isinstance(value, ir.Var) or not isinstance(value.type, ir.Array):
        return None, []
    assert isinstance(matrix.type, ir.Array)
    dims = value.type.dims
    if dims is None or len(dims) != rank_of_part(matrix, store.key):
        return None, []
    part = ir.Var(matrix.hint, ir.Array(matrix.type.dtype, tuple("any" for _ in dims), matrix.type.storage))
    return part, [ir.Load(part, matrix, store.key, store.span)]


def _room_for_outer(matrix: ir.Var) -> _Room:
    kept = (_array("us", matrix), _array("vs", matrix), _spans())
    return _Room(
        [ir.Call(kept, delayed.room_for_outer, (matrix,))], kept, ir.Call((), delayed.add_delayed, (matrix, *kept))
    )


def _room_for_lines(matrix: ir.Var, factor: ir.Var, ahead: Sequence[ir.Statement]) -> _Room:
    kept = (_array("vs", matrix), _spans())
    made = ir.Call(kept, delayed.room_for_lines, (matrix, factor))
    return _Room([*ahead, made], kept, ir.Call((), delayed.add_delayed_lines, (matrix, factor, *kept)))


def _array(hint: str, matrix: ir.Var) -> ir.Var:
    assert isinstance(matrix.type, ir.Array)
    return ir.Var(hint, ir.Array(matrix.type.dtype, ("any", "any"), ir.Storage(written=True)))


def _spans() -> ir.Var:
    return ir.Var("spans", ir.Array(_NUMBERS, ("any", "any"), ir.Storage(written=True)))
