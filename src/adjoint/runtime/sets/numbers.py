"""Sets as numbers: 0 is empty, 1 to ``n`` are the elements, larger ones are unions of two earlier sets.

The unions lie in an array of two columns, ``unions``: row ``k`` has the two sets of which number ``n + k`` is the
union. Row 0 has how many there are, and ``n``. Where the array is full they are still counted, so that a caller knows
how large it has to be. Numbers are floats: then they go where tangents go. A complex number has two sets, those of its
real and of its imaginary part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

MOST_EXACT = 2**53
"""Up to which whole number floats of eight bytes are exact."""


def exact_in(dtype: np.dtype[Any]) -> int:
    """Up to which whole number the floats of a dtype are exact.

    >>> exact_in(np.dtype(np.float32)), exact_in(np.dtype(int)) == MOST_EXACT
    (16777216, True)
    """
    size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
    return {2: 2**11, 4: 2**24}.get(size, MOST_EXACT) if dtype.kind in "fc" else MOST_EXACT


def new_unions(count: int, capacity: int) -> np.ndarray[Any, Any]:
    """An array for the unions of sets of ``count`` elements.

    >>> new_unions(3, 2).shape
    (3, 2)
    """
    unions = np.zeros((capacity + 1, 2))
    unions[0, 1] = count
    return unions


def union(unions: Any, a: float, b: float) -> float:
    """The union of two sets.

    >>> unions = new_unions(3, 8)
    >>> union(unions, 1.0, 0.0), union(unions, 1.0, 2.0), union(unions, 4.0, 2.0)
    (1.0, 4.0, 4.0)
    """
    if a == b or b == 0.0:
        return a
    if a == 0.0:
        return b
    full, count = len(unions), unions[0, 1]
    place = int(a - count)
    if 0 < place < full and (unions[place, 0] == b or unions[place, 1] == b):
        return a
    place = int(b - count)
    if 0 < place < full and (unions[place, 0] == a or unions[place, 1] == a):
        return b
    made = unions[0, 0] + 1.0
    unions[0, 0] = made
    place = int(made)
    if place < full:
        unions[place, 0] = a
        unions[place, 1] = b
    return float(count + made)


def both(unions: Any, a: Any, b: Any) -> Any:
    """The unions of the sets of two arrays, element by element."""
    a, b = np.broadcast_arrays(a, b)
    out = np.where(a == 0.0, b, a)
    wanted = (a != b) & (a != 0.0) & (b != 0.0)
    made = int(np.count_nonzero(wanted))
    if made:
        before = int(unions[0, 0])
        unions[0, 0] = before + made
        kept = unions[before + 1 : before + 1 + made]
        kept[:, 0] = a[wanted][: len(kept)]
        kept[:, 1] = b[wanted][: len(kept)]
        out[wanted] = unions[0, 1] + np.arange(before + 1, before + made + 1)
    return out


def plain(sets: Any) -> list[Any]:
    """Sets as arrays of floats: of complex ones the real parts, and the imaginary parts."""
    array = np.asarray(sets)
    if array.dtype.kind == "c":
        return [array.real, array.imag]
    return [array.astype(np.float64, copy=False)]


def shaped(sets: Any, like: Any) -> Any:
    """Sets in the shape of a value; complex values have the same ones in both parts."""
    if isinstance(like, np.ndarray):
        is_complex = like.dtype.kind == "c"
        out = np.empty(like.shape, np.complex128 if is_complex else np.float64)
        out.real = sets
        if is_complex:
            out.imag = sets
        return out
    number = float(sets)
    return complex(number, number) if isinstance(like, (complex, np.complexfloating)) else number


def along_last(unions: Any, sets: Any) -> Any:
    """The unions of the rows of an array: as a tree, so that each level is one step."""
    if not sets.shape[-1]:
        return np.zeros(sets.shape[:-1])
    while sets.shape[-1] > 1:
        half = sets.shape[-1] // 2
        paired = both(unions, sets[..., :half], sets[..., half : 2 * half])
        sets = np.concatenate((paired, sets[..., 2 * half :]), axis=-1)
    return sets[..., 0]


def all_in(unions: Any, parts: Sequence[Any]) -> float:
    """The union of all sets in numbers, arrays, and structures of these."""
    found = [0.0]
    todo = list(parts)
    while todo:
        part = todo.pop()
        if isinstance(part, dict):
            todo += part.values()
        elif isinstance(part, (list, tuple)):
            todo += part
        elif isinstance(part, (np.ndarray, np.number, float, complex)) and np.asarray(part).dtype.kind in "fc":
            found += [each for sets in plain(part) for each in np.unique(sets).tolist()]
        elif hasattr(part, "__dict__"):
            todo += vars(part).values()
        elif hasattr(type(part), "__slots__"):
            todo += [getattr(part, name, None) for name in type(part).__slots__]
    return float(along_last(unions, np.unique(found)))
