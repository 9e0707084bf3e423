"""Random loops over prefixes, suffixes and windows of vectors, read, written, flipped and summed by their indices."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

MOST_STATEMENTS = 3


class Slices:
    """The text of a function of a vector, a vector of weights, and their length."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.seed = seed
        self.lines: list[str] = []

    def function(self) -> Callable[..., Any]:
        """The function."""
        self.put(0, "def slices(x, w, n):")
        self.put(1, "y, z, w = x.copy(), np.zeros(n), w.copy()")
        for _ in range(self.choose.randint(1, 3)):
            self.loop()
        self.put(1, "return np.sum(y) + np.sum(z * z) + np.sum(w)")
        text, file = "\n".join(self.lines) + "\n", f"<slices {self.seed}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        names: dict[str, Any] = {"np": np}
        exec(compile(text, file, "exec"), names)
        found: Callable[..., Any] = names["slices"]
        return found

    def put(self, depth: int, *lines: str) -> None:
        self.lines += ["    " * depth + line for line in lines]

    def loop(self) -> None:
        indexed = ["range(1, n - 1)", "range(n)", "range(n - 1, 0, -1)", "range(2, n)", "range(n - 2, -1, -1)"]
        over = self.choose.choice([*indexed, "range(3)"])
        around = ["k"] if over != "range(3)" else []
        self.put(1, f"for {'k' if around else 'step'} in {over}:")
        for _ in range(self.choose.randint(1, MOST_STATEMENTS)):
            self.statement(2, around)
        if self.choose.random() < 0.5:
            inner = self.choose.choice(["range(k)", "range(k, n)"][: 2 * len(around)] + ["range(1, n - 1)"])
            self.put(2, f"for j in {inner}:")
            for _ in range(self.choose.randint(1, MOST_STATEMENTS - 1)):
                self.statement(3, [*around, "j"])

    def statement(self, depth: int, around: list[str]) -> None:
        windows, place = self.windows(around), self.choose.choice(around) if around else "0"
        forms = ["{0} * {1}", "{0} + 0.5 * {1}", f"0.3 * {{0}} * w[{place}]", "np.cos({0}) * {1} - {1}"]
        value = self.choose.choice([*forms, "{0} / (2.0 + {1} * {1})"]).format(self.read(windows), self.read(windows))
        target = f"{self.choose.choice('yz')}[{self.choose.choice(windows)}]"
        kind = self.choose.random()
        if kind < 0.25:
            self.put(depth, f"w[{place}] += 0.1 * np.sum({value})")
        elif kind < 0.4:
            self.put(depth, f"u = {value}", f"{target} += 0.2 * u * u")
        else:
            self.put(depth, f"{target} {self.choose.choice(['=', '+=', '-=', '*='])} {value}")

    def windows(self, around: list[str]) -> tuple[str, ...]:
        """Slices of one length."""
        forms: list[tuple[str, ...]] = [("1:n-1", "0:n-2", "2:n")]
        for k in around:
            forms += [(f":{k}",), (f"{k}:",), (f":n-{k}", f"{k}:"), (f"{k}+1:", f":n-1-{k}")]
        return self.choose.choice(forms)

    def read(self, windows: tuple[str, ...]) -> str:
        part = f"{self.choose.choice('xyz')}[{self.choose.choice(windows)}]"
        return self.choose.choice([part, part, f"np.flip({part})", f"np.sin({part})"])
