"""Attributes of arrays and numbers that tell of their memory: its layout, and where it lies."""

from __future__ import annotations

import ast

import numpy as np

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Value

_ADDRESSES = ("ctypes", "__array_interface__", "__array_struct__")


def metadata(lo: Lowerer, base: ir.Var, name: str, node: ast.AST | None) -> Value:
    """An attribute that is read when the derivative runs; none by which others read or write the elements."""
    if name in _ADDRESSES:
        label = f"{name!r} tells where elements lie: who reads or writes them there is not seen"
        helps = ("take the address in a function with a declared derivative: @ad.derivative_of(fn)",)
        raise lo.problem("AD0201", node, label, helps=helps)
    target = ir.Var(name, _type_of(base, name))
    lo.emit(ir.Load(target, base, ir.Attribute(name), lo.span(node)))
    return target


def _type_of(base: ir.Var, name: str) -> ir.Type:
    if name == "data":
        return ir.Opaque(memoryview)
    if name in ("nbytes", "itemsize"):
        return ir.INT
    if name == "dtype":
        return ir.Opaque(np.dtype)
    if name == "strides" and isinstance(base.type, ir.Array) and base.type.dims is not None:
        return ir.Tuple((ir.INT,) * len(base.type.dims))
    return ir.OPAQUE
