"""In machine code a number has one kind, whatever path it comes on: who asks of which kind it is, asks Python.

Where paths with numbers of several kinds meet it is the widest, and what comes out of a container has that of all
items.
"""

from __future__ import annotations

from adjoint import ir
from adjoint.analysis.unclear_kinds import asked_kinds
from adjoint.native.compile.messages.not_native import NotNative


def refuse_texts_of_unclear_kinds(function: ir.Function) -> None:
    """Raises where a text or an array is made of a number, or an item picked by one, that may be of another kind.

    Raises
    ------
    NotNative
        With the place.
    """
    for statement in asked_kinds(function, joined=True):
        what = "a text or an array of numbers" if isinstance(statement, ir.Call) else "an index"
        raise NotNative(f"{what} that may be of several kinds", (), statement.span)
