"""Functions that call one another in a long chain."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator

import pytest

import adjoint as ad
from adjoint.codegen.texts import Emitted, load
from texts import run_text

LENGTH = 200
HEAD = "import math\n\n\ndef f0(x):\n    return math.sin(x) * x\n"


@pytest.fixture
def deepest() -> Callable[[float], float]:
    """The last of functions ``f<n>`` that call ``f<n - 1>``."""
    text = HEAD + "".join(f"\n\ndef f{n}(x):\n    return f{n - 1}(x * 0.99) + 0.1\n" for n in range(1, LENGTH + 1))
    function: Callable[[float], float] = run_text(text, "<chain of functions>")[f"f{LENGTH}"]
    return function


@pytest.fixture
def room() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)
    yield
    sys.setrecursionlimit(limit)


def derivative(x: float) -> float:
    inner = x * 0.99**LENGTH
    return 0.99**LENGTH * (math.cos(inner) * inner + math.sin(inner))


@pytest.mark.usefixtures("room")
def test_a_long_chain_of_calls_is_read_where_there_is_room(deepest: Callable[[float], float]) -> None:
    assert ad.grad(deepest)(1.0) == pytest.approx(derivative(1.0), rel=1e-12)
    assert ad.jvp(deepest, (1.0,), (1.0,))[1] == pytest.approx(derivative(1.0), rel=1e-12)


def test_a_chain_that_is_too_long_is_told_and_how_to_make_room(deepest: Callable[[float], float]) -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    try:
        with pytest.raises(ad.DifferentiationError, match="AD0902") as refusal:
            ad.grad(deepest)(1.0)
    finally:
        sys.setrecursionlimit(limit)
    assert "sys.setrecursionlimit" in str(refusal.value)


def test_an_expression_nested_more_deeply_than_trees_may_be() -> None:
    function = run_text(f"def long(x):\n    return {' + '.join(['x'] * 1500)}\n", "<long sum>")["long"]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    try:
        with pytest.raises(ad.DifferentiationError, match="AD0902"):
            ad.grad(function)(1.0)
        sys.setrecursionlimit(50_000)
        assert ad.grad(function)(1.0) == 1500.0
    finally:
        sys.setrecursionlimit(limit)


def test_branches_nested_more_deeply_than_python_reads() -> None:
    levels = "".join(f"{'    ' * n}if x > {n}:\n" for n in range(1, 120))
    text = f"def chosen(x):\n{levels}{'    ' * 120}return x\n"
    with pytest.raises(ad.DifferentiationError, match="AD0902") as refusal:
        load(Emitted(text, {}, "chosen"))
    assert "in a dict" in str(refusal.value)


CASES = "".join(f"    elif k == {i}:\n        return x * {i}\n" for i in range(1, 300))
TOO_MANY = {
    "elif": f"def f(x):\n    k = int(x)\n    if k == 0:\n        return x\n{CASES}    return x * x\n",
    "and": f"def f(x):\n    return x * x if {' and '.join(f'x > {-i}' for i in range(500))} else x\n",
}


@pytest.mark.parametrize(("what", "limit"), [("elif", 1_000), ("and", 1_000), ("and", 3_000), ("and", 10_000)])
def test_more_room_is_not_advised_where_it_would_not_help(what: str, limit: int) -> None:
    function = run_text(TOO_MANY[what], f"<many of {what}>")["f"]
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(limit)
    try:
        with pytest.raises(ad.DifferentiationError, match="AD0902") as refusal:
            ad.grad(function)(1.3)
    finally:
        sys.setrecursionlimit(before)
    assert "setrecursionlimit" not in str(refusal.value)
    assert "go through a list of them in a loop" in str(refusal.value)
