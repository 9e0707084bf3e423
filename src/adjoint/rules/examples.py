"""Examples of types: the values that a function is called on to find out the types of its results."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from adjoint import ir
from adjoint.rules.kinds import Elementwise, Rule
from adjoint.types.classes.constant_types import EXAMPLES


class NoSample(Exception):
    """A type of which no example can be made."""


_EXTENTS: tuple[Callable[[int], int], ...] = (
    lambda place: 3,
    lambda place: 1,
    lambda place: (place + 1) % 2,
    lambda place: place + 1,
    lambda place: 2,
    lambda place: 12,
)


_MANY = (3, 3, 3, 3, 2, 12)


_SMALL = 5
"""So many of these are tried with each choice of integers."""


_OF_NOTHING: tuple[tuple[Callable[[int], int], int], ...] = ((lambda place: 1, 0), (lambda place: place % 2, 3))
"""Choices with empty arrays, which with one element make an array of one: others have to tell everything else."""


_APART = {"any": (1, 3, 0, 2), "many": (3, 0)}
"""What the extents of arrays are chosen from one by one."""


_MOST_APART = 1024
"""How many such choices are tried."""


_AXES = (0, 1, -1)
"""What an integer may be that has to be an axis, or the first of several: of three none is the same in all calls.

The other choices would make all extents as small as the axes.
"""


_Integers = tuple[int, ...]
"""What integers by themselves are, one after the other; of more of them, each is the last."""


_MOST_INTEGERS = 3
"""So many of them differ from each other: a length, and two axes."""


_ANY: ir.Dim = "any"
_LARGE = 50


_MOST_EXTENTS = 3


_MOST_ELEMENTS = 100_000


_MOST_PAIRS = 4_000_000
"""How many elements one argument may have times another: ``np.outer`` of twelve along each of three axes."""


def examples_of(rule: Rule, arguments: Sequence[Any], named: Sequence[tuple[str, Any]]) -> tuple[list[Any], bool]:
    """Results of the calls that succeed, and whether these do not tell the rank of others.

    That is so where several arguments are of unknown rank, and all calls with some rank for all of them fail: then
    they may be of different ranks. What does not depend on the choice of extents is called once, and counts twice.
    """
    given = (*arguments, *(value for _, value in named))
    told: list[Any] = []
    lengths: set[tuple[int, ...]] = set()
    ranks: list[int] = []
    some_fail = False
    choices: list[tuple[Callable[[int], int], int, int, bool, _Integers | None, int]] = [
        (extent, many, 0, as_places, None, 1)
        for as_places in ((False, True) if any(map(lists_integers, given)) else (False,))
        for extent, many in zip(_EXTENTS, _MANY, strict=True)
    ]
    if not isinstance(rule, Elementwise) and sum(isinstance(known, ir.Array) for known in arguments) > 1:
        choices.append((_EXTENTS[0], _MANY[0], 1, False, None, 1))
    if any(map(_has_integers, given)) and not isinstance(rule, Elementwise):
        extents = [*zip(_EXTENTS, _MANY, strict=True)][:_SMALL]
        places = (1, 0) if any(map(_has_places, given)) else (1,)
        chosen = itertools.product(extents, _integers(given), places)
        choices += [(*each, 0, False, integers, whole) for each, integers, whole in chosen]
    choices += [(*choice, 0, False, None, 1) for choice in _OF_NOTHING]
    for rank in _ranks(given, told):
        found: list[Any] = []
        for extent, many, apart, as_places, integers, whole in choices:
            is_of_nothing = (extent, many) in _OF_NOTHING
            if is_of_nothing and len(found) < 2:
                break
            maker = _Maker(extent, many, rank, apart, as_places, integers, whole)
            try:
                args = [maker.make(argument, _value_at(rule, place)) for place, argument in enumerate(arguments)]
                kwargs = {name: maker.make(argument, 0.75) for name, argument in named}
                result = rule.fn(*args, **kwargs)
                if rule.results > 1 and len(result) != rule.results:
                    continue
            except NoSample:
                return told, False
            except Exception:  # the callee may raise anything: this example tells nothing
                if maker.varied:
                    continue
                break
            if is_of_nothing and not all(_is_like(result, other) for other in found):
                continue
            lengths.add(tuple(maker.lengths))
            found.append(result)
            if not maker.varied:
                found.append(result)
                break
        if found and not isinstance(rule, Elementwise):
            found += _with_other_extents(rule, arguments, named, rank, found)
        told += found
        ranks += [rank] * bool(found)
        some_fail |= not found
        if not any(map(is_vague, given)):
            break
    if told and lengths <= {(1,)} and any(map(lists_integers, arguments)):
        return told, True  # a shape, or axes: those of more than one did not fit the other arguments
    if told and min(ranks) > 1 and any(isinstance(known, ir.Array) and known.dims is None for known in given):
        return told, True  # only of the largest examples was there a result: larger ones have another rank
    return told, some_fail and not isinstance(rule, Elementwise) and sum(map(is_vague, given)) > 1


def axis_error_of(rule: Rule, arguments: Sequence[Any], named: Sequence[tuple[str, Any]]) -> str | None:
    """What a call surely raises with arrays of these ranks, for lack of an axis; None where it need not raise that."""
    messages: set[str] = set()
    for extent, many in zip(_EXTENTS, _MANY, strict=True):
        maker = _Maker(extent, many, 0, 0, False, None, 1)
        try:
            args = [maker.make(argument, _value_at(rule, place)) for place, argument in enumerate(arguments)]
            rule.fn(*args, **{name: maker.make(argument, 0.75) for name, argument in named})
        except AxisError as error:
            messages.add(str(error))
        except Exception:  # the callee may raise anything else
            return None
        else:
            return None
    return messages.pop() if len(messages) == 1 else None


def _with_other_extents(
    rule: Rule, arguments: Sequence[Any], named: Sequence[tuple[str, Any]], rank: int, told: Sequence[Any]
) -> list[Any]:
    """Results for extents that are chosen each by itself, as long as some extent of the results is the same for all.

    In the other choices extents depend on each other: of a product of two matrices, none has one row and one column.
    """
    found: list[Any] = []
    unknown: list[ir.Dim] = []
    untold = [_untold(argument, rank, unknown) for argument in arguments]
    others = [(name, _untold(value, rank, unknown)) for name, value in named]
    if len(unknown) < 2:
        return found
    wholes = (1, 0) if any(map(_has_places, untold)) else (1,)  # zeros are places in what has one
    agreement = _Agreement()
    for result in told:
        agreement.add(result)
    for *extents, whole in _apart([*(_APART[dim] for dim in unknown), wholes]):
        if not agreement.holds():
            break
        maker = _Maker(extents.__getitem__, 0, rank, 0, False, None, whole)
        try:
            args = [maker.make(argument, _value_at(rule, place)) for place, argument in enumerate(untold)]
            result = rule.fn(*args, **{name: maker.make(argument, 0.75) for name, argument in others})
        except Exception:  # the callee may raise anything: this example tells nothing
            continue
        if 0 not in extents or any(_is_like(result, other) for other in told):
            found.append(result)
            agreement.add(result)
    return found


def _apart(options: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """All choices of one of each; if there are too many, some in no order."""
    if math.prod(map(len, options)) <= _MOST_APART:
        yield from itertools.product(*options)
        return
    draws = random.Random(0)  # the same each time
    for _ in range(_MOST_APART):
        yield tuple(map(draws.choice, options))


def _untold(known: Any, rank: int, unknown: list[ir.Dim]) -> Any:
    """An array of which no extent is known but ones; the others are noted as ``unknown``."""
    dims: tuple[ir.Dim, ...] | None = None
    match known:
        case ir.Array(dims=dims):
            dims = (_ANY,) * (rank + 1) if dims is None else dims
        case ir.Number() if rank:
            dims = (_ANY,) * rank
    if dims is None:
        return known
    unknown += [dim for dim in dims if dim != "one"]
    dtype = known.dtype if isinstance(known, ir.Array) else None
    return ir.Array(dtype, tuple(["one" if dim == "one" else "any" for dim in dims]))


class _Agreement:
    """Whether some extent is 1 in all results so far, or in none of them."""

    def __init__(self) -> None:
        self._are_one: dict[tuple[int, ...], list[bool | None]] = {}  # None where results differ

    def add(self, result: Any, place: tuple[int, ...] = ()) -> None:
        if isinstance(result, (tuple, list)):
            for number, item in enumerate(result):
                self.add(item, (*place, number))
        elif isinstance(result, np.ndarray):
            now = [extent == 1 for extent in result.shape]
            before = self._are_one.get(place, now)
            self._are_one[place] = [one if one is other else None for one, other in zip(before, now, strict=False)]

    def holds(self) -> bool:
        return any(one is not None for extents in self._are_one.values() for one in extents)


def _ranks(given: Sequence[Any], told: list[Any]) -> Iterator[int]:
    """The ranks to try, of which an array has one more; ``told`` are the results of those that were tried so far.

    Stacks, so that what takes matrices does not decide the rank; one above that of each array that is known, so that
    these do not. Where the results have one rank all the same, values with two axes more than these: as many as a
    function of matrices takes away.
    """
    above = max((len(known.dims) for known in given if isinstance(known, ir.Array) and known.dims), default=1)
    yield from dict.fromkeys((0, 1, 2, above))
    most = _only_rank(told) + (2 if any(isinstance(known, ir.Number) for known in given) else 1)
    yield from (rank for rank in range(3, most + 1) if rank != above)


def _only_rank(told: list[Any]) -> int:
    """The rank of all results, or the largest one among several that each have one; 0 where there is none."""
    if told and all(isinstance(result, tuple) for result in told):
        return max(map(_only_rank, map(list, zip(*told, strict=False))), default=0)
    ranks = {result.ndim if isinstance(result, np.ndarray) else 0 for result in told}
    return ranks.pop() if len(ranks) == 1 else 0


def _is_like(one: Any, other: Any) -> bool:
    """Whether two results differ in extents alone."""
    if isinstance(one, (tuple, list)):
        return type(one) is type(other) and len(one) == len(other) and all(map(_is_like, one, other))
    if not isinstance(one, np.ndarray) or not isinstance(other, np.ndarray):
        return type(one) is type(other)
    return one.ndim == other.ndim and one.dtype == other.dtype


def _value_at(rule: Rule, place: int) -> float:
    if not rule.domain:
        return 0.75
    low, high = rule.domain[min(place, len(rule.domain) - 1)]
    return low + 0.55 * (high - low)


class _Maker:
    """Makes values of types; ``extent`` gives the extents and integers that are not known, one after the other.

    Each array is ``apart`` longer than the one before where it is ``many``; integers in lists are places in arrays
    where ``as_places``, else extents. Integers by themselves are what ``integers`` says, where that is not None; those
    of a tuple count from it. Arrays of integers are full of ``whole``.
    """

    def __init__(
        self,
        extent: Callable[[int], int],
        many: int,
        rank: int,
        apart: int,
        as_places: bool,
        integers: _Integers | None,
        whole: int = 1,
    ) -> None:
        self._extent, self._many, self._rank, self._whole = extent, many, rank, whole
        self._apart, self._as_places, self._integers = apart, as_places, integers
        self._place = -1
        self._largest = 1
        self._along = 0
        self._counted = -1
        self.varied = False
        self.lengths: list[int] = []

    def make(self, known: Any, value: float = 0.75) -> Any:
        match known:
            case ir.Const(value=constant):
                return _tamed(constant)
            case ir.Scalar(kind=kind, dtype=dtype):
                number = self._scalar(kind, value)
                return number if dtype is None else dtype.type(number)
            case ir.Array(dtype=dtype, dims=dims):
                return self._array(dtype or np.dtype(float), dims, value)
            case ir.Number(has_no_axes=True):
                return np.array(value) if self._rank else np.float64(value)
            case ir.Number():
                many: list[ir.Dim] = ["many"] * self._rank
                return self._array(np.dtype(float), tuple(many), value) if many else value
            case ir.List(element=ir.Scalar(kind="int")) if self._as_places:
                count = max(1, self._next())
                self.lengths.append(count)
                return [int(count == 3), *[0] * (count - 1)]  # counts that add up to one, too
            case ir.List(element=ir.Scalar(kind="int") as element):  # more extents would be those of a very large array
                self.lengths.append(min(max(1, self._next()), _MOST_EXTENTS))
                return [self.make(element, value) for _ in range(self.lengths[-1])]
            case ir.List(element=element) if element is not None:
                return [self.make(element, value) for _ in range(max(1, self._next()))]
            case ir.Dict(value=element) if element is not None:
                return {"a": self.make(element, value)}
            case ir.Tuple(items=items):
                return tuple([self._item(place, item, value) for place, item in enumerate(items)])
            case ir.Opaque(cls=cls) if cls is type(None):
                return None
            case ir.Opaque(cls=cls) if cls is str:
                return "text"
            case ir.Opaque(cls=cls) if cls is np.dtype:
                return np.dtype(float)
            case ir.Opaque(cls=cls) if cls in EXAMPLES:
                return EXAMPLES[cls]
            case _:
                raise NoSample

    def _item(self, place: int, known: Any, value: float) -> Any:
        self._along = place
        made = self.make(known, value)
        self._along = 0
        return made

    def _next(self) -> int:
        self.varied = True
        self._place += 1
        return self._extent(self._place)

    def _scalar(self, kind: ir.ScalarKind, value: float) -> Any:
        match kind:
            case "float":
                return value
            case "int":
                return self._integer()
            case "bool":
                return True
            case _:
                return complex(value, 0.5)

    def _integer(self) -> int:
        if self._integers is None:
            return self._next()
        self.varied = True
        self._counted += 1
        return self._integers[min(self._counted, len(self._integers) - 1)] + self._along

    def _array(self, dtype: Any, dims: tuple[ir.Dim, ...] | None, value: float) -> Any:
        known: Sequence[ir.Dim] = ["any"] * (self._rank + 1) if dims is None else dims
        shape = tuple([1 if dim == "one" else self._many if dim == "many" else self._next() for dim in known])
        self.varied = self.varied or "many" in known
        self._many += self._apart
        size = math.prod(shape)
        if size > _MOST_ELEMENTS or size * self._largest > _MOST_PAIRS:  # twelve along each of eight axes, or of four
            raise ValueError(f"an example of shape {shape} is too large")
        self._largest = max(self._largest, size)
        if dtype.kind not in "bfciu":
            raise NoSample
        if dtype.kind in "biu" and shape == (2,):
            return np.array([1, 0], dtype)  # counts, or a mask, by which one element is taken
        if dtype.kind == "b":
            return np.ones(shape, bool)
        array = np.full(shape, value if dtype.kind in "fc" else self._whole)
        if dtype.kind in "fc":
            array += 1e-3 * np.arange(array.size).reshape(shape)
            if len(shape) >= 2 and shape[-1] == shape[-2]:
                array = 0.1 * (array + np.swapaxes(array, -1, -2)) + 2 * np.eye(shape[-1])  # positive definite
        return array.astype(dtype)


def _tamed(constant: Any) -> Any:
    """A constant of the call, but no large numbers: they may be extents, where there are few of them."""
    return constant if _count(constant) > _LARGE else _without_large(constant)


def _count(constant: Any) -> int:
    return sum(map(_count, constant)) if type(constant) is tuple else 1


def _without_large(constant: Any) -> Any:
    if type(constant) is int and abs(constant) > _LARGE:
        return _LARGE
    return tuple(map(_without_large, constant)) if type(constant) is tuple else constant


def _integers(given: Sequence[Any]) -> Iterator[_Integers]:
    """What integers may be of which some have to be axes, and others are lengths."""
    count = sum(isinstance(known, ir.Scalar) and known.kind == "int" for known in given)
    if not any(isinstance(known, (ir.Array, ir.Number, ir.List)) for known in given):
        return iter([(0,)])  # extents, not axes
    if count < 2:
        return zip(_AXES)
    return itertools.product((*_AXES, 3), repeat=min(count, _MOST_INTEGERS))


def _has_places(known: Any) -> bool:
    """Whether an argument is an array of integers, such as places in another one."""
    return isinstance(known, ir.Array) and known.dtype is not None and known.dtype.kind in "iu"


def _has_integers(known: Any) -> bool:
    """Whether an argument is an integer that is not known, or a tuple with one."""
    if isinstance(known, ir.Tuple):
        return any(map(_has_integers, known.items))
    return isinstance(known, ir.Scalar) and known.kind == "int"


def lists_integers(known: Any) -> bool:
    """Whether an argument is a list of integers, which may be extents as well as places in an array."""
    return isinstance(known, ir.List) and isinstance(known.element, ir.Scalar) and known.element.kind == "int"


def is_vague(known: Any) -> bool:
    """Whether it is not known of which rank an argument is, or what it holds."""
    match known:
        case ir.List(element=element):
            return is_vague(element)
        case ir.Tuple(items=items):
            return any(map(is_vague, items))
    return isinstance(known, ir.Number) or (isinstance(known, ir.Array) and known.dims is None)
