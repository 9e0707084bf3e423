"""Machine code of kernels that Adjoint writes itself, as IR or as text: updates of arrays, and loops of training."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import ir
from adjoint.codegen.texts import Emitted, load
from adjoint.ir.fingerprint import known_fingerprint
from adjoint.native.compile.messages.not_native import NotNative
from adjoint.native.compile.messages.progress import told_when_slow
from adjoint.native.kept.known_objects import entry_of, kept_or_made
from adjoint.native.llvm.signatures import kinds_of
from adjoint.native.options import PLAIN
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
    from adjoint.native.helpers.lowering import lowered  # lazy

    try:
        return machine_code(lowered(function, [_type_of(arg) for arg in args]), args)
    except NotNative:
        return function


def _type_of(arg: Any) -> ir.Type:
    if not isinstance(arg, np.ndarray):
        return ir.Scalar("int")
    return ir.Array(arg.dtype, ("any",) if arg.ndim == 1 else ("any", "any"), ir.Storage())


def machine_code(form: ir.Function, args: Sequence[Any]) -> Callable[..., Any]:
    """A function as machine code for arguments like these; kept for later processes.

    Raises
    ------
    NotNative
        If a statement has no form there.
    """

    def make() -> Unit:
        from adjoint.native.llvm.unit import compiled  # lazy

        with told_when_slow(form.name):
            return compiled(form, kinds)

    kinds = kinds_of(args)
    return kept_or_made(entry_of(form.name, known_fingerprint(form), kinds, (), PLAIN, MACHINE), make).load()
