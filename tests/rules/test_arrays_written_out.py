"""Arrays that are written out in full, of numbers of several kinds, small and large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from texts import run_text

SHAPES = [(3,), (2, 3), (51,), (70,), (4, 14), (14, 14), (2, 5, 8), (1, 60), (60, 1)]
KINDS = {"whole": "{}", "float": "{}.5", "complex": "{}.5j", "truth": "True"}


def written_out(shape: tuple[int, ...], kind: str, places: dict[int, str]) -> Callable[[Any], Any]:
    """A function of a vector whose result is an array of constants, but for some places."""
    size = int(np.prod(shape))
    items = [places.get(at, KINDS[kind].format(at % 3)) for at in range(size)]
    for extent in reversed(shape[1:]):
        items = ["[" + ", ".join(items[at : at + extent]) + "]" for at in range(0, len(items), extent)]
    text = f"def f(x):\n    return np.array([{', '.join(items)}])\n"
    name = f"<written out {shape} {kind} {sorted(places)}>"
    return run_text(text, name, {"np": np})["f"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_varies_counts_wherever_it_stands(shape: tuple[int, ...], kind: str, native: bool) -> None:
    x, v, size = np.array([0.5, -1.5]), np.array([1.0, 2.0]), int(np.prod(shape))
    first, last = size // 2, size - 1
    f = written_out(shape, kind, {first: "x[0] * x[1]", last: "2 * x[1]"})
    value, tangent = ad.jvp(f, (x,), (v,), native=native)
    expected = np.zeros(shape, value.dtype)
    expected.flat[first], expected.flat[last] = v[0] * x[1] + x[0] * v[1], 2 * v[1]
    assert value.dtype == f(x).dtype
    np.testing.assert_array_equal(value, f(x))
    np.testing.assert_array_equal(tangent, expected)
    seed = np.arange(1.0, size + 1).reshape(shape).astype(value.dtype)
    [x_bar] = ad.vjp(f, x, native=native)[1](seed)
    np.testing.assert_allclose(x_bar, [(first + 1) * x[1], (first + 1) * x[0] + 2 * (last + 1)])


JOINED = {
    "concatenate": "np.concatenate([{}])",
    "stack": "np.stack([{}])",
    "vstack": "np.vstack([{}])",
    "hstack": "np.hstack([{}])",
    "column_stack": "np.column_stack([{}])",
}


@pytest.mark.parametrize("count", [3, 70])
@pytest.mark.parametrize("name", JOINED)
def test_what_is_joined_may_be_many(name: str, count: int) -> None:
    parts = ", ".join("x * x[0]" if place % 7 == 1 else "np.zeros(2)" for place in range(count))
    text = f"def f(x):\n    return {JOINED[name].format(parts)}\n"
    f = run_text(text, f"<joined {name} {count}>", {"np": np})["f"]
    ad.testing.check_grads(f, (np.array([0.5, -1.5]),), order=1)


def test_the_least_of_many() -> None:
    text = "def f(x):\n    return min(" + ", ".join(f"x * {k}.5 + {70 - k}" for k in range(70)) + ")\n"
    ad.testing.check_grads(run_text(text, "<the least of many>")["f"], (0.3,), order=1)
