"""Random nests of loops: triangles, comparisons of indices, sums, places of arrays, numbers that are carried."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

DEEPEST = 3


class Nest:
    """The text of a function of two vectors of one length, a square matrix and a whole number."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.seed = seed
        self.lines: list[str] = []

    def function(self) -> Callable[..., Any]:
        """The function."""
        self.put(0, "def nest(x, w, m, k):")
        self.put(1, "n = len(x)", "total, u, v = 0.3, 0.4, 0.2", "y, at = 0.5 * x, np.zeros(3)", "a = m.copy()")
        for _ in range(self.choose.randint(1, 2)):
            self.loop(1, [])
        self.put(1, "return total + u * v + np.sum(y * y) + at @ at + np.sum(np.sin(a))")
        text, file = "\n".join(self.lines) + "\n", f"<nest {self.seed}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        names: dict[str, Any] = {"np": np}
        exec(compile(text, file, "exec"), names)
        found: Callable[..., Any] = names["nest"]
        return found

    def put(self, depth: int, *lines: str) -> None:
        self.lines += ["    " * depth + line for line in lines]

    def loop(self, depth: int, around: list[str]) -> None:
        index = "ijl"[len(around)]
        self.put(depth, f"for {index} in {self.range(around)}:")
        inside = [*around, index]
        if len(inside) < DEEPEST and self.choose.random() < (0.9 if len(inside) == 1 else 0.3):
            if self.choose.random() < 0.4:
                self.statement(depth + 1, inside)
            self.loop(depth + 1, inside)
            if self.choose.random() < 0.4:
                self.statement(depth + 1, inside)
            return
        if self.choose.random() < 0.15:
            self.put(depth + 1, f"if {self.condition(inside)}:", "    continue")
        for _ in range(self.choose.randint(1, 3)):
            self.statement(depth + 1, inside)

    def range(self, around: list[str]) -> str:
        plain = ["range(n)", "range(n)", "range(1, n)", "range(n - 1)", "range(n - 1, -1, -1)", "range(k)"]
        if not around:
            return self.choose.choice(plain)
        outer = self.choose.choice(around)
        of_outer = ["range({})", "range({} + 1)", "range({} + 1, n)", "range(max({} - 1, 0), n)", "range(min({}, 3))"]
        of_outer += ["range({} - 1, -1, -1)", "range(n - 1, {}, -1)", "range({}, n)", "range(2, {})"]
        return self.choose.choice([*plain[:3], *of_outer]).format(outer)

    def statement(self, depth: int, around: list[str]) -> None:
        kind = self.choose.randrange(11)
        part, place = self.expression(around), self.index(around)
        if kind < 2:
            self.put(depth, f"total {self.choose.choice('+-')}= {part}")
        elif kind < 5:
            self.put(depth, f"y[{place}] {self.choose.choice(['+=', '-=', '+=', '='])} 0.2 * {part}")
        elif kind == 5:
            self.put(depth, f"at[{self.choose.choice('012')}] {self.choose.choice('+-')}= {part}")
        elif kind == 6:
            self.put(depth, f"a[{place}, {self.index(around)}] {self.choose.choice(['+=', '-=', '='])} 0.3 * {part}")
        elif kind == 7:
            self.put(depth, f"u, v = 0.8 * u + 0.1 * {part}, v + 0.2 * u * {part}")
        elif kind == 8:
            self.put(depth, f"u = np.sin(u + {part})")
        else:
            self.put(depth, f"if {self.condition(around)}:")
            self.put(depth + 1, f"total += {part}")
            if self.choose.random() < 0.4:
                self.statement(depth + 1, around)
            if self.choose.random() < 0.4:
                self.put(depth, "else:", f"    y[{place}] -= 0.1 * {self.expression(around)}")

    def condition(self, around: list[str]) -> str:
        index = around[-1]
        others = [*around[:-1], "k", "2", "n - 2"]
        if self.choose.random() < 0.25:
            return f"x[{index}] > 0.1"
        sides = [index, self.choose.choice(others)]
        self.choose.shuffle(sides)
        return f"{sides[0]} {self.choose.choice(['!=', '==', '<', '<=', '>', '>=', '!='])} {sides[1]}"

    def index(self, around: list[str]) -> str:
        variable = self.choose.choice(around)
        return self.choose.choice(["{}", "{}", "{}", "{} - 1", "({} + 1) % n", "0", "-1"]).format(variable)

    def expression(self, around: list[str]) -> str:
        pieces = [
            f"{self.choose.choice('xwy')}[{self.index(around)}]",
            f"{self.choose.choice('ma')}[{self.index(around)}, {self.index(around)}]",
            self.choose.choice(["u", "v", "0.7", f"0.1 * {around[-1]}", "0.1 * total"]),
        ]
        one, other = self.choose.choice(pieces), self.choose.choice(pieces)
        forms = ["np.sin({} * {})", "{} * {}", "({} + {})", "np.exp(-({} - {}) ** 2)", "{} / (1.5 + np.cos({}))"]
        return self.choose.choice(forms).format(one, other)
