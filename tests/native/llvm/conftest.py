"""What runs as machine code."""

from __future__ import annotations

import pytest

from adjoint.dispatch import specialize
from adjoint.native.compile import core as cores


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
