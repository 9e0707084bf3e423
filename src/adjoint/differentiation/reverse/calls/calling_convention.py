"""What callers do with recursive functions: found out while a derivative is made, which then is made again.

The halves of a recursive function are made once for all of its calls, the first of which may be met last.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TypeVar

from adjoint import ir
from adjoint.records import dataclass, field

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """What one call asks of the halves of a recursive function; all by places of its parameters and results.

    Attributes
    ----------
    wrt, outputs
        What is differentiated.
    references
        The outputs that are references: the first half gives their shadows.
    first
        The parameters whose shadows the first half is given.
    """

    definition: ir.Definition
    wrt: tuple[int, ...]
    outputs: tuple[int, ...]
    references: tuple[int, ...]
    first: tuple[int, ...]

    @property
    def moves_shadows(self) -> bool:
        """Whether the first half has shadows in its hands that others have, too."""
        return bool(self.references or self.first)

    @property
    def lent(self) -> tuple[int, ...]:
        """The parameters that are differentiated and refer to memory."""
        assert self.definition.function is not None
        params = self.definition.function.params
        return tuple(place for place in self.wrt if ir.is_handle(params[place].type))

    @property
    def given(self) -> int:
        """How many cotangents, and shadows, the second half is given."""
        return len(self.outputs) + len(self.lent)

    @property
    def cotangents(self) -> int:
        """How many cotangents the second half gives."""
        return len(self.wrt) - len(self.lent)


@dataclass(frozen=True, slots=True)
class Halves:
    """A primal and its adjoint, and what lies between them.

    Attributes
    ----------
    primal
        Takes what the function does; gives its results and, if it ``keeps`` anything, a tuple of what the adjoint needs
        besides. Else it is the function itself.
    adjoint
        Takes arguments, results, what is kept, and cotangents.
    args, results
        The places of the arguments and results that the adjoint takes.
    asked
        The places of arguments that it asks for their shapes only.
    """

    primal: ir.Definition
    adjoint: ir.Definition
    args: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    keeps: bool = True
    asked: frozenset[int] = frozenset()


@dataclass(slots=True)
class Treatment:
    """How one recursive function is treated, by places of its parameters and results.

    Attributes
    ----------
    first
        The parameters whose shadows the function is given when it runs, not when it is reversed.
    arguments, results
        What is written, before the function is reversed, by others than the function.
    computed_zeros
        Whether cotangents that it is given may be zero though nothing was left out.
    partial
        Whether a selection left something out of them, or of those that it gives.
    supports
        Whether it is given what was left out, and gives that.
    lost
        Whether somebody who calls it does not know that.
    """

    first: set[int] = field(default_factory=set)
    arguments: set[int] = field(default_factory=set)
    results: set[int] = field(default_factory=set)
    computed_zeros: bool = False
    partial: bool = False
    supports: bool = False
    lost: bool = False

    @property
    def carries(self) -> bool:
        """Whether supports are among its arguments and results."""
        return self.supports and not self.lost

    def add(self, other: Treatment) -> bool:
        """Takes up what else is known; whether anything of it is new."""
        size = self._size()
        self.first |= other.first
        self.arguments |= other.arguments
        self.results |= other.results
        self.computed_zeros |= other.computed_zeros
        self.partial |= other.partial
        self.supports |= other.supports
        self.lost |= other.lost
        return self._size() > size

    def _size(self) -> int:
        flags = (self.computed_zeros, self.partial, self.supports, self.lost)
        return len(self.first) + len(self.arguments) + len(self.results) + sum(flags)


@dataclass(frozen=True, slots=True)
class Given:
    """What the caller of a function has, or does with what it has.

    Attributes
    ----------
    shadows
        Parameters that refer to memory whose shadows the caller has.
    first
        Those of them whose shadows are there when the function runs.
    returned
        References whose shadows the caller gets when the function has run.
    elsewhere
        Memory that is written after the function has run, before it is reversed.
    exposed
        The same of which the function copies what it keeps; functions that it calls know nothing of that.
    final
        Memory that is not written although the function stores into it: it holds its last values.
    """

    shadows: frozenset[ir.Var] = frozenset()
    first: frozenset[ir.Var] = frozenset()
    returned: frozenset[ir.Var] = frozenset()
    elsewhere: frozenset[ir.Storage] = frozenset()
    exposed: frozenset[ir.Storage] = frozenset()
    final: frozenset[ir.Storage] = frozenset()


class Treatments(defaultdict[ir.Definition, Treatment]):
    """How functions are treated, as far as that is known.

    Attributes
    ----------
    grew
        Whether more became known of a function than its halves, which were made already, go by.
    """

    def __init__(self) -> None:
        super().__init__(Treatment)
        self.grew = False


def until_known(make: Callable[[Treatments], T]) -> T:
    """What ``make`` gives once nothing new is found out.

    It goes on with halves that do not go by all that is known, so that the rest is found out, too; then what it gives,
    or raises, does not count.
    """
    known = Treatments()
    while True:
        known.grew = False
        try:
            made = make(known)
        except Exception:
            if known.grew:
                continue
            raise
        if not known.grew:
            return made
