"""The effects of functions of Python and NumPy, by function and by name."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from adjoint.records import dataclass
from adjoint.runtime import tangents
from adjoint.runtime.arithmetic.checks import plain_operand, unmasked_operand
from adjoint.runtime.copies import fresh_shadows, owned, snapshot
from adjoint.runtime.objects import attribute_or_none, make_object

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Effects:
    """The effects of a call.

    Attributes
    ----------
    pure
        It does nothing but compute its results: it may be removed, or repeated.
    reads
        Positions of the arguments whose memory it reads; None for all of them.
    writes
        Positions of the arguments whose memory it writes.
    view_of
        Position of the argument whose memory the result may share.
    known
        ``writes``, ``view_of`` and ``hands_on`` say everything about memory.
    confined
        Nothing happens beyond the results and ``writes``: where nobody looks at that memory, the call may go.
    fresh
        The result is an object that can change and that nobody else has: two calls are never one.
    hands_on
        The result may be, or hold, any of the arguments or a part of them.
    adds
        Positions among ``writes`` of arrays to which it adds numbers, and with which it does nothing else.
    own
        Of a function of the IR, positions of the arrays among its results that it makes itself: nobody else has their
        memory, nor do other results.
    """

    pure: bool = True
    reads: tuple[int, ...] | None = None
    writes: tuple[int, ...] = ()
    view_of: int | None = None
    known: bool = True
    confined: bool = True
    fresh: bool = False
    hands_on: bool = False
    adds: tuple[int, ...] = ()
    own: tuple[int, ...] = ()

    def written(self, args: Sequence[Value]) -> list[Value]:
        """The arguments whose memory it writes."""
        return [args[place] for place in self.writes if place < len(args)]

    @property
    def acts(self) -> bool:
        """Whether it may raise by ``raise``, act on the world, or do anything."""
        return not self.known or (not self.confined and not self.fresh)


PURE = Effects()


FACT = Effects(reads=())  # of its arguments it reads what never changes: a shape, a type


FRESH = Effects(fresh=True, hands_on=True)


NEW = Effects(fresh=True)


NEW_ARRAY = Effects(reads=(), fresh=True)


PART = Effects(hands_on=True)


WRITES_FIRST = Effects(pure=False, writes=(0,), hands_on=True)


FILLS_FIRST = Effects(pure=False, writes=(0,))


ACTS = Effects(pure=False, confined=False)  # may act on the world, but not on memory


PLACED = Effects(pure=False, confined=False, hands_on=True)  # what it is given is found elsewhere afterwards


UNKNOWN = Effects(pure=False, known=False, confined=False, hands_on=True)


VALUES = Effects(pure=False, confined=False, fresh=True)  # what it does to memory is seen, and refused, when it runs


def of_ufunc(callee: np.ufunc) -> Effects:
    """Those of one that `numpy.frompyfunc` makes are what a function of Python does."""
    return UNKNOWN if callee.types == [f"{'O' * callee.nin}->{'O' * callee.nout}"] else PURE


_OVERLOADED = (
    "add sub mul truediv floordiv mod pow matmul neg pos abs invert and_ or_ xor lshift rshift "
    "eq ne lt le gt ge not_ truth contains index concat"
)


def _table() -> dict[Any, Effects]:
    table: dict[Any, Effects] = {getattr(operator, name): PURE for name in _OVERLOADED.split()}
    table[operator.getitem] = Effects(view_of=0, hands_on=True)
    for fact in (
        operator.is_,
        operator.is_not,
        isinstance,
        issubclass,
        type,
        callable,
        len,
        np.shape,
        np.ndim,
        np.size,
    ):
        table[fact] = FACT
    table.update({fn: PURE for fn in vars(math).values() if callable(fn)})
    table.update(dict.fromkeys((abs, bool, int, float, complex, str, bytes, repr, round, divmod, sum, any, all), PURE))
    table.update(dict.fromkeys((range, slice, ord, chr, hash, id, np.dtype, np.finfo, np.iinfo), PURE))
    table.update(dict.fromkeys((min, max, tuple, frozenset, dict.get, attribute_or_none, list.index, list.count), PART))
    table.update(dict.fromkeys((list, dict, set, sorted, zip, enumerate, reversed, iter, list.copy, dict.copy), FRESH))
    table[make_object] = FRESH
    table.update(dict.fromkeys((dict.keys, dict.values, dict.items, map, filter), FRESH))
    table[next] = WRITES_FIRST
    for cls, names in _MUTATORS.items():
        table.update({getattr(cls, name): WRITES_FIRST for name in names.split()})
    makers: tuple[Any, ...] = (
        np.zeros,
        np.empty,
        np.ones,
        np.full,
        np.zeros_like,
        np.empty_like,
        np.ones_like,
        np.full_like,
        np.eye,
    )
    table.update(dict.fromkeys(makers, NEW_ARRAY))
    shadows = (tangents.shadow, tangents.shadow_with, tangents.shadow_like, tangents.shadow_of_values)
    copies: tuple[Any, ...] = (
        np.arange,
        np.linspace,
        np.copy,
        np.ndarray.copy,
        np.array,
        snapshot,
        owned,
        fresh_shadows,
        tangents.to_shadow,
        tangents.seed_shadow,
        tangents.finish,
        tangents.zero_tangent,
        *shadows,
    )
    table.update(dict.fromkeys(copies, NEW))
    table.update(dict.fromkeys((tangents.pour, delattr), FILLS_FIRST))
    table[plain_operand] = table[unmasked_operand] = PLACED
    return table


_MUTATORS: dict[type, str] = {
    list: "append extend insert pop remove clear sort reverse __setitem__ __delitem__",
    dict: "setdefault update pop popitem clear __setitem__ __delitem__",
    set: "add discard remove pop clear update",
}


DISPLAYS = {
    "make_list": FRESH,
    "make_tuple": FRESH,
    "make_dict": FRESH,
    "make_set": FRESH,
    "keys_of": FRESH,
    "last_key": FRESH,
    "unpack": PURE,
}


KNOWN = _table()


_CMATH = """
    acos acosh asin asinh atan atanh cos cosh exp isclose isfinite isinf isnan log log10 phase polar rect
    sin sinh sqrt tan tanh
"""


_OF_LOOPS = "plus times_by largest smallest sliced step_along block_size block_end wrapped around"


KNOWN_BY_NAME: dict[str, dict[str, Effects]] = {
    "cmath": dict.fromkeys(_CMATH.split(), PURE),
    "adjoint.runtime.functions": {
        **dict.fromkeys(("with_pullback", "called"), VALUES),
        "pulled_back": NEW,
        **dict.fromkeys(("forward_of", "as_function", "as_optional_function"), PURE),
    },
    "adjoint.runtime.outside": dict.fromkeys(("assign_attribute", "assign_captured", "assign_global"), PLACED),
    "adjoint.runtime.objects": {**dict.fromkeys(("put_attribute", "put_item"), PLACED), "refuse_deletion": ACTS},
    "adjoint.runtime.display": dict.fromkeys(("draw", "raise_made", "raise_given"), ACTS),
    "adjoint.runtime.arithmetic.bundles": {
        **dict.fromkeys(("product_with_bundles", "product_of_moving_bundles"), PURE),
        "product_by_rows": NEW,
        "row_of_product": PURE,
        **dict.fromkeys(("bundle_from", "bundle_at", "bundle_down", "bundle_across", "bundle_total"), PURE),
        **dict.fromkeys(("bundle_sign", "bundle_sqrt", "bundle_magnitude"), PURE),
        **dict.fromkeys(("bundle_any", "bundle_not", "bundle_both", "bundle_either", "bundle_choice"), PURE),
        **dict.fromkeys(("bundle_maximum", "bundle_minimum"), PURE),
        **dict.fromkeys(("put_bundle", "put_bundle_down", "put_bundle_across"), FILLS_FIRST),
        **dict.fromkeys(("bundled", "unbundled"), Effects(view_of=0)),
        **dict.fromkeys(("zero_bundles", "no_bundles_yet"), NEW_ARRAY),
        "same_in_bundles": NEW,
    },
    "adjoint.runtime.arithmetic.indices": {"natural": PURE, "row": PURE, "unsigned": PURE},
    "adjoint.runtime.arithmetic.fused_loops": dict.fromkeys(_OF_LOOPS.split(), PURE),
    "adjoint.runtime.array_functions.delayed": {
        **dict.fromkeys(("room_for_outer", "room_for_lines"), NEW),
        **dict.fromkeys(("add_outer", "add_rows"), Effects(pure=False, writes=(0, 1, 5, 6, 7))),
        "add_line": Effects(pure=False, writes=(0, 1, 6, 7)),
        "add_delayed": Effects(pure=False, writes=(0, 3)),
        "add_delayed_lines": Effects(pure=False, writes=(0, 3)),
    },
    "adjoint.runtime.array_functions.delayed_updates": {
        "delayed_updates": NEW,
        **dict.fromkeys(("delay_update", "delay_downdate"), Effects(pure=False, writes=(0,))),
        "apply_updates": Effects(pure=False, writes=(0, 1)),
    },
    "adjoint.runtime.array_functions.rank_one": dict.fromkeys(
        ("rank_one_update", "rank_one_downdate"), Effects(pure=False, writes=(0,))
    ),
    "adjoint.runtime.array_functions.sparse": {"product_of_moving": PURE, "lets_zeros_be_skipped": PURE},
    "adjoint.runtime.sets.numbers": {"union": PURE},  # to make a union twice is as good as once
    "adjoint.runtime.sets.entries": {
        **dict.fromkeys(("place_in", "place_in_rows", "start_of"), PURE),
        "put_entry": Effects(pure=False, writes=(0, 1)),
        "put_store": FILLS_FIRST,
    },
    "adjoint.runtime.sets.functions": {
        **dict.fromkeys(("elementwise", "everything", "reduced", "scanned", "summed_to", "product", "added"), NEW),
        **dict.fromkeys(("moved_and_united", "numbered", "leaf"), NEW),
        "added_at": Effects(pure=False, writes=(1,)),
    },
    "adjoint.runtime.stacks": {"field_of_all": NEW, "shadow_of_all": NEW, "put_field_of_all": FILLS_FIRST},
}
"""By module: those that few programs need are not imported for a table."""
