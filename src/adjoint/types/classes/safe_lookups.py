"""Attributes of classes whose metaclass has a `__getattr__`, which may raise anything."""

from __future__ import annotations

from typing import Any


def asked(x: Any, name: str, default: Any = None) -> Any:
    """An attribute of a class, or of what may be one; a default where asking raises, as a metaclass may do."""
    try:
        return getattr(x, name, default)
    except Exception:
        return default


def is_marked(cls: type | None, mark: str) -> bool:
    """Whether a class has an attribute, or one that it inherits from: its metaclass is not asked, which may raise.

    >>> is_marked(bool, "bit_length"), is_marked(bool, "mro")
    (True, False)
    """
    return cls is not None and any(mark in base.__dict__ for base in cls.__mro__)
