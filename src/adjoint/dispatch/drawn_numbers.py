"""Generators of random numbers as they were found, where several runs of a function are to be as one.

Columns of a Jacobian are derivatives of one function: each draws the same numbers. Iterators from outside cannot be put
back: of them a second run is refused.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from adjoint.analysis.draws import GENERATORS, is_iterator
from adjoint.diagnostics import error
from adjoint.dispatch.aliasing.parts import parts_of
from adjoint.runtime.outside import keep_before

_OF_MODULES = (np.random.random.__self__, random.random.__self__)  # type: ignore[attr-defined]
"""The generators that the functions of the modules draw from."""


def keep_generators(inputs: Sequence[Any]) -> None:
    """Takes down the states of what a function may draw from: generators in its inputs, and those of modules."""
    for generator in (*_OF_MODULES, *generators_in(inputs, set())):
        keep_before((id(generator), "state"), partial(_put_back, generator))


def generators_in(value: Any, seen: set[int]) -> Iterator[Any]:
    """The generators of random numbers in a value, and the iterators."""
    if isinstance(value, GENERATORS) or is_iterator(type(value)):
        yield value
        return
    if id(value) in seen:
        return
    seen.add(id(value))
    for _, part in parts_of(value):
        yield from generators_in(part, seen)


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
