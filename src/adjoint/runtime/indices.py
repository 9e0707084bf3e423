"""What compiled code is told about indices. Interpreted, both are the number itself."""

from __future__ import annotations


def natural(number: int) -> int:
    """A number that is known not to be negative."""
    return number


def unsigned(index: int) -> int:
    """An index that counts from the start: compiled code need not ask whether it counts from the end."""
    return index
