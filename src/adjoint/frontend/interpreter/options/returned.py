"""What a caller is handed back: a value of one of several structures is whichever it has."""

from __future__ import annotations

import operator
from collections.abc import Callable

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.options.choices import has_options
from adjoint.frontend.interpreter.values import Record, Ref, Site, TupleValue, Union, Value
from adjoint.records import replace


def returned(lo: Lowerer, value: Value) -> ir.Atom:
    """An atom for the value, as it leaves what is compiled."""
    return materialize(lo, _of_one_structure(lo, value), None, observer=True)


def _of_one_structure(lo: Lowerer, value: Value) -> Value:
    """The value, where variables of which nothing is known stand for those parts that have several structures."""
    match value:
        case Union():
            return _one_of(lo, value, 0)
        case TupleValue(items=items) if _has_options(lo, value, ()):
            return replace(value, items=tuple(_of_one_structure(lo, item) for item in items))
        case Ref(origin=None) if _has_options(lo, value, ()):
            record = lo.store[value]
            assert isinstance(record, Record)
            parts = tuple((key, _of_one_structure(lo, item)) for key, item in record.parts)
            seen = Ref(Site((*value.site.place, "returned")))
            lo.store[seen] = Record(record.cls, parts)
            return seen
        case _:
            return value


def _has_options(lo: Lowerer, value: Value, around: tuple[Ref, ...]) -> bool:
    """Whether a value has a part of several structures; one that is a part of itself has the others to tell."""
    match value:
        case Ref(origin=None) if value not in around:
            record = lo.store[value]
            return isinstance(record, Record) and any(_has_options(lo, each, (*around, value)) for each in record.items)
        case TupleValue(items=items):
            return any(_has_options(lo, each, around) for each in items)
        case _:
            return has_options(value)


def _one_of(lo: Lowerer, union: Union, index: int) -> ir.Atom:
    """The value from one of its structures on: the tag decides at run time what is made."""
    if index == len(union.options) - 1:
        return returned(lo, union.options[index])
    cond = lo.open.call(operator.eq, union.tag, ir.Const(index))
    origin, base = lo.open, lo.store

    def side(make: Callable[[], ir.Atom]) -> ir.Block:
        block = lo.fork(base, origin, is_conditional=True)
        atom = make()
        lo.open.terminator = ir.Yield((atom,))
        return block.seal()

    then = side(lambda: returned(lo, union.options[index]))
    orelse = side(lambda: _one_of(lo, union, index + 1))
    lo.block, lo.store = origin, base
    target = ir.Var("result", ir.OPAQUE)
    lo.emit(ir.If(cond, then, orelse, (target,)))
    return target
