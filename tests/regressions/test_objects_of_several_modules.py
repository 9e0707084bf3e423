"""One object that several modules import, and of which the paths of a program come by one name or the other."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from regressions.differences import right


class Shim:
    """A module in whose place another one may be put."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


lib = Shim(np)


def sines(x: Any) -> Any:
    return lib.sin(x)


elsewhere = types.FunctionType(sines.__code__, {"lib": lib, "__name__": "elsewhere"})


def chosen(x: Any, n: int) -> Any:
    if n > 1:
        y = elsewhere(x)
    else:
        y = lib.cos(x)
    return y * x


def test_each_path_knows_it() -> None:
    right(chosen, 2.0, 1)
    right(chosen, 2.0, 2)
