"""Lookups that may raise.

Attributes, where a metaclass has a `__getattr__`; entries of tables under what cannot be hashed; variables that a
function captures before anything is assigned to them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import CellType
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


def found_in(table: Mapping[Any, Any], key: Any) -> Any:
    """What a table has for a key; None where it has nothing, or nothing could be under that key."""
    try:
        return table.get(key)
    except TypeError:  # not hashable
        return None


def is_one_of(x: Any, members: Container[Any]) -> bool:
    """Whether something is in a set, or a key of a table; nothing is that cannot be hashed."""
    try:
        return x in members
    except TypeError:  # not hashable
        return False


def is_hashable(x: Any) -> bool:
    """Whether something, and all that lies in it, can be hashed."""
    try:
        hash(x)
    except TypeError:
        return False
    return True


def contents_of(cell: CellType) -> Any:
    """What a variable holds that a function captures; None where nothing is assigned to it yet."""
    return cell.cell_contents if is_filled(cell) else None


def is_filled(cell: CellType) -> bool:
    """Whether something is assigned to a variable that a function captures."""
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True
