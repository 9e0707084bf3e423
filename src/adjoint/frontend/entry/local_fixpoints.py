"""Local fixed points: statements and calls are lowered again on their own until they find out nothing more.

Lowering starts again when it finds out what it must know from its beginning. From the second time on it goes on at once
where that is about objects that a statement or a call makes itself, or about the function that is called, so that one
attempt finds out many things. What was tried in vain has left traces (of memory, of what is captured): all of it is
lowered again when this attempt is through.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from adjoint.frontend.data.element_types import sites_of_objects_at
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.joins import NeedsRuntime, original_sites
from adjoint.frontend.interpreter.state.blocks import Checkpoint
from adjoint.frontend.interpreter.state.signals import OtherItems, Restart
from adjoint.frontend.interpreter.values import Ref, Site

T = TypeVar("T")

MOST_AGAIN = 100
"""How often one attempt lowers something again on its own."""


def lowered_to_fixpoint(lo: Lowerer, lower: Callable[[], T], code: ast.AST | None = None) -> T:
    """What ``lower`` gives; where it finds out something about what it makes itself, it runs again.

    It is a statement, or a call of the function ``code``.
    """
    if lo.settings.attempts < 2 or lo.frame is None or lo.run_data.all_constant:
        return lower()
    piece, run = _Piece(lo, code), lo.run_data
    while True:
        start = lo.checkpoint()
        try:
            return lower()
        except NeedsRuntime as need:
            if run.again >= MOST_AGAIN or not piece.notes(set(original_sites(need.sites)), start):
                raise
        except Restart as restart:
            if run.again >= MOST_AGAIN or not piece.concerns_only(restart):
                raise
        run.again += 1
        run.has_grown = True
        lo.roll_back(start)
        piece.forget_definitions()


class _Piece:
    """A statement or a call before it is lowered: what there is already it does not make itself."""

    def __init__(self, lo: Lowerer, code: ast.AST | None) -> None:
        self._lo, self._code = lo, code
        self._made = len(lo.run_data.sites_of_storage)
        self._definitions = set(lo.run_data.definitions)
        self._is_outermost = all(active is not code for active, _ in lo.run_data.activations)

    def notes(self, sites: set[Site], start: Checkpoint) -> bool:
        """Notes that objects must exist at run time, if they are made here and nobody knew."""
        known = self._lo.settings.runtime_sites
        if sites <= known or not self._makes(sites):
            return False
        if any(isinstance(key, Ref) and not sites.isdisjoint(original_sites((key.site,))) for key in start.store):
            return False
        known.update(sites)
        known.update(sites_of_objects_at(self._lo, sites))
        return True

    def concerns_only(self, restart: Restart) -> bool:
        """Whether what was found out is about the function that is called, or what containers hold that it makes."""
        if isinstance(restart, OtherItems):
            return self._makes(set(restart.sites))
        return restart.code is not None and restart.code is self._code and self._is_outermost

    def forget_definitions(self) -> None:
        """Functions that were lowered on the way may go by what one returns that was not through."""
        definitions = self._lo.run_data.definitions
        for key in [key for key in definitions if key not in self._definitions]:
            del definitions[key]

    def _makes(self, sites: set[Site]) -> bool:
        """Whether no object was made at these places before."""
        return all(site not in sites for _, site in self._lo.run_data.sites_of_storage[: self._made])
