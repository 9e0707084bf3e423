"""The functions of a module: each is written in one sweep, or in several.

What a sweep finds out too late (a value that a loop carries is sometimes of another layout) is noted, and the sweep
starts again. A function returns a status, 0 or the number of a check that failed, and writes its results where it is
told to.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint import ir
from adjoint.native.llvm.callbacks import Callback
from adjoint.native.llvm.values import (
    OBJECT,
    Kind,
    Known,
    LeftToPython,
    TakenAsObject,
    Unsupported,
    Value,
    joined,
    kind,
)
from adjoint.native.llvm.writer import Module
from adjoint.native.llvm.writing.attempts import Attempts
from adjoint.native.llvm.writing.declared import kind_of_type
from adjoint.native.llvm.writing.emission import Learnt, LeftAlone
from adjoint.native.llvm.writing.loops import Body
from adjoint.native.llvm.writing.outlining import Long
from adjoint.records import dataclass

_MOST_SWEEPS = 400
RAISED = -1
"""The status of a function in which Python has raised an exception."""


@dataclass(frozen=True, slots=True)
class Site:
    """What is raised where a check fails."""

    exception: type[BaseException]
    message: Any


@dataclass(eq=False, slots=True)
class Emitted:
    """A function of LLVM IR: its name, and the kinds of its results."""

    name: str
    results: tuple[Kind, ...] | None = None
    calls_itself: bool = False


class Program:
    """The functions of a module: each for arguments of certain kinds.

    Attributes
    ----------
    module
        What is written.
    sites
        What is raised where a check fails, by its number less one.
    calls
        The rule for what is called; None if there is none.
    symbols
        Functions from outside of the C library that are called.
    callbacks
        What runs as Python, by the names of what is called.
    checked
        Whether indices that are numbers are checked.
    is_locked
        Whether Python's lock is held all the time.
    asks_layouts
        Whether the program asks how arrays lie in memory.
    attempts
        What earlier attempts to write the module have found.
    layouts
        How objects are laid out.
    helpers
        The helpers that are being written: each calls the one behind it.
    unsure
        Whether a number became an object of which the type does not tell whether it is Python's or NumPy's.
    asks
        Whether that makes a difference: Python may ask for the class of what it is given, or arrays are single.
    long
        The functions that are so long that they should be cut.
    """

    def __init__(
        self,
        calls: Callable[[Any], Callable[..., Any] | None],
        attempts: Attempts,
        checked: bool = False,
        is_locked: bool = False,
        asks_layouts: bool = False,
    ) -> None:
        self.module = Module()
        self.attempts = attempts
        self.layouts = attempts.layouts
        self.sites: list[Site] = []
        self.numbers: dict[tuple[type, Any], int] = {}
        self.calls = calls
        self.checked = checked
        self.is_locked = is_locked
        self.asks_layouts = asks_layouts
        self.symbols: set[str] = set()
        self.callbacks: dict[str, Callback] = {}
        self.helpers: set[ir.Function] = set()
        self.unsure = False
        self.asks = False
        self.long: dict[str, Long] = {}
        self._known: dict[tuple[Any, tuple[Kind | Any, ...]], Emitted] = {}
        self._count = 0

    def written(self, name: str) -> Callable[..., Any]:
        """The rule for what is no call."""
        found = self.calls(name)
        assert found is not None
        return found

    def site(self, exception: type[BaseException], message: Any) -> int:
        """The number of a check."""
        key = (exception, message)
        if key not in self.numbers:
            self.sites.append(Site(exception, message))
            self.numbers[key] = len(self.sites)
        return self.numbers[key]

    def function(
        self, function: ir.Function, key: Any, args: Sequence[Value], targets: Sequence[ir.Var] = ()
    ) -> Emitted:
        """The function for arguments of these kinds; the targets of a call tell its results while it is written."""
        kinds = _kinds(args)
        known = self._known.get((key, kinds))
        if known is None:
            self._count += 1
            known = self._known[key, kinds] = Emitted(f"part{self._count}" if self._count > 1 else Body.MAIN)
            try:
                self._write(function, known, kinds)
            except (Unsupported, TakenAsObject, LeftToPython):
                del self._known[key, kinds]
                raise
        if known.results is None:
            known.results = tuple(map(_guessed, targets))
        return known

    def require_one_kind_of_numbers(self) -> None:
        """Gives up where it matters whether a number is Python's or NumPy's, and that is not known."""
        if self.unsure and self.asks:
            raise Unsupported("a number that may be Python's or NumPy's, and is asked for that")

    def knows(self, key: Any, args: Sequence[Value]) -> bool:
        """Whether the function for arguments of these kinds is written, or being written."""
        return (key, _kinds(args)) in self._known

    def _write(self, function: ir.Function, known: Emitted, kinds: Sequence[Kind | Any]) -> None:
        left = self._sweep(function, known, kinds)
        if known.calls_itself or not left or self.layouts.grown:
            return
        from adjoint.native.llvm.writing.python_runs import with_runs_joined  # lazy

        joined_ = with_runs_joined(function, left)
        if joined_ is function:
            return
        before = self.asks, self.unsure, dict(self.callbacks), self.long.get(known.name), known.results
        try:
            known.results = None
            self._sweep(joined_, known, kinds, like=function)
        except (Unsupported, TakenAsObject, LeftToPython):
            self.asks, self.unsure, self.callbacks, long, known.results = before
            self.long |= {} if long is None else {known.name: long}

    def _sweep(
        self, function: ir.Function, known: Emitted, kinds: Sequence[Kind | Any], like: ir.Function | None = None
    ) -> list[LeftAlone]:
        """Writes a function; gives the statements that run as Python. ``like``: one of which sweeps have learnt."""
        learnt = self.attempts.learnt(like or function, kinds)
        self.attempts.remember(function, kinds, learnt)
        for _ in range(_MOST_SWEEPS):
            expected = known.results
            self.long.pop(known.name, None)
            emission = Body(self, learnt)
            try:
                text = emission.function(function, known.name, kinds)
            except Learnt:
                continue
            except (Unsupported, TakenAsObject, LeftToPython):
                if not emission.told:
                    raise
                continue
            if emission.told:
                continue
            given = emission.results()
            known.calls_itself |= known.results is not None
            if known.calls_itself and given != known.results:
                if expected is not None and len(expected) == len(given):
                    given = tuple(joined([one, other]) for one, other in zip(expected, given, strict=True))
                    learnt.update({("result", place): one for place, one in enumerate(given)})
                known.results = given
                continue
            known.results = given
            self.module.functions[known.name] = text
            return emission.left
        raise Unsupported("a value that changes its kind again and again")


def _kinds(args: Sequence[Value]) -> tuple[Kind | Any, ...]:
    return tuple(arg if isinstance(arg, Known) and arg.value is not None else kind(arg) for arg in args)


def _guessed(target: ir.Var) -> Kind:
    """The kind of a result as long as it is not known."""
    try:
        return kind_of_type(target.type)
    except Unsupported:
        return OBJECT
