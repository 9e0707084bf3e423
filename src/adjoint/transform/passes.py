"""A pass takes a function and gives a function; a pipeline runs passes in order and checks what each of them made."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Protocol

from adjoint.ir.nodes import Function
from adjoint.ir.verifier import verify
from adjoint.records import dataclass

Observer = Callable[[str, Function], None]


class Pass(Protocol):
    """A named step of a pipeline."""

    @property
    def name(self) -> str: ...

    def apply(self, function: Function) -> Function: ...


@dataclass(frozen=True, slots=True)
class Step:
    """A pass that is a plain function."""

    name: str
    transform: Callable[[Function], Function]

    def apply(self, function: Function) -> Function:
        return self.transform(function)


def checking() -> bool:
    """Whether functions are verified between passes: under pytest, and where ADJOINT_CHECK says so."""
    asked = os.environ.get("ADJOINT_CHECK")
    if asked is not None:
        return asked not in ("", "0")
    return "PYTEST_CURRENT_TEST" in os.environ


def run(
    passes: Iterable[Pass], function: Function, *, check: bool | None = None, observe: Observer | None = None
) -> Function:
    """Applies passes in order.

    Parameters
    ----------
    passes : iterable of Pass
    function : Function
    check : bool, optional
        Whether to verify the result of each pass; where it is not given, :func:`checking` decides.
    observe : callable, optional
        Called with each pass's name and result.
    """
    check = checking() if check is None else check
    if check:
        verify(function, "the input of the pipeline")
    for step in passes:
        function = step.apply(function)
        if check:
            verify(function, step.name)
        if observe is not None:
            observe(step.name, function)
    return function
