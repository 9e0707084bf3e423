"""Where it decides what a program means which of its values are one object, or lie in one memory."""

from __future__ import annotations

import operator

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_run

_PLACES = ("data", "ctypes", "__array_interface__")
"""The attributes of arrays that tell where their memory is."""
_ON_MEMORY = (id, np.shares_memory, np.may_share_memory)


def asks_identities(function: ir.Function) -> bool:
    """Whether somebody asks whether two values are one object: what computes the same gives two."""
    return any(map(_compares_objects, statements_run(function)))


def _compares_objects(statement: ir.Statement) -> bool:
    match statement:
        case ir.Load(base=base, key=ir.Attribute(name=name)):
            return name in _PLACES and _is_computed(base)
        case ir.Call(callee=operator.is_ | operator.is_not, args=args):
            return all(isinstance(arg, ir.Var) for arg in args) and any(map(_is_computed, args))
        case ir.Call(callee=callee, args=args):  # what is written is never merged
            return callee in _ON_MEMORY and not all(ir.is_written_array(type_of_atom(arg)) for arg in args)
        case _:
            return False


def _is_computed(atom: ir.Atom) -> bool:
    return isinstance(type_of_atom(atom), (ir.Array, ir.Number, ir.Scalar))
