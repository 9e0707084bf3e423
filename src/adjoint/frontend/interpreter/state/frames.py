"""Activations of functions that are inlined."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from adjoint import ir
from adjoint.diagnostics.spans import Span
from adjoint.frontend.interpreter.values import Cell, Closure, Site, Value
from adjoint.records import dataclass, field
from adjoint.sources.definitions import FunctionSource


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of an inlined function."""

    closure: Closure
    cells: dict[str, Cell]
    caller: Frame | None
    call_span: Span | None
    makes_closures: bool = False
    self_cell: Cell | None = None
    returned: Callable[[Value], Value] | None = None
    """What is done to a value that is returned, where it is."""
    yielded: Callable[[Value, ast.expr, Site], None] | None = None
    """What is done in place of a ``yield``, with its value; the site is that of the innermost generator."""
    given: dict[str, Value] = field(default_factory=dict)
    """What its parameters were when it was entered."""
    log: list[ir.Statement] = field(default_factory=list)
    """The statements emitted in it, where adjoints inside of it ask for them."""
    adjoints: list[Any] = field(default_factory=list)
    """The adjoints inside of it, of what it returns from here on."""
    statement: ast.stmt | None = None
    """The statement that is run."""
    is_class: bool = False
    """Whether it runs the body of a class, whose variables functions inside it do not see."""

    @property
    def visible_to_closures(self) -> dict[str, Cell]:
        return self.closure.cells if self.is_class else {**self.closure.cells, **self.cells}

    @property
    def source(self) -> FunctionSource:
        return self.closure.source
