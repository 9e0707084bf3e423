"""Second derivatives, reverse over reverse, of functions of functions in loops: what is computed anew is right."""

from __future__ import annotations

import random

import numpy as np
import pytest

import adjoint as ad
from texts import run_text

FUNCTIONS = (
    *("np.sin({})", "np.cos({})", "np.tanh({})", "np.arctan({})", "np.sqrt(1.5 + ({})**2)"),
    *("np.log(2.0 + ({})**2)", "1.0 / (2.0 + ({})**2)", "np.exp(-({})**2)", "abs({})"),
)
LOOPS = (
    "    for w in x:\n        y = {}*0.5 + {}*0.3\n",
    "    for w in x:\n        if w > 0.5:\n            y = {}*0.5\n        else:\n            y = {}*0.4\n",
    "    k = 0\n    while k < x.size:\n        w = x[k]\n        z = {}*0.5\n        y = z + 0.3*{}\n        k += 1\n",
)


def nested(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(("y", "w", "y*w", "y + w"))
    return rng.choice(FUNCTIONS).format(nested(rng, depth - 1))


def text_of(seed: int) -> str:
    rng = random.Random(seed)
    first, second = (nested(rng, rng.randint(1, 3)) for _ in range(2))
    loop = LOOPS[seed % len(LOOPS)].format(first, second)
    return f"def f(x):\n    y = {rng.choice(('x', 'x[0]'))}\n{loop}    return np.sum(y)\n"


WRONG_ONCE = (71, 74, 291, 320, 346, 447, 489)
"""Programs whose second derivatives took the last iteration's value for each."""


@pytest.mark.parametrize("seed", [*WRONG_ONCE, *range(12)])
def test_second_derivatives_are_those_of_differences(seed: int) -> None:
    text = text_of(seed)
    f = run_text(text, f"<nested functions {seed}>", {"np": np})["f"]
    x, v = np.array([0.3, 0.7, 0.9]), np.array([2.0, 0.6, 0.8])
    gradient = ad.grad(f)

    def along(x):
        return np.sum(gradient(x) * v)

    expected = [(along(x + step) - along(x - step)) / 2e-5 for step in 1e-5 * np.eye(3)]
    np.testing.assert_allclose(ad.grad(along)(x), expected, rtol=1e-5, atol=1e-5, err_msg=text)
