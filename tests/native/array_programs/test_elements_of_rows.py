"""Elements of rows are read from the matrix where nothing else is done with the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adjoint.api.jvp_vjp import specialized_jvp
from adjoint.codegen.python import emit
from adjoint.codegen.texts import load
from adjoint.native.array_programs.elements_of_rows import with_elements_of_rows

X = np.linspace(0.2, 0.9, 6).reshape(3, 2)


def unpacked(x: np.ndarray) -> float:
    total = 0.0
    for i in range(len(x)):
        a, b = x[i]
        total += a * b * x[i - 1][1]
    return total


def filled(x: np.ndarray) -> np.ndarray:
    found = np.zeros((3, 2))
    for i in range(3):
        row = found[i]
        row[0] = x[i, 0]
    return found


def summed(x: np.ndarray) -> Any:
    row = x[1]
    return row[0] * np.sum(row)


@pytest.mark.parametrize(("function", "is_changed"), [(unpacked, True), (filled, False), (summed, False)])
def test_elements(function: Any, is_changed: bool) -> None:
    compiled = specialized_jvp(function, (X,), (np.cos(X),))
    changed = with_elements_of_rows(compiled.function)
    assert (changed is not compiled.function) == is_changed
    for one, other in zip(load(emit(changed))(X, np.cos(X)), compiled.call(X, np.cos(X)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_of_another_length() -> None:
    changed = with_elements_of_rows(specialized_jvp(unpacked, (X,), (X,)).function)
    text = emit(changed).text
    assert "check_size" in text
    with pytest.raises(ValueError, match="too many values to unpack"):
        load(emit(changed))(np.ones((2, 3)), np.ones((2, 3)))
