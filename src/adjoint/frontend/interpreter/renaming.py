"""Values with a new variable for each number and array in them that varies: what they are from one place on."""

from __future__ import annotations

from collections.abc import Callable

from adjoint import ir
from adjoint.frontend.differentiation.tangent_values import varying_parts
from adjoint.frontend.interpreter import joins
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Record, Ref, Site, TupleValue, Union, Value

NewVar = Callable[[ir.Var | ir.Const], Value]
Refuse = Callable[[Union], Value]


def renamed(lo: Lowerer, value: Value, new: NewVar, of_kinds: Refuse) -> Value:
    """The value with what ``new`` gives for each number, array and container in it that varies."""
    copies: dict[Ref, Ref] = {}

    def copied(part: Value) -> Value:
        match part:
            case ir.Var(type=type_) if ir.carries_derivative(type_):
                return new(part)
            case ir.Const(value=float()):
                return new(part)
            case TupleValue(items=items, cls=cls):
                return TupleValue(tuple(map(copied, items)), cls)
            case Ref():
                return copies[part] if part in copies else copied_object(part)
            case Union():
                return of_kinds(part)
            case _:
                return part

    def copied_object(part: Ref) -> Ref:
        """An object of the new variables. It is the same one: where either is written both exist at run time."""
        record = lo.store[part]
        assert isinstance(record, Record)
        copy = copies[part] = Ref(Site(("joined", *joins.original_sites((part.site,)))))
        varying = dict(varying_parts(record))
        parts = [(key, copied(item) if key in varying else item) for key, item in record.parts]
        lo.store[copy] = Record(record.cls, tuple(parts))
        part.joins.append(True)
        return copy

    return copied(value)
