"""What a random program is written with: a scope of typed names, and productions chosen by weight.

A production is a function of the writer that gives text, or None where the scope does not offer what it needs. Each is
registered for a kind of type (or for statements); its name is the feature that coverage counts.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

Type = tuple[Any, ...]
"""A kind and what belongs to it: ``("array", 3)``, ``("list", FLOAT)``, ``("int", 4)`` for one in ``range(4)``."""

FLOAT: Type = ("float",)
COUNTER: Type = ("int", None)
FLOATS: Type = ("list", FLOAT)
SIZES = (2, 3, 4)


def array(size: int) -> Type:
    return ("array", size)


def matrix(rows: int, columns: int) -> Type:
    return ("matrix", rows, columns)


Production = Callable[..., str | None]
PRODUCTIONS: dict[str, list[tuple[Production, float]]] = {}


def production(kind: str, weight: float = 1.0) -> Callable[[Production], Production]:
    """Registers a way to write an expression of a kind, or a statement."""

    def register(function: Production) -> Production:
        PRODUCTIONS.setdefault(kind, []).append((function, weight))
        return function

    return register


@dataclass(frozen=True)
class Callee:
    """A function that the program may call."""

    name: str
    params: tuple[Type, ...]
    result: Type


@dataclass(frozen=True)
class Record:
    """A dataclass of the program."""

    name: str
    fields: tuple[tuple[str, Type], ...]
    frozen: bool
    methods: tuple[Callee, ...] = ()


@dataclass
class Scope:
    """What can be read and assigned at a place of the program."""

    names: dict[str, Type] = field(default_factory=dict)
    fixed: frozenset[str] = frozenset()
    """Names that must not be assigned: counters of loops, names of an enclosing function."""
    callees: tuple[Callee, ...] = ()
    result: Type = FLOAT
    loops: int = 0
    """How many loops of this function surround the place."""
    depth: int = 0
    can_leave: bool = False
    """Whether ``break`` and ``continue`` may stand here."""
    may_grow: bool = True
    """Whether lists may be made longer or shorter: not while one is iterated."""
    yields: bool = False
    """Whether this is the body of a generator."""
    outer: tuple[str, ...] = ()
    """Floats of the enclosing function that a nested function may rebind."""


class Writer:
    """Writes one program; the same seed gives the same text."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.indent = 0
        self.scope = Scope()
        self.records: list[Record] = []
        self.features: Counter[str] = Counter()
        self.budget = 0
        self._count = 0

    # --- choices ---

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, options: Any) -> Any:
        return self.random.choice(list(options))

    def fresh(self, prefix: str) -> str:
        self._count += 1
        return f"{prefix}{self._count}"

    def names(self, kind: str, assignable: bool = False) -> list[str]:
        """The names of a kind in scope."""
        fixed = self.scope.fixed if assignable else ()
        return [name for name, type_ in self.scope.names.items() if type_[0] == kind and name not in fixed]

    def of_type(self, type_: Type, assignable: bool = False) -> list[str]:
        return [name for name in self.names(type_[0], assignable) if self.scope.names[name] == type_]

    def type_of(self, name: str) -> Type:
        return self.scope.names[name]

    def record(self, name: str) -> Record:
        return next(record for record in self.records if record.name == name)

    # --- productions ---

    def expression(self, type_: Type, depth: int = 3) -> str:
        """An expression of a type; deep ones are parenthesised where they are made."""
        return self._chosen(type_[0], type_, depth)

    def float(self, depth: int = 3) -> str:
        return self.expression(FLOAT, depth)

    def _chosen(self, kind: str, *args: Any) -> str:
        options = list(PRODUCTIONS[kind])
        while options:
            chosen = self.random.choices(options, [weight for _, weight in options])[0]
            options.remove(chosen)
            text = chosen[0](self, *args)
            if text is not None:
                self.features[chosen[0].__name__] += 1
                return text
        raise AssertionError(f"nothing writes {kind} {args}")

    # --- lines and blocks ---

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def statement(self) -> None:
        self.budget -= 1
        self._chosen("statement")

    @contextmanager
    def block(self, **changes: Any) -> Iterator[Scope]:
        """An indented block: what is defined in it is not visible after it."""
        outer = self.scope
        self.scope = replace(outer, names=dict(outer.names), depth=outer.depth + 1, **changes)
        self.indent += 1
        try:
            yield self.scope
        finally:
            self.indent -= 1
            self.scope = outer

    def body(self, most: int = 4) -> None:
        """Some statements, at least one."""
        for _ in range(self.random.randint(1, most)):
            self.statement()
            if self.budget <= 0:
                break

    @contextmanager
    def binding(self, names: dict[str, Type]) -> Iterator[None]:
        """Names that an expression binds: parameters of a lambda, targets of a comprehension."""
        outer = self.scope
        self.scope = replace(outer, names={**outer.names, **names}, fixed=outer.fixed | set(names))
        try:
            yield
        finally:
            self.scope = outer

    def define(self, name: str, type_: Type) -> None:
        self.scope.names[name] = type_
