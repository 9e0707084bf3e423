"""IR to statements: expressions are rebuilt, and what terminators hand out becomes moves and jumps."""

from __future__ import annotations

import ast
import functools
from itertools import zip_longest

from adjoint import ir
from adjoint.codegen.expressions import negated
from adjoint.codegen.lines import Lines, parts_of, several
from adjoint.codegen.naming import GENERIC
from adjoint.codegen.placement.for_each import Drawing, drawing_of
from adjoint.codegen.placement.loop_exits import Finish, finish_of
from adjoint.codegen.placement.memory_order import (
    NOTHING,
    WRITES,
    WRITES_ANYTHING,
)
from adjoint.codegen.placement.pending import LINE_WIDTH, Fragment, OpenBlock
from adjoint.codegen.placement.uses import echoes
from adjoint.codegen.tree import Catch, Choice, Guard, Jump, Leave, Move, Repeat, Stmt, width
from adjoint.diagnostics.errors import DifferentiationError
from adjoint.ir.join import type_of_atom
from adjoint.ir.raising import is_decided
from adjoint.ir.walk import leaves, operands, targets_of
from adjoint.records import dataclass, replace

RESULTS_WIDTH = 40
"""Several results are computed in the line that returns them if they are shorter than this; else they get names."""

_LOAD = ast.Load()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the leaves of a block lead: the targets of ``Yield``, the loop of ``Continue`` and ``Exit``.

    Where exceptions are handled around it, nothing changes places with what may raise one.
    """

    depth: int
    targets: tuple[ir.Var, ...] = ()
    loop: ir.Loop | None = None
    after_exit: tuple[int, ir.Block, tuple[ir.Var, ...]] | None = None
    handled: bool = False

    def deeper(self) -> _Place:
        return replace(self, depth=self.depth + 1)


_ON_ONE_LINE = -(1 << 20)
"""How much more a line holds: as much as need be, for compilers that know ``raise E(...)`` only as a whole."""


class Lowering(Lines):
    """Lowers one function."""

    def run(self) -> list[Stmt]:
        return self._block(self.function.body, _Place(1))

    # Blocks

    def _block(self, block: ir.Block, place: _Place) -> list[Stmt]:
        out, rest = self._open(block, place)
        self._terminator(rest, out, place)
        return out.close()

    def _open(self, block: ir.Block, place: _Place) -> tuple[OpenBlock, ir.Terminator]:
        """The statements of a block, and the terminator that is left to lower."""
        out = self._opened(place)
        position = 0
        while position < len(block.statements):
            found = finish_of(block, position, self.uses)
            if found is None:
                self._statement(block.statements[position], out, place)
                position += 1
                continue
            loop = block.statements[position]
            assert isinstance(loop, ir.Loop)
            finish, after = found
            out.release_all(keep=operands(loop))
            self._loop(loop, out, place, finish)
            if finish.follows:
                block, position = finish.exited, 0
            else:
                position = after
        return out, block.terminator

    def _opened(self, place: _Place) -> OpenBlock:
        return OpenBlock(self.expressions, place.depth, self.mentions, place.handled, not self.counted)

    def _statement(self, statement: ir.Statement, out: OpenBlock, place: _Place) -> None:
        if type(statement) is ir.Call:
            self._call(statement, out)
            return
        if not isinstance(statement, (ir.Load, ir.Store)) and self.insides.may_raise(statement):
            out.release_all(keep=operands(statement))
        match statement:
            case ir.Load():
                self._load(statement, out)
            case ir.Store():
                self._store(statement, out)
            case ir.If():
                self._if(statement, out, place)
            case ir.Loop():
                self._loop(statement, out, place)
            case ir.Guarded():
                self._guarded(statement, out, place)

    # Choices

    def _if(self, statement: ir.If, out: OpenBlock, place: _Place) -> None:
        if self._fits(statement, out, place):
            return
        inner = replace(place.deeper(), targets=statement.targets)
        then = self._block(statement.then, inner)
        orelse = self._block(statement.orelse, inner)
        if echoes(statement) and isinstance(statement.cond, ir.Var) and statement.cond in out.waiting:
            out.release(out.waiting[statement.cond])
        cond = self._single(statement.cond, out)
        asks = not is_decided(statement.cond)
        choice = Choice(cond.node, then, orelse, cond.effect == WRITES, statement.span, asks)
        hints = self.insides.hints_bound_in(statement)
        out.emit(choice, cond.accesses | self._accesses(statement, out), hints)

    def _fits(self, statement: ir.If, out: OpenBlock, place: _Place) -> bool:
        """Prints an ``if`` as a conditional expression, unless it is too long for that."""
        if id(statement) in self.too_long:
            return False
        fits = self._as_expression(statement, out, replace(place.deeper(), targets=statement.targets))
        if not fits:
            self.too_long.add(id(statement))
        return fits

    def _single(self, atom: ir.Atom, out: OpenBlock) -> Fragment:
        """An operand that is printed by itself."""
        return out.take((atom,), lambda nodes: nodes[0])

    def _as_expression(self, statement: ir.If, out: OpenBlock, place: _Place) -> bool:
        """Prints an ``if`` that only chooses a value as a conditional expression, where it is short."""
        if len(statement.targets) != 1 or not self.uses.inlinable(statement.targets[0]):
            return False
        clock = self.clock
        then = self._value_of(statement.then, place)
        orelse = None if then is None else self._value_of(statement.orelse, place)
        if then is None or orelse is None:
            self.clock = clock
            return False
        cond = out.fragment(statement.cond)
        if width(cond.node) + width(then.node) + width(orelse.node) + 4 * place.depth > LINE_WIDTH - 30:
            self.clock = clock
            return False
        clock = self._tick()
        taken = out.take((statement.cond,), lambda nodes: _chosen(statement, nodes[0], then.node, orelse.node))
        ops = (*taken.ops, *then.ops, *orelse.ops)
        fragment = Fragment(taken.node, ops, taken.hints | then.hints | orelse.hints)
        out.wait(statement.targets[0], fragment, clock, statement.span)
        return True

    def _value_of(self, block: ir.Block, place: _Place) -> Fragment | None:
        """The expression that a block yields, if it does nothing else."""
        if not isinstance(block.terminator, ir.Yield):
            return None
        value = block.terminator.values[0]
        if isinstance(value, ir.Undefined) or value in self.uses.unbound:
            return None
        if not all(map(self._may_be_inside, block.statements)):
            return None
        out = self._opened(place)
        for statement in block.statements:
            if not isinstance(statement, ir.If):
                self._statement(statement, out, place)
            elif not self._fits(statement, out, place):
                return None
        fragment = self._single(block.terminator.values[0], out)
        return None if out.close() else fragment

    def _may_be_inside(self, statement: ir.Statement) -> bool:
        """Whether a statement may be a part of an expression: nothing that it computes needs a name."""
        if not isinstance(statement, (ir.Call, ir.Load, ir.If)):
            return False
        return all(self.uses.inlinable(target) or not self.uses.count(target) for target in targets_of(statement))

    # Loops

    def _loop(self, loop: ir.Loop, out: OpenBlock, place: _Place, finish: Finish | None = None) -> None:
        drawing = None if self.counted else drawing_of(loop, self.calls, self.uses)
        if drawing is not None and drawing.length not in out.waiting:
            drawing = None
        if drawing is not None:
            loop = drawing.loop
            out.waiting.pop(drawing.length)
        if loop.exit is not None and (finish is not None or not self.uses.count(loop.exit)):
            loop = replace(loop, exit=None)
        over = self._enter(loop, drawing, out)
        inner = _Place(place.depth + 1, loop=loop, handled=place.handled)
        if finish is not None and not finish.follows:
            inner = replace(inner, after_exit=(finish.kind, finish.exited, finish.targets))
        body = self._block(loop.body, inner)
        orelse = self._exhausted(loop)
        targets = loop.targets if loop.exit is None else (*loop.targets, loop.exit)
        if finish is not None:
            orelse += self._block(
                finish.exhausted, replace(place.deeper(), targets=place.targets if finish.follows else finish.targets)
            )
            targets += finish.targets
        index = self._index(loop, drawing)
        params, bound = self._numbers(loop.params), self._numbers(targets)
        repeat = Repeat(index, over, params, bound, body, orelse, loop.span)
        accesses = self._accesses(loop, out) | (WRITES_ANYTHING if finish is not None else NOTHING)
        out.emit(repeat, accesses, self.insides.hints_bound_in(loop))

    def _enter(self, loop: ir.Loop, drawing: Drawing | None, out: OpenBlock) -> ast.expr | None:
        """The first values of the parameters are assigned; the result is what the loop runs over."""
        inits = [(param, init) for param, init in zip(loop.params, loop.inits, strict=True) if self.uses.wanted(param)]
        values = [init for _, init in inits]
        nodes, accesses = self._take_values([*values, *self._over_atoms(loop, drawing)], out)
        moves = self._move([param for param, _ in inits], nodes[: len(inits)])
        if loop.exit is not None and loop.over is not None:
            moves.append((self._number(loop.exit), ast.Constant(0)))
        if moves:
            out.emit(Move(moves, loop.span), accesses, frozenset(param.hint for param in loop.params))
        return self._over(loop, drawing, [node for node in nodes[len(inits) :] if node is not None])

    def _exhausted(self, loop: ir.Loop) -> list[Stmt]:
        """What happens when nothing is left to loop over: the targets take the parameters' values."""
        pairs: list[tuple[int, ast.expr | None]] = [
            (self._number(target), self._in_its_place(target) if param is None else self.expressions.var(param))
            for target, param in zip_longest(loop.targets, loop.params)
            if self.uses.wanted(target)
        ]
        return [Move(pairs)] if pairs and loop.over is not None else []

    def _in_its_place(self, target: ir.Var) -> ast.expr | None:
        """Something for what only exits of a loop give, and the function returns all the same."""
        return ast.Constant(None) if target in self.handed_back else None

    @functools.cached_property
    def handed_back(self) -> frozenset[ir.Atom]:
        """What the function returns, on whichever path."""
        ends = (leaf for leaf in leaves(self.function.body) if isinstance(leaf, ir.Return))
        return frozenset(value for end in ends for value in end.values)

    @staticmethod
    def _over_atoms(loop: ir.Loop, drawing: Drawing | None) -> tuple[ir.Atom, ...]:
        if drawing is not None:
            return ()
        match loop.over:
            case ir.Range(start=start, stop=stop, step=step):
                return (start, stop, step)
            case ir.Items(iterable=iterable):
                return (iterable,)
            case _:
                return ()

    def _over(self, loop: ir.Loop, drawing: Drawing | None, nodes: list[ast.expr]) -> ast.expr | None:
        names = self.expressions.names
        if drawing is not None:
            sequence: ast.expr = self.expressions.var(drawing.sequence)
            if drawing.backward:
                sequence = ast.Call(names.builtin("reversed"), [sequence], [])
            return ast.Call(names.builtin("enumerate"), [sequence], []) if drawing.counted else sequence
        match loop.over:
            case ir.Range(start=start, step=step, backward=backward):
                first = 0 if start != ir.Const(0) or step != ir.Const(1) else 1
                args = nodes[first:2] if step == ir.Const(1) else nodes
                call: ast.expr = ast.Call(names.builtin("range"), args, [])
                return ast.Call(names.builtin("reversed"), [call], []) if backward else call
            case ir.Items():
                return nodes[0]
            case _:
                return None

    def _index(self, loop: ir.Loop, drawing: Drawing | None) -> tuple[int | None, ...]:
        indices = [] if loop.over is None else [loop.index]
        if drawing is not None:
            indices = [*([loop.index] if drawing.counted else []), drawing.element]
        return tuple(self._number(var) if var is not None and self.uses.count(var) else None for var in indices)

    # Terminators

    def _terminator(self, terminator: ir.Terminator, out: OpenBlock, place: _Place) -> None:
        match terminator:
            case ir.Yield(values=values):
                self._hand_out(place.targets, values, out)
            case ir.Continue(values=values):
                assert place.loop is not None
                self._hand_out(place.loop.params, values, out)
                out.emit(Jump("continue"), NOTHING, frozenset())
            case ir.Exit():
                self._exit(terminator, out, place)
            case ir.Return(values=values):
                span = out.origin(terminator.span, values)
                out.emit(Leave(ast.Return(self._returned(values, out)), span), WRITES_ANYTHING, frozenset())
            case ir.Raise():
                self._raise(terminator, out)
            case ir.Branch(cond=cond, then=then, orelse=orelse, span=span):
                fragment = self._single(cond, out)
                inner = place.deeper()
                sides = self._block(then, inner), self._block(orelse, inner)
                choice = Choice(fragment.node, *sides, fragment.effect == WRITES, span)
                out.emit(choice, WRITES_ANYTHING, frozenset())

    def _exit(self, terminator: ir.Exit, out: OpenBlock, place: _Place) -> None:
        loop = place.loop
        assert loop is not None
        values, targets = terminator.values, loop.targets
        if loop.exit is not None:
            values, targets = (*values, ir.Const(terminator.kind)), (*targets, loop.exit)
        self._hand_out(targets, values, out)
        if place.after_exit is not None and place.after_exit[0] == terminator.kind:
            _, block, yielded = place.after_exit
            out.release_all()
            out.items += self._block(block, replace(place, targets=yielded, after_exit=None))
        out.emit(Jump("break"), NOTHING, frozenset())

    def _returned(self, values: tuple[ir.Atom, ...], out: OpenBlock) -> ast.expr | None:
        if not values or values == (ir.Const(None),):
            return None
        if len(values) == 1:
            return out.take(values, lambda nodes: nodes[0], beside=7).node
        if sum(width(out.fragment(value).node) + 2 for value in values) > RESULTS_WIDTH:
            for value in values:
                slot = out.waiting.get(value) if isinstance(value, ir.Var) else None
                if slot is not None and slot.var.hint not in GENERIC:
                    out.release(slot)
        return out.take(values, lambda nodes: ast.Tuple(nodes, _LOAD), beside=5).node

    def _raise(self, terminator: ir.Raise, out: OpenBlock) -> None:
        atoms = [atom for atom in (terminator.exception, terminator.cause) if atom is not None]
        parts = parts_of(out.take(atoms, several, beside=_ON_ONE_LINE if self.counted else 12))
        exception = parts.pop(0) if terminator.exception is not None else None
        cause = parts.pop(0) if terminator.cause is not None else None
        out.emit(Leave(ast.Raise(exception, cause), terminator.span), WRITES_ANYTHING, frozenset())

    # with and try

    def _guarded(self, guarded: ir.Guarded, out: OpenBlock, place: _Place) -> None:
        context = None
        if guarded.context is not None:
            context = self._single(guarded.context, out).node
        out.release_all()
        inner = replace(place.deeper(), targets=guarded.targets)
        handled = place.handled or guarded.context is not None or bool(guarded.handlers)
        body = self._block(guarded.body, replace(inner, handled=handled))
        handlers = [
            Catch(
                None if handler.exception is None else self.expressions.atom(handler.exception),
                None if handler.name is None or not self.uses.count(handler.name) else self._number(handler.name),
                self._block(handler.body, inner),
            )
            for handler in (*_refusals(guarded), *guarded.handlers)
        ]
        final = None if guarded.final is None else self._block(guarded.final, replace(inner, targets=()))
        name = None if guarded.name is None or not self.uses.count(guarded.name) else self._number(guarded.name)
        guard = Guard(context, name, body, handlers, final, guarded.span)
        out.emit(guard, WRITES_ANYTHING, self.insides.hints_bound_in(guarded))


def _refusals(guarded: ir.Guarded) -> tuple[ir.Handler, ...]:
    """A handler that lets refusals at run time pass, where another one would take them for the program's own."""
    if not any(map(_takes_refusals, guarded.handlers)):
        return ()
    return (ir.Handler(ir.Const(DifferentiationError), None, ir.Block((), ir.Raise(None, None, guarded.span))),)


def _takes_refusals(handler: ir.Handler) -> bool:
    """Whether a handler takes refusals among other exceptions, and does not raise them again."""
    if isinstance(handler.body.terminator, ir.Raise) and handler.body.terminator.exception is None:
        return False
    kind = handler.exception.value if isinstance(handler.exception, ir.Const) else Exception
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return any(isinstance(each, type) and issubclass(DifferentiationError, each) for each in kinds)


def _chosen(statement: ir.If, cond: ast.expr, then: ast.expr, orelse: ast.expr) -> ast.expr:
    """``a and b``, ``a or b``, ``not a`` or ``b if a else c``."""
    if echoes(statement):
        if statement.orelse == ir.Block((), ir.Yield((statement.cond,))):
            return _bool_op(ast.And(), cond, then)
        return _bool_op(ast.Or(), cond, orelse)
    if type_of_atom(statement.cond) == ir.BOOL:
        match then, orelse:
            case ast.Constant(value=False), ast.Constant(value=True):
                return negated(cond)
            case _, ast.Constant(value=False):
                return _bool_op(ast.And(), cond, then)
            case ast.Constant(value=True), _:
                return _bool_op(ast.Or(), cond, orelse)
    return ast.IfExp(cond, then, orelse)


def _bool_op(op: ast.boolop, *operands: ast.expr) -> ast.expr:
    values: list[ast.expr] = []
    for operand in operands:
        same = isinstance(operand, ast.BoolOp) and type(operand.op) is type(op)
        values += operand.values if same else [operand]  # type: ignore[attr-defined]
    return ast.BoolOp(op, values)
