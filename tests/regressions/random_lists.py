"""Random programs that put items into the middle of lists, and take them out there."""

from __future__ import annotations

import random
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import adjoint as ad
from texts import run_module

KINDS = ("numbers", "arrays", "written arrays", "records", "lists")
NEW = {
    "numbers": ("x[{a}] * x[{b}]", "np.sin(x[{a}]) + total", "1.5", "x[{a}]"),
    "arrays": ("x * x[{a}]", "np.sin(x) * (total + 1.0)", "x"),
    "written arrays": ("x * x[{a}]", "x + 0.3 * total"),
    "records": ("Pair(x[{a}], x[{b}] * 2.0)", "Pair(total, x[{a}] * x[{b}])", "Pair(x[{a}], 0.5)"),
    "lists": ("[x[{a}], x[{b}] * 2.0]", "[total, x[{a}]]", "[x[{a}]]"),
}
VALUE = {
    "numbers": "{v} * {v}",
    "arrays": "np.sum({v} * {v}) * {v}[0]",
    "written arrays": "np.sum({v} * {v}) * {v}[0]",
    "records": "{v}.a * {v}.b + {v}.b",
    "lists": "weigh({v})",
}
WRITE = {
    "numbers": ("{v} = {v} * 1.3", "{v} = x[{a}] - 0.2"),
    "arrays": ("{v} = {v} * x[{a}]",),
    "written arrays": ("{v}[{b}] = x[{a}] * 0.7", "{v} *= 1.2", "{v}[:] = x * x[{a}]"),
    "records": ("{v}.a = x[{a}] * {v}.b", "{v}.b *= 0.9"),
    "lists": ("{v}.insert(0, x[{a}] * 0.6)", "{v}.insert(k, x[{b}])", "{v}.append(x[{a}])", "{v}[0] = x[{b}] * 1.1"),
}
INSIDE = ("0", "1", "-1", "-2", "k % len(items)", "(k + {n}) % len(items)", "-1 - (k % len(items))", "len(items) // 2")
ANYWHERE = (*INSIDE, "k", "-k", "100", "-100", "len(items)", "-len(items)")
HEAD = """
import bisect
from dataclasses import dataclass
import numpy as np

@dataclass
class Pair:
    a: float
    b: float

def weigh(row):
    s = 0.0
    for i, v in enumerate(row):
        s = s + (i + 1.0) * v * v
    return s

def through(rows, k, new):
    rows.insert(k, new)
    return rows.pop(0)

def down(rows, depth, new):
    if depth == 0 or len(rows) < 2:
        return rows.pop(len(rows) // 2)
    rows.insert(depth, new)
    rows.pop(0)
    return down(rows, depth - 1, new)
"""


@dataclass
class Program:
    """A random program that is being written."""

    rng: random.Random
    kind: str

    def text(self, choices: Any, **names: Any) -> str:
        a, b, n = (self.rng.randrange(3) for _ in range(3))
        return str(self.rng.choice(choices)).format(a=a, b=b, n=n, **names)

    def value(self, of: str) -> str:
        return VALUE[self.kind].format(v=of)

    def new(self) -> str:
        return self.text(NEW[self.kind])

    def change(self) -> list[str]:
        """One change of a list."""
        inside, anywhere = self.text(INSIDE), self.text(ANYWHERE)
        long = "if len(items) > 2:"
        forms = [
            [f"items.insert({anywhere}, {self.new()})"],
            [f"items.insert({anywhere}, {self.new()})"],
            [long, f"    t = items.pop({inside})", f"    total = total + {self.value('t')} * {self.rng.randint(1, 5)}"],
            [long, f"    t = items.pop({inside})", f"    total = total + {self.value('t')}"],
            [long, f"    del items[{inside}]"],
            [f"items.append({self.new()})"],
            [f"items[{inside}] = {self.new()}"],
            [f"alias.insert({anywhere}, {self.new()})"],
            [f"items.insert({anywhere}, items.pop({inside}))"],
            [f"t = through(items, {anywhere}, {self.new()})", f"total = total + {self.value('t')}"],
            [long, f"    t = items[{inside}]", *(f"    {each}" for each in self.written("t"))],
            [f"other.insert(0, items[{inside}])"],
            ["if len(other) > 1:", f"    items.insert({anywhere}, other.pop(k % len(other)))"],
            ["if len(other) > 0:", "    t = other.pop(0)", f"    total = total + {self.value('t')}"],
        ]
        if self.kind == "numbers":
            forms += [[f"bisect.insort(items, {self.new()})"]] * 2
            forms += [["items.remove(items[k % len(items)])", f"items.append({self.new()})"]]
        if self.kind in ("numbers", "records"):
            forms += [
                [f"t = down(items, 2, {self.new()})", f"items.insert(k, {self.new()})", f"total += {self.value('t')}"]
            ]
        if self.kind != "arrays":
            forms += [[f"items.insert({anywhere}, items[{inside}])"]]
        return self.rng.choice(forms)

    def written(self, item: str) -> list[str]:
        return [self.text(WRITE[self.kind], v=item)]

    def block(self, depth: int) -> list[str]:
        lines: list[str] = []
        for _ in range(self.rng.randint(1, 3)):
            choice = self.rng.random()
            if depth == 0 or choice < 0.6:
                lines += self.change()
                continue
            head = self.rng.choice(
                (
                    f"if x[{self.rng.randrange(3)}] > 0.5:",
                    "for j in range(3):",
                    "for k in range(2):",
                    f"if k > {depth}:",
                )
            )
            lines += [head, *(f"    {line}" for line in self.block(depth - 1))]
        if depth and self.rng.random() < 0.3:
            lines += [
                "while len(items) > 4:",
                f"    t = items.pop({self.text(INSIDE)})",
                f"    total += {self.value('t')}",
            ]
        return lines


def source_of(seed: int) -> str:
    """A function of an array and a number that tells places."""
    rng = random.Random(seed)
    program = Program(rng, rng.choice(KINDS))
    started = [program.new() for _ in range(2)]
    lines = [
        "def f(x, k):",
        "    total = 0.1 * x[1]",
        "    items = []",
        *(f"    items.append({each})" for each in started),
        "    for i in range(2):",
        f"        items.append({program.new()})",
        "    alias = items",
        "    other = []",
        *(f"    {line}" for line in program.block(2)),
        "    for i, v in enumerate(items):",
        f"        total = total + (i + 0.5) * ({program.value('v')})",
        "    for i, v in enumerate(other):",
        f"        total = total + (i + 0.7) * ({program.value('v')})",
        "    return total",
    ]
    return HEAD + "\n".join(lines) + "\n"


def outcome(seed: int, *, native: bool = True) -> str:
    """Compares derivatives with differences, to second order, and machine code with what is interpreted."""
    text = source_of(seed)
    f = run_module(text, f"random_lists_{seed}").f
    found = "right"
    for k in (1, 0, 3):
        args = (np.array([0.3, 0.7, 1.4]), k)
        with np.errstate(all="ignore"):
            if not abs(f(*args)) < 1e4:
                continue  # differences tell nothing
        try:
            ad.testing.check_grads(f, args, wrt=0, analytic=False)
            gradient = ad.grad(f)(*args)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                compiled = ad.grad(f, native=True)(*args) if native else gradient
        except ad.DifferentiationError as error:
            return f"refused: {error.diagnostics[0].code} {error}\n{text}"
        except AssertionError as error:
            return f"wrong: {error}\n{text}"
        if not np.allclose(gradient, compiled, rtol=1e-12, atol=1e-12):
            return f"wrong in machine code: {gradient} {compiled}\n{text}"
        if any("AD0601" in str(each.message) for each in said):
            found = "interpreted: " + str(said[0].message)
    return found
