"""The libraries that are installed here: how arrays of them are made, and read back."""

import importlib
import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest


@dataclass(frozen=True)
class Library:
    name: str
    make: Callable[[np.ndarray], Any]
    read: Callable[[Any], np.ndarray]
    needs: tuple[str, ...]
    writes: bool = True

    def of(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        return [self.make(array) for array in arrays]

    def back(self, value: Any) -> Any:
        return value if isinstance(value, (float, int)) else self.read(value)


def _torch(array):
    return importlib.import_module("torch").tensor(array)


def _jax(array):
    return importlib.import_module("jax.numpy").asarray(array)


def _cupy(array):
    return importlib.import_module("cupy").asarray(array)


def _strict(array):
    return importlib.import_module("array_api_strict").asarray(array)


ALL = (
    Library("array_api_strict", _strict, lambda x: np.asarray(x._array), ("array_api_strict",)),
    Library("torch", _torch, lambda x: x.numpy(), ("torch", "array_api_compat")),
    Library("jax", _jax, np.asarray, ("jax",), writes=False),
    Library("cupy", _cupy, lambda x: x.get(), ("cupy", "array_api_compat")),
)


def _is_there(library: Library) -> bool:
    if not all(map(importlib.util.find_spec, library.needs)):
        return False
    if library.name == "jax":
        importlib.import_module("jax").config.update("jax_enable_x64", True)
    if library.name == "cupy":
        return bool(importlib.import_module("cupy").cuda.is_available())
    return True


INSTALLED = [library for library in ALL if _is_there(library)]
each_library = pytest.mark.parametrize("library", INSTALLED or [None], ids=lambda library: getattr(library, "name", ""))
"""Runs a test for each library that is installed."""


def called(name: str) -> Library:
    """A library by its name; the test is skipped where it is not installed."""
    found = [library for library in INSTALLED if library.name == name]
    if not found:
        pytest.skip(f"{name} is not installed")
    return found[0]
