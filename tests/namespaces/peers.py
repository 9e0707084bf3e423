"""Which functions of NumPy and SciPy two other systems have under the same names.

The lists are kept beside this module, so that nobody needs these systems; ``python -m namespaces.peers`` writes them
anew where both are installed.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from namespaces.survey import NAMESPACES, public

LISTS = Path(__file__).parent / "peers.json"
SYSTEMS = ("jax", "autograd")


def lists() -> dict[str, Any]:
    """By system: its version, and by namespace the names that it has."""
    found: dict[str, Any] = json.loads(LISTS.read_text())
    return found


def count(found: dict[str, Any], system: str, namespace: str, names: Iterable[str]) -> int:
    """How many of these functions of a namespace a system has."""
    return len(set(found[system]["names"].get(namespace, "").split()) & set(names))


def main() -> None:
    found = {}
    for system in SYSTEMS:
        names = {namespace: " ".join(_names(system, namespace)) for namespace in NAMESPACES}
        names = {namespace: each for namespace, each in names.items() if each}
        found[system] = {"version": importlib.metadata.version(system), "names": names}
    LISTS.write_text(json.dumps(found, indent=1) + "\n")


def _names(system: str, namespace: str) -> list[str]:
    try:
        module = importlib.import_module(f"{system}.{namespace}")
    except ImportError:
        return []
    return [name for name, _ in public(namespace) if _has(system, getattr(module, name, None))]


def _has(system: str, member: Any) -> bool:
    """Whether this is a function with a derivative, or a distribution, which is a module of some.

    Autograd wraps all of NumPy: what counts is what it has a rule for, takes for constant, or defines itself.
    """
    if isinstance(member, types.ModuleType):
        return True
    if system != "autograd" or not getattr(member, "_is_autograd_primitive", False):
        return callable(member)
    core, tracer = map(importlib.import_module, ("autograd.core", "autograd.tracer"))
    return member in core.primitive_vjps or any(member in each for each in tracer.notrace_primitives.values())


if __name__ == "__main__":
    main()
