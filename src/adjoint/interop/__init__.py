"""Derivatives for other tools: each module is loaded by who asks for it, and needs the package that it is for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjoint.interop import casadi, jax, mpi, openmdao, pytensor, scipy, torch
    from adjoint.interop.ipopt import nlp
    from adjoint.interop.sampling import nutpie

__all__ = ["casadi", "jax", "mpi", "nlp", "nutpie", "openmdao", "pytensor", "scipy", "torch"]

_HOMES = {"nlp": "adjoint.interop.ipopt", "nutpie": "adjoint.interop.sampling"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"adjoint.interop.{name}")
    raise AttributeError(f"module 'adjoint.interop' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
