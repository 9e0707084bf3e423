"""Functions that give something else when they run again: they draw random numbers, or items of iterators."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from types import MethodType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.walk import statements_in
from adjoint.runtime import display

GENERATORS = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
"""Classes of generators of random numbers."""


def draws(function: ir.Function) -> bool:
    """Whether a function may draw random numbers or items of iterators from outside, or calls one that may."""
    return _may_draw(function, set())


def is_iterator(cls: type | None) -> bool:
    """Whether objects of a class give each of their items once; files are not meant."""
    return cls is not None and issubclass(cls, Iterator) and not issubclass(cls, io.IOBase)


def _may_draw(function: ir.Function, seen: set[int]) -> bool:
    if id(function) in seen:
        return False
    seen.add(id(function))
    if any(_is_of_iterator(param.type) for param in function.params):
        return True
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Load) and _is_of_iterator(statement.target.type):
            return True
        if isinstance(statement, ir.Call):
            callee: Any = statement.callee
            inner = callee if isinstance(callee, ir.Function) else getattr(callee, "function", None)
            if isinstance(inner, ir.Function) and _may_draw(inner, seen):
                return True
            if callee is display.draw or any(map(_is_of_generator, (callee, *statement.args))):
                return True
    return False


def _is_of_iterator(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Opaque) and is_iterator(type_.cls)


def _is_of_generator(called: Any) -> bool:
    if isinstance(called, ir.Var):
        return called.type == ir.Opaque(MethodType)
    found = called.value if isinstance(called, ir.Const) else called
    return isinstance(getattr(found, "__self__", None), GENERATORS)
