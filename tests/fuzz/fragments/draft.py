"""What a fragment is, and the draft of a program that it is written into.

The one idea: a fragment is a text with holes. Its signature, ``"x: float, v: vec -> t: float"``, says of which kinds
the variables are that it takes, and which it leaves. In the text

* ``$x`` is the name of a variable: one that is taken, one that is left, or one of the fragment's own;
* ``$0`` to ``$9`` are random numbers, ``$N`` and ``$M`` the sizes of all arrays of the program;
* ``<<one||another>>`` is one of several texts; each may start on a line of its own.

What a fragment needs and the program lacks is made first, by a text of the same form.
"""

from __future__ import annotations

import random
import re
import textwrap
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

NAME = re.compile(r"\$(\d|[A-Za-z]+)")
CHOICE = re.compile(r"<<(.*?)>>", re.DOTALL)
OR = re.compile(r"(?:\n *)?\|\|")
MOST_NEW = 0.15
"""How often a variable is made though there is one."""


@dataclass(frozen=True)
class Fragment:
    """A text with holes, by the function that gives it."""

    name: str
    takes: tuple[tuple[str, str], ...]
    leaves: tuple[tuple[str, str], ...]
    text: Callable[[Draft], str]
    weight: float = 1.0


FRAGMENTS: dict[str, Fragment] = {}
AROUND: dict[str, Fragment] = {}
"""Fragments with others inside of them, where ``$BODY`` stands."""
MAKERS: dict[str, list[str]] = {}
"""Texts that make a variable ``$new`` of a kind; ``$x``, ``$v`` are a float and a vector that there are."""
KINDS = {"x": "float", "y": "float", "v": "vec", "w": "vec"}


def _kinds(text: str) -> tuple[tuple[str, str], ...]:
    pairs = (part.split(":") for part in text.split(",") if part.strip())
    return tuple((name.strip(), kind.strip()) for name, kind in pairs)


def _registered(
    registry: dict[str, Fragment], signature: str, weight: float
) -> Callable[[Callable[[Draft], str]], Callable[[Draft], str]]:
    takes, _, leaves = signature.partition("->")

    def register(text: Callable[[Draft], str]) -> Callable[[Draft], str]:
        name = text.__name__
        assert name not in FRAGMENTS and name not in AROUND, name
        registry[name] = Fragment(name, _kinds(takes), _kinds(leaves), text, weight)
        return text

    return register


def fragment(signature: str, weight: float = 1.0) -> Callable[[Callable[[Draft], str]], Callable[[Draft], str]]:
    """Registers a fragment."""
    return _registered(FRAGMENTS, signature, weight)


def around(signature: str, weight: float = 1.0) -> Callable[[Callable[[Draft], str]], Callable[[Draft], str]]:
    """Registers a fragment with a body of others; what it leaves, it leaves after the body."""
    return _registered(AROUND, signature, weight)


@dataclass
class Draft:
    """A program while it is written: its lines, and the variables in scope by kind."""

    size: int
    rows: int
    scope: dict[str, list[str]] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    head: list[str] = field(default_factory=list)
    """What stands above the function: classes, helpers, constants."""
    indent: int = 1
    features: Counter[str] = field(default_factory=Counter)
    count: int = 0
    random: random.Random = field(default_factory=random.Random)
    """Of the fragment that is being written, so that leaving one out changes no other."""
    names: dict[str, str] = field(default_factory=dict)
    body_class: str = ""
    """The class of objects, once there is one."""

    # --- for fragments ---

    def above(self, text: str) -> None:
        """Writes a text above the function."""
        self.head.append(self.filled(textwrap.dedent(text).strip("\n")))

    # --- names ---

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def define(self, kind: str, name: str) -> None:
        self.scope.setdefault(kind, []).append(name)

    def known(self, kind: str) -> list[str]:
        return self.scope.get(kind, [])

    def taken(self, kind: str) -> str:
        """A variable of a kind, made if there is none."""
        known = self.known(kind)
        if known and (kind in ("float", "vec") or self.random.random() > MOST_NEW):
            recent = known[-4:]
            return self.random.choice(recent if self.random.random() < 0.7 else known)
        names, self.names = self.names, {}
        if kind == "object":
            self.names["Body"] = self.object_class()
        text = self.random.choice(MAKERS[kind])
        for hole in set(NAME.findall(text)) & set(KINDS):
            self.names[hole] = self.taken(KINDS[hole])
        made = self.names["new"] = self.fresh(kind[0])
        self.write(text)
        self.names = names
        self.define(kind, made)
        return made

    def object_class(self) -> str:
        """The class of the program's objects; they have a number ``u``, a vector ``v`` and some methods."""
        from fuzz.fragments.classes import CLASSES

        if not self.body_class:
            self.body_class = "Body"
            self.head.append(textwrap.dedent(self.random.choice(CLASSES)).strip("\n"))
        return self.body_class

    # --- text ---

    def filled(self, text: str) -> str:
        text = CHOICE.sub(lambda found: self.random.choice(OR.split(found[1])), text)
        return NAME.sub(self._hole, text)

    def _hole(self, found: re.Match[str]) -> str:
        hole = found[1]
        if hole == "BODY":
            return "$BODY"
        if hole in ("N", "M"):
            return str(self.size if hole == "N" else self.rows)
        if hole not in self.names:
            self.names[hole] = f"{self.random.uniform(0.2, 0.9):.2f}" if hole.isdigit() else self.fresh(hole)
        return self.names[hole]

    def write(self, text: str) -> None:
        """Writes a text with holes at the present indentation."""
        self.raw(self.filled(textwrap.dedent(text).strip("\n")))

    def raw(self, text: str) -> None:
        self.lines += ["    " * self.indent + line for line in text.split("\n")]

    def bind(self, fragment: Fragment) -> None:
        """Names for the holes of a fragment's signature; a kind's second variable is another one if there is."""
        names: dict[str, str] = {}
        for hole, kind in fragment.takes:
            name = self.taken(kind)
            others = [one for one in self.known(kind) if one not in names.values()]
            if name in names.values() and others and self.random.random() < 0.8:
                name = self.random.choice(others)
            names[hole] = name
        for hole, _ in fragment.leaves:
            names[hole] = self.fresh(hole)
        self.names = names
        self.features[fragment.name] += 1
