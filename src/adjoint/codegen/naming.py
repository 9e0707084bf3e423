"""Out of single assignment: variables that stand for one thing of the user's program share a name again.

Variables that a move connects become one where they are not alive at once, so that most moves vanish. Then every
such *web* takes the name that its variables hint at, shares it with webs of the same hint where that is possible, and
gets a number where it is not.
"""

from __future__ import annotations

import functools
import itertools
import keyword
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from adjoint import ir
from adjoint.codegen.placement.liveness import Interference
from adjoint.codegen.tree import Bits, Guard, Move, Number, Stmt, number_of, numbers
from adjoint.records import dataclass, field

MOST_TRIED = 50
"""How many of the first and of the last names of a hint are looked at, whether one is free again."""
GENERIC = frozenset({"t", "tmp", "out", "result", "exit"})
"""Hints that tell a reader nothing."""


@dataclass(slots=True)
class _Web:
    """Variables that are one; ``alive`` are those that are alive where one of them is bound.

    ``fixed`` is one with a parameter among them, ``named`` one with a variable that a person has named.
    """

    members: list[Number]
    hint: str
    fixed: bool
    named: bool
    mine: Bits
    alive: Bits

    def meets(self, members: Bits, alive: Bits) -> bool:
        """Whether it is alive at the same time as other variables."""
        return bool(self.alive & members or alive & self.mine)


class Webs:
    """Joins variables."""

    def __init__(self, variables: Sequence[ir.Var], params: Collection[Number], interference: Interference) -> None:
        self.variables = variables
        self.params = params
        self.webs = [
            _Web([n], var.hint, n in params, var.named, 1 << n, interference.at_definition(n))
            for n, var in enumerate(variables)
        ]

    def of(self, number: Number) -> _Web:
        return self.webs[number]

    def join_moves(self, statements: list[Stmt]) -> None:
        """Joins the ends of the moves: first those with one hint, then those where one name may go."""
        self._keep_apart_caught(statements)
        moves = [statement for statement in statements if isinstance(statement, Move)]
        pairs = [
            (target, number)
            for move in moves
            for target, source in move.pairs
            if source is not None and (number := number_of(source)) is not None
        ]
        for same_hint in (True, False):
            for target, source in pairs:
                one, other = self.webs[target], self.webs[source]
                if (one.hint == other.hint) == same_hint and self._may_share(one, other):
                    self._join(one, other)

    def _keep_apart_caught(self, statements: list[Stmt]) -> None:
        """Python deletes the name of a caught exception: it is nobody else's."""
        everyone = (1 << len(self.variables)) - 1
        for statement in statements:
            if isinstance(statement, Guard):
                for handler in statement.handlers:
                    if handler.name is not None:
                        self.webs[handler.name].alive |= everyone

    def _may_share(self, one: _Web, other: _Web) -> bool:
        if one is other or one.meets(other.mine, other.alive):
            return False
        if one.hint == other.hint:
            return True
        if one.fixed or other.fixed:
            return not (one.fixed and other.fixed) and self._generic(other if one.fixed else one)
        return not (one.named and other.named)

    def _join(self, one: _Web, other: _Web) -> None:
        first, second = (one, other) if one.members[0] < other.members[0] else (other, one)
        first.members = sorted(first.members + second.members)
        first.hint = self.variables[min(first.members, key=self.rank)].hint
        first.fixed |= second.fixed
        first.named |= second.named
        first.mine |= second.mine
        first.alive |= second.alive
        for member in second.members:
            self.webs[member] = first

    def _generic(self, web: _Web) -> bool:
        return not web.named and all(self.variables[member].hint in GENERIC for member in web.members)

    def rank(self, number: Number) -> tuple[bool, bool, bool, Number]:
        """Which hint counts: a parameter's, one that a person chose, one that says something, the first."""
        var = self.variables[number]
        return (number not in self.params, not var.named, var.hint in GENERIC, number)


@dataclass(slots=True)
class _Holders:
    """The webs that have one name: what they hint at, their variables, the types of those nobody named."""

    hint: str
    members: Bits = 0
    alive: Bits = 0
    types: list[ir.Type] = field(default_factory=list)


class _Namer:
    def __init__(self, webs: Webs, avoid: Collection[str]) -> None:
        self.webs = webs
        self.avoid = avoid
        self.holders: dict[str, _Holders] = {}
        self.counts: dict[str, int] = {}
        """By hint: how many names have been made of it."""

    def name(self, web: _Web) -> str:
        """The hint of a web, with a number where the name means something else while the web is alive."""
        hint = identifier(web.hint)
        made = self.counts.get(hint, 0)
        early, late = range(min(made, MOST_TRIED)), range(max(made - MOST_TRIED, MOST_TRIED), made)
        for number in itertools.chain(early, late, itertools.count(made)):
            name = f"{hint}_{number}" if number else hint
            if self._is_free(name, web, hint):
                break
        self.counts[hint] = max(made, number + 1)
        self.give(name, web)
        return name

    def give(self, name: str, web: _Web) -> None:
        holders = self.holders.get(name)
        if holders is None:
            holders = self.holders[name] = _Holders(identifier(web.hint))
        holders.members |= web.mine
        holders.alive |= web.alive
        type_ = self._type(web)
        if not (web.fixed or web.named) and type_ not in holders.types:
            holders.types.append(type_)

    def _is_free(self, name: str, web: _Web, hint: str) -> bool:
        """Whether a name is to be had: its other holders mean the same to the reader, and are dead by then."""
        if name in self.avoid:
            return False
        holders = self.holders.get(name)
        if holders is None:
            return True
        if holders.hint != hint or web.meets(holders.members, holders.alive):
            return False
        return web.named or all(type_ == self._type(web) for type_ in holders.types)

    def _type(self, web: _Web) -> ir.Type:
        return self.webs.variables[web.members[0]].type


def choose_names(webs: Webs, used: Bits, taken: Mapping[Number, str], avoid: Collection[str]) -> list[str]:
    """A name for each variable.

    Parameters
    ----------
    webs
        The joined variables.
    used
        The variables that the text mentions.
    taken
        Names that are settled: those of parameters.
    avoid
        Names that mean something else in the text.
    """
    names = [""] * len(webs.variables)
    namer = _Namer(webs, avoid)
    for number, name in taken.items():
        namer.give(name, webs.of(number))
    distinct = {id(webs.of(number)): webs.of(number) for number in numbers(used)}
    for web in sorted(distinct.values(), key=lambda web: min(map(webs.rank, web.members))):
        settled = [taken[member] for member in web.members if member in taken]
        name = settled[0] if settled else namer.name(web)
        for member in web.members:
            names[member] = name
    return names


def parameter_names(params: Iterable[ir.Var]) -> list[str]:
    """The names of parameters: their hints, made unique."""
    names: list[str] = []
    for param in params:
        hint = identifier(param.hint)
        name, count = hint, 0
        while name in names:
            count += 1
            name = f"{hint}_{count}"
        names.append(name)
    return names


@functools.lru_cache(maxsize=4096)
def identifier(hint: str) -> str:
    """A hint as Python can write it."""
    name = hint if hint.isidentifier() else re.sub(r"\W", "_", hint) or "t"
    if not name.strip("_"):
        name = "i"  # a position that its author did not care to name
    if name[0].isdigit():
        name = f"_{name}"
    return f"{name}_" if keyword.iskeyword(name) else name
