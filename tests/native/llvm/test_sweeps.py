"""How often a function is written until its kinds are known does not grow with the program."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

import adjoint as ad
from adjoint import ir
from adjoint.native.llvm.writing.attempts import Attempts
from adjoint.native.llvm.writing.program import Body
from texts import run_module

STEPS = """
import numpy as np

def unknown(values):
    return [value * 1.0 for value in values]

class Part:
    def __init__(self, values):
        self.values = values

def f(x, n):
    total = 0.0
"""
ONE = """
    a{0} = [x[0] * {0}.0]
    m{0} = x * {0}.0
    for i in range(n):
        a{0}.append(np.sin(x[i]) * a{0}[-1])
        m{0} = (m{0} + np.outer(x, x)[:, i]).T
    for y in map(float, unknown(a{0})):
        total += y * m{0}[1]
    total += Part(a{0}).values[-1]
"""


def counted(monkeypatch: pytest.MonkeyPatch, count: int) -> tuple[int, np.ndarray, ModuleType]:
    """The sweeps for a program of some parts, its gradient, and the program."""
    text = STEPS + "".join(map(ONE.format, range(1, count + 1))) + "    return total\n"
    program = run_module(text, f"program_of_{count}_parts")
    sweeps = 0
    written = Body.function

    def function(*args, **options):
        nonlocal sweeps
        sweeps += 1
        return written(*args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Body, "function", function)
        found = ad.grad(program.f, native=True)(np.array([0.3, 0.8, -0.4]), 3)
    return sweeps, found, program


def test_sweeps_do_not_grow_with_the_lists_of_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    few, _, _ = counted(monkeypatch, 1)
    many, found, program = counted(monkeypatch, 10)
    np.testing.assert_allclose(found, ad.grad(program.f)(np.array([0.3, 0.8, -0.4]), 3), rtol=1e-12)
    assert many <= few + 2


def test_an_attempt_that_relies_on_itself_alone_is_the_last() -> None:
    """What one attempt has learnt of a function that it sweeps twice is no reason to begin again."""
    function = ir.Function("f", (), ir.Block((), ir.Return(())))
    attempts = Attempts()
    attempts.begin()
    attempts.remember(function, (), {"key": "f8"})
    assert attempts.learnt(function, ()) == {"key": "f8"}
    assert not attempts.forget()
    attempts.remember(function, (), {"key": "f8"})
    attempts.begin()
    assert attempts.learnt(function, ()) == {"key": "f8"}
    assert attempts.forget()
    attempts.begin()
    assert attempts.learnt(function, ()) == {}
    assert not attempts.forget()
