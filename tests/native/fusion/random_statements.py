"""Random programs of array statements that write parts of arrays, also those that they read."""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from typing import Any

import numpy as np

SIZE = 5
"""The extent of all arrays: enough for parts that overlap, and for rows that do not."""


class Statements:
    """The text of a function of a vector and a matrix."""

    def __init__(self, seed: int) -> None:
        self.choose = random.Random(seed)
        self.seed = seed
        self.lines = ["def program(x, a):", "    n = len(x)", "    a, x = a.copy(), x.copy()"]
        self.vectors = ["x"]
        self.matrices = ["a"]

    def function(self) -> Callable[..., Any]:
        """The function."""
        for _ in range(self.choose.randint(4, 9)):
            self.statement(1, "")
        results = [f"np.sum({name} * {name})" for name in (*self.vectors[-3:], *self.matrices[-3:])]
        self.lines.append(f"    return {' + '.join(results)}")
        text, name = "\n".join(self.lines) + "\n", f"<statements {self.seed}>"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        namespace: dict[str, Any] = {"np": np}
        exec(compile(text, name, "exec"), namespace)
        return namespace["program"]

    def arguments(self) -> tuple[np.ndarray, np.ndarray]:
        """Arguments for it."""
        rng = np.random.default_rng(self.seed)
        return rng.uniform(0.5, 1.5, SIZE), rng.uniform(0.5, 1.5, (SIZE, SIZE))

    def statement(self, depth: int, counter: str) -> None:
        kinds = [self.new_vector, self.new_matrix, self.part_of_vector, self.part_of_matrix, self.row]
        if depth == 1 and self.choose.random() < 0.2:
            self.put(depth, "for i in range(n - 1):")
            for _ in range(self.choose.randint(1, 3)):
                self.choose.choice(kinds[2:])(depth + 1, "i")
            return
        self.choose.choice(kinds)(depth, counter)

    def put(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def bounded(self, expression: str) -> str:
        return f"{self.choose.choice(['np.sin', 'np.tanh', '0.3 * np.cos'])}({expression})"

    def vector(self, counter: str = "") -> str:
        matrix, name = self.choose.choice(self.matrices), self.choose.choice(self.vectors)
        forms = [name, name, f"{matrix}[{counter or 1}]", f"{matrix}[:, {counter or 2}]", f"np.sum({matrix}, axis=0)"]
        return self.choose.choice([*forms, f"{matrix} @ {name}", f"{name}[::-1]"])

    def matrix(self) -> str:
        one, other = self.choose.choice(self.matrices), self.choose.choice(self.matrices)
        forms = [
            one,
            f"{one}.T",
            f"{one} @ {other}",
            f"np.outer({self.vector()}, {self.vector()})",
            f"{one} * {self.vector()}",
        ]
        return self.choose.choice([*forms, f"{one} / np.sum({other} * {other} + 1.0, axis=1, keepdims=True)"])

    def joined(self, made: Callable[[], str]) -> str:
        return f"{made()} {self.choose.choice('+-*')} {made()}"

    def new_vector(self, depth: int, counter: str) -> None:
        name = f"v{len(self.vectors)}"
        self.put(depth, f"{name} = {self.bounded(self.joined(self.vector))}")
        self.vectors.append(name)

    def new_matrix(self, depth: int, counter: str) -> None:
        name = f"m{len(self.matrices)}"
        self.put(depth, f"{name} = {self.bounded(self.joined(self.matrix))}")
        self.matrices.append(name)

    def part_of_vector(self, depth: int, counter: str) -> None:
        parts = [("1:", ":-1"), (":-1", "1:"), ("2:4", "1:3"), ("0", "1"), (":", ":"), (":", "::-1")]
        if counter:
            parts += [("i + 1:", "i + 1:"), ("i", "i + 1"), ("i + 1", "i"), (":i", ":i"), (":i + 1", ":i + 1")]
        to, of = self.choose.choice(parts)
        self.put(
            depth, f"{self.written(self.vectors)}[{to}] {self.how()} {self.bounded(f'({self.vector(counter)})[{of}]')}"
        )

    def part_of_matrix(self, depth: int, counter: str) -> None:
        at = counter or self.choose.choice("012")
        one, matrix = self.written(self.matrices), self.choose.choice(self.matrices)
        forms = [
            f"{one}[{at} + 1:, {at}:] -= np.outer({self.bounded(f'{matrix}[{at} + 1:, {at}]')}, {matrix}[{at}, {at}:])",
            f"{one}[{at} + 1:] += {self.bounded(f'{matrix}[{at}]')}",
            f"{one}[:, {at}] {self.how()} {self.bounded(self.vector(counter))}",
            f"{one}[1:, 1:] {self.how()} {self.bounded(f'{matrix}[:-1, :-1]')}",
            f"{one}[:, 1:] {self.how()} {self.bounded(f'{matrix}[:, :-1]')}",
            f"{one}[:] = {self.bounded(self.matrix())}",
            f"{one} *= {self.bounded(self.matrix())}",
        ]
        self.put(depth, self.choose.choice(forms))

    def row(self, depth: int, counter: str) -> None:
        one, at = self.written(self.matrices), counter or self.choose.choice("0123")
        self.put(depth, f"{one}[{at}] {self.how()} {self.bounded(self.vector(counter))}")

    def written(self, names: list[str]) -> str:
        return self.choose.choice(names[-3:])

    def how(self) -> str:
        return self.choose.choice(["=", "+=", "-="])
