"""Machine code that is found by what it was kept under: the function that it was made of is not there, but can be."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from adjoint import ir
from adjoint.codegen.texts import Emitted, load
from adjoint.native.compile.core import Core
from adjoint.native.options import Options
from adjoint.target import Target


class KnownCore(Core):
    """A core of which only the name and the fingerprint are known until something else is asked.

    Parameters
    ----------
    name, fingerprint, lists
        Those of the core.
    options, strict, target, background
        As those of a core.
    made
        Makes the core itself.
    """

    def __init__(
        self,
        name: str,
        fingerprint: str,
        lists: Sequence[int],
        options: Options,
        strict: bool,
        target: Target,
        made: Callable[[], Core],
        background: bool,
    ) -> None:
        self._begin(name, lists, options, strict, target, background)
        self._handed = None
        self._warning = None
        self.fingerprint = fingerprint
        self._made = made

    @functools.cached_property
    def _function(self) -> ir.Function:  # type: ignore[override]
        return self._made()._function

    @functools.cached_property
    def interpreted(self) -> Callable[..., Any]:
        """The function as Python."""
        return self._made().interpreted


class KnownFunction:
    """A derivative of which the boundary is there, and the core is a known one.

    Parameters
    ----------
    boundary
        The text of the boundary; its namespace has the core already. None where there is but the core.
    core
        The core.
    made
        Makes the derivative itself, whose attributes stand for those that are missing here.

    Attributes
    ----------
    run
        What a call runs.
    """

    def __init__(self, boundary: Emitted | None, core: KnownCore, made: Callable[[], Any]) -> None:
        self._core = core
        self._made = made
        self.run: Callable[..., Any] = core.__call__
        if boundary is not None:
            self.run = load(boundary)

    def __call__(self, *args: Any) -> Any:
        return self.run(*args)

    @property
    def is_compiled(self) -> bool:
        """Whether the last call ran as machine code."""
        return self._core.is_compiled

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._made(), name)
