"""Patterns of zeros that are found: the function is run on sets of elements of its argument.

What is found is right for all floats, where only whole numbers, conditions on these, and shapes decide which elements
meet; else it is the pattern of one call, and found again at each.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adjoint.api.across_processes import refuse_messages
from adjoint.api.gradients import grad
from adjoint.api.sparse.compressed_rows import rows_of
from adjoint.api.sweeps.many_directions import copied
from adjoint.diagnostics import DifferentiationError, error
from adjoint.diagnostics.entrances import entrance
from adjoint.dispatch.options import Compiling, Native
from adjoint.dispatch.specialize import Specialization, specialization
from adjoint.frontend.calls.argument_names import resolve
from adjoint.frontend.entry.captured import differentiated
from adjoint.frontend.entry.patterns import lower_sets
from adjoint.frontend.entry.restarts import Entry
from adjoint.records import dataclass
from adjoint.rules.registry import is_exchanged, on_change
from adjoint.runtime.arithmetic.checks import brings_arithmetic
from adjoint.runtime.outside import Before, as_once, undone
from adjoint.runtime.sets.numbers import MOST_EXACT, exact_in, new_unions
from adjoint.target import Target

KEPT = 4
"""How many patterns are kept."""
MOST_ENTRIES = 100_000_000
MOST_UNIONS = 100_000_000
FIRST_UNIONS = 1 << 16


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """A pattern, and for which calls it holds.

    Attributes
    ----------
    indptr, indices, shape
        As those of a matrix in compressed rows.
    level
        0 if it holds for the same whole numbers and shapes, 1 if also numbers that do not vary have to be the same, 2
        if it is that of one call.
    reasons
        What it depends on besides whole numbers and shapes.
    key
        What has to be the same in the calls for which it holds; None if it is that of one call.
    """

    indptr: np.ndarray
    indices: np.ndarray
    shape: tuple[int, int]
    level: int = 2
    reasons: tuple[str, ...] = ()
    key: _Key | None = None

    def matrix(self) -> Any:
        """The pattern as a matrix of truths."""
        from scipy.sparse import csr_array  # lazy

        return csr_array((np.ones(len(self.indices), bool), self.indices, self.indptr), shape=self.shape)


class Patterns:
    """The patterns of the first or second derivatives of a function with respect to one argument.

    Parameters
    ----------
    kind
        ``"jacobian"`` or ``"hessian"``.
    native
        Whether machine code finds them.
    most
        How many entries a pattern may have.
    """

    def __init__(self, kind: str, native: Any, most: int) -> None:
        self.kind = kind
        self.native = checking(native)
        self.most = most
        self.latest: list[Found] = []

    def of(self, function: Callable[..., Any], arguments: tuple[Any, ...], place: int) -> Found:
        """The pattern for a call: one that is known, where that holds.

        Raises
        ------
        DifferentiationError
            AD0412 if the argument or the result is not of real numbers, or there are too many entries.
        """
        _check(arguments[place], "the argument")
        for found in self.latest:
            if found.key is not None and found.key.holds(function, arguments, place):
                return found
        inner = grad(function, place) if self.kind == "hessian" else function
        with undone():
            found = _Search(function, inner, arguments, place, self.native, self.most).found()
        if self.kind == "hessian" and found.shape[0] != found.shape[1]:
            raise error("AD0412", None, f"the gradient has {found.shape[0]} numbers")
        self.latest = [found, *self.latest[: KEPT - 1]]
        return found


def checking(native: Native) -> Native:
    """Machine code in which an index out of range raises, as where a side of a branch is run that is not taken."""
    return Compiling(True, boundscheck=True) if native else False


class _Search:
    """The search for the pattern of one call."""

    def __init__(
        self,
        asked: Callable[..., Any],
        function: Callable[..., Any],
        arguments: tuple[Any, ...],
        place: int,
        native: Native,
        most: int,
    ) -> None:
        self.asked = asked
        self.function = function
        self.root = differentiated(function)
        self.arguments = arguments
        self.place = place
        self.native = native
        self.most = most
        self.before: Before = {}
        x = arguments[place]
        self.count = int(np.size(x))
        self.seeds: Any = 1.0
        if isinstance(x, np.ndarray):
            self.seeds = np.arange(1.0, self.count + 1).astype(x.dtype).reshape(x.shape)
        self.compiled: dict[bool, Specialization] = {}

    def found(self) -> Found:
        """The pattern: for as many calls as can be; of all elements, if nothing better is found."""
        if is_exchanged():
            self._refuse_messages()
        reason = ""
        for for_all in (True, False):
            try:
                found = self._run(for_all, reason)
            except _TooMany as row:
                raise error("AD0412", None, f"with row {row} the pattern has more than {self.most} entries") from None
            except Exception as failure:  # where both sides of a branch are run, one may raise what the call does not
                reason = said(failure)
                continue
            if not isinstance(found, str):
                return found
            reason = found
        return self._dense(reason)

    def _refuse_messages(self) -> None:
        try:
            function = self._specialized(False).function
        except Exception:  # then nothing is sent
            return
        refuse_messages(function, "Jacobian")

    def _specialized(self, for_all: bool) -> Specialization:
        if for_all not in self.compiled:
            unions = new_unions(self.count, 1)
            given = (*self.arguments, self.seeds, unions)
            key = "sets", self.place, for_all

            def lower(args: Sequence[Any], _: Mapping[str, Any], target: Target) -> Entry:
                *own, seeds, unions = args
                return lower_sets(self.function, self.place, own, seeds, unions, for_all, target)

            self.compiled[for_all] = specialization(self.function, key, given, {}, None, self.native, lower)
        return self.compiled[for_all]

    def _run(self, for_all: bool, reason: str) -> Found | str:
        """The pattern that a run finds, if need be for a reason; why there is none."""
        compiled = self._specialized(for_all)
        capacity = FIRST_UNIONS + 4 * self.count
        while True:
            unions = new_unions(self.count, capacity)
            sets, limit, reasons = self._sets(compiled, unions)
            made = int(unions[0, 0])
            if made + self.count >= min(limit, _exact_in(self.arguments)):
                return "there are more sets than its numbers tell apart"
            if made > MOST_UNIONS:
                return f"there are more than {MOST_UNIONS:.0e} sets"
            if made <= capacity:
                break
            capacity = 2 * made
        if np.iscomplexobj(sets):
            return "the result is complex"
        level = max([each for each, _ in reasons], default=0)
        said = tuple([text or reason for each, text in reasons if each == level])
        indptr, indices, failed = rows_of(np.ravel(sets), unions[: made + 1], self.most)
        if failed >= 0:
            raise _TooMany(failed)
        key = None if level == 2 else _Key.of(self, compiled, with_floats=level == 1)
        return Found(indptr, indices, (int(np.size(sets)), self.count), level, said, key)

    def _sets(self, compiled: Specialization, unions: np.ndarray) -> Any:
        *given, seeds = copied((*self.arguments, self.seeds))
        with np.errstate(all="ignore"), as_once(self.before):
            return compiled.run(self.root, (*given, seeds, unions))

    def _dense(self, reason: str) -> Found:
        """The pattern that has everything."""
        with as_once(self.before):
            value = self.function(*copied(self.arguments))
        _check(value, "the result")
        m, n = int(np.size(value)), self.count
        if m * n > self.most:
            raise error("AD0412", None, f"no pattern is found: {reason}; a dense one has {m * n} entries")
        indptr = np.arange(0, m * n + 1, n) if n else np.zeros(m + 1, np.int64)
        return Found(indptr, np.tile(np.arange(n), m), (m, n), 2, (f"all entries are taken: {reason}",))


_changes = [0]


def _note_change() -> None:
    _changes[0] += 1


on_change(_note_change)


@dataclass(frozen=True, eq=False, slots=True)
class _Key:
    """What a pattern depends on.

    Attributes
    ----------
    changes
        How often something had been declared when it was found.
    function, compiled
        What was differentiated, and what found the pattern, with the conditions under which that may be used.
    parts
        What has to be the same in each argument, and in what the function captures.
    with_floats
        Whether that includes floats, except those that vary.
    """

    changes: int
    function: Any
    compiled: Specialization
    parts: tuple[Any, ...]
    with_floats: bool

    @classmethod
    def of(cls, search: _Search, compiled: Specialization, with_floats: bool) -> _Key | None:
        """The key of a call; None if something in it cannot be compared."""
        try:
            parts = _parts(search.asked, compiled, search.arguments, search.place, with_floats)
        except _NotComparable:
            return None
        return cls(_changes[0], search.asked, compiled, parts, with_floats)

    def holds(self, function: Any, arguments: tuple[Any, ...], place: int) -> bool:
        """Whether a pattern holds for a call."""
        if function is not self.function or self.changes != _changes[0]:
            return False
        compiled = self.compiled
        try:
            values = _values(function, compiled, arguments)
            if len(values) != len(self.parts):
                return False
            for number, (value, part) in enumerate(zip(values, self.parts, strict=True)):
                if type(part) is _Array and type(value) is np.ndarray:
                    if not part.is_like(value):
                        return False
                elif type(value) is int:
                    if part != (int, value):
                        return False
                elif _key_of(value, self.with_floats and number != place) != part:
                    return False
        except (_NotComparable, KeyError, AttributeError, ValueError):  # what was captured is no longer there
            return False
        is_plain = not (compiled.guards or compiled.captured or compiled.argument_guards)
        return is_plain or compiled.fits(differentiated(function), arguments, {}, {})


def _parts(
    function: Any, compiled: Specialization, arguments: tuple[Any, ...], place: int, with_floats: bool
) -> tuple[Any, ...]:
    own = enumerate(_values(function, compiled, arguments))
    return tuple([_key_of(value, with_floats and number != place) for number, value in own])


def _values(function: Any, compiled: Specialization, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, and what the function captures."""
    captured = compiled.captured
    return (*arguments, *[item.read(differentiated(function)) for item in captured]) if captured else arguments


class _Array(NamedTuple):
    """What has to be the same in two arrays; ``numbers`` is None where those do not matter."""

    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    numbers: bytes | None

    def is_like(self, array: np.ndarray) -> bool:
        """Whether another array has the same key, without making that."""
        dtype, shape, strides, numbers = self
        return (
            array.dtype == dtype
            and array.shape == shape
            and array.strides == strides
            and (numbers is None or array.tobytes() == numbers)
        )


class _TooMany(Exception):
    """The pattern has too many entries, from some row on."""


def said(failure: Exception) -> str:
    """What is in the way, in one line."""
    if isinstance(failure, DifferentiationError):
        problem = failure.diagnostics[0]
        if not problem.labels:
            return (*problem.notes, problem.title)[0]
        label = problem.labels[0]
        return f"{label.text or problem.title} (line {label.span.line} of {label.span.file})"
    return f"{type(failure).__name__}: {failure}".splitlines()[0]


class _NotComparable(Exception):
    """A value may change, and nobody sees it."""


def _key_of(value: Any, with_floats: bool) -> Any:
    """What has to be the same in two values for one pattern."""
    cls = type(value)
    if isinstance(value, np.ndarray):
        kind = value.dtype.kind
        if kind not in "fcbiuSU":
            raise _NotComparable
        numbers = value.tobytes() if kind not in "fc" or with_floats else None
        return _Array(value.dtype, value.shape, value.strides, numbers)
    if cls in (float, complex) or isinstance(value, np.inexact):
        return cls, repr(value) if with_floats else None
    if cls is int:
        return cls, value
    if value is None or cls in (bool, str, bytes, slice, range) or isinstance(value, np.generic):
        return cls, repr(value)
    if isinstance(value, (tuple, list)):
        return cls, tuple([_key_of(item, with_floats) for item in value])
    if cls is dict:
        return cls, tuple([(_key_of(name, True), _key_of(item, with_floats)) for name, item in value.items()])
    if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, np.ufunc, np.dtype)):
        return value
    raise _NotComparable


def _check(value: Any, what: str) -> None:
    is_real = isinstance(value, np.ndarray) and value.dtype.kind == "f" and not brings_arithmetic(type(value))
    if not (is_real or isinstance(value, (float, np.floating))):
        said = f"an array of {value.dtype}" if type(value) is np.ndarray else f"of class {type(value).__name__!r}"
        raise error("AD0412", None, f"{what} is {said}: matrices with zeros are of real numbers and arrays of these")


def _exact_in(values: Sequence[Any]) -> int:
    """Up to which whole number the floats of arguments are exact."""
    dtypes = [value.dtype for value in values if isinstance(value, (np.ndarray, np.generic))]
    dtypes += [
        np.dtype(value)
        for value in values
        if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.floating))
    ]
    return min(map(exact_in, dtypes), default=MOST_EXACT)


class Sparsity:
    """The pattern of a derivative, as a function of arguments; what :func:`adjoint.sparsity` gives."""

    def __init__(self, function: Callable[..., Any], wrt: Any, kind: str, native: Any, most: int) -> None:
        self.function = function
        self.wrt = wrt
        self._patterns = Patterns(kind, native, most)

    @entrance
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The pattern, a ``scipy.sparse.csr_array`` of truths of shape ``(m, n)``."""
        return self._found(args, kwargs).matrix()

    @entrance
    def explain(self, *args: Any, **kwargs: Any) -> str:
        """For which calls the pattern of a call holds, and why not for all with such whole numbers and shapes.

        Examples
        --------
        >>> import adjoint as ad, numpy as np
        >>> def f(x):
        ...     return x[1:] * x[0] if x[0] > 0.0 else x[1:]
        >>> print(ad.sparsity(f).explain(np.ones(3)))
        it holds for the same whole numbers and shapes
        """
        found = self._found(args, kwargs)
        said = _HOLDS[found.level] if found.level < 2 and found.key is not None else _HOLDS[2]
        return "\n".join([said, *[f"    {reason}" for reason in dict.fromkeys(found.reasons)]])

    def _found(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Found:
        function, arguments, (place,) = resolve(self.function, self.wrt, args, kwargs)
        return self._patterns.of(function, tuple(arguments), place)

    def __repr__(self) -> str:
        return f"sparsity({getattr(self.function, '__name__', self.function)!s}, kind={self._patterns.kind!r})"


_HOLDS = (
    "it holds for the same whole numbers and shapes",
    "it holds for the same whole numbers and shapes, and for the same other arguments; these decide on it by",
    "it is that of this call, and found again at each; what varies decides on it by",
)
