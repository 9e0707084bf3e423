"""The native back end: derivatives that Numba compiles, and Python where it cannot.

Numba is imported only when something is compiled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.codegen.python import emit
from adjoint.codegen.texts import Emitted, load
from adjoint.diagnostics import Diagnostic
from adjoint.native.compile.core import Core
from adjoint.native.compile.messages.not_native import NotNative, faults_as_reasons
from adjoint.native.compile.signatures import agreements
from adjoint.pipeline import EMITTED, NATIVE
from adjoint.records import replace
from adjoint.target import Target

if TYPE_CHECKING:
    from adjoint.native.compile.threads import InThreads


class NativeFunction:
    """A derivative of which all but its boundary is compiled.

    Parameters
    ----------
    function
        The derivative, ready to be printed.
    flags
        Options for the compiler.
    strict
        Whether it is an error if it cannot be compiled.
    target
        What it was made for.
    background
        Whether it runs as Python until a child process has compiled it.

    Attributes
    ----------
    run
        What a call runs: a plain function or method, which Python calls faster than an object.
    boundary
        The text of the boundary, if there is one.
    """

    def __init__(
        self, function: ir.Function, flags: str, strict: bool, target: Target, *, background: bool = False
    ) -> None:
        from adjoint.native.compile.boundary import halves  # lazy

        self._function = function
        self._target = target
        parts = halves(function)
        core = function if parts is None else parts.core
        self._core = _core_of(core, flags, strict, target, background)
        self.run: Callable[..., Any] = self._core.__call__
        self.boundary = None if parts is None else emit(parts.boundary(self._core))
        if self.boundary is not None:
            values = self.boundary.namespace.items()
            namespace = {name: self.run if value is self._core else value for name, value in values}
            self.run = load(replace(self.boundary, namespace=namespace))

    def __call__(self, *args: Any) -> Any:
        return self.run(*args)

    @functools.cached_property
    def emitted(self) -> Emitted:
        """The text of the whole derivative for the compiler, for texts that are compiled with it."""
        return compiled_text(self._function, self._target)

    @property
    def form(self) -> ir.Function:
        """The whole derivative as machine code is made of it, for functions that call it.

        Raises
        ------
        NotNative
            If there is none.
        """
        found = own_form(self._function, self._target, None, frozenset(), None)
        if found is None:
            raise NotNative(f"'{self._function.name}' has no form in machine code")
        return found

    @property
    def is_compiled(self) -> bool:
        """Whether the last call ran as machine code."""
        return self._core.is_compiled


def _core_of(function: ir.Function, flags: str, strict: bool, target: Target, background: bool) -> Core | InThreads:
    def core(piece: ir.Function, more: str, handed: frozenset[ir.Storage] | None) -> Core:
        return Core(piece, flags + more, strict, target, handed, background=background)

    if target.threads > 1:
        from adjoint.native.compile.threads import in_threads  # lazy

        found = in_threads(function, target, core)
        if isinstance(found, Diagnostic):
            return Core(function, flags, strict, target, warning=found, background=background)
        if found is not None:
            return found
    return core(function, "", None)


def own_form(
    function: ir.Function,
    target: Target,
    handed: frozenset[ir.Storage] | None,
    by_rows: frozenset[ir.Var],
    args: Sequence[Any] | None,
) -> ir.Function | None:
    """A function as machine code of Adjoint's own is made of it; None where a pass finds that there is none."""
    from adjoint.native.legalize.handlers import require_exact_handlers  # lazy

    try:
        require_exact_handlers(function, target)
        return _form(function, target, handed, by_rows, args, EMITTED)
    except NotNative:
        return None


def compiled_text(
    function: ir.Function,
    target: Target,
    handed: frozenset[ir.Storage] | None = None,
    by_rows: frozenset[ir.Var] = frozenset(),
    args: Sequence[Any] | None = None,
) -> Emitted:
    """The text of a function for the compiler.

    Parameters
    ----------
    function, target, handed
        As those of a core.
    by_rows
        Parameters that are arrays laid out so.
    args
        Arguments of which the extents agree as they will at all calls; None for any.
    """
    from adjoint.native.legalize.names import with_names_apart  # lazy

    form = _form(function, target, handed, by_rows, args, NATIVE)
    with faults_as_reasons():
        return with_names_apart(emit(form, counted=True))


def _form(
    function: ir.Function,
    target: Target,
    handed: frozenset[ir.Storage] | None,
    by_rows: frozenset[ir.Var],
    args: Sequence[Any] | None,
    pipeline: Sequence[str],
) -> ir.Function:
    """A function as a back end is to see it."""
    from adjoint.native.legalize.agreeing_extents import compared_sources  # lazy
    from adjoint.native.legalize.form import loops_of, native_form  # lazy

    with faults_as_reasons():
        agreeing = () if args is None else agreements(args, compared_sources(loops_of(function, target)))
        return native_form(function, target, handed, by_rows, agreeing, pipeline)
