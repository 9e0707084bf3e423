"""Where the layout of an array decides what a program means.

``reshape`` and its kin give a view where the elements lie as it takes, and else a copy: so the layout of an array
decides which memory a write through the result reaches. ``nditer`` goes through an array as it lies.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint import ir
from adjoint.ir.join import type_of_atom
from adjoint.ir.walk import statements_run
from adjoint.runtime.arithmetic import checks
from adjoint.runtime.array_functions import arrays, places

VIEWS_AT_NEED: tuple[Any, ...] = (
    *(np.reshape, np.ravel, np.ndarray.reshape, np.ascontiguousarray, np.asfortranarray),
    *(arrays.reshape_like, arrays.rows_of, arrays.unrows),
)
"""Functions that give a view of an array in one layout, and a copy of the same array in another."""
_ABOUT_LAYOUTS = ("strides", "flags", "base", "data")
_IDENTITIES = frozenset(map(id, VIEWS_AT_NEED))


def layout_readers(function: ir.Function) -> Iterator[ir.Call]:
    """The calls in a function, and in those that it calls, for which the layout of an array decides what is written."""
    for statement in statements_run(function):
        if isinstance(statement, ir.Call) and reads_layout(statement):
            yield statement


def asks_layouts(function: ir.Function) -> bool:
    """Whether a function, or one that it calls, asks how an array lies in memory."""
    return any(map(_asks, statements_run(function)))


def _asks(statement: ir.Statement) -> bool:
    match statement:
        case ir.Load(base=array, key=ir.Attribute(name=name)) if name in _ABOUT_LAYOUTS:
            pass
        case ir.Call(callee=callee, args=(array, *_)) if callee in (places.steps, places.strided):
            pass
        case _:
            return False
    type_ = type_of_atom(array)
    return not isinstance(type_, ir.Array) or type_.dims is None or len(type_.dims) > 1


def reads_layout(call: ir.Call) -> bool:
    """Whether a call gives a view or a copy, as the array lies, and somebody writes it; or asks how the array lies."""
    if call.callee is checks.check_rows:
        return True
    return id(call.callee) in _IDENTITIES and any(ir.is_written_array(target.type) for target in call.targets)


def layouts_read(function: ir.Function) -> set[ir.Storage]:
    """The memory of which the layout decides what is written."""
    found = set()
    for call in layout_readers(function):
        for target in call.targets:
            if isinstance(target.type, ir.Array):
                found.add(target.type.storage.find())
    return found
