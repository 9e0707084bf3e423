"""What names a function of the intermediate representation in every process: a digest of all that passes can see of it.

Variables and memory are identities; they count by where they occur first. Places in the user's source do not count.
"""

from __future__ import annotations

import hashlib
import sys
import types
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.types.structure import own_attribute

VERSIONED = ("builtins", "math", "cmath", "operator", "_operator", "numpy", "adjoint")
"""The packages for which their versions and sources speak; what else a function refers to may change unseen."""
_IDENTITIES = (ir.Var, ir.Function, ir.Definition, ir.Derived, ir.Declared, ir.Surgery)
"""What is known by itself, and not by what it holds; a definition may hold itself."""
_PLACES = "span"
"""The fields that say where in the user's source something stands."""


class Nameless(Exception):
    """A function refers to what only this process knows."""


def fingerprint(function: ir.Function, handed: Collection[ir.Storage] | None = None) -> str:
    """A digest of a function, and of which of its memory is handed over.

    Raises
    ------
    Nameless
        If it refers to something that no name of a versioned module stands for.
    """
    writer = _Writer()
    writer.write(function)
    if handed is not None:
        places = [writer.memory.get(id(storage.find())) for storage in handed]
        writer.words.append(f"handed {sorted(place[1] for place in places if place is not None)}")
    return hashlib.sha256("\n".join(writer.words).encode()).hexdigest()


def known_fingerprint(function: ir.Function, handed: Collection[ir.Storage] | None = None) -> str | None:
    """The digest of a function; None where it refers to what has no name."""
    try:
        return fingerprint(function, handed)
    except Nameless:
        return None


class _Writer:
    """A function in words, one after another; each says how many belong to it."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.memory: dict[int, tuple[ir.Storage, int]] = {}
        self._known: dict[int, tuple[Any, int]] = {}  # they stay alive, so that no number is given twice

    def write(self, value: Any) -> None:
        kind = type(value)
        fixed = SPELLED.get(kind)
        if fixed is not None:
            self.words.append(f"{kind.__name__} {fixed(value)}")
        elif kind is tuple or kind is list:
            self.words.append(f"{kind.__name__} {len(value)}")
            for item in value:
                self.write(item)
        elif kind is ir.Storage:
            self._write_memory(value.find())
        elif hasattr(kind, "__dataclass_fields__") and kind.__module__.startswith("adjoint.ir."):
            self._write_record(value, kind)
        elif isinstance(value, Mapping):
            self.words.append(f"mapping {len(value)}")
            for key, item in value.items():
                self.write(key)
                self.write(item)
        elif isinstance(value, np.dtype):
            if value.names is not None or value.hasobject:
                raise Nameless(value)
            self.words.append(f"dtype {value.str}")
        elif isinstance(value, np.generic) and not value.dtype.hasobject:
            self.words.append(f"number {value.dtype.str} {value.tobytes().hex()}")
        else:
            self.words.append(f"name {name_of(value)}")

    def _write_memory(self, storage: ir.Storage) -> None:
        number = self.memory.setdefault(id(storage), (storage, len(self.memory)))[1]
        self.words.append(f"memory {number} {storage.written}")

    def _write_record(self, value: Any, kind: type) -> None:
        if kind in _IDENTITIES:
            known = self._known.get(id(value))
            if known is not None:
                self.words.append(f"known {known[1]}")
                return
            self._known[id(value)] = value, len(self._known)
        self.words.append(kind.__name__)
        for field in kind.__dataclass_fields__:  # type: ignore[attr-defined]
            if field != _PLACES:
                self.write(getattr(value, field))


def name_of(value: Any, others: Collection[str] = ()) -> str:
    """The name of an object in a versioned module, or in one of ``others``.

    Raises
    ------
    Nameless
        If there is none.
    """
    module, own = home_and_name(value)
    if not isinstance(module, str) or not isinstance(own, str):
        raise Nameless(value)
    parts = own.split(".") if own else []
    found: Any = sys.modules.get(module)
    for part in parts:
        found = getattr(found, part, None)
    if found is not value or module.split(".")[0] not in (*VERSIONED, *others):
        raise Nameless(value)
    return ".".join((module, ":", *parts))


def home_and_name(value: Any) -> tuple[Any, Any]:
    """What a value says of its module and of its name in it; nothing that its class makes up for any name."""
    if isinstance(value, types.ModuleType):
        return value.__name__, ""
    owner = own_attribute(value, "__objclass__", value)
    name = own_attribute(value, "__qualname__") or own_attribute(value, "__name__")
    return own_attribute(owner, "__module__"), name


SPELLED: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "",
    type(...): lambda _: "",
    bool: repr,
    int: repr,
    float: float.hex,
    complex: lambda value: f"{value.real.hex()} {value.imag.hex()}",
    str: repr,
    bytes: repr,
}
"""How plain values are written to the letter, by their class."""
