"""Random programs whose iterations each have a chain of their own, with what these may share."""

from __future__ import annotations

import linecache
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

ROWS = 37
"""So many iterations: two bundles, a group of four, and one that is left."""


class Chains:
    """The text of a function of a vector, two matrices, a vector of factors and a flag."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.seed = seed
        self.lines: list[str] = []

    def function(self) -> Callable[..., Any]:
        """The function."""
        own, shared = self.choose.random() < 0.4, self.choose.random() < 0.6
        self.numbers = self.choose.sample(["p", "q", "r"], self.choose.randint(1, 3))
        self.put(0, "def chains(x, tall, wide, c, flag):")
        self.put(1, "total, least, out = 0.0, 0.1, np.zeros((len(x), 2))", "at = np.zeros(len(c))", "count = 0")
        self.put(1, f"for i in range({self.choose.choice([0, 0, 0, 1, 2])}, len(x)):")
        self.put(2, *[f"{name} = {self.start()}" for name in self.numbers])
        if own:
            self.put(2, "work = np.zeros(len(c))")
        for _ in range(self.choose.randint(1, 2)):
            self.inner(own, shared)
        if own:
            self.put(2, "for j in range(len(c)):", f"    {self.choose.choice(self.numbers)} += 0.1 * work[j] * c[j]")
        self.end()
        self.put(1, "return total + np.sum(out * out) + at @ c + least * count")
        return self.made()

    def put(self, depth: int, *lines: str) -> None:
        self.lines += ["    " * depth + line for line in lines]

    def start(self) -> str:
        return self.choose.choice(["0.5", "x[i]", "0.01 * i", "tall[i, 0] * c[0]", "wide[1, i]", "i / 40.0", "c[2]"])

    def inner(self, own: bool, shared: bool) -> None:
        backward = self.choose.random() < 0.3
        self.put(2, "for j in range(len(c) - 1, -1, -1):" if backward else "for j in range(len(c)):")
        for _ in range(self.choose.randint(1, 3)):
            name = self.choose.choice(self.numbers)
            self.put(3, f"{name} = {self.bounded(name)}")
            if own and self.choose.random() < 0.5:
                self.put(3, f"work[j] {self.choose.choice(['=', '+='])} {name}")
            if shared and self.choose.random() < 0.4:
                self.put(3, f"at[{self.choose.choice(['j', '1', '-2'])}] {self.choose.choice('+-')}= 0.1 * {name}")
            if self.choose.random() < 0.15:
                self.put(3, "if flag > 0:", f"    {name} = 0.9 * {name}")
        if self.choose.random() < 0.3:
            self.choice(3, own, shared)
        if self.choose.random() < 0.15:
            self.put(3, "for k in range(2):", f"    {self.choose.choice(self.numbers)} *= 0.9")

    def choice(self, depth: int, own: bool, shared: bool) -> None:
        """A choice that differs between iterations."""
        name, other = (self.choose.choice(self.numbers) for _ in range(2))
        condition = self.choose.choice(
            [
                f"{name} > {other} * c[j]",
                f"0.1 <= {name} < 0.4",
                f"{name} < 0.2 or not {other} > 0.3",
                f"i > 10 + {name}",
            ]
        )
        self.put(depth, f"if {condition}:", f"    {name} = {self.bounded(name)}")
        if shared:
            self.put(depth + 1, f"at[j] += 0.1 * {other}")
        if depth == 3 and self.choose.random() < 0.3:
            self.choice(depth + 1, own, shared)
        if self.choose.random() < 0.5:
            self.put(depth, "else:", f"    {other} = {self.bounded(other)}")
            if own:
                self.put(depth + 1, f"work[j] {self.choose.choice(['=', '-='])} {other}")

    def bounded(self, name: str) -> str:
        """What is near zero if the numbers are."""
        other = self.choose.choice(self.numbers)
        factor = self.choose.choice(["c[j]", "x[i]", "tall[i, j]", "wide[j, i]", "0.3", "(0.01 * i)", other])
        changed = self.choose.choice(
            [
                f"{name} * {factor}",
                f"np.sin({name} + {factor})",
                f"np.tanh({name}) * {factor}",
                f"{factor} / (1.5 + {name} * {other})",
                f"np.exp(-{name} * {name}) * {factor}",
                f"np.sqrt(1.0 + {name} ** 2) - {factor}",
                f"np.log(2.0 + np.cos({name})) * {factor}",
                f"abs({name}) * {factor}",
                f"np.sign({factor}) * {name}",
                f"(x[i] + 1.5) ** {self.choose.choice(['3', '-2', '0.7', '1'])} * 0.1 * {name}",
            ]
        )
        if self.choose.random() < 0.04:
            changed = f"({name} if {name} > {factor} else {factor})"
        return f"0.5 * {name} + 0.4 * {changed}"

    def end(self) -> None:
        for _ in range(self.choose.randint(1, 3)):
            name = self.choose.choice(self.numbers)
            self.put(
                2,
                self.choose.choice(
                    [
                        f"total += {name} * x[i]",
                        f"total -= 0.5 * {name} + 1.0",
                        f"out[i, {self.choose.choice('01')}] = {name}",
                        f"out[i, 1] += {name} * i",
                        "out[i, 0] = i",
                        f"at[1] += {name}",
                        "count += 1",
                        f"total += {name} if flag else 0.1",
                    ]
                ),
            )
        if self.choose.random() < 0.08:
            self.put(2, f"least = min(least, {name})")

    def made(self) -> Callable[..., Any]:
        text, name = "\n".join(self.lines) + "\n", f"<chains {self.seed}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {"np": np, "math": math}
        exec(compile(text, name, "exec"), namespace)
        function: Callable[..., Any] = namespace["chains"]
        return function

    def arguments(self, rows: int = ROWS) -> tuple[Any, ...]:
        """Arguments: the matrices are of any layout."""
        generator = np.random.default_rng(self.seed)
        x, c = generator.uniform(-1, 1, size=rows), generator.uniform(-1, 1, size=5)
        tall, wide = generator.uniform(-1, 1, size=(rows, 5)), generator.uniform(-1, 1, size=(5, rows))
        layouts: list[Callable[[Any], Any]] = [lambda a: a, np.asfortranarray, lambda a: np.repeat(a, 2, 1)[:, ::2]]
        tall, wide = (self.choose.choice(layouts)(matrix) for matrix in (tall, wide))
        return x, tall, wide, c, self.choose.choice([0, 1])
