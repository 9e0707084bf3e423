"""Arrays of records that a function makes and fills with what varies: an array for each field, known by its name.

That they are filled so is found out where it happens: lowering starts again. Others stay arrays of NumPy.
"""

from __future__ import annotations

import ast
from typing import Any

from adjoint import ir
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.data import making
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import NONE, TupleValue, Value
from adjoint.frontend.library.arrays.described_types import dtype_of
from adjoint.frontend.library.in_python import records


def made(lo: Lowerer, maker: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value | None:
    """The array of records that a call makes; None where it makes none, or nothing that varies is written there."""
    named = {**dict(zip(("shape", "dtype"), args, strict=False)), **kwargs}
    cls, fields = _described(lo, named.get("dtype"))
    if cls is None or len(args) > 2 or named.keys() != {"shape", "dtype"}:
        return None
    lo.run_data.makes_records = True
    if not lo.settings.fields_apart:
        return None
    return lo.call(ir.Const(records.made), [cls, ir.Const(maker), named["shape"], fields], {}, node)


def of_rows(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Value | None:
    """The same of a list of tuples."""
    named = {**dict(zip(("object", "dtype"), args, strict=False)), **kwargs}
    cls, fields = _described(lo, named.get("dtype"))
    rows = None if cls is None or named.keys() != {"object", "dtype"} else making.list_items(lo, named["object"])
    if not rows or cls is None or not all(isinstance(row, TupleValue) for row in rows):
        return None
    lo.run_data.makes_records = True
    if not lo.settings.fields_apart and not any(may_carry(lo, row) for row in rows):
        return None
    return lo.call(ir.Const(records.of_rows), [cls, TupleValue(tuple(rows)), fields], {}, node)


def _described(lo: Lowerer, given: Value | None) -> tuple[Value | None, Value]:
    """The class that stands for arrays of a type of records, and the names, types and extents of the fields."""
    dtype = None if given is None else dtype_of(lo, given)
    if dtype is None or dtype.names is None or dtype.hasobject:
        return None, NONE
    types = [dtype[name] for name in dtype.names]
    if any(each.base.names is not None for each in types) or not all(name.isidentifier() for name in dtype.names):
        return None, NONE
    parts = zip(dtype.names, types, strict=True)
    fields = TupleValue(tuple(_constants(name, each.base, each.shape) for name, each in parts))
    return ir.Const(records.class_of(dtype)), fields


def _constants(*parts: Any) -> Value:
    return TupleValue(tuple(map(ir.Const, parts)))
