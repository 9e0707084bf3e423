"""What only machine code calls is linked, and not compiled on its own; everybody else's functions are as before."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator

import numpy as np
import pytest

from adjoint.native.compile.linked_functions import linked_functions

pytest.importorskip("numba")

TEXT = """
from numba import njit

@njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
def inside(x, n):
    if n >= x.shape[0]:
        raise IndexError("only", x.shape[0])
    return x[n]

@njit
def first(x, n):
    return 2 * inside(x, n)

@njit
def second(x, n):
    return 3 * inside(x, n)

@njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
def even(n):
    return n == 0 or odd(n - 1)

@njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)
def odd(n):
    return n != 0 and even(n - 1)

@njit
def is_even(n):
    return even(n)

@njit
def is_odd(n):
    return odd(n)
"""
X = np.ones(3)


@pytest.fixture
def module() -> Iterator[types.ModuleType]:
    made = types.ModuleType("module_of_a_test")
    sys.modules[made.__name__] = made
    exec(TEXT, vars(made))
    yield made
    del sys.modules[made.__name__]


def test_what_is_linked_has_no_machine_code_of_its_own(module):
    from numba.core.codegen import JITCPUCodegen

    emitted = []
    add = JITCPUCodegen._add_module

    def note(codegen, made):
        emitted.append(made.name)
        return add(codegen, made)

    with pytest.MonkeyPatch.context() as patch, linked_functions():
        patch.setattr(JITCPUCodegen, "_add_module", note)
        module.first.compile("float64(float64[::1], int64)")
    assert set(emitted) - {"nrt"} == {"first"}  # its runtime is there since the first of a process
    assert module.first(X, 1) == 2.0


def test_errors_that_python_makes_inside_of_what_is_linked(module):
    with linked_functions():
        module.first.compile("float64(float64[::1], int64)")
    with pytest.raises(IndexError) as problem:
        module.first(X, 3)
    assert problem.value.args == ("only", 3)


def test_what_is_linked_serves_functions_that_are_compiled_later_as_usual(module):
    with linked_functions():
        module.first.compile("float64(float64[::1], int64)")
    assert module.second(X, 1) == 3.0
    with pytest.raises(IndexError) as problem:
        module.second(X, 7)
    assert problem.value.args == ("only", 3)


def test_what_nothing_is_linked_into_yet_serves_later_functions(module):
    with linked_functions():
        module.inside.compile("float64(float64[::1], int64)")
    with pytest.raises(IndexError) as problem:
        module.second(X, 7)
    assert problem.value.args == ("only", 3)


def test_functions_that_call_each_other(module):
    with linked_functions():
        assert [module.is_even(4), module.is_odd(4)] == [True, False]
    with linked_functions():
        assert [module.is_even(np.int32(3)), module.is_odd(np.int32(3))] == [False, True]


def test_the_compiler_is_left_as_it_was() -> None:
    from numba.core.codegen import CPUCodeLibrary, JITCPUCodegen
    from numba.core.cpu import CPUContext

    def state():
        return [dict(vars(each)) for each in (CPUCodeLibrary, JITCPUCodegen, CPUContext)]

    before = state()
    with pytest.raises(KeyError), linked_functions(), linked_functions():
        raise KeyError
    assert state() == before
