"""What tests of machine code share."""

from __future__ import annotations

import pytest


@pytest.fixture
def by_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has Numba compile all that is compiled."""
    from adjoint.native.compile import core

    monkeypatch.setattr(core, "emits", lambda *_: False)
