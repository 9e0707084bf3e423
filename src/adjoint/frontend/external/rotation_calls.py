"""Rotations of SciPy that vary, or turn what varies."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from adjoint import ir
from adjoint.frontend.calls.handlers import HANDLERS, Handler, handles
from adjoint.frontend.calls.opaque.arguments import may_carry
from adjoint.frontend.external import rotation_definitions
from adjoint.frontend.external.constant_objects import made_of_constants
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.materialize import materialize
from adjoint.frontend.interpreter.values import Method, Value
from adjoint.frontend.objects import attributes
from adjoint.frontend.objects.classes import class_of

_MAKERS = ("from_quat", "from_rotvec", "from_euler", "from_mrp", "from_matrix", "concatenate")
_METHODS = ("apply", "__mul__")
"""Methods of constant rotations that may be given what varies."""


def _making(name: str) -> Handler:
    def make(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        made = made_of_constants(lo, getattr(Rotation, name), args, kwargs, node, Rotation, "rotation")
        if made is NotImplemented:
            return lo.call(ir.Const(getattr(rotation_definitions, name)), args, kwargs, node)
        return made

    return make


for _name in _MAKERS:
    HANDLERS[getattr(Rotation, _name)] = _making(_name)


def _turning(name: str) -> Handler:
    def turn(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
        if not any(_varies(lo, value) for value in (*args[1:], *kwargs.values())):
            return NotImplemented
        rotation = lo.call(ir.Const(rotation_definitions.as_rotations), args[:1], {}, node)
        return lo.call(attributes.attribute(lo, rotation, name, node), args[1:], kwargs, node)

    return turn


def _varies(lo: Lowerer, value: Value) -> bool:
    return class_of(lo, value) is rotation_definitions.Rotations or may_carry(lo, value)


for _name in _METHODS:
    HANDLERS[getattr(Rotation, _name)] = _turning(_name)


@handles(Rotation.align_vectors)
def _aligned(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if any(_varies(lo, value) for value in (*args, *kwargs.values())):
        return lo.call(ir.Const(rotation_definitions.align_vectors), args, kwargs, node)
    return NotImplemented


@handles(Slerp)
def _slerp(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if any(_varies(lo, value) for value in (*args, *kwargs.values())):
        return lo.call(ir.Const(rotation_definitions.Slerps), args, kwargs, node)
    return NotImplemented


@handles(Slerp.__call__)
def _slerp_at(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    if any(_varies(lo, value) for value in (*args[1:], *kwargs.values())):
        return lo.call(ir.Const(rotation_definitions.at_times), args, kwargs, node)
    return NotImplemented


@handles(rotation_definitions.quaternions)
def _quaternions(lo: Lowerer, args: list[Value], kwargs: dict[str, Value], node: ast.AST | None) -> Any:
    found = ir.Var("quat", ir.Array(np.dtype(float), None))
    lo.emit(ir.Call((found,), Rotation.as_quat, (materialize(lo, args[0], node, observer=True),), (), lo.span(node)))
    return found


def attribute(rotation: ir.Var, name: str) -> Value | None:
    """A method of a constant rotation that may be given what varies; None for all others."""
    return Method(ir.Const(getattr(Rotation, name)), rotation) if name in _METHODS else None
