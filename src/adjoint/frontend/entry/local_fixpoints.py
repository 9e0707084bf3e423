"""Local fixed points: statements and calls are lowered again on their own until they find out nothing more.

Lowering starts again when it finds out what it must know from its beginning. From the second time on it goes on at once
where that is about what a statement or a call makes itself, or about the function that is called, so that one attempt
finds out many things; where it is about what a statement before it makes, it goes on from that one. What was tried in
vain has left traces (of memory, of what is captured): all of it is lowered again when this attempt is through.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from adjoint.frontend.data.element_types import sites_of_objects_at
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.state.signals import Restart
from adjoint.frontend.interpreter.values import Site

T = TypeVar("T")

MOST_AGAIN = 100
"""How often one attempt lowers something again on its own."""


class InOrder:
    """Statements that follow each other, of which some are lowered again, with all that follow."""

    def __init__(self, lo: Lowerer) -> None:
        self._lo = lo
        self._pieces: list[_Piece] = []

    def next_after(self, at: int, lower: Callable[[], None]) -> int:
        """Lowers the statement at a place; gives the place of the one that is next: of itself, or one before, too."""
        if not _goes_on(self._lo):
            lower()
            return at + 1
        del self._pieces[at:]
        self._pieces.append(_Piece(self._lo))
        try:
            lower()
        except (NeedsRuntime, Restart) as found:
            again = next((each for each in range(at, -1, -1) if self._pieces[each].is_about_this(found)), None)
            if again is None:
                raise
            self._pieces[again].go_back()
            return again
        return at + 1


def lowered_call(lo: Lowerer, lower: Callable[[], T], code: ast.AST) -> T:
    """What ``lower`` gives, a call of the function ``code``; where it finds out something about it, it runs again."""
    if not _goes_on(lo):
        return lower()
    while True:
        piece = _Piece(lo, code)
        try:
            return lower()
        except (NeedsRuntime, Restart) as found:
            if not piece.is_about_this(found):
                raise
            piece.go_back()


def _goes_on(lo: Lowerer) -> bool:
    """Whether what is found out is made use of in this attempt."""
    return lo.settings.attempts > 1 and lo.frame is not None and not lo.run_data.all_constant


class _Piece:
    """A statement or a call before it is lowered: what there is already it does not make itself."""

    def __init__(self, lo: Lowerer, code: ast.AST | None = None) -> None:
        self._lo, self._code = lo, code
        self._come_to = len(lo.run_data.come_to)
        self._definitions = set(lo.run_data.definitions)
        self._is_outermost = all(active is not code for active, *_ in lo.run_data.activations)
        self._start = lo.checkpoint()

    def is_about_this(self, found: NeedsRuntime | Restart) -> bool:
        """Whether what was found out is about what is made here, or how the function is called; takes it down."""
        if self._lo.run_data.again >= MOST_AGAIN:
            return False
        if isinstance(found, NeedsRuntime):
            return self._notes(set(original_sites(found.sites)))
        if found.sites:
            return self._makes(set(found.sites))
        return found.code is not None and found.code is self._code and self._is_outermost

    def go_back(self) -> None:
        """Lowering goes on here, as if nothing had been lowered since."""
        run = self._lo.run_data
        run.again += 1
        self._lo.settings.went_back += 1
        run.has_grown = True
        self._lo.roll_back(self._start)
        for key in [key for key in run.definitions if key not in self._definitions]:
            del run.definitions[key]  # they may go by what one returns that was not through

    def _notes(self, sites: set[Site]) -> bool:
        """Notes that objects must exist at run time, if they are made here and nobody knew."""
        known = self._lo.settings.runtime_sites
        if sites <= known or not self._makes(sites):
            return False
        known.update(sites)
        known.update(sites_of_objects_at(self._lo, sites))
        return True

    def _makes(self, sites: set[Site]) -> bool:
        """Whether something was made at these places since, and nothing before."""
        places = self._lo.run_data.come_to
        return sites.isdisjoint(places[: self._come_to]) and sites.issubset(places[self._come_to :])
