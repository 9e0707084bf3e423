"""Functions that give something else when they run again: they draw random numbers, or items of iterators."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator
from types import MethodType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.analysis.effects import functions_run
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_in
from adjoint.runtime import display

GENERATORS = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
"""Classes of generators of random numbers."""
_SEEDED = (np.random.default_rng, np.random.RandomState, random.Random)
"""What makes one of a seed."""


def draws(function: ir.Function) -> bool:
    """Whether a function may draw random numbers or items of iterators from outside, or calls one that may."""
    return any(map(_draws_itself, functions_run(function)))


def is_iterator(cls: type | None) -> bool:
    """Whether objects of a class give each of their items once; files are not meant."""
    return cls is not None and issubclass(cls, Iterator) and not issubclass(cls, io.IOBase)


def _draws_itself(function: ir.Function) -> bool:
    if any(_is_of_iterator(param.type) for param in function.params):
        return True
    repeated = set(_methods_of_seeded(function))
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Load) and _is_of_iterator(statement.target.type):
            return True
        if isinstance(statement, ir.Call):
            asked = [each for each in (statement.callee, *statement.args) if each not in repeated]
            is_draw = statement.callee is display.draw and statement.args[0] in asked
            if is_draw or any(map(_is_of_generator, asked)):
                return True
    return False


def _methods_of_seeded(function: ir.Function) -> Iterator[ir.Var]:
    """The methods of generators that a function makes itself, and of which a whole number tells what they give."""
    seeded: set[ir.Atom] = set()
    for statement in statements_in(function.body):
        match statement:
            case ir.Call(targets=(target,), callee=callee, args=(seed,), kwargs=()) if callee in _SEEDED:
                is_whole = type_of_atom(seed) in (ir.Scalar("int"), ir.Scalar("int", np.dtype(np.int64)))
                seeded |= {target} if is_whole else set()
            case ir.Load(target=target, base=base, key=ir.Attribute()) if base in seeded:
                yield target


def _is_of_iterator(type_: ir.Type) -> bool:
    return isinstance(type_, ir.Opaque) and is_iterator(type_.cls)


def _is_of_generator(called: Any) -> bool:
    if isinstance(called, ir.Var):
        return called.type == ir.Opaque(MethodType)
    found = called.value if isinstance(called, ir.Const) else called
    return isinstance(getattr(found, "__self__", None), GENERATORS)
