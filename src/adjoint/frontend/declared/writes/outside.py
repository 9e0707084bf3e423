"""What a function with a declared derivative reads and writes outside of itself.

By what it reads there is no derivative: it must not vary. Of what it writes, nothing is known from the call on; whether
the program reads it shows where the program looks up what has it, before the call or after it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from types import CellType, FunctionType, ModuleType

import numpy as np

from adjoint import ir
from adjoint.frontend.data.outside.written import forget_written, values_of
from adjoint.frontend.declared.writes.paths import MISSING, Path, Write, described, held_at, reached_from
from adjoint.frontend.differentiation.tangent_values import differentiable_leaves
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Record, Ref, Value
from adjoint.rules.declarations import Declaration


def note_outside(lo: Lowerer, declaration: Declaration, write: Write, node: ast.AST | None) -> None:
    """Takes down what is written outside, and forgets it where it is known."""
    path, run = write.path, lo.run_data.written
    problem = lo.problem(
        "AD0303",
        node,
        f"{declaration.name!r} writes {described(path)}, which this program reads",
        helps=("let it return what it writes there, and assign that where it is called",),
    )
    if not write.bound:
        found = held_at(Path(path.start, path.fields))
        things = reached_from([found]) if path.inside else {id(found): found}
        run.things.update({key: (thing, problem) for key, thing in things.items() if _can_be_written(thing)})
    else:
        owner = held_at(Path(path.start, path.fields[:-1]))
        if owner is MISSING:
            return
        owner = vars(owner) if isinstance(owner, ModuleType) else owner
        is_variable = isinstance(owner, (CellType, type, FunctionType, dict))
        places = run.variables if is_variable else run.attributes
        places.setdefault((id(owner), path.fields[-1]), (owner, write.counts, problem))
    forget_written(lo)


def _can_be_written(thing: object) -> bool:
    return isinstance(thing, (np.ndarray, list, dict, set)) or (hasattr(thing, "__dict__") and not callable(thing))


def read_outside(lo: Lowerer, paths: Iterable[Path]) -> list[tuple[str, ir.Atom]]:
    """The numbers and arrays that a function finds outside and that the program has, each with a name for messages."""
    return [
        (f"{described(path)}, which it reads,", leaf)
        for path in sorted(paths, key=lambda each: each.fields)
        for value in _values_at(lo, path)
        for leaf in differentiable_leaves(lo, value)
        if isinstance(leaf, ir.Var) and ir.carries_derivative(leaf.type)
    ]


def _values_at(lo: Lowerer, path: Path) -> Iterator[Value]:
    """What stands in the program for what is at a path: what it assigned on the way, or what it has from there."""
    for count, name in enumerate(path.fields):
        owner = held_at(Path(path.start, path.fields[:count]))
        for each in (owner, *(type(owner).__mro__ if count == len(path.fields) - 1 else ())):
            cell = lo.run_data.globals.get((id(each), name)) or lo.run_data.cells.get(id(each))
            if cell is not None and cell in lo.store:
                yield lo.store[cell]
        for thing, value in lo.run_data.written.entered if count else ():
            record = lo.store.get(value) if thing is owner and isinstance(value, Ref) else None
            part = record.get(name) if isinstance(record, Record) else None
            if part is not None and not isinstance(part, ir.Undefined):
                yield part
    found = held_at(Path(path.start, path.fields))
    if isinstance(found, (np.ndarray, list, dict)) or hasattr(found, "__dict__"):
        yield from values_of(lo, found)
