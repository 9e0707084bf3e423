"""The exceptions by which lowering is broken off: what is refused, and what starts again."""

from __future__ import annotations

import ast

from adjoint.diagnostics import Diagnostic
from adjoint.frontend.interpreter.values import Site


class Problem(Exception):
    """A statement cannot be lowered: caught by the statement, so that others are looked at too."""

    def __init__(self, found: Diagnostic) -> None:
        super().__init__(found)
        self.diagnostic = found


class Restart(Exception):
    """Something was found out that lowering must know from its beginning.

    Of how the function ``code`` is called, or of what is made, or of statements that stand, at the places ``sites``.
    """

    def __init__(self, code: ast.AST | None = None, sites: tuple[Site, ...] = ()) -> None:
        super().__init__()
        self.code, self.sites = code, sites


class OtherItems(Restart):
    """The containers that are made at these places hold something else than they were taken to hold."""

    def __init__(self, sites: tuple[Site, ...]) -> None:
        super().__init__(None, sites)


class TakenInside(Exception):
    """A program takes a derivative itself, by which it may decide: no result shows that it has to be computed again."""


class TooMuch(Exception):
    """More statements of a library were followed than what comes out may be worth."""


class Unreached(Exception):
    """A recursive call of which it is not yet known what it returns: this path is looked at again later."""
