"""Types of run-time values: what is known of an argument, or of what a function captures."""

from __future__ import annotations

from collections import Counter
from types import FunctionType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.rules.joined_types import join_all
from adjoint.types.array_libraries import dtype_of, is_foreign
from adjoint.types.classes.safe_lookups import is_marked
from adjoint.types.structure import DICTS, fields_of, float_fields, is_namedtuple_class, is_written_in_python, slots_of

KINDS: dict[type, ir.ScalarKind] = {float: "float", int: "int", bool: "bool", complex: "complex"}
MOST_VISITS = 3
"""How often an object is looked into that leads back to one around it: there are as many ways as there are paths."""


class AnyExtents(np.ndarray[Any, Any]):
    """An example of arrays of which only dtype and rank are known."""


def abstract(value: Any) -> ir.Type:
    """The type of a run-time value; of an object that holds one of those around it nothing is known there."""
    return _Look().type_of(value)


class _Look:
    """What is known of objects that were looked into."""

    def __init__(self) -> None:
        self.types: dict[int, ir.Type] = {}
        self.visits: Counter[int] = Counter()
        self.around: dict[int, None] = {}
        self.turns = 0
        """How often an object was met again that is around."""

    def type_of(self, value: Any) -> ir.Type:
        cls = type(value)
        kind = KINDS.get(cls)
        if kind is not None:
            return ir.Scalar(kind)
        if isinstance(value, np.ndarray):
            if cls not in (np.ndarray, np.memmap, AnyExtents) or value.dtype.kind not in ir.KINDS_OF_DTYPES:
                return ir.Opaque(cls)
            if cls is AnyExtents:
                return ir.Array(value.dtype, tuple(["any" for _ in value.shape]))
            return ir.Array(value.dtype, tuple(["one" if extent == 1 else "many" for extent in value.shape]))
        if isinstance(value, np.generic):
            return (
                ir.Scalar(ir.KINDS_OF_DTYPES[value.dtype.kind], value.dtype)
                if value.dtype.kind in ir.KINDS_OF_DTYPES
                else ir.Opaque(cls)
            )
        if is_foreign(value):
            return ir.Array(dtype_of(value), tuple(["one" if extent == 1 else "many" for extent in value.shape]))
        if cls is list:
            return ir.List(join_all([self.type_of(item) for item in value]) if value else None)
        if isinstance(value, tuple):
            is_known = cls is tuple or is_namedtuple_class(cls)
            return ir.Tuple(tuple([self.type_of(item) for item in value]), cls) if is_known else ir.Opaque(cls)
        if cls is dict:
            return ir.Dict(join_all([self.type_of(item) for item in value.values()]) if value else None)
        return ir.Opaque(cls) if cls in DICTS else self._type_of_object(value, cls)

    def _type_of_object(self, value: Any, cls: type) -> ir.Type:
        if is_marked(cls, "__adjoint_signature__"):
            return ir.Opaque(cls, value.__adjoint_signature__)
        if isinstance(value, type) or _is_called_by_machine_code(cls):
            return ir.Opaque(cls)
        if cls.__module__ == "builtins" and not is_written_in_python(cls):
            return ir.Opaque(cls)
        if not hasattr(value, "__dict__") and not slots_of(cls):
            return ir.Opaque(cls)
        if id(value) in self.around:
            self.turns += 1
            return ir.Opaque(cls)
        return self._type_of_fields(value, cls)

    def _type_of_fields(self, value: Any, cls: type) -> ir.Type:
        known = self.types.get(id(value))
        if known is not None:
            return known
        self.visits[id(value)] += 1
        if self.visits[id(value)] > MOST_VISITS:
            return ir.Opaque(cls)
        turns = self.turns
        self.around[id(value)] = None
        counted = float_fields(cls)
        whole = ir.Scalar("float")
        fields = {
            name: whole if type(item) is int and name in counted else self.type_of(item)
            for name, item in fields_of(value).items()
        }
        del self.around[id(value)]
        type_ = ir.Instance(cls, fields)
        if turns == self.turns:  # it leads to nothing around it, wherever it is met
            self.types[id(value)] = type_
        return type_


def _is_called_by_machine_code(cls: type) -> bool:
    """Whether objects of a class can be called, and what runs then is not Python code."""
    call = next((vars(base)["__call__"] for base in cls.__mro__ if "__call__" in vars(base)), None)
    return call is not None and not isinstance(call, FunctionType)
