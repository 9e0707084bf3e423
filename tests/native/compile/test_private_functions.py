"""Functions of a unit are called as suits them; everybody else's are compiled as before."""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator

import numpy as np
import pytest

from adjoint.native.compile.private_functions import MODULES, private_functions

pytest.importorskip("numba")

TEXT = """
from numba import njit

@njit
def steps(x, n):
    return x[n] if n > x.shape[0] - 3 else x[n] * steps(x, n + 1) + steps(x, n + 2)

@njit
def first(x, n):
    return steps(x, n)
"""


@pytest.fixture
def modules() -> Iterator[list[types.ModuleType]]:
    made = [types.ModuleType(name) for name in (f"{MODULES}of_a_test", "somebody_else")]
    for module in made:
        sys.modules[module.__name__] = module
        exec(TEXT, vars(module))
    yield made
    for module in made:
        del sys.modules[module.__name__]


def test_functions_of_units_alone_are_private(modules: list[types.ModuleType]) -> None:
    from numba.core.codegen import CPUCodeLibrary

    before = CPUCodeLibrary._optimize_final_module
    with private_functions(), private_functions():
        found = [module.first(np.ones(6), 0) for module in modules]
    assert CPUCodeLibrary._optimize_final_module is before
    assert found == [8.0, 8.0]
    ours, theirs = ("".join(module.first.inspect_llvm().values()) for module in modules)
    (params,) = re.findall(r"define internal [^@]*@[^(]*steps[^(]*\((.*)\)", ours)
    assert params.count("i64 ") < 4  # an array of one axis alone has four
    assert re.search(r"define linkonce_odr [^@]*@[^(]*steps", theirs)
    assert "define internal" not in theirs


def test_the_compiler_is_left_as_it_was() -> None:
    from numba.core.codegen import CPUCodeLibrary

    before = CPUCodeLibrary._optimize_final_module
    with pytest.raises(KeyError), private_functions():
        raise KeyError
    assert CPUCodeLibrary._optimize_final_module is before
