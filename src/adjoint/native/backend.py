"""The native back end: derivatives as machine code, and as Python where they have none."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from adjoint import ir
from adjoint.codegen.python import emit
from adjoint.codegen.texts import Emitted, load
from adjoint.diagnostics import Diagnostic
from adjoint.native.compile.agreements import agreements
from adjoint.native.compile.core import Core
from adjoint.native.compile.not_native import faults_as_reasons
from adjoint.native.options import Options
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
    options
        What is asked of machine code.
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
        self, function: ir.Function, options: Options, strict: bool, target: Target, *, background: bool = False
    ) -> None:
        from adjoint.native.compile.boundary import halves  # lazy

        self._function = function
        self._target = target
        parts = halves(function)
        core = function if parts is None else parts.core
        self._core = _core_of(core, options, strict, target, background)
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
        return form_of(self._function, self._target)

    @property
    def is_compiled(self) -> bool:
        """Whether the last call ran as machine code."""
        return self._core.is_compiled


def _core_of(
    function: ir.Function, options: Options, strict: bool, target: Target, background: bool
) -> Core | InThreads:
    def core(piece: ir.Function, side_by_side: bool, handed: frozenset[ir.Storage] | None) -> Core:
        asked = replace(options, side_by_side=side_by_side)
        return Core(piece, asked, strict, target, handed, background=background)

    if target.threads > 1:
        from adjoint.native.compile.threads import in_threads  # lazy

        found = in_threads(function, target, core)
        if isinstance(found, Diagnostic):
            return Core(function, options, strict, target, warning=found, background=background)
        if found is not None:
            return found
    return core(function, False, None)


def form_of(
    function: ir.Function,
    target: Target,
    handed: frozenset[ir.Storage] | None = None,
    by_rows: frozenset[ir.Var] = frozenset(),
    args: Sequence[Any] | None = None,
) -> ir.Function:
    """A function as machine code is made of it.

    Parameters
    ----------
    function, target, handed
        As those of a core.
    by_rows
        Parameters that are arrays laid out so.
    args
        Arguments of which the extents agree as they will at all calls; None for any.

    Raises
    ------
    NotNative
        If there is none.
    """
    from adjoint.native.legalize.agreeing_extents import compared_sources  # lazy
    from adjoint.native.legalize.form import loops_of, native_form  # lazy

    with faults_as_reasons():
        quiet = replace(target, watch=None)
        agreeing = () if args is None else agreements(args, compared_sources(loops_of(function, quiet)))
        return native_form(function, target, handed, by_rows, agreeing)


def compiled_text(function: ir.Function, target: Target, handed: frozenset[ir.Storage] | None = None) -> Emitted:
    """The text of what machine code is made of, for people; parameters as those of :func:`form_of`."""
    form = form_of(function, target, handed)
    with faults_as_reasons():
        return emit(form, counted=True)
