"""Random programs that step arrays in time: what their loops keep is overwritten, aliased, copied, sliced, rolled."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from texts import run_text

_CHAINS = ("np.sin({a}) * {b}", "{a} * {b}", "{a} + {c} * {b}", "{a} - {b}", "np.maximum({a}, 0.3 * {b})", "-{a}")
_ELEMENTS = (
    *_CHAINS,
    *("np.roll({a}, 1, axis=0) - {b}", "np.roll({a}, -1, axis=1) * {b}", "{a} / (1.0 + {b} * {b})", "{a} ** 2"),
    *("np.where({a} > {b}, {a}, {c} * {b})", "np.sqrt(1.0 + {a} * {a})", "0.5 * ({a} + {b})", "np.abs({a}) + {b}"),
)
_PLACES = (":", "1:-1, 1:-1", "0", ":, 1:", "::2")


class _Writer:
    """Writes a program; ``arrays`` are the variables in scope, all of one shape."""

    def __init__(self, seed: int) -> None:
        self.choices = random.Random(seed)
        self.arrays = ["u", "v"]
        self.count = 0
        self.lines: list[str] = []

    def text(self) -> str:
        pick = self.choices
        self.line(0, "def program(u, v, c):")
        self.line(1, "u, v = u.copy(), v.copy()" if pick.random() < 0.7 else "u = u * 1.0")
        self.line(1, "total = 0.0")
        if pick.random() < 0.5:
            self.line(1, f"for step in range({pick.randint(1, 4)}):")
        else:
            self.line(1, "t = 0.0")
            self.line(1, "while t < 1.0:")
            self.line(2, f"t += {pick.choice(['0.3', '0.4 + 0.01 * np.tanh(np.max(u))'])}")
        known = list(self.arrays)
        self.block(2, pick.randint(4, 12))
        for carried in pick.sample(["u", "v"], pick.randint(1, 2)):
            self.line(2, f"{carried} = np.tanh({self.element()})")
        self.arrays = known
        self.line(1, "return np.sum(u * v) + total")
        return "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def element(self) -> str:
        form = self.choices.choice(_ELEMENTS if self.choices.random() < 0.7 else _CHAINS)
        scalar = self.choices.choice(["c", "0.7", "c * 0.5"])
        return form.format(a=self.choices.choice(self.arrays), b=self.choices.choice(self.arrays), c=scalar)

    def new(self) -> str:
        self.count += 1
        return f"a{self.count}"

    def block(self, depth: int, length: int) -> None:
        for _ in range(length):
            self.statement(depth)
        self.line(depth, "pass")

    def statement(self, depth: int) -> None:
        pick = self.choices
        kind = pick.random()
        if kind < 0.5:
            value, name = self.element(), self.new()
            self.line(depth, f"{name} = {value}")
            self.arrays.append(name)
        elif kind < 0.62:
            self.line(
                depth, f"{pick.choice(self.arrays)} {pick.choice(['+=', '-=', '*='])} 0.1 * np.cos({self.element()})"
            )
        elif kind < 0.72:
            place = pick.choice(_PLACES)
            other = pick.choice(self.arrays)
            sign = pick.choice(["=", "+=", "*="])
            self.line(depth, f"{pick.choice(self.arrays)}[{place}] {sign} np.sin({other}[{place}])")
        elif kind < 0.8:
            name = self.new()
            form = pick.choice(["{}", "{}.copy()", "np.copy({})", "{}[:, :]"])
            self.line(depth, f"{name} = {form.format(pick.choice(self.arrays))}")
            self.arrays.append(name)
        elif kind < 0.88:
            self.line(depth, f"total = 0.5 * total + np.tanh(np.sum({self.element()}))")
        elif depth < 4:
            known = list(self.arrays)
            head = pick.choice(["for k in range(2):", f"if np.sum({pick.choice(self.arrays)}) > 0.2:"])
            self.line(depth, head)
            self.block(depth + 1, pick.randint(1, 4))
            self.arrays = known


def text(seed: int) -> str:
    """The text of a function ``program(u, v, c)`` of two arrays and a number."""
    return f"import numpy as np\n\n\n{_Writer(seed).text()}"


def program(seed: int) -> Callable[..., Any]:
    """That function."""
    function: Callable[..., Any] = run_text(text(seed), f"<stepper {seed}>")["program"]
    return function


def arguments(seed: int) -> tuple[Any, ...]:
    """What to call it with."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(4, 5)), rng.normal(size=(4, 5)), 0.6
