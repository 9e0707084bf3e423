"""Functions that call one another in a long chain."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

import adjoint as ad

LENGTH = 200
HEAD = "import math\n\n\ndef f0(x):\n    return math.sin(x) * x\n"


@pytest.fixture
def chain(tmp_path: Path) -> ModuleType:
    """A module whose function ``f<n>`` calls ``f<n - 1>``."""
    text = HEAD + "".join(f"\n\ndef f{n}(x):\n    return f{n - 1}(x * 0.99) + 0.1\n" for n in range(1, LENGTH + 1))
    path = tmp_path / "chain.py"
    path.write_text(text)
    module = ModuleType("chain")
    exec(compile(text, str(path), "exec"), vars(module))
    return module


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
def test_a_long_chain_of_calls_is_read_where_there_is_room(chain: ModuleType) -> None:
    function: Callable[[float], float] = getattr(chain, f"f{LENGTH}")
    assert ad.grad(function)(1.0) == pytest.approx(derivative(1.0), rel=1e-12)
    assert ad.jvp(function, (1.0,), (1.0,))[1] == pytest.approx(derivative(1.0), rel=1e-12)


def test_a_chain_that_is_too_long_is_told_and_how_to_make_room(chain: ModuleType) -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000)
    try:
        with pytest.raises(ad.DifferentiationError, match="AD0902") as refusal:
            ad.grad(getattr(chain, f"f{LENGTH}"))(1.0)
    finally:
        sys.setrecursionlimit(limit)
    assert "sys.setrecursionlimit" in str(refusal.value)
