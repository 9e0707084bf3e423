"""Machine code of kernels that Adjoint writes itself, as IR or as text: updates of arrays, and loops of training."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import ir
from adjoint.codegen.texts import Emitted, load
from adjoint.ir.fingerprint import known_fingerprint
from adjoint.native.compile.not_native import NotNative
from adjoint.native.kept.known_objects import entry_of, kept_or_made
from adjoint.native.llvm.signatures import kinds_of
from adjoint.native.llvm.values import ArrayKind, Kind, dtype_of
from adjoint.native.options import PLAIN
from adjoint.progress import told_when_slow
from adjoint.target import MACHINE

if TYPE_CHECKING:
    from adjoint.native.llvm.unit import Unit


def elementwise(emitted: Emitted, arrays: int, numbers: int, dtype: np.dtype[Any]) -> ir.Function:
    """The kernel of a text, as machine code is made of it: it takes so many arrays of one axis, then numbers."""
    from adjoint.native.helpers.lowering import lowered  # lazy

    array = ir.Array(dtype, ("any",), ir.Storage(written=True))  # of one memory: they may be the same
    return lowered(load(emitted), [*[array] * arrays, *[ir.Scalar("float", dtype)] * numbers])


def compiled_loops(function: Callable[..., Any], args: Sequence[Any]) -> Callable[..., Any]:
    """A function of arrays and whole numbers, as machine code for arguments like these; itself where there is none."""
    if importlib.util.find_spec("llvmlite") is None:
        return function
    return _compiled_loops(function, kinds_of(args))


@functools.cache
def _compiled_loops(function: Callable[..., Any], kinds: tuple[Kind, ...]) -> Callable[..., Any]:
    from adjoint.native.helpers.lowering import lowered  # lazy

    try:
        return _for_kinds(lowered(function, list(map(_type_of, kinds))), kinds)
    except NotNative:
        return function


def _type_of(kind: Kind) -> ir.Type:
    if not isinstance(kind, ArrayKind):
        return ir.Scalar("int")
    return ir.Array(dtype_of(kind.element), ("any",) if kind.rank == 1 else ("any", "any"), ir.Storage())


def machine_code(form: ir.Function, args: Sequence[Any]) -> Callable[..., Any]:
    """A function as machine code for arguments like these; kept for later processes.

    Raises
    ------
    NotNative
        If a statement has no form there.
    """
    return _for_kinds(form, kinds_of(args))


def _for_kinds(form: ir.Function, kinds: tuple[Kind, ...]) -> Callable[..., Any]:
    def make() -> Unit:
        from adjoint.native.llvm.unit import compiled  # lazy

        with told_when_slow(f"compiling {form.name} to machine code"):
            return compiled(form, kinds)

    return kept_or_made(entry_of(form.name, known_fingerprint(form), kinds, (), PLAIN, MACHINE), make).load()
