"""What the programs are called with: samples, nodes, matrices, signals, points; the same each time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Corpus:
    """The programs of a module, by name, with their arguments."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.programs: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}

    def call(self, *args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Puts a function into the corpus."""

        def put(program: Callable[..., Any]) -> Callable[..., Any]:
            self.programs[program.__name__] = (program, args)
            return program

        return put

    def normal(self, *shape: int) -> Any:
        return self.rng.normal(size=shape)

    def positive(self, *shape: int) -> Any:
        return self.rng.uniform(0.5, 2.0, size=shape)


_RNG = np.random.default_rng(0)
A8, B8, A12 = _RNG.normal(size=8), _RNG.normal(size=8) + 0.3, _RNG.normal(size=12)
X, Y = np.array([0.0, 0.5, 1.1, 2.0, 2.3, 3.1]), np.array([0.1, 0.7, 0.2, -0.4, 0.3, 0.35])
AT = np.array([0.3, 1.0, 2.2, 2.9])
M3 = _RNG.normal(size=(3, 3)) + 3.0 * np.eye(3)
S3 = M3 @ M3.T
PTS, VAL, Q = _RNG.uniform(-1, 1, (9, 2)), _RNG.normal(size=9), _RNG.uniform(-0.4, 0.4, (3, 2))
G = _RNG.normal(size=(5, 6))
S16, S32 = _RNG.normal(size=16), _RNG.normal(size=32)
