"""What a function with a declared derivative writes outside of itself: of it nothing is known from the call on.

It may be a variable, an attribute of an object, a container or an array. Whether the program reads it shows where the
program looks up what has it, before the call or after it.
"""

from __future__ import annotations

import ast
from types import CellType, FunctionType, ModuleType

import numpy as np

from adjoint.frontend.data.outside.written import forget_written
from adjoint.frontend.declared.writes.paths import CONTENTS, MISSING, Outside, Path, Write, held_at, reached_from
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.rules.declarations import Declaration


def note_outside(lo: Lowerer, declaration: Declaration, write: Write, node: ast.AST | None) -> None:
    """Takes down what is written outside, and forgets it where it is known."""
    path, run = write.path, lo.run_data.written
    problem = lo.problem(
        "AD0303",
        node,
        f"{declaration.name!r} writes {_described(path)}, which this program reads",
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


def _described(path: Path) -> str:
    thing = path.start.thing if isinstance(path.start, Outside) else None
    owner = [thing.__name__] if isinstance(thing, type) else []
    names = ".".join([*owner, *[name for name in path.fields if name != CONTENTS]])
    return f"the variable {names!r}" if names else "a variable"
