"""Making a cotangent fit the value that it belongs to."""

from __future__ import annotations

from adjoint import ir
from adjoint.ir.builder import Builder
from adjoint.ir.join import type_of_atom
from adjoint.runtime.array_functions.arrays import unbroadcast


def fitted(sweep: Builder, cotangent: ir.Atom, var: ir.Var, *, shaped: bool = False) -> ir.Atom:
    """A cotangent with the shape and kind of its value; ``shaped`` says that a rule answers for the shape."""
    type_ = type_of_atom(cotangent)
    if type_ is var.type and type(type_) is ir.Scalar:
        return cotangent
    if same_kind(type_, var.type) or (shaped and _same_but_extents(type_, var.type)):
        return cotangent
    return sweep.call(unbroadcast, cotangent, var, hint=f"{var.hint}_bar")


def _same_but_extents(cotangent: ir.Type | None, type_: ir.Type) -> bool:
    match cotangent, type_:
        case ir.Array(dtype=dtype, dims=dims), ir.Array(dtype=own, dims=mine):
            known = dtype is not None and dims is not None and mine is not None
            return known and ir.same_dtype(dtype, own) and len(dims or ()) == len(mine or ())
        case _:
            return False


def same_kind(cotangent: ir.Type | None, type_: ir.Type) -> bool:
    """Whether types prove that a cotangent has the shape and kind of its value."""
    match cotangent, type_:
        case ir.Scalar(kind=mine, dtype=None), ir.Scalar(kind=kind, dtype=None):
            return mine == kind or (mine == "int" and kind == "float")
        case ir.Scalar(kind=mine, dtype=dtype), ir.Scalar(kind=kind, dtype=own):
            return mine == kind and dtype == own  # NumPy finds float64 equal to None: a Python float is one
        case ir.Array(dtype=dtype, dims=dims), ir.Array(dtype=own, dims=mine):
            return (
                dtype is not None
                and ir.same_dtype(dtype, own)
                and dims is not None
                and dims == mine
                and "any" not in dims
            )
        case _:
            return False
