"""Which modules are imported: what libraries ask to find out whether an array may be another library's.

Python's table of them changes while programs run; what was found there holds as long as it is found there again.
"""

from __future__ import annotations

import sys
from typing import Any, TypeGuard

from adjoint import ir
from adjoint.frontend.entry.captured import Guard, Path, reader
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.values import Value


def is_table_of_modules(value: Value) -> TypeGuard[ir.Const]:
    """Whether a value is ``sys.modules``."""
    return isinstance(value, ir.Const) and value.value is sys.modules


def module_now(lo: Lowerer, name: Value) -> ir.Const | None:
    """The module of a name, None as a constant where there is none so far; None where the name is not known."""
    if not (isinstance(name, ir.Const) and isinstance(name.value, str)):
        return None
    found: Any = sys.modules.get(name.value)
    path: Path = ("entry", sys.modules, name.value)
    if not (lo.run_data.all_constant or any(guard.path == path for guard in lo.run_data.guards)):
        lo.run_data.guards.append(Guard(path, reader(path), found))
    return ir.Const(found)
