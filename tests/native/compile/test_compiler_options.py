"""What LLVM is told of loops; everybody else's code is compiled as before."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import adjoint as ad

pytest.importorskip("llvmlite")


def gates(w, x):
    total = 0.0
    for i in range(len(x)):
        total += 1.0 / (1.0 + math.exp(-w[i] * x[i])) * math.tanh(w[i] + x[i])
    return total


def test_every_number_of_iterations_is_right() -> None:
    strict, fast = ad.grad(gates, native="strict"), ad.grad(gates, native="strict", fastmath=True)
    for n in range(36):
        w, x = np.linspace(-1.0, 2.0, n), np.linspace(0.5, 1.5, n)
        wanted = ad.grad(gates, native=False)(w, x)
        np.testing.assert_allclose(strict(w, x), wanted, rtol=1e-14)
        np.testing.assert_allclose(fast(w, x), wanted, rtol=1e-14)


def fitted(x, y, a, b):
    error = 0.0
    for i in range(len(x)):
        error += (math.exp(a * x[i]) + b * y[i]) ** 2
    return error


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 100, 1001])
def test_sums_that_are_vectorized_keep_their_order(n: int) -> None:
    x, y = np.linspace(-1.0, 9.0, n), np.cos(np.arange(n)) * 10.0 ** (np.arange(n) % 17)
    exact = ad.compile(lambda x, y, a, b: sums(x, y, a, b), native="strict")(x, y, 0.5, 0.1)
    np.testing.assert_array_equal(exact, sums(x, y, 0.5, 0.1))
    compiled = ad.compile(fitted, native="strict")(x, y, 0.5, 0.1)
    assert compiled == pytest.approx(fitted(x, y, 0.5, 0.1), rel=1e-13)


def sums(x, y, a, b):
    """Two sums whose rounding shows their order."""
    total, signed = 0.0, 1.0
    for i in range(len(x)):
        total += (a * x[i]) * y[i] + b
        signed -= y[i] * 1e-3
    return np.array([total, signed])


def test_the_compiler_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    from adjoint.native.llvm import engine

    binding = pytest.importorskip("llvmlite.binding")
    told = []
    monkeypatch.setattr(binding, "set_option", lambda name, option: told.append(option))
    monkeypatch.setattr(binding, "llvm_version_info", (15, 0, 7))
    with pytest.raises(KeyError), engine.loop_options():
        raise KeyError
    assert [option.rsplit("=")[1] for option in told] == ["4", "true", "true", "16", "false", "false"]
    told.clear()
    monkeypatch.setattr(binding, "llvm_version_info", (14, 0, 6))
    with engine.loop_options():
        pass
    assert told == []


def test_loops_of_unknown_length_are_not_unrolled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from adjoint.native.llvm import engine

    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    texts = []
    usual = engine._Engine.object_code
    monkeypatch.setattr(engine._Engine, "object_code", lambda self, text: texts.append(text) or usual(self, text))
    ad.grad(lambda w, x: gates(w, x) * gates(x, w), native="strict")(np.ones(3), np.ones(3))
    (text,) = texts
    loops = text.count(", !llvm.loop !")
    assert loops > 1 and text.count(" = distinct !{") == loops
    assert text.count("llvm.loop.unroll.runtime.disable") == 1


def test_only_functions_are_computed_by_vectors_beside_a_sum_in_order(monkeypatch, tmp_path: Path) -> None:
    from adjoint.native.llvm import engine

    def product(values, columns, x):
        total = 0.0
        for place in range(len(columns)):
            total += values[place] * x[columns[place]]
        return total

    monkeypatch.setenv("ADJOINT_CACHE_DIR", str(tmp_path))
    texts = []
    usual = engine._Engine.object_code
    monkeypatch.setattr(engine._Engine, "object_code", lambda self, text: texts.append(text) or usual(self, text))
    x, y = np.linspace(0.0, 1.0, 9), np.ones(9)
    for fast in (False, True):
        both = ad.value_and_grad(lambda v, c, x: product(v, c, x), native="strict", fastmath=fast)
        assert both(y, np.arange(9)[::-1].copy(), x)[0] == pytest.approx(4.5)
        assert ad.value_and_grad(fitted, native="strict", fastmath=fast)(x, y, 0.5, 0.1)[0] > 9.0
    alone = [sum(line.endswith(", !1, !2}") for line in text.splitlines()) for text in texts]
    assert alone == [1, 0, 0, 0]
