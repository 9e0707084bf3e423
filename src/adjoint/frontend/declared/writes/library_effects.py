"""What functions and methods of Python and of libraries write of what they are given, and of what they give parts.

Rules and tables of effects tell it of most; of what they do not tell, and of methods of nobody knows what, names do.
"""

from __future__ import annotations

import heapq
import operator
from typing import Any

import numpy as np

from adjoint.analysis.effects import effects
from adjoint.analysis.known_effects import FILLS_FIRST, PART, PURE, Effects
from adjoint.types.classes.safe_lookups import is_one_of

_BUILT_IN: tuple[type, ...] = (np.ndarray, list, dict, set)
_WRITE_THEIR_OWN = frozenset(
    (
        *("sort", "fill", "put", "itemset", "resize", "partition", "setfield", "byteswap"),
        *("appendleft", "popleft", "extendleft", "rotate"),
        *("__setitem__", "__delitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ior__"),
    )
)
"""Methods of arrays and deques of which no rule tells."""
_WRITE_THE_FIRST = frozenset(("shuffle", "at"))
"""Methods that write their first argument: of generators of random numbers, and of NumPy's operators."""
_WRITE_FIRST = frozenset(
    (
        *(np.copyto, np.putmask, np.fill_diagonal, np.put_along_axis, np.put, np.place),
        *(heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop),
        *(operator.setitem, operator.delitem, operator.iadd, operator.isub, operator.imul, operator.itruediv),
        *(operator.ifloordiv, operator.imod, operator.ipow, operator.iconcat, operator.imatmul),
        *(operator.iand, operator.ior, operator.ixor, operator.ilshift, operator.irshift),
    )
)
"""Functions that write their first argument, and of which no rule tells."""
_GIVE_PARTS = frozenset((np.rollaxis, np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.nditer, vars))
"""Functions that give the memory of what they are given, and of which no rule tells."""
_MAKE_CONTAINERS = frozenset((list, dict, set, sorted))


def makes_a_container(function: Any) -> bool:
    """Whether a function makes a container of the items of what it is given."""
    return is_one_of(function, _MAKE_CONTAINERS)


def effects_of_function(function: Any) -> Effects:
    """What a function of a library does to what it is given; of what nobody tells anything of, nothing is assumed."""
    if is_one_of(function, _WRITE_FIRST) or writes_its_first_argument(getattr(function, "__name__", "")):
        return Effects(pure=False, writes=(0,), view_of=0)
    if is_one_of(function, _GIVE_PARTS):
        return PART
    found = effects(function)
    return PURE if makes_a_container(function) or not found.known else found


def effects_of_method(cls: type | None, name: str) -> Effects:
    """What a method does to what has it, as the first of its arguments."""
    classes = _BUILT_IN if cls is None or not hasattr(cls, name) else (cls,)
    facts = [effects(getattr(each, name)) for each in classes if hasattr(each, name)]
    if name in _WRITE_THEIR_OWN or any(each.known and 0 in each.writes for each in facts):
        return FILLS_FIRST if not any(each.hands_on for each in facts) else Effects(writes=(0,), view_of=0)
    gives_parts = (
        facts and name != "copy" and all(each.known and (each.view_of == 0 or each.hands_on) for each in facts)
    )
    return Effects(view_of=0) if gives_parts or name == "view" else PURE


def writes_its_first_argument(name: str) -> bool:
    """Whether a method of this name writes what it is given first."""
    return name in _WRITE_THE_FIRST
