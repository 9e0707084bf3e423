"""Random classes whose methods keep what they are given on the object, captured or given, against differences."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from texts import run_text

P = np.array([0.5, 0.8, 1.3])
NUMBERS = ("self.a", "self.b", "self.deep.c", "self.items[0]", "self.table['k']", "np.sum(self.array)")
ARRAYS = ("self.array", "self.kept", "p", "self.deep.row")


class Writer:
    """Writes the statements of methods.

    What is read may be old or new; ``self.kept`` is None before the first call.
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.is_kept = False

    def number(self, depth: int = 2) -> str:
        rng = self.rng
        if depth == 0:
            return rng.choice((*NUMBERS, f"np.sum({self.array(0)})", "p[1]", "0.5"))
        one, other = self.number(depth - 1), self.number(depth - 1)
        return rng.choice((f"np.sin({one})", f"0.5 * {one} * {other}", f"({one} + 0.3 * {other})", f"np.tanh({one})"))

    def array(self, depth: int = 1) -> str:
        rng = self.rng
        if depth == 0:
            return rng.choice([each for each in ARRAYS if each != "self.kept" or self.is_kept])
        one = self.array(depth - 1)
        return rng.choice((f"np.cos({one})", f"{one} * {self.number(0)}", f"({one} + 0.5 * p)"))

    def statement(self, depth: int = 1) -> list[str]:
        rng = self.rng
        found = [
            f"self.a = {self.number()}",
            f"self.b = self.b + {self.number(1)}",
            f"self.deep.c = {self.number()}",
            f"self.deep.row = {self.array()}",
            f"self.items[0] = {self.number(1)}",
            f"self.items.append({self.number(1)})",
            f"self.table['k'] = {self.number(1)}",
            f"self.table['new'] = {self.number(1)}",
            f"self.array[{rng.randrange(3)}] = {self.number(1)}",
            f"self.array[:] = {self.array()}",
            f"self.array = {self.array()}",
            "self.count += 1",
        ]
        if depth and rng.random() < 0.3:
            kept, self.is_kept = self.is_kept, self.is_kept
            body = ["    " + line for each in range(rng.randint(1, 2)) for line in self.statement(depth - 1)]
            self.is_kept = kept
            head = rng.choice((f"if {self.number(0)} > 0.4:", "for _ in range(2):", "if self.count > 1:"))
            return [head, *body]
        if rng.random() < 0.15:
            line = f"self.kept = {self.array()}"
            self.is_kept = self.is_kept or depth == 1
            return [line]
        return [rng.choice(found)]

    def text(self) -> str:
        inner = [line for _ in range(self.rng.randint(1, 2)) for line in self.statement()]
        found, self.is_kept = self.number(), False
        lines = [line for _ in range(self.rng.randint(2, 4)) for line in self.statement()]
        body = "\n".join("        " + line for line in lines)
        called = "\n".join("        " + line for line in inner)
        return (
            "class Deep:\n    def __init__(self):\n        self.c = 0.4\n"
            "        self.row = np.array([0.2, 0.1, 0.7])\n\n"
            "class Model:\n    def __init__(self):\n        self.a, self.b, self.count = 0.7, 0.2, 0\n"
            "        self.items, self.table = [0.3], {'k': 0.6}\n        self.array = np.array([0.9, 0.4, 0.6])\n"
            "        self.kept, self.deep = None, Deep()\n\n"
            f"    def step(self, p):\n{called}\n        return {found}\n\n"
            f"    def loss(self, p):\n{body}\n        found = self.step(p)\n"
            f"        return found + {self.number()} + np.sum({self.array()})\n"
        )


def differences(value: Callable[[np.ndarray], Any], step: float = 1e-6) -> np.ndarray:
    return np.array([(value(P + each) - value(P - each)) / (2.0 * step) for each in step * np.eye(3)])


def plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [float(f"{each:.9g}") for each in value.tolist()]
    if isinstance(value, (float, np.floating)):
        return float(f"{float(value):.9g}")
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in sorted(value.items())}
    return plain(vars(value)) if hasattr(value, "__dict__") else value


def calls(text: str, derive: Callable[[Any, Any], Any], expect: Callable[[Any, Any], Any], name: str) -> None:
    """Three calls, each of which finds what the one before has left."""
    names = run_text(text, name, {"np": np})
    model, reference = names["Model"](), names["Model"]()
    for _ in range(3):
        try:
            expected, found = expect(names["Model"], reference), derive(names["Model"], model)
        except ad.DifferentiationError as refusal:
            codes = {problem.code for problem in refusal.diagnostics}
            assert codes <= {"AD0402", "AD0401", "AD0303"}, f"{text}\n{refusal}"
            pytest.skip(f"refused: {sorted(codes)}")
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4, err_msg=text)
        reference.loss(P.copy())
        assert plain(model) == plain(reference), text


def first(model: Any, reference: Any) -> np.ndarray:
    return differences(lambda p: model.loss(copy.deepcopy(reference), p))


def second(model: Any, reference: Any) -> np.ndarray:
    gradient = ad.grad(model.loss, wrt=1)
    return differences(lambda p: gradient(copy.deepcopy(reference), p))


WAYS: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "bound": (lambda model, one: ad.grad(one.loss)(P.copy()), first),
    "captured": (lambda model, one: ad.grad(lambda p: model.loss(one, p))(P.copy()), first),
    "argument": (lambda model, one: ad.grad(model.loss, wrt=1)(one, P.copy()), first),
    "native": (lambda model, one: ad.grad(one.loss, native=True)(P.copy()), first),
    "forward": (lambda model, one: ad.jacobian(one.loss, mode="forward")(P.copy()), first),
    "hessian": (lambda model, one: ad.hessian(one.loss)(P.copy()), second),
}


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(12))
def test_as_the_program_and_its_differences(seed: int, way: str) -> None:
    derive, expect = WAYS[way]
    calls(Writer(seed).text(), derive, expect, f"<writes outside {seed}>")
