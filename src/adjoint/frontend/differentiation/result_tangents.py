"""The tangent of what a function returns, in the structure of that."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from adjoint import ir
from adjoint.frontend.differentiation.tangent_values import as_tuple_like, converted, of_tuples, tangent_record
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import NONE, Ref, Site, TupleValue, Union, Value
from adjoint.runtime import copies, tangents


def result_tangent(lo: Lowerer, shape: joins.Shape, results: Sequence[ir.Atom], dots: Mapping[int, ir.Atom]) -> Value:
    """The tangent of a result of ``shape``, by the leaves of the result and those of its tangent, by place."""
    return _built(lo, shape, iter(range(len(results))), results, dots)


def _built(
    lo: Lowerer, shape: joins.Shape, places: Iterator[int], results: Sequence[ir.Atom], dots: Mapping[int, ir.Atom]
) -> Value:
    match shape:
        case joins.Leaf():
            dot = dots.get(next(places), NONE)
            return of_tuples(lo, dot, shape.type) if lo.regions and isinstance(dot, ir.Var) else dot
        case joins.TupleShape(items=items, cls=cls):
            return TupleValue(tuple([_built(lo, item, places, results, dots) for item in items]), cls)
        case joins.RefShape(record=record, sites=sites):
            parts = [_built(lo, item, places, results, dots) for item in record.items]
            ref = Ref(Site(("tangent", *sites)))
            lo.store[ref] = tangent_record(record.cls, tuple(zip(record.keys, parts, strict=True)))
            return ref
        case joins.UnionShape(options=options):
            tag = results[next(places)]
            found = tuple([_built(lo, option, places, results, dots) for option in options])
            return NONE if all(value == NONE for value in found) else Union(tag, found)
        case _:
            return NONE


def owned_tangents(
    lo: Lowerer, shape: joins.Shape, results: Sequence[ir.Atom], dots: Mapping[int, ir.Atom]
) -> dict[int, ir.Atom]:
    """Tangents that share no memory with what the caller holds, in the structures of their primals."""
    ownership = _Ownership(lo, results, dots)
    ownership.walk(shape, iter(range(len(results))))
    return ownership.owned


@dataclass
class _Ownership:
    lo: Lowerer
    results: Sequence[ir.Atom]
    dots: Mapping[int, ir.Atom]
    owned: dict[int, ir.Atom] = field(default_factory=dict)

    def walk(self, shape: joins.Shape, places: Iterator[int]) -> None:
        match shape:
            case joins.Leaf():
                place = next(places)
                if place in self.dots:
                    like = materialize(self.lo, self.results[place], None, observer=True)
                    self.owned[place] = _owned(self.lo, self.dots[place], like)
            case joins.TupleShape(items=items) | joins.RefShape(record=joins.RecordShape(items=items)):
                for item in items:
                    self.walk(item, places)
            case joins.UnionShape(options=options):
                tag = self.results[next(places)]
                for case, option in enumerate(options):
                    self._where(self.lo.open.call(operator.eq, tag, ir.Const(case)), option, places)

    def _where(self, cond: ir.Atom, option: joins.Shape, places: Iterator[int]) -> None:
        """Where a result is of one of several structures, its leaves of the others are unbound."""
        lo, before = self.lo, set(self.owned)
        origin, base = lo.open, lo.store
        block = lo.fork(base, origin, is_conditional=True)
        self.walk(option, places)
        inside = {place: self.owned[place] for place in self.owned if place not in before}
        changed = {place: atom for place, atom in inside.items() if atom is not self.dots[place]}
        lo.open.terminator = ir.Yield(tuple(changed.values()))
        then = block.seal()
        lo.block, lo.store = origin, base
        if not changed:
            return
        other = ir.Block((), ir.Yield(tuple([ir.UNDEFINED] * len(changed))))
        targets = {place: ir.Var(atom.hint, atom.type, atom.named) for place, atom in changed.items()}  # type: ignore[union-attr]
        lo.emit(ir.If(cond, then, other, tuple(targets.values())))
        self.owned.update(targets)


def _owned(lo: Lowerer, atom: ir.Atom, like: ir.Atom) -> ir.Atom:
    if isinstance(atom, ir.Var) and ir.is_handle(atom.type) and not isinstance(atom.type, ir.Array):
        return converted(lo, tangents.finish, [atom, like], as_tuple_like(atom, like))
    if isinstance(atom, ir.Var) and isinstance(atom.type, (ir.Array, ir.Number)):
        return converted(lo, copies.owned, [atom], atom)
    return atom
