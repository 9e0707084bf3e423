"""Arrays of other libraries that go into a derivative: all of one library, on one device."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.diagnostics import error
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.records import replace
from adjoint.types.array_libraries import Library, dtype_of, is_foreign, library_of, name_of


def note_library(lo: Lowerer, value: Any, name: str) -> None:
    """Takes down of which library an input is; raises where it does not go with the others.

    Raises
    ------
    Restart
        At the first one: what the function does depends on it from its beginning.
    """
    known = lo.settings.target.library
    if not is_foreign(value):
        _refuse_numpy(known, value, name)
    library = library_of(value)
    if name_of(value) == "torch" and value.requires_grad:
        helps = (
            f"hand over {name}.detach()",
            "for a derivative inside a program of autograd: adjoint.interop.torch.function(f)",
        )
        raise error("AD0606", None, f"{name!r} is a tensor that autograd follows", helps=helps)
    if dtype_of(value) is None:
        raise error("AD0603", None, f"{name!r} is an array of {value.dtype}", name=f"an array of {value.dtype}")
    if known is None:
        lo.settings.target = replace(lo.settings.target, library=library)
        raise Restart
    if known.name == library.name and "" in (known.device, library.device):
        if known.device:
            lo.settings.target = replace(lo.settings.target, library=Library(known.name, ""))
            raise Restart
        return
    if known != library:
        raise error("AD0605", None, f"{name!r} is an array of {library}, and others are of {known}")


def _refuse_numpy(known: Library | None, value: Any, name: str) -> None:
    if isinstance(value, np.ndarray):
        raise error("AD0605", None, f"{name!r} is an array of NumPy, and others are of {known}")
    label = f"{name!r} is a number of NumPy, and arrays are of {known}"
    raise error("AD0605", None, label, helps=(f"hand over a number of Python: {name}.item()",))
