"""Machine code of functions that Adjoint writes itself, as it writes IR or text: updates and loops of training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.codegen.texts import Emitted, load
from adjoint.ir.fingerprint import Nameless, fingerprint
from adjoint.native.compile.messages.progress import told_when_slow
from adjoint.native.kept.known_objects import entry_of, keep_object, known_object
from adjoint.native.llvm.signatures import kinds_of, require_known_here
from adjoint.native.options import PLAIN
from adjoint.target import MACHINE


def form_of(emitted: Emitted, types: Sequence[ir.Type]) -> ir.Function:
    """The function of a text for arguments of some types, as machine code is made of it."""
    from adjoint.native.helpers.lowering import lowered  # lazy

    return lowered(load(emitted), types)


def array_type(dtype: np.dtype[Any], rank: int = 1) -> ir.Array:
    """The type of arrays that are written."""
    any_extent: ir.Dim = "any"
    return ir.Array(dtype, (any_extent,) * rank, ir.Storage(written=True))


def machine_code(form: ir.Function, args: Sequence[Any]) -> Callable[..., Any]:
    """A function as machine code for arguments like these; kept for later processes.

    Raises
    ------
    NotNative
        If a statement has no form there.
    """
    from adjoint.native.llvm.unit import compiled  # lazy

    kinds = kinds_of(args)
    try:
        entry = entry_of(form.name, fingerprint(form, None), kinds, (), PLAIN, MACHINE)
    except Nameless:
        entry = None
    unit = None if entry is None else known_object(entry)
    if unit is None:
        require_known_here()
        with told_when_slow(form.name):
            unit = compiled(form, kinds)
        if entry is not None:
            keep_object(entry, unit)
    return unit.load()
