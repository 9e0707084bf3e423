"""Loops over lazy iterators as loops over what those draw from, without what would lie between (stream fusion)."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from adjoint import ir
from adjoint.frontend.interpreter.core import Lowerer
from adjoint.frontend.interpreter.state.frames import Frame
from adjoint.frontend.interpreter.values import Cell, GeneratorValue, IteratorValue, TupleValue, Value
from adjoint.frontend.iterators.items import known_items
from adjoint.frontend.iterators.iterators import is_lazy
from adjoint.frontend.library import python_functions
from adjoint.frontend.syntax.assign import assign
from adjoint.frontend.syntax.conditions import truth, truth_of
from adjoint.frontend.syntax.operations import apply_operator

Bind = Callable[[Value], None]
Body = Callable[[], None]


def unwrapped(lo: Lowerer, iterable: Value, bind: Bind, body: Body, node: ast.AST) -> tuple[Value, Bind, Body] | None:
    """The loop over what a lazy iterator draws from that does the same; None where there is no such loop."""
    match iterable:
        case GeneratorValue(node=generator) if len(generator.generators) == 1 and not generator.generators[0].is_async:
            return _Unwound(lo, iterable, bind, body).loop()
        case IteratorValue(kind="lazy", parts=(ir.Const(value=python_functions.mapped), function, inner)):
            return inner, lambda item: bind(lo.call(function, [item], {}, node)), body
        case IteratorValue(kind="lazy", parts=(ir.Const(value=python_functions.mapped_rows), function, inner)):
            return inner, lambda row: bind(lo.call(function, known_items(lo, row, node), {}, node)), body
        case IteratorValue(kind="lazy", parts=(ir.Const(value=python_functions.filtered), predicate, inner)):
            return _filtered(lo, predicate, inner, bind, body, node)
        case IteratorValue(kind="iter", parts=(inner,)) if is_lazy(inner):
            return inner, bind, body
        case IteratorValue(kind="enumerate", parts=(inner, start)) if is_lazy(inner):
            return _numbered(lo, inner, start, bind, body, node)
        case _:
            return None


def _filtered(
    lo: Lowerer, predicate: Value, inner: Value, bind: Bind, body: Body, node: ast.AST
) -> tuple[Value, Bind, Body]:
    drawn_: list[Value] = []

    def hold(item: Value) -> None:
        drawn_[:] = [item]

    def select() -> None:
        item = drawn_[0]
        cond = truth_of(lo, lo.call(predicate, [item], {}, node), node)

        def chosen() -> None:
            bind(item)
            body()

        _only_if(lo, cond, chosen, node)

    return inner, hold, select


def _numbered(
    lo: Lowerer, inner: Value, start: Value, bind: Bind, body: Body, node: ast.AST
) -> tuple[Value, Bind, Body]:
    """Counts the items in a variable of its own."""
    counter = Cell("count")
    lo.store[counter] = start

    def count(item: Value) -> None:
        number = lo.store[counter]
        lo.store[counter] = apply_operator(lo, operator.add, [number, ir.Const(1)], node)
        bind(TupleValue((number, item)))

    return inner, count, body


def _only_if(lo: Lowerer, cond: ir.Atom, action: Callable[[], None], node: ast.AST) -> None:
    def then() -> Value:
        action()
        return ir.UNDEFINED

    lo.branch(cond, then, lambda: ir.UNDEFINED, node)


class _Unwound:
    """A generator expression as part of the loop that goes through it: each in the scope that it stands in."""

    def __init__(self, lo: Lowerer, generator: GeneratorValue, bind: Bind, body: Body) -> None:
        self.lo = lo
        self.generator = generator
        self.clause = generator.node.generators[0]
        self.bind = bind
        self.body = body
        names = {part.id for part in ast.walk(self.clause.target) if isinstance(part, ast.Name)}
        self.cells = {name: Cell(name) for name in names}

    def loop(self) -> tuple[Value, Bind, Body]:
        return self.generator.first, self._assign, lambda: self._select(self.clause.ifs)

    def _assign(self, item: Value) -> None:
        with self._inside():
            assign(self.lo, self.clause.target, item)

    def _select(self, tests: Sequence[ast.expr]) -> None:
        if not tests:
            with self._inside():
                value = self.lo.evaluate(self.generator.node.elt)
            if self.lo.block is not None:
                self.bind(value)
                self.body()
            return
        with self._inside():
            cond, _ = truth(self.lo, tests[0])
        _only_if(self.lo, cond, lambda: self._select(tests[1:]), tests[0])

    @contextmanager
    def _inside(self) -> Iterator[None]:
        frame, outer = self.generator.frame, self.lo.frame
        assert isinstance(frame, Frame)
        cells = frame.cells
        self.lo.frame, frame.cells = frame, {**cells, **self.cells}
        try:
            yield
        finally:
            self.lo.frame, frame.cells = outer, cells
