"""Orders of items, for Numba: lists of lists, where Python has tuples. Numba compares neither with the other."""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="no-any-return, misc"

from __future__ import annotations

import itertools

from numba.core import types

from adjoint.native.runtime.declaring import overload


@overload(itertools.permutations)
def _permutations(iterable):
    """In the order of Python: the last item that can be replaced by a later one is."""
    if not isinstance(iterable, (types.RangeType, types.List, types.UniTuple)):
        return None

    def permutations(iterable):
        items = [item for item in iterable]  # noqa: C416
        count = len(items)
        places = [place for place in range(count)]  # noqa: C416
        orders = [[items[place] for place in places]]
        last = count - 2
        while last >= 0:
            if places[last] > places[last + 1]:
                last -= 1
                continue
            other = count - 1
            while places[other] < places[last]:
                other -= 1
            places[last], places[other] = places[other], places[last]
            low, high = last + 1, count - 1
            while low < high:
                places[low], places[high] = places[high], places[low]
                low, high = low + 1, high - 1
            orders.append([items[place] for place in places])
            last = count - 2
        return orders

    return permutations
