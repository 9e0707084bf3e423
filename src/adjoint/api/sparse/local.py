"""Entries of local functions: computed iteration by iteration, straight into the data of a matrix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint.api.gradients import grad
from adjoint.api.sparse.patterns import Found, checking, said
from adjoint.api.sweeps.many_directions import copied
from adjoint.differentiation.local.walk import PLACES, Mode
from adjoint.dispatch.specialize import Specialization, specialization
from adjoint.frontend.entry.captured import differentiated
from adjoint.frontend.entry.patterns import lower_entries
from adjoint.frontend.entry.restarts import Entry
from adjoint.runtime.outside import undone
from adjoint.runtime.sets.entries import structure_of
from adjoint.target import Target


class LocalEntries:
    """The entries of a Jacobian or Hessian of which the pattern is known.

    Attributes
    ----------
    matrix
        The pattern, a matrix of truths in compressed rows.
    """

    def __init__(self, compiled: Specialization, root: Any, matrix: Any, places: np.ndarray) -> None:
        self.matrix = matrix
        self._call = compiled.call
        self._captured = compiled.captured
        self._root = root
        self._places = places
        self._has_overwritten = bool(np.any(places == len(matrix.indices)))

    def values(self, arguments: tuple[Any, ...], out: np.ndarray | None = None) -> np.ndarray:
        """The entries, in compressed rows."""
        count = len(self.matrix.indices)
        if out is not None and self._may_fill(out, count, arguments):
            self._fill(arguments, out)
            return out
        data = np.empty(count + self._has_overwritten)  # what is overwritten goes to one place more
        self._fill(arguments, data)
        if self._has_overwritten:
            data = data[:-1]
        if out is None:
            return data
        out[:] = data
        return out

    def _may_fill(self, out: np.ndarray, count: int, arguments: tuple[Any, ...]) -> bool:
        """Whether machine code may write to an array: it is what that was made for, and no part of an argument."""
        if self._has_overwritten or out.shape != (count,) or out.dtype != np.float64 or not out.flags.carray:
            return False
        alone = _owns_memory(out)
        return not any(
            out is each or (not (alone and _owns_memory(each)) and np.may_share_memory(out, each))
            for each in arguments
            if isinstance(each, np.ndarray)
        )

    def _fill(self, arguments: tuple[Any, ...], data: np.ndarray) -> None:
        outside = [item.read(self._root) for item in self._captured] if self._captured else ()
        count = self._call(*arguments, data, self._places, *outside)
        assert count == len(self._places), "a pattern was found for other entries"


def _owns_memory(array: np.ndarray) -> bool:
    """Whether an array is no view: two such arrays lie apart. This takes a fifth of the time of the full question."""
    return array.base is None and array.flags.owndata


def local_entries(
    kind: str, function: Callable[..., Any], arguments: tuple[Any, ...], place: int, native: Any, found: Found
) -> LocalEntries | str:
    """The entries of a function for which a pattern holds; why it is not local."""
    if found.key is None:
        return "the pattern is that of one call"
    if kind == "hessian":
        function = grad(function, place)
    try:
        with undone():
            return _made(function, arguments, place, native, found)
    except Exception as failure:  # the sides of branches may raise that are not taken
        return said(failure)


def _made(
    function: Callable[..., Any], arguments: tuple[Any, ...], place: int, native: Any, found: Found
) -> LocalEntries | str:
    root, count = differentiated(function), len(arguments)
    empty = np.zeros(0, np.int64)
    room = (empty, empty.copy(), np.zeros(found.shape[0], np.int64))
    placing = _compiled(function, arguments, place, room, "places", checking(native))
    if any(written < count or written >= count + len(room) for written in placing.written):
        return "the function writes to its arguments"
    entries = placing.run(root, (*copied(arguments), *room))
    room = (np.zeros(entries, np.int64), np.zeros(entries, np.int64), np.zeros(found.shape[0], np.int64))
    placing.run(root, (*copied(arguments), *room))
    if any(np.any((given < 0) | (given >= extent)) for given, extent in zip(room, found.shape, strict=False)):
        return "an index is out of range on one side of a branch"
    indptr, indices, places = structure_of(*room, found.shape)
    matrix = Found(indptr, indices, found.shape).matrix()
    if (matrix > found.matrix()).nnz:
        return "its entries are not those of the pattern"
    places = places.astype(PLACES)
    mode: Mode = "values" if np.all(np.bincount(places, minlength=len(indices) + 1)[:-1] == 1) else "sums"
    filling = _compiled(function, arguments, place, (np.zeros(len(indices)), places), mode, native)
    if any(written != count for written in filling.written):
        return "the function writes to its arguments"
    return LocalEntries(filling, root, matrix, places)


def _compiled(
    function: Any, arguments: tuple[Any, ...], place: int, besides: tuple[np.ndarray, ...], mode: Mode, native: Any
) -> Specialization:
    def lower(args: Sequence[Any], _: Mapping[str, Any], target: Target) -> Entry:
        return lower_entries(function, place, args[: len(arguments)], args[len(arguments) :], mode, target)

    return specialization(function, (mode, place), (*arguments, *besides), {}, None, native, lower)
