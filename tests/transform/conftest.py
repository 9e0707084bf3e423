"""Derivatives in the form for machine code, run by Python: the passes that users run, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from adjoint.backend import declaring, native, native_calls
from adjoint.backend.not_native import NotNative
from adjoint.backend.python import load


class PythonCore(native.Core):
    """A core of which Python runs the text that Numba would compile."""

    def _for(self, args: Sequence[Any]) -> Any:
        with self._lock:
            if self._latest is None:
                try:
                    self._latest = load(self.emitted)
                except NotNative:
                    self._latest = self.interpreted
            return self._latest


def takes(callee: Any, args: tuple[Any, ...], named: dict[str, Any], targets: Sequence[Any]) -> bool:
    """Whether Numba knows a function: what it makes of the types of arguments it compiles the function to tell.

    Whether it takes them as it should is tested where there is machine code.
    """
    declared = declaring.takes(callee, args, named)
    return native_calls._is_declared(callee) if declared is None else declared


@pytest.fixture
def machine_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivatives that are made with ``native=True`` meanwhile run as Python, in the form for machine code."""
    monkeypatch.setattr(native, "Core", PythonCore)
    monkeypatch.setattr(native_calls, "_resolved", takes)
