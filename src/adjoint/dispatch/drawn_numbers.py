"""Generators of random numbers as they were found, where several runs of a function are to be as one.

Columns of a Jacobian are derivatives of one function: each draws the same numbers. Iterators from outside cannot be put
back: of them a second run is refused.
"""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import MethodType
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.diagnostics import error
from adjoint.dispatch.argument_aliasing import parts_of
from adjoint.ir.walk import statements_in
from adjoint.runtime import display
from adjoint.runtime.outside import keep_before

_CLASSES = (np.random.Generator, np.random.BitGenerator, np.random.RandomState, random.Random)
_OF_MODULES = (np.random.random.__self__, random.random.__self__)  # type: ignore[attr-defined]
"""The generators that the functions of the modules draw from."""


def draws(function: ir.Function) -> bool:
    """Whether a function may draw random numbers or items of iterators from outside, or calls one that may."""
    return any(_is_iterator(param.type) for param in function.params) or _may_draw(function, set())


def _is_iterator(type_: ir.Type) -> bool:
    cls = type_.cls if isinstance(type_, ir.Opaque) else None
    return cls is not None and issubclass(cls, Iterator) and not issubclass(cls, io.IOBase)


def _may_draw(function: ir.Function, seen: set[int]) -> bool:
    if id(function) in seen:
        return False
    seen.add(id(function))
    for statement in statements_in(function.body):
        if isinstance(statement, ir.Load) and _is_iterator(statement.target.type):
            return True
        if isinstance(statement, ir.Call):
            callee: Any = statement.callee
            inner = callee if isinstance(callee, ir.Function) else getattr(callee, "function", None)
            if isinstance(inner, ir.Function) and _may_draw(inner, seen):
                return True
            if callee is display.draw or any(map(_is_of_a_generator, (callee, *statement.args))):
                return True
    return False


def _is_of_a_generator(called: Any) -> bool:
    if isinstance(called, ir.Var):
        return called.type == ir.Opaque(MethodType)
    found = called.value if isinstance(called, ir.Const) else called
    return isinstance(getattr(found, "__self__", None), _CLASSES)


def keep_generators(inputs: Sequence[Any]) -> None:
    """Takes down the states of what a function may draw from: generators in its inputs, and those of modules."""
    for generator in (*_OF_MODULES, *_generators_in(inputs, set())):
        keep_before((id(generator), "state"), partial(_put_back, generator))


def _generators_in(value: Any, seen: set[int]) -> Iterator[Any]:
    if isinstance(value, _CLASSES) or (isinstance(value, Iterator) and not isinstance(value, io.IOBase)):
        yield value
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    for _, part in parts_of(value):
        yield from _generators_in(part, seen)


def _put_back(generator: Any) -> Callable[[], None]:
    if isinstance(generator, random.Random):
        return partial(generator.setstate, generator.getstate())
    if isinstance(generator, np.random.RandomState):
        return partial(generator.set_state, generator.get_state(legacy=False))
    if isinstance(generator, (np.random.Generator, np.random.BitGenerator)):
        bits = generator.bit_generator if isinstance(generator, np.random.Generator) else generator
        return partial(setattr, bits, "state", bits.state)
    return _refuse_second_run


def _refuse_second_run() -> None:
    raise used_up()


def used_up() -> Exception:
    """What to raise where a function is to run again that has gone through an iterator from outside."""
    label = "the function goes through an iterator from outside, and runs once for each direction"
    return error(
        "AD0305",
        None,
        label,
        helps=("make a list of it: list(...)", 'or, for a Jacobian, take reverse mode: mode="reverse"'),
    )
