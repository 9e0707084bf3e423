"""Derivatives in the form for machine code, run by Python: the passes that users run, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.dispatch import persistent_cache
from adjoint.native import backend
from adjoint.native.backend import form_of
from adjoint.native.compile.not_native import NotNative
from adjoint.native.legalize.form import loops_of as loops_of
from adjoint.native.legalize.undefined_values import with_all_bound


class PythonCore(backend.Core):
    """A core of which Python runs the text of what machine code is made of."""

    def _for(self, args: Sequence[Any]) -> Any:
        with self._lock:
            if self._latest is None:
                try:
                    form = form_of(self._function, self._target, self._handed)
                    self._latest = load(emit(with_all_bound(form), counted=True))  # Python hands out what is bound
                except NotNative:
                    self._latest = self.interpreted
            return self._latest


def use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Derivatives that are made with ``native=True`` meanwhile run as Python, in the form for machine code."""
    monkeypatch.setattr(backend, "Core", PythonCore)
    monkeypatch.setattr(persistent_cache, "found", lambda *_: None)


def machine_text(derivative: Any, *args: Any) -> str:
    """The text for machine code of a derivative that is made with ``native=True``."""
    return str(derivative.specialized(args, {}).call.emitted.text)
