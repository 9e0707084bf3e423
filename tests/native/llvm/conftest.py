"""What runs as machine code."""

from __future__ import annotations

import pytest

from adjoint.dispatch import specialize
from adjoint.native.compile import core as cores
from adjoint.native.llvm.rules.of_python import calls


@pytest.fixture
def own(monkeypatch):
    """The functions that run as machine code; none is known yet."""
    found = []
    usual = cores.Core._code

    def code(core, *given):
        made = usual(core, *given)
        found.append(core.__name__)
        return made

    monkeypatch.setattr(cores.Core, "_code", code)
    specialize.forget()
    return found


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """The statements that run as Python; nothing is compiled yet."""
    found = []
    usual = calls._noted

    def noted(e, callback):
        found.append(callback.emitted.text)
        return usual(e, callback)

    monkeypatch.setattr(calls, "_noted", noted)
    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    specialize.forget()
    return found
