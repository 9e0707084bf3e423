"""Arrays that are made of a shape."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.frontend.calls.handlers import handles
from adjoint.frontend.data import making
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import type_of
from adjoint.frontend.interpreter.values import NONE, TupleValue, Value
from adjoint.frontend.library.arrays import records


@handles(np.ndarray)
def _new_array(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    """An array of memory of its own, as its class makes it; one over a buffer is not for us."""
    given = {**dict(zip(("shape", "dtype"), args, strict=False)), **kwargs}
    if len(args) > 2 or not given.keys() <= {"shape", "dtype", "order"}:
        return NotImplemented
    return lo.call(ir.Const(np.empty), [], given, node)


def _makes(maker: Any) -> None:
    @handles(maker)
    def made(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        """An array of a shape that is told by name, or as a list: as a tuple, of which the extents are known."""
        of_records = records.made(lo, maker, args, kwargs, node)
        if of_records is not None:
            return of_records
        shape = args[0] if args else kwargs.get("shape", NONE)
        extent = type_of(shape)
        if isinstance(extent, ir.Scalar) and extent.kind == "float":
            raise lo.mistake(TypeError, node, "'float' object cannot be interpreted as an integer")
        items = making.list_items(lo, shape)
        if items is None and (args or "shape" not in kwargs):
            return NotImplemented
        rest = {name: value for name, value in kwargs.items() if name != "shape"}
        return lo.call(ir.Const(maker), [shape if items is None else TupleValue(items), *args[1:]], rest, node)


for _maker in (np.empty, np.zeros, np.ones, np.full):
    _makes(_maker)
