"""Functions that are called in their own unit only, for LLVM to call as it likes.

Numba links what a function calls as if others might call it, too. So each call of a recursive function hands over all
of an array, nine words, of which the function may need two.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

MODULES = "adjoint_native_"
"""How the names of the modules of units begin, which are part of the names of their functions."""


@contextmanager
def private_functions() -> Iterator[None]:
    """Compiles what is inside that way; nobody else's functions, and nobody else compiles meanwhile."""
    from numba.core.codegen import CPUCodeLibrary  # lazy
    from numba.core.compiler_lock import global_compiler_lock  # lazy

    optimize = getattr(CPUCodeLibrary, "_optimize_final_module", None)
    if optimize is None:  # another version of Numba
        yield
        return

    def make_private_and_optimize(library: Any) -> Any:
        for function in library._final_module.functions:
            if MODULES in function.name and not function.is_declaration and function.linkage.name == "linkonce_odr":
                function.linkage = "internal"
        return optimize(library)

    with global_compiler_lock:
        CPUCodeLibrary._optimize_final_module = make_private_and_optimize  # type: ignore[method-assign]
        try:
            yield
        finally:
            CPUCodeLibrary._optimize_final_module = optimize  # type: ignore[method-assign]
