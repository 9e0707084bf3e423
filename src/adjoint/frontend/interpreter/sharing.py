"""Objects that are reached in two ways, by themselves and through what holds them at run time: a container, an object.

They are two things to the compiler then, which is wrong as soon as one of them is written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adjoint import ir
from adjoint.analysis.memory.reachable import all_memory
from adjoint.diagnostics import Diagnostic, diagnostic
from adjoint.frontend.entry.captured import has_fields
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.ir.walk import statements_in
from adjoint.runtime.objects import put_attribute, put_item
from adjoint.types.structure import fields_of


def shared_and_written(lo: Lowerer, function: ir.Function) -> list[Diagnostic]:
    """The refusals of containers that hold objects which are reached in another way, too, where objects are written."""
    given = lo.run_data.given_objects
    loose = [(var, given[var]) for var in lo.run_data.objects.values() if isinstance(var, ir.Var) and var in given]
    held = [(var, set(_objects(value, set()))) for var, value in (*lo.run_data.loose, *loose)]
    written = _puts(function, set()) or any(storage.written for var, _ in held for storage in all_memory(var.type))
    found = []
    for var, own in held if written else []:
        others = set(lo.run_data.objects).union(*(ids for other, ids in held if other is not var))
        if not own.isdisjoint(others):
            label = f"an object in {var.hint!r} is reached in another way, too, and objects are written"
            helps = ("pass it in one way only: what holds it, and a place in it",)
            found.append(diagnostic("AD0303", None, label, helps=helps))
    return found


def puts(function: ir.Function) -> bool:
    """Whether a function, or one that it calls, writes to an object or container that was given."""
    return _puts(function, set())


def _puts(function: ir.Function | None, seen: set[int]) -> bool:
    if function is None or id(function) in seen:
        return False
    seen.add(id(function))
    for statement in statements_in(function.body):
        if not isinstance(statement, ir.Call):
            continue
        callee = statement.callee
        if isinstance(callee, (ir.Derived, ir.Definition)):
            callee = callee.function
        if callee in (put_attribute, put_item) or (isinstance(callee, ir.Function) and _puts(callee, seen)):
            return True
    return False


def _objects(value: Any, seen: set[int]) -> Iterator[int]:
    """The objects and containers that a container holds, without itself, by identity."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, (list, tuple)):
        parts = list(value)
    elif isinstance(value, dict):
        parts = list(value.values())
    else:
        parts = list(fields_of(value).values()) if has_fields(value) else []
    for part in parts:
        if has_fields(part) or isinstance(part, (list, dict)):
            yield id(part)
        if isinstance(part, (list, tuple, dict)) or has_fields(part):
            yield from _objects(part, seen)
