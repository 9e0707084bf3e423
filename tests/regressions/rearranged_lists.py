"""Random programs that rearrange the list they are given: items are read, taken out, put in twice, swapped, written.

Some take an object that holds the list, an item beside it, and a table of items, and may be given another attribute.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

ITEMS: dict[str, Callable[[np.random.Generator], list[Any]]] = {
    "floats": lambda rng: [float(x) for x in rng.uniform(0.3, 1.4, 4)],
    "tuples": lambda rng: [tuple(row.tolist()) for row in rng.uniform(0.3, 1.4, (4, 2))],
    "lists": lambda rng: [row.tolist() for row in rng.uniform(0.3, 1.4, (4, 2))],
    "arrays": lambda rng: [*rng.uniform(0.3, 1.4, (4, 2)).copy()],
}


class Bag:
    """An object that holds such a list, and other items."""

    def __init__(self, items: list[Any], item: Any, table: dict[str, Any]) -> None:
        self.items, self.item, self.table = items, item, table


def bag_of(kind: str, rng: np.random.Generator) -> Bag:
    make = ITEMS[kind]
    return Bag(make(rng), make(rng)[0], {"k": make(rng)[0]})


class Rearranged:
    """The text of a function of a list of such items, or of a bag of them."""

    def __init__(self, seed: int, kind: str, in_bag: bool = False) -> None:
        self.choose = random.Random(seed)
        self.seed, self.kind, self.in_bag = seed, kind, in_bag
        self.lines: list[str] = []
        self.names: list[str] = []

    def function(self) -> Callable[..., Any]:
        """The function."""
        self.put(0, f"def rearranged({'bag' if self.in_bag else 'p'}):")
        self.put(1, "t, held = 0.5, []", *(["p = bag.items"] if self.in_bag else []))
        for _ in range(self.choose.randint(4, 9)):
            self.statement(1)
        self.put(1, "for q in [*p, *held]:", f"    t += {self.number('q')} * {self.read()}")
        self.put(1, self.choose.choice(["return t", "return t", f"return [t, {self.read()}]"]))
        text, file = "\n".join(self.lines) + "\n", f"<rearranged {self.seed} {self.kind} {self.in_bag}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        names: dict[str, Any] = {"np": np}
        exec(compile(text, file, "exec"), names)
        found: Callable[..., Any] = names["rearranged"]
        return found

    def put(self, depth: int, *lines: str) -> None:
        self.lines += ["    " * depth + line for line in lines]

    def place(self) -> str:
        return self.choose.choice(["0", "1", "-1", "len(p) - 1", "len(p) // 2"])

    def number(self, item: str) -> str:
        return item if self.kind == "floats" else f"{item}[{self.choose.choice('01')}]"

    def read(self) -> str:
        named = [self.number(self.choose.choice(self.names))] * 2 if self.names else []
        if self.in_bag:
            named += [self.number("bag.item"), self.number("bag.table['k']")]
        return self.choose.choice([self.number(f"p[{self.place()}]"), *named, *(["t"] if len(named) else [])])

    def item(self) -> str:
        if self.kind == "floats":
            return f"{self.read()} * {self.read()}"
        if self.choose.random() < 0.5:
            return self.choose.choice([f"p[{self.place()}]", *self.names])
        form = {"tuples": "({}, {})", "lists": "[{}, {}]", "arrays": "np.array([{}, {}])"}[self.kind]
        return form.format(f"{self.read()} * 0.7", f"{self.read()} + {self.read()}")

    def named(self, depth: int, value: str) -> None:
        name = f"v{len(self.lines)}"
        self.put(depth, f"{name} = {value}")
        if depth == 1:
            self.names.append(name)

    def change_of_bag(self, depth: int) -> None:
        place = f"p[{self.place()}]"
        changes = [
            f"bag.item = {place}",
            f"{place} = bag.item",
            "bag.table['k'] = bag.item",
            f"bag.table['k'] = {place}",
        ]
        changes += ["bag.item, p[0] = p[0], bag.item", "bag.item = bag.table['k']", "p.append(bag.table['k'])"]
        changes += [f"bag.late = {place}; t += {self.number('bag.late')}", f"bag.item = {self.item()}"]
        self.put(depth, self.choose.choice(changes))

    def statement(self, depth: int) -> None:
        if self.in_bag and self.choose.random() < 0.25:
            self.change_of_bag(depth)
            return
        kind = self.choose.randrange(13 if depth == 1 else 10)
        changes = [f"p.append({self.item()})", f"p.insert({self.choose.choice('01')}, {self.item()})"]
        changes += ["p[0], p[1] = p[1], p[0]", "p.reverse()", "p.append(p.pop(0))", "held.append(p[0])"]
        if kind == 0:
            self.named(depth, f"p[{self.place()}]")
        elif kind == 1:
            self.named(depth, "p.pop() if len(p) > 2 else p[0]")
        elif kind == 2:
            self.put(depth, f"if len(p) > 2: p.pop({self.choose.choice(['', '0', '1', '-1'])})")
        elif kind == 3:
            self.put(depth, "if len(p) > 3: del p[1]")
        elif kind < 6:
            self.put(depth, self.choose.choice(changes))
        elif kind == 6:
            self.put(depth, f"p[{self.place()}] = {self.item()}")
        elif kind == 7 and self.kind in ("lists", "arrays"):
            operator = self.choose.choice(["=", "+=", "*="])
            self.put(depth, f"p[{self.place()}][{self.choose.choice('01')}] {operator} {self.read()}")
        elif kind < 10:
            self.put(depth, f"t {self.choose.choice(['+=', '-=', '*='])} 0.8 * {self.read()} * {self.read()}")
        elif kind == 10:
            self.put(depth, f"if {self.read()} > {self.choose.choice(['0.4', '0.9'])}:")
            self.statement(depth + 1)
            self.put(depth, "else:")
            self.statement(depth + 1)
        else:
            self.put(depth, f"for i in range({self.choose.choice(['2', '3', 'len(p)'])}):")
            for _ in range(self.choose.randint(1, 3)):
                self.statement(depth + 1)
