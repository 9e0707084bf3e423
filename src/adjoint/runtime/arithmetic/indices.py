"""What compiled code is told about indices. Interpreted, they are the numbers themselves."""

from __future__ import annotations


def natural(number: int) -> int:
    """A number that is known not to be negative."""
    return number


def unsigned(index: int) -> int:
    """An index that counts from the start: compiled code need not ask whether it counts from the end."""
    return index


def row(index: int) -> int:
    """An index from the start, of a row of an array: compiled code is not to foresee the next one.

    A compiler that sees rows go by backwards asks once, for all of them, whether they go by forwards: otherwise it
    gives up to ask whether they share memory with others, and uses no vectors.
    """
    return index
