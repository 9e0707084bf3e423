"""Statements with names to Python statements: moves become the assignments that are left of them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from adjoint import ir
from adjoint.codegen.placement.control_layout import arrange_block, arrange_loop
from adjoint.codegen.tree import (
    Bind,
    Choice,
    Guard,
    Jump,
    Leave,
    Move,
    Number,
    Plain,
    Repeat,
    Stmt,
    number_of,
    numbers,
    variables_in,
)
from adjoint.diagnostics.spans import Span

_AUGMENTED = (ast.Add, ast.Sub, ast.Mult, ast.Div)


class StatementPrinter:
    """Prints the statements of a function; ``spans`` collects where each Python statement comes from."""

    def __init__(
        self, variables: Sequence[ir.Var], names: Sequence[str], statements: list[Stmt], augments: bool = True
    ) -> None:
        self.augments = augments
        self.variables = variables
        self.names = names
        self.spans: dict[int, Span] = {}
        self.kept: list[ast.stmt] = []  # keeps the ids in ``spans`` valid
        self.copied = {
            names[number]
            for statement in statements
            if isinstance(statement, Move)
            for target, source in statement.pairs
            if source is not None and (number := number_of(source)) is not None and names[number] != names[target]
        }

    def block(self, statements: list[Stmt]) -> list[ast.stmt]:
        """Python statements, without names of variables resolved in expressions."""
        out: list[ast.stmt] = []
        for statement in statements:
            printed = self.statement(statement)
            for part in printed:
                self.place(part, getattr(statement, "span", None))
            out += printed
        return out

    def place(self, part: ast.stmt, span: Span | None) -> None:
        """Takes down where a Python statement comes from."""
        if span is not None:
            self.spans[id(part)] = span
            self.kept.append(part)
            if isinstance(part, ast.If):  # another statement may take over its test
                self.spans[id(part.test)] = span
                if isinstance(part.test, ast.UnaryOp):
                    self.spans[id(part.test.operand)] = span

    def name(self, number: Number | None) -> ast.Name:
        return ast.Name("_" if number is None else self.names[number], ast.Store())

    def statement(self, statement: Stmt) -> list[ast.stmt]:
        match statement:
            case Bind():
                return [self.bind(statement)]
            case Move():
                return self.move(statement)
            case Plain(statement=plain):
                return [plain]
            case Choice(cond=cond, then=then, orelse=orelse, effect=effect, asks=asks):
                printed = ast.If(cond, arrange_block(self.block(then)), arrange_block(self.block(orelse)))
                if asks and not (printed.body or printed.orelse):
                    printed.body = [ast.Pass()]
                return [printed] if printed.body or printed.orelse else [ast.Expr(cond)] * effect
            case Repeat():
                return self.repeat(statement)
            case Guard():
                return self.guard(statement)
            case Jump(kind=kind):
                return [ast.Break() if kind == "break" else ast.Continue()]
            case Leave(statement=leave):
                return [leave]

    def bind(self, bind: Bind) -> ast.stmt:
        if len(bind.targets) == 1:
            (target,) = bind.targets
            return self.assignment(target, bind.value)
        names: list[ast.expr] = [self.name(target) for target in bind.targets]
        return ast.Assign([ast.Tuple(names, ast.Store())], bind.value)

    def assignment(self, target: Number | None, value: ast.expr) -> ast.stmt:
        """``x = value``, or ``x += rest`` for numbers, which no other name can refer to."""
        if target is not None and self.augments and isinstance(value, ast.BinOp) and isinstance(value.op, _AUGMENTED):
            first = number_of(value.left)
            if first is not None and self.names[first] == self.names[target] and self._are_numbers(first, target):
                return ast.AugAssign(self.name(target), value.op, value.right)
        return ast.Assign([self.name(target)], value)

    def _are_numbers(self, *numbers: Number) -> bool:
        return all(isinstance(self.variables[number].type, ir.Scalar) for number in numbers)

    # Moves

    def move(self, move: Move) -> list[ast.stmt]:
        """The assignments that are left; of sums that start from one number, one: ``x_bar = y_bar = 0.0``."""
        pending = [
            (target, source if source is not None else ast.Constant(None))
            for target, source in move.pairs
            if not self._vanishes(target, source)
        ]
        out: list[ast.stmt] = []
        start = ""
        while pending:
            free = next((pair for pair in pending if self._nobody_reads(pair, pending)), None)
            if free is None:
                out.append(self._at_once(pending))
                self.place(out[-1], next((move.spans[target] for target, _ in pending if target in move.spans), None))
                break
            pending.remove(free)
            number = self._number(*free)
            if number and number == start:
                out[-1].targets.append(self.name(free[0]))  # type: ignore[attr-defined]
                continue
            start = number
            out.append(self.assignment(*free))
            self.place(out[-1], move.spans.get(free[0]))
        return out

    def _number(self, target: Number, source: ast.expr) -> str:
        """The number that a sum or counter of the derivative starts from; empty for what a person gave a name."""
        is_number = isinstance(source, ast.Constant) and isinstance(source.value, (int, float))
        return repr(source.value) if is_number and not self.variables[target].named else ""  # type: ignore[attr-defined]

    def _vanishes(self, target: Number, source: ast.expr | None) -> bool:
        if source is None:
            return self.names[target] not in self.copied
        number = number_of(source)
        return number is not None and self.names[number] == self.names[target]

    def _nobody_reads(self, pair: tuple[Number, ast.expr], pending: Iterable[tuple[Number, ast.expr]]) -> bool:
        target = self.names[pair[0]]
        others = (source for other in pending if other is not pair for source in numbers(variables_in(other[1])))
        return all(self.names[number] != target for number in others)

    def _at_once(self, pairs: list[tuple[Number, ast.expr]]) -> ast.stmt:
        names: list[ast.expr] = [self.name(target) for target, _ in pairs]
        values = [source for _, source in pairs]
        return ast.Assign([ast.Tuple(names, ast.Store())], ast.Tuple(values, ast.Load()))

    # Compound statements

    def repeat(self, repeat: Repeat) -> list[ast.stmt]:
        body, orelse = self.block(repeat.body), self.block(repeat.orelse)
        index: ast.expr | None = None
        if repeat.over is not None:
            names: list[ast.expr] = [self.name(number) for number in repeat.index or (None,)]
            index = names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())
        return arrange_loop(index, repeat.over, body, orelse)

    def guard(self, guard: Guard) -> list[ast.stmt]:
        body: list[ast.stmt] = arrange_block(self.block(guard.body)) or [ast.Pass()]
        if guard.context is not None:
            name = None if guard.name is None else self.name(guard.name)
            body = [ast.With([ast.withitem(guard.context, name)], body)]
        if not guard.handlers and guard.final is None:
            return body
        handlers = [
            ast.ExceptHandler(
                handler.exception,
                None if handler.name is None else self.names[handler.name],
                arrange_block(self.block(handler.body)) or [ast.Pass()],
            )
            for handler in guard.handlers
        ]
        final = [] if guard.final is None else arrange_block(self.block(guard.final))
        if not handlers and not final:
            return body
        return [ast.Try(body, handlers, [], final)]
