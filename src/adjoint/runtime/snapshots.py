"""Checkpoints: which states of a loop are kept, where to go from one of them, and copies of memory."""

from __future__ import annotations

import contextlib
import copy
import math
import os
import pickle
import tempfile
import weakref
from typing import Any

import numpy as np

from adjoint.runtime.copies import _Copies

_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}


def next_snapshot(at: int, stop: int, free: int) -> int:
    """The next step whose state to keep, on the way to the last step before ``stop``; behind that, ``stop``.

    With as few steps done again as can be: the binomial schedule of Griewank and Walther (Algorithm 799, 2000).

    Parameters
    ----------
    at
        The step that the kept state stands before.
    stop
        The end of the steps to be reversed.
    free
        How many states may be kept from ``at`` on, this one included.

    Examples
    --------
    >>> next_snapshot(0, 10, 3), next_snapshot(4, 10, 2), next_snapshot(7, 10, 1)
    (4, 7, 9)
    """
    steps = stop - at
    if steps <= 1:
        return stop
    if steps == 2 or free <= 1:
        return stop - 1
    if free >= steps - 1:
        return at + 1
    # the number of times that a step is run: the least for which free states are enough
    repeats, before, last, reach = 2, 1, free + 1, (free + 1) * (free + 2) // 2
    while reach < steps:
        repeats += 1
        before, last, reach = last, reach, reach * (free + repeats) // repeats
    fewer = before * free // (free + repeats - 2)
    if steps <= last + fewer:
        return at + steps - last + before
    one = last * free // (free + repeats - 1)
    two = one * (free - 1) // (free + repeats - 2)
    if steps <= last + two + fewer:
        return at + before + fewer
    if steps <= last + one + two:
        return at + steps - one - two
    return at + last


def thin_out(kept: list[Any]) -> None:
    """Leaves every second of what is kept, from the first on.

    Examples
    --------
    >>> kept = [0, 1, 2, 3, 4]
    >>> thin_out(kept)
    >>> kept
    [0, 2, 4]
    """
    del kept[1::2]


def run_again(steps: int, snapshots: int) -> int:
    """How many steps run again until so many are reversed, besides the one that is reversed each time.

    Examples
    --------
    >>> run_again(10, 3), run_again(10**6, 100) / 10**6
    (15, 3.8178...)
    """
    if steps <= 1:
        return 0
    repeats = 0
    while math.comb(snapshots + repeats, snapshots) < steps:
        repeats += 1
    return repeats * steps - math.comb(snapshots + repeats, repeats - 1)


def snapshots_within(count: int | None, memory: int | str | None, steps: int | None, state: tuple[Any, ...]) -> int:
    """How many states a loop may keep.

    Parameters
    ----------
    count
        The number, where that is given.
    memory
        Else the bytes for all of them: a number, or a text such as ``"100 MB"``.
    steps
        How often the loop runs, where that is known.
    state
        The state that the loop starts from.

    Raises
    ------
    ValueError
        If not even one state may be kept.

    Examples
    --------
    >>> snapshots_within(None, "1 kB", 10, (np.zeros(25),))
    5
    """
    if count is not None:
        if count < 1:
            raise ValueError("a checkpointed loop needs one snapshot at least")
        return count
    size = max(size_of(state), 1)
    limit = bytes_of(memory)
    if limit < size:
        raise ValueError("one snapshot takes more than memory=")
    return limit // size


def bytes_of(memory: Any) -> int:
    """An amount of memory in bytes.

    Raises
    ------
    ValueError
        If it is neither a number nor a number with a unit.

    Examples
    --------
    >>> bytes_of("100 MB"), bytes_of("1.5 KiB"), bytes_of(4096)
    (100000000, 1536, 4096)
    """
    if not isinstance(memory, str):
        return int(memory)
    text = memory.strip()
    digits = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    unit = text[len(digits) :].lower() or "b"
    try:
        return int(float(digits) * _UNITS[unit])
    except (ValueError, KeyError):
        raise ValueError(f"{memory!r} is no amount of memory; one is '100 MB'") from None


def size_of(state: tuple[Any, ...]) -> int:
    """The bytes of numbers and arrays in a state."""
    seen: set[int] = set()
    return sum(_size_of(part, seen) for part in state)


def _size_of(value: Any, seen: set[int]) -> int:
    if id(value) in seen:
        return 0
    match value:
        case np.ndarray():
            seen.add(id(value))
            return int(value.nbytes)
        case list() | tuple() | dict():
            seen.add(id(value))
            parts = list(value.values()) if isinstance(value, dict) else value
            return 8 * len(value) + sum(_size_of(part, seen) for part in parts)
        case _ if hasattr(value, "__dict__") and not isinstance(value, type):
            seen.add(id(value))
            return sum(_size_of(part, seen) for part in vars(value).values())
        case _:
            return 8


class Shelf:
    """Room for states in files, which are deleted once nobody refers to them.

    Attributes
    ----------
    in_memory
        How many states may be kept in memory besides.
    on_disk
        How many may lie in files.
    used
        How many do.
    """

    def __init__(self, in_memory: int, on_disk: int) -> None:
        self.in_memory = in_memory
        self.on_disk = on_disk
        self.used = 0


class Filed:
    """A state in a file."""

    def __init__(self, shelf: Shelf, state: tuple[Any, ...]) -> None:
        handle, self.path = tempfile.mkstemp(prefix="adjoint-", suffix=".state")
        with os.fdopen(handle, "wb") as file:
            pickle.dump(state, file, pickle.HIGHEST_PROTOCOL)
        shelf.used += 1
        weakref.finalize(self, _remove, self.path, shelf)


def _remove(path: str, shelf: Shelf) -> None:
    shelf.used -= 1
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def make_shelf(in_memory: int, on_disk: int) -> Shelf:
    """Room for states in files."""
    return Shelf(in_memory, on_disk)


def put_away(shelf: Shelf, state: tuple[Any, ...], count: int, forwards: bool) -> Any:
    """A state as it is kept: on the way forwards in a file first, for that is read last; on the way back in memory.

    Parameters
    ----------
    shelf
        The room in files.
    state
        Numbers and arrays.
    count
        How many states are kept without it.
    forwards
        Whether it is kept for the first time.

    Examples
    --------
    >>> shelf = make_shelf(1, 1)
    >>> first, second = put_away(shelf, (1.0,), 0, True), put_away(shelf, (2.0,), 1, True)
    >>> type(first).__name__, taken_back(first), second
    ('Filed', (1.0,), (2.0,))
    """
    has_room = shelf.used < shelf.on_disk
    is_filed = has_room and (forwards or count - shelf.used >= shelf.in_memory)
    return Filed(shelf, state) if is_filed else state


def taken_back(kept: Any) -> Any:
    """The state that is kept."""
    if not isinstance(kept, Filed):
        return kept
    with open(kept.path, "rb") as file:
        return pickle.load(file)


def memory_as_it_is(memory: tuple[Any, ...]) -> tuple[Any, ...]:
    """Copies of arrays, lists, dicts and objects; they share memory with each other where these do.

    Examples
    --------
    >>> u = np.zeros(3)
    >>> v, part = memory_as_it_is((u, u[1:]))
    >>> part[0] = 1.0
    >>> v, u
    (array([0., 1., 0.]), array([0., 0., 0.]))
    """
    return _Memory.of_all(memory)


class _Memory(_Copies):
    """One walk over memory: objects of the program, too."""

    def of(self, shadow: Any) -> Any:
        if isinstance(shadow, (np.ndarray, list, dict, tuple)) and type(shadow) in (np.ndarray, list, dict, tuple):
            return super().of(shadow)
        if id(shadow) in self.known:
            return self.known[id(shadow)]
        if not _can_change(shadow):
            return shadow
        result = self.known[id(shadow)] = copy.copy(shadow)
        for name, part in _fields(shadow).items():
            object.__setattr__(result, name, self.of(part))
        return result


def _can_change(value: Any) -> bool:
    return not isinstance(value, type) and not callable(value) and bool(_fields(value))


def _fields(value: Any) -> dict[str, Any]:
    """What the attributes of an object of a class written in Python hold."""
    slots = (name for cls in type(value).__mro__ for name in getattr(cls, "__slots__", ()))
    found = {name: getattr(value, name) for name in slots if name != "__dict__" and hasattr(value, name)}
    return found | getattr(value, "__dict__", {})
