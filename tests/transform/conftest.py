"""Derivatives in the form for machine code, run by Python."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from contextvars import ContextVar
from typing import Any

import pytest

from adjoint import entrances, specialize
from adjoint.backend.overlaps import without_overlaps
from adjoint.ir.nodes import Function
from adjoint.transform import target
from adjoint.transform.definitions import everywhere
from adjoint.transform.finish import finish
from adjoint.transform.fusion import fuse
from adjoint.transform.loops import tuned
from adjoint.transform.tapes import as_arrays


@pytest.fixture
def compiled_form(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Lets derivatives be made as for machine code, from when it is called."""

    def switch() -> None:
        monkeypatch.setattr(specialize, "_tables", weakref.WeakKeyDictionary())
        monkeypatch.setattr(entrances, "_known", {})
        monkeypatch.setattr(specialize, "finish", for_machines)
        monkeypatch.setattr(target, "_machine", ContextVar("machine", default=True))
        monkeypatch.setattr(specialize, "target", lambda *, machine: nullcontext())

    yield switch


def for_machines(function: Function, **_: Any) -> Function:
    return everywhere(without_overlaps(finish(function)), lambda part: tuned(as_arrays(fuse(part))))
