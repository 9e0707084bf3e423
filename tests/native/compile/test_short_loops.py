"""Loops of few iterations are compiled for that; everybody else's code is compiled as before."""

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


def test_the_compiler_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    from adjoint.native.loops import short_loops

    binding = pytest.importorskip("llvmlite.binding")
    told = []
    monkeypatch.setattr(binding, "set_option", lambda name, option: told.append(option))
    monkeypatch.setattr(binding, "llvm_version_info", (15, 0, 7))
    with pytest.raises(KeyError), short_loops.made_for_short_loops():
        raise KeyError
    assert [option.rsplit("=")[1] for option in told] == ["4", "true", "16", "false"]
    told.clear()
    monkeypatch.setattr(binding, "llvm_version_info", (14, 0, 6))
    with short_loops.made_for_short_loops():
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
