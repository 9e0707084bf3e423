"""What a derivative keeps, as users are told."""

import math

import numpy as np
import pytest

import adjoint as ad


def newton(a):
    x = 1.0
    while abs(x * x - a) > 1e-12:
        x = x - (x * x - a) / (2 * x)
    return x


def nested(x, n):
    s = 0.0
    for i in range(n):
        t = math.sin(x * i)
        for _ in range(3):
            s = s * math.cos(t) + t
    return s


def overwritten(u):
    for _ in range(4):
        u[1:] *= u[:-1]
    return np.sum(u)


def straight(x: float) -> float:
    return x * math.sin(x)


def test_a_while_loop_keeps_what_each_iteration_changes(capsys) -> None:
    report = ad.tape_report(ad.grad(newton), 2.0)
    (loop,) = report.loops
    (kept,) = loop.kept
    assert (kept.name, kept.what, kept.preallocated) == ("x", "a number", False)
    assert kept.reason == "each iteration changes it"
    assert kept.bytes == report.bytes == 5 * 32
    assert loop.place.line == newton.__code__.co_firstlineno + 2
    text = capsys.readouterr().out
    assert "while abs(x * x - a) > 1e-12:" in text
    assert "a number in each iteration, in a list that grows (160 bytes); each iteration changes it" in text
    assert "again  (x * x - a) / (2 * x)" in text


def test_loops_in_loops_are_told_apart(capsys) -> None:
    report = ad.tape_report(ad.grad(nested), 0.4, 5)
    outer, inner = report.loops
    assert [kept.name for kept in inner.kept] == ["s"]
    assert inner.kept[0].bytes == 5 * 3 * 32
    assert "t" in [name for name, _ in outer.recomputed] + [kept.name for kept in outer.kept]
    capsys.readouterr()


def test_what_is_overwritten_is_kept_as_arrays(capsys) -> None:
    u = np.linspace(0.5, 1.5, 100)
    before = u.copy()
    report = ad.tape_report(ad.value_and_grad(overwritten), u)
    assert np.array_equal(u, before)
    (loop,) = report.loops
    assert {kept.what for kept in loop.kept} == {"an array"}
    assert all("overwritten later" in kept.reason for kept in loop.kept)
    assert report.bytes == sum(4 * (8 + 99 * 8) for _ in loop.kept)
    capsys.readouterr()


def test_without_loops_and_without_arguments(capsys) -> None:
    report = ad.tape_report(ad.grad(straight))
    assert report.loops == ()
    assert "nothing is kept" in capsys.readouterr().out


def test_what_it_takes() -> None:
    with pytest.raises(ad.DifferentiationError, match="AD0105"):
        ad.tape_report(straight)
    with pytest.raises(ad.DifferentiationError, match="AD0401"):
        ad.tape_report(ad.grad(newton))


def test_what_the_function_writes_outside_is_left_as_it_was() -> None:
    history, rng = [1.0], np.random.default_rng(0)
    state = rng.bit_generator.state

    def f(x):
        total = 0.0
        for i in range(3):
            history.append(x[i] * history[-1] * rng.normal())
            total = total + history[-1] ** 2
        return total

    ad.tape_report(ad.grad(f), np.ones(3))
    assert history == [1.0]
    assert rng.bit_generator.state == state
