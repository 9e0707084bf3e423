"""What machine code depends on besides its text and its types: versions, sources, settings, and the processor."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import adjoint

_PACKAGE = Path(__file__).parents[2]


def sources(*folders: str) -> Iterator[str]:
    """The modules in folders of Adjoint; without any, all modules."""
    for folder in folders or ("",):
        yield from _modules(os.path.join(_PACKAGE, folder))


def _modules(folder: str) -> Iterator[str]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.endswith(".py"):
            yield entry.path
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _modules(entry.path)


@functools.cache
def digest(*folders: str) -> str:
    """A digest of the modules in folders of Adjoint; without any, of all."""
    found = hashlib.sha256()
    for path in sources(*folders):
        found.update(f"{path[len(str(_PACKAGE)) :]}\n".encode() + _content(path))
    return found.hexdigest()[:16]


@functools.cache
def _content(path: str) -> bytes:
    """A digest of a module, which is read once."""
    with open(path, "rb", buffering=0) as file:
        return hashlib.sha256(file.read()).digest()


@functools.cache
def circumstances() -> tuple[str, ...]:
    """All of that, in words."""
    import llvmlite  # type: ignore[import-untyped]  # lazy
    from llvmlite import binding  # lazy

    processor = (binding.get_default_triple(), binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    named = {"adjoint": adjoint, "llvmlite": llvmlite, "numpy": np}
    return (
        ", ".join(f"{name} {module.__version__}" for name, module in named.items()),
        f"python {sys.version.split()[0]} ({sys.implementation.cache_tag})",
        f"processor {hashlib.sha256(repr(processor).encode()).hexdigest()[:16]}",
    )
