"""Flags of arrays that only NumPy knows: whether an array owns its memory, and whether somebody may write it.

Machine code has arrays of its own, and knows how they lie. Functions that ask for more run as Python; so do those that
make an array one that nobody may write, if they handle exceptions: a write would raise one.
"""

from __future__ import annotations

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import operands, statements_run
from adjoint.native.compile.not_native import NotNative

_HOW_IT_LIES = frozenset(
    ["c_contiguous", "f_contiguous", "contiguous", "fortran", "fnc", "forc", "aligned", "c", "f", "a"]
)


def refuse_flags(function: ir.Function) -> None:
    """Leaves a function to Python that depends on flags which machine code does not have.

    Raises
    ------
    NotNative
        If it does.
    """
    flags: set[ir.Atom] = set()
    handles = False
    changed: ir.Store | None = None
    for statement in statements_run(function):
        handles = handles or isinstance(statement, ir.Guarded)
        match statement:
            case ir.Load(target=target, base=base, key=ir.Attribute(name="flags")) if isinstance(
                type_of_atom(base), (ir.Array, ir.Number)
            ):
                flags.add(target)
            case ir.Store(base=base, key=ir.Attribute(), value=ir.Const(value=value)) if base in flags and not value:
                changed = changed or statement
            case _ if not flags.isdisjoint(operands(statement)) and not _is_of_layout(statement):
                raise NotNative("whether an array owns its memory, or may be written", (), statement.span)
    if changed is not None and handles:
        raise NotNative("an array is made one that nobody may write, and exceptions are handled", (), changed.span)


def _is_of_layout(statement: ir.Statement) -> bool:
    """Whether flags are asked how an array lies."""
    match statement:
        case ir.Load(key=ir.Attribute(name=name)) | ir.Load(key=ir.Subscript(items=(ir.Const(value=str() as name),))):
            return name.lower() in _HOW_IT_LIES
        case _:
            return False
