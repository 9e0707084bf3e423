"""Random classes of which methods are differentiated inside of others, and keep what they are given: as differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from frontend.test_random_writes_outside import P, Writer, differences, plain
from texts import run_text

DERIVATIVES = (
    "g = ad.grad(self.step)(p)",
    "v, g = ad.value_and_grad(self.step)(p)",
    "g = ad.grad(lambda q: self.step(q) * self.a)(p)",
    "g = ad.grad(self.step)(p * self.b)",
    "g = ad.grad(lambda q: self.step(q + g))(p)",
    "_, g = ad.jvp(self.step, (p,), (p * 0.3,))",
    "g = ad.grad(lambda q: self.step(q) if q[0] > 0.4 else self.other(q))(p)",
)
USES = ("self.a = self.a + 0.1 * np.sum(g * p)", "p = p - 0.1 * g", "self.array = self.array + 0.1 * g")
HEADS = ("for _ in range(2):", "if self.a > 0.4:", "if self.count > 1:", "if self.kept is None:")


class Nested(Writer):
    """Writes three methods, of which the last takes derivatives of the others."""

    takes_derivatives = False

    def statement(self, depth: int = 1) -> list[str]:
        rng = self.rng
        if not (self.takes_derivatives and rng.random() < 0.45):
            return super().statement(depth)
        uses = (*USES, "p = p + 0.1 * self.kept") if self.is_kept else USES
        found = [rng.choice(DERIVATIVES), rng.choice(uses)]
        return [rng.choice(HEADS), *("    " + line for line in found)] if depth and rng.random() < 0.5 else found

    def method(self, head: str, count: int, last: Callable[[], str]) -> str:
        lines = [line for _ in range(count) for line in self.statement()]
        return f"    def {head}:\n" + "".join(f"        {line}\n" for line in [*lines, f"return {last()}"]) + "\n"

    def text(self) -> str:
        methods = [self.method(f"{name}(self, p)", self.rng.randint(1, 2), self.number) for name in ("step", "other")]
        self.takes_derivatives, self.is_kept = True, False
        loss = self.method("loss(self, p, g)", self.rng.randint(2, 4), lambda: f"np.sum(p * g) + {self.number()}")
        return (
            "class Deep:\n    def __init__(self):\n        self.c = 0.4\n"
            "        self.row = np.array([0.2, 0.1, 0.7])\n\n"
            "class Model:\n    def __init__(self):\n        self.a, self.b, self.count = 0.7, 0.2, 0\n"
            "        self.items, self.table = [0.3], {'k': 0.6}\n        self.array = np.array([0.9, 0.4, 0.6])\n"
            f"        self.kept, self.deep = None, Deep()\n\n{''.join(methods)}{loss}"
        )


WAYS: dict[str, Callable[[Any], Any]] = {
    "reverse": lambda model: ad.grad(model.loss)(P.copy(), 0.1 * P),
    "forward": lambda model: ad.jacobian(model.loss, mode="forward")(P.copy(), 0.1 * P),
}


@pytest.mark.filterwarnings("ignore::adjoint.DifferentiationWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(16))
def test_as_the_program_and_its_differences(seed: int, way: str) -> None:
    text = Nested(seed).text()
    make = run_text(text, f"<writes in derivatives {seed}>", {"np": np, "ad": ad})["Model"]
    model, reference = make(), make()
    reference.loss(P.copy(), 0.1 * P)
    try:
        found = WAYS[way](model)
    except ad.DifferentiationError as refusal:
        codes = {problem.code for problem in refusal.diagnostics}
        assert codes <= {"AD0402", "AD0401", "AD0303"}, f"{text}\n{refusal}"
        pytest.skip(f"refused: {sorted(codes)}")
    expected = differences(lambda p: make().loss(p, 0.1 * P))
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4, err_msg=text)
    assert plain(model) == plain(reference), text
