"""Which passes change which programs: the corpus is derived in several modes while somebody watches."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

import adjoint as ad
from adjoint import ir
from adjoint.api.tools.float_leaves import clone, leaves, rebuild
from adjoint.differentiation.definitions import format_whole
from adjoint.dispatch import specialize, targets
from adjoint.passes import DRIVERS
from adjoint.records import replace
from golden.machine_texts import collected
from programs.registry import Case

LONGEST = 400
"""Functions of more lines are not shown."""
Told = Callable[[str, ir.Function, ir.Function], None]


def shown(before: ir.Function, after: ir.Function) -> Iterator[str]:
    """What a pass has changed, as lines with a sign before them; those of long functions uncompared."""
    old, new = (format_whole(part).splitlines() for part in (before, after))
    if max(len(old), len(new)) > LONGEST:
        yield from (*old, *new)
        return
    lines = list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]
    yield from ("  ..." if line.startswith("@@") else line for line in lines)


@contextmanager
def watched(told: Told, skipped: frozenset[str] = frozenset()) -> Iterator[None]:
    """Tells of each pass that changes a function meanwhile."""
    original = targets.target_of

    def watch(name: str, before: ir.Function, after: ir.Function, seconds: float) -> None:
        if after is not before and name not in DRIVERS and format_whole(after) != format_whole(before):
            told(name, before, after)

    def target_of(function: Any, native: Any) -> Any:
        return replace(original(function, native), watch=watch, skipped=skipped)

    with mock.patch.object(targets, "target_of", target_of):
        yield


def _gradient(case: Case, **how: Any) -> Any:
    args = clone(case.arguments())
    wrt = tuple(place for place, arg in enumerate(args) if leaves(arg))
    if wrt and isinstance(case.function(*clone(args)), (float, np.floating)):
        return ad.grad(case.function, wrt, **how)(*args)
    return ad.vjp(case.function, *args, **how)


def _directions(case: Case) -> None:
    args = clone(case.arguments())
    ways = []
    for number in range(9):
        rng = np.random.default_rng(number)
        drawn = lambda leaf, rng=rng: rng.normal(size=np.shape(leaf)) if np.ndim(leaf) else rng.normal()
        ways.append([rebuild(arg, drawn, {}) if leaves(arg) else None for arg in args])
    ad.jvps(case.function, args, ways, native=True)


def _second(case: Case) -> None:
    args = clone(case.arguments())
    tangents = [rebuild(arg, lambda leaf: leaf, {}) if leaves(arg) else None for arg in args]
    ad.hvp(case.function, args, tangents)


MODES: dict[str, Callable[[Case], Any]] = {
    "gradient": lambda case: _gradient(case, native=True),
    "interpreted": _gradient,
    "bounds checked": lambda case: _gradient(case, native=True, boundscheck=True),
    "directions": _directions,
    "second": _second,
}
"""How programs are derived, by name."""


def fired(case: Case, mode: str, told: Told | None = None) -> set[str]:
    """The passes that change something on the way to a derivative."""
    found: set[str] = set()

    def note(name: str, before: ir.Function, after: ir.Function) -> None:
        found.add(name)
        if told is not None:
            told(name, before, after)

    specialize.forget()
    with collected(agreeing=True), watched(note), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            MODES[mode](case)
        except Exception:  # what cannot be derived in this mode
            return found
    return found
