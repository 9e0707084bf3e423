"""Exceptions as values: how far a ``try`` body came that writes memory, and what was raised there.

A body whose handlers go on is cut after each change of memory. Every piece is a ``try`` of its own that hands out the
exception, and the next one runs if there was none:

    try:                                try:
        a[0] = f(x)                         a[0] = f(x); raised = None
        a[1] = g(x)                     except BaseException as problem:
    except ValueError:                      raised = problem
        ...                             if raised is None:
                                            try: a[1] = g(x)
                                            except BaseException as problem: raised = problem
                                        try:
                                            if raised is not None: raise raised
                                        except ValueError:
                                            ...

A change that raises has changed nothing. So each piece either ran as a whole or changed no memory, and the reverse
sweep goes back through those that ran.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

from adjoint import ir
from adjoint.analysis.dependence.activity import Activity
from adjoint.differentiation.reverse.context import acts_on_memory, reversed_
from adjoint.differentiation.reverse.normalize import normalize
from adjoint.ir.raising import goes_on, ignores_exceptions, is_decided, may_raise, raises_itself
from adjoint.ir.rebuild import clone, map_blocks, substitute
from adjoint.ir.walk import blocks_of, leaves, statements_in, targets_of, vars_used

NOTHING = ir.Const(None)


class NotSeparable(Exception):
    """What changes memory in a body cannot be told from what may raise."""


def with_exceptions_as_values(function: ir.Function, found: Callable[[], Activity]) -> ir.Function:
    """The function with every ``try`` statement cut in pieces whose body changes memory and whose handlers go on."""
    cutter = _Cutter(found())
    body = cutter.outside(function.body)
    if not cutter.did_cut:
        return function
    normal = normalize(ir.Function(function.name, function.params, body, function.doc))
    return ir.Function(normal.name, normal.params, _spliced(normal.body), normal.doc)


def is_whole(block: ir.Block, found: Activity) -> bool:
    """Whether a block that is left by an exception has changed no memory that varies."""
    if any(acts(statement, found) for statement in block.statements[:-1]):
        return False
    last = block.statements[-1:]
    return not any(acts(each, found) for each in last) or (
        isinstance(block.terminator, ir.Yield) and all(map(is_one_change, last))
    )


def acts(statement: ir.Statement, found: Activity) -> bool:
    """Whether a statement changes memory through which a derivative flows, itself or in its blocks."""
    return acts_on_memory(statement, found) or any(
        acts(inner, found) for block in blocks_of(statement) for inner in statements_in(block)
    )


def is_one_change(statement: ir.Statement) -> bool:
    """Whether a statement changes memory as a whole or, where it raises, not at all."""
    return isinstance(statement, ir.Store) or (
        isinstance(statement, ir.Call) and not isinstance(statement.callee, (ir.Definition, ir.Derived, ir.Function))
    )


def keeps_values(block: ir.Block, found: Activity) -> bool:
    """Whether something in the blocks of a body is reversed: what is kept for that is kept there."""
    return any(_keeps_values(statement, found) for statement in block.statements)


def _keeps_values(statement: ir.Statement, found: Activity) -> bool:
    return any(reversed_(inner, found) for block in blocks_of(statement) for inner in statements_in(block))


class _Cutter:
    def __init__(self, found: Activity) -> None:
        self.found = found
        self.did_cut = False
        self.in_loop = False

    def outside(self, block: ir.Block) -> ir.Block:
        """A block in which exceptions need not be values, with the statements cut that need it."""
        statements: list[ir.Statement] = []
        for statement in block.statements:
            if isinstance(statement, ir.Guarded) and goes_on(statement) and self.must_be_cut(statement):
                try:
                    statements += self.cut(statement)
                    self.did_cut = True
                    continue
                except NotSeparable:  # which is refused later, by name
                    pass
            around, self.in_loop = self.in_loop, self.in_loop or isinstance(statement, ir.Loop)
            statements.append(map_blocks(statement, self.outside))
            self.in_loop = around
        end = block.terminator
        if isinstance(end, ir.Branch):
            end = ir.Branch(end.cond, self.outside(end.then), self.outside(end.orelse), end.span)
        return ir.Block(tuple(statements), end)

    def must_be_cut(self, guarded: ir.Guarded) -> bool:
        kept = self.in_loop and keeps_values(guarded.body, self.found)
        return kept or not is_whole(guarded.body, self.found)

    def splits(self, statement: ir.Statement) -> bool:
        """Whether a piece must end before or behind a statement."""
        return acts(statement, self.found) or (self.in_loop and _keeps_values(statement, self.found))

    def cut(self, guarded: ir.Guarded) -> list[ir.Statement]:
        """A ``try`` statement whose body only hands out what the pieces computed, behind the pieces."""
        if guarded.context is not None or guarded.final is not None:
            raise NotSeparable
        pieces, values, raised = self.run(guarded)
        body = self.ended_well(raised, ir.Block((), ir.Yield(values)), ir.Block((), ir.Raise(raised)), guarded)
        handlers = tuple(ir.Handler(each.exception, each.name, self.outside(each.body)) for each in guarded.handlers)
        return [*pieces, ir.Guarded(None, None, body, handlers, None, guarded.targets, guarded.span)]

    def run(self, guarded: ir.Guarded) -> tuple[list[ir.Statement], tuple[ir.Atom, ...], ir.Var]:
        """The statements that run a body in pieces; what it yields; the exception, or None."""
        count = len(guarded.targets)
        targets = tuple(ir.Var(target.hint, target.type, target.named) for target in guarded.targets)
        raised = ir.Var("raised", ir.OPAQUE)
        whole = self.pieces(guarded.body, _yielding(count))
        never = ir.Block((), ir.Yield((*(ir.UNDEFINED,) * count, NOTHING)))
        return [ir.If(ir.Const(True), whole, never, (*targets, raised), guarded.span)], targets, raised

    def ended_well(self, raised: ir.Var, then: ir.Block, orelse: ir.Block, around: ir.Statement) -> ir.Block:
        """What runs after a piece: ``then`` where it raised nothing."""
        well = ir.Var("t", ir.BOOL)
        test = ir.Call((well,), operator.is_, (raised, NOTHING), (), around.span)
        return ir.Block((test,), ir.Branch(well, then, orelse, around.span))

    # -- blocks that run in pieces -----------------------------------------------------------------------------------

    def pieces(self, block: ir.Block, ends: _Ends) -> ir.Block:
        """A block that ends in ``ends.raised`` where it would raise."""
        statements = block.statements
        first = next((place for place, each in enumerate(statements) if self.splits(each)), None)
        if first is None:
            return self.attempted(statements, ir.Block((), block.terminator), ends)
        whole = is_one_change(statements[first])
        count = first + 1 if whole else first
        rest = ir.Block(statements[count:], block.terminator)
        return self.attempted(statements[:count], rest, ends, apart=not whole)

    def attempted(self, piece: Sequence[ir.Statement], rest: ir.Block, ends: _Ends, *, apart: bool = False) -> ir.Block:
        """A piece, and behind it what follows; ``apart`` says that the next statement is a construct to go into."""

        def following(block: ir.Block) -> ir.Block:
            if apart:
                return self.construct(block, ends)
            return self.pieces(block, ends) if block.statements else self.end(block.terminator, ends)

        if not any(map(may_raise, piece)):
            after = following(rest)
            return ir.Block((*piece, *after.statements), after.terminator)
        used = vars_used(rest)
        bound = [var for statement in piece for var in targets_of(statement) if var in used]
        raised, problem = ir.Var("raised", ir.OPAQUE), ir.Var("problem", ir.OPAQUE)
        attempt = ir.Guarded(
            None,
            None,
            clone(ir.Block(tuple(piece), ir.Yield((*bound, NOTHING)))),
            (
                ir.Handler(
                    ir.Const(BaseException), problem, ir.Block((), ir.Yield((*(ir.UNDEFINED for _ in bound), problem)))
                ),
            ),
            None,
            (*bound, raised),
            piece[-1].span,
        )
        behind = self.ended_well(raised, following(rest), ir.Block((), ends.raised(raised)), piece[-1])
        return ir.Block((attempt, *behind.statements), behind.terminator)

    def end(self, terminator: ir.Terminator, ends: _Ends) -> ir.Block:
        match terminator:
            case ir.Branch(cond=cond, then=then, orelse=orelse, span=span):
                if not is_decided(cond):
                    raise NotSeparable
                return ir.Block((), ir.Branch(cond, self.pieces(then, ends), self.pieces(orelse, ends), span))
            case ir.Raise():
                return self.raising(terminator, ends)
            case _:
                return ir.Block((), ends.reached(terminator))

    def raising(self, end: ir.Raise, ends: _Ends) -> ir.Block:
        """A ``raise`` hands out its exception."""
        raised, problem = ir.Var("raised", ir.OPAQUE), ir.Var("problem", ir.OPAQUE)
        handler = ir.Handler(ir.Const(BaseException), problem, ir.Block((), ir.Yield((problem,))))
        attempt = ir.Guarded(None, None, ir.Block((), end), (handler,), None, (raised,), end.span)
        return ir.Block((attempt,), ends.raised(raised))

    # -- constructs that change memory inside ------------------------------------------------------------------------

    def construct(self, block: ir.Block, ends: _Ends) -> ir.Block:
        """A block that starts with a construct in whose blocks memory is changed."""
        first, rest = block.statements[0], ir.Block(block.statements[1:], block.terminator)
        match first:
            case ir.If(cond=cond) if is_decided(cond):
                made, raised = self.choice(first)
            case ir.Loop() if not raises_itself(first):
                made, raised = self.loop(first)
            case ir.Guarded(context=None, final=None):
                made, raised = self.inner(first)
            case ir.Guarded(context=ir.Var() as context, handlers=(), final=None) if ignores_exceptions(context):
                made, raised = self.within(first)
            case _:
                raise NotSeparable
        following = self.pieces(rest, ends) if rest.statements else self.end(rest.terminator, ends)
        behind = self.ended_well(raised, following, ir.Block((), ends.raised(raised)), first)
        return ir.Block((*made, *behind.statements), behind.terminator)

    def choice(self, statement: ir.If) -> tuple[list[ir.Statement], ir.Var]:
        count, raised = len(statement.targets), ir.Var("raised", ir.OPAQUE)
        ends = _yielding(count)
        then, orelse = self.pieces(statement.then, ends), self.pieces(statement.orelse, ends)
        return [ir.If(statement.cond, then, orelse, (*statement.targets, raised), statement.span)], raised

    def loop(self, loop: ir.Loop) -> tuple[list[ir.Statement], ir.Var]:
        """A loop that is left where its body raises."""
        count = len(loop.params)
        param, raised = ir.Var("raised", ir.OPAQUE), ir.Var("raised", ir.OPAQUE)
        kind = 1 + max((leaf.kind for leaf in leaves(loop.body) if isinstance(leaf, ir.Exit)), default=0)

        def reached(end: ir.Terminator) -> ir.Terminator:
            match end:
                case ir.Continue(values=values):
                    return ir.Continue((*values, NOTHING))
                case ir.Exit(kind=own, values=values):
                    return ir.Exit(own, (*values[:count], NOTHING, *values[count:]))
            raise NotSeparable

        def lost(problem: ir.Var) -> ir.Terminator:
            return ir.Exit(kind, (*(ir.UNDEFINED,) * count, problem, *(ir.UNDEFINED,) * (len(loop.targets) - count)))

        around, self.in_loop = self.in_loop, True
        body = self.pieces(loop.body, _EndsOf(reached, lost))
        self.in_loop = around
        targets = (*loop.targets[:count], raised, *loop.targets[count:])
        params, inits = (*loop.params, param), (*loop.inits, NOTHING)
        return [ir.Loop(loop.over, loop.index, params, inits, body, targets, loop.exit, loop.span)], raised

    def within(self, guarded: ir.Guarded) -> tuple[list[ir.Statement], ir.Var]:
        """A body in a context that does the same whether or not something was raised: it ends, and then that is."""
        raised = ir.Var("raised", ir.OPAQUE)
        body = self.pieces(guarded.body, _yielding(len(guarded.targets)))
        targets = (*guarded.targets, raised)
        return [ir.Guarded(guarded.context, guarded.name, body, (), None, targets, guarded.span)], raised

    def inner(self, guarded: ir.Guarded) -> tuple[list[ir.Statement], ir.Var]:
        """A ``try`` statement inside: which handler fits is found out first, and then that one runs in pieces."""
        count = len(guarded.targets)
        pieces, values, problem = self.run(guarded)
        way, escaped, caught = ir.Var("way", ir.INT), ir.Var("raised", ir.OPAQUE), ir.Var("problem", ir.OPAQUE)
        ends = _yielding(count)
        fits = tuple(
            ir.Handler(handler.exception, None, ir.Block((), ir.Yield((ir.Const(place), NOTHING))))
            for place, handler in enumerate(guarded.handlers, 1)
        )
        other = ir.Handler(ir.Const(BaseException), caught, ir.Block((), ir.Yield((ir.Const(0), caught))))
        asked = ir.Guarded(
            None, None, ir.Block((), ir.Raise(problem)), (*fits, other), None, (way, escaped), guarded.span
        )
        handled: ir.Block = ir.Block((), ends.raised(escaped))
        for place, handler in reversed(list(enumerate(guarded.handlers, 1))):
            names: dict[ir.Var, ir.Atom] = {} if handler.name is None else {handler.name: problem}
            body = self.pieces(_raising_again(substitute(handler.body, names), problem), ends)
            is_it = ir.Var("t", ir.BOOL)
            test = ir.Call((is_it,), operator.eq, (way, ir.Const(place)), (), guarded.span)
            handled = ir.Block((test,), ir.Branch(is_it, body, handled, guarded.span))
        handled = ir.Block((asked, *handled.statements), handled.terminator)
        raised = ir.Var("raised", ir.OPAQUE)
        well = self.ended_well(problem, ir.Block((), ir.Yield((*values, NOTHING))), handled, guarded)
        never = ir.Block((), ir.Yield((*(ir.UNDEFINED,) * count, NOTHING)))
        return [*pieces, ir.If(ir.Const(True), well, never, (*guarded.targets, raised), guarded.span)], raised


def _spliced(block: ir.Block) -> ir.Block:
    """The block with the statements written out in it that only stand together."""
    statements: list[ir.Statement] = []
    renamed: dict[ir.Var, ir.Atom] = {}
    for statement in block.statements:
        current = map_blocks(substitute(statement, renamed), _spliced)
        if (
            isinstance(current, ir.If)
            and current.cond == ir.Const(True)
            and isinstance(current.then.terminator, ir.Yield)
        ):
            statements += current.then.statements
            renamed.update(zip(current.targets, current.then.terminator.values, strict=True))
        else:
            statements.append(current)
    end = substitute(block.terminator, renamed)
    if isinstance(end, ir.Branch):
        end = ir.Branch(end.cond, _spliced(end.then), _spliced(end.orelse), end.span)
    return ir.Block(tuple(statements), end)


class _Ends:
    """In what blocks end that run in pieces: where they are through, and where something was raised."""

    def __init__(
        self, through: Callable[[tuple[ir.Atom, ...]], ir.Terminator], raised: Callable[[ir.Var], ir.Terminator]
    ) -> None:
        self._through = through
        self.raised = raised

    def reached(self, end: ir.Terminator) -> ir.Terminator:
        if not isinstance(end, ir.Yield):
            raise NotSeparable
        return self._through(end.values)


class _EndsOf(_Ends):
    """The same for a block that ends in other ways than by yielding."""

    def __init__(
        self, reached: Callable[[ir.Terminator], ir.Terminator], raised: Callable[[ir.Var], ir.Terminator]
    ) -> None:
        super().__init__(lambda values: ir.Yield(values), raised)
        self._reached = reached

    def reached(self, end: ir.Terminator) -> ir.Terminator:
        return self._reached(end)


def _yielding(count: int) -> _Ends:
    return _Ends(
        lambda values: ir.Yield((*values, NOTHING)), lambda raised: ir.Yield((*(ir.UNDEFINED,) * count, raised))
    )


def _raising_again(block: ir.Block, problem: ir.Var) -> ir.Block:
    """The block with the exception named where it is raised again."""
    statements = tuple(
        statement
        if isinstance(statement, ir.Guarded)
        else map_blocks(statement, lambda old: _raising_again(old, problem))
        for statement in block.statements
    )
    match block.terminator:
        case ir.Raise(exception=None, span=span):
            return ir.Block(statements, ir.Raise(problem, None, span))
        case ir.Branch(cond=cond, then=then, orelse=orelse, span=span):
            sides = _raising_again(then, problem), _raising_again(orelse, problem)
            return ir.Block(statements, ir.Branch(cond, *sides, span))
        case end:
            return ir.Block(statements, end)
