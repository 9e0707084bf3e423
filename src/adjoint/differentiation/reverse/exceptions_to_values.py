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

from adjoint.analysis.activity import Activity
from adjoint.differentiation.reverse.context import acts_on_memory, reversed_
from adjoint.differentiation.reverse.normalize import normalize
from adjoint.ir.nodes import (
    UNDEFINED,
    Atom,
    Block,
    Branch,
    Call,
    Const,
    Continue,
    Definition,
    Derived,
    Exit,
    Function,
    Guarded,
    Handler,
    If,
    Loop,
    Raise,
    Statement,
    Store,
    Terminator,
    Var,
    Yield,
)
from adjoint.ir.raising import goes_on, is_decided, may_raise, raises_itself
from adjoint.ir.rebuild import clone, map_blocks, substitute
from adjoint.ir.types import BOOL, INT, OPAQUE
from adjoint.ir.walk import blocks_of, leaves, statements_in, targets_of, vars_used

NOTHING = Const(None)


class NotSeparable(Exception):
    """What changes memory in a body cannot be told from what may raise."""


def with_exceptions_as_values(function: Function, found: Callable[[], Activity]) -> Function:
    """The function with every ``try`` statement cut in pieces whose body changes memory and whose handlers go on."""
    cutter = _Cutter(found())
    body = cutter.outside(function.body)
    if not cutter.did_cut:
        return function
    normal = normalize(Function(function.name, function.params, body, function.doc))
    return Function(normal.name, normal.params, _spliced(normal.body), normal.doc)


def is_whole(block: Block, found: Activity) -> bool:
    """Whether a block that is left by an exception has changed no memory that varies."""
    if any(acts(statement, found) for statement in block.statements[:-1]):
        return False
    last = block.statements[-1:]
    return not any(acts(each, found) for each in last) or (
        isinstance(block.terminator, Yield) and all(map(is_one_change, last))
    )


def acts(statement: Statement, found: Activity) -> bool:
    """Whether a statement changes memory through which a derivative flows, itself or in its blocks."""
    return acts_on_memory(statement, found) or any(
        acts(inner, found) for block in blocks_of(statement) for inner in statements_in(block)
    )


def is_one_change(statement: Statement) -> bool:
    """Whether a statement changes memory as a whole or, where it raises, not at all."""
    return isinstance(statement, Store) or (
        isinstance(statement, Call) and not isinstance(statement.callee, (Definition, Derived, Function))
    )


def keeps_values(block: Block, found: Activity) -> bool:
    """Whether something in the blocks of a body is reversed: what is kept for that is kept there."""
    return any(_keeps_values(statement, found) for statement in block.statements)


def _keeps_values(statement: Statement, found: Activity) -> bool:
    return any(reversed_(inner, found) for block in blocks_of(statement) for inner in statements_in(block))


class _Cutter:
    def __init__(self, found: Activity) -> None:
        self.found = found
        self.did_cut = False
        self.in_loop = False

    def outside(self, block: Block) -> Block:
        """A block in which exceptions need not be values, with the statements cut that need it."""
        statements: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, Guarded) and goes_on(statement) and self.must_be_cut(statement):
                try:
                    statements += self.cut(statement)
                    self.did_cut = True
                    continue
                except NotSeparable:  # which is refused later, by name
                    pass
            around, self.in_loop = self.in_loop, self.in_loop or isinstance(statement, Loop)
            statements.append(map_blocks(statement, self.outside))
            self.in_loop = around
        end = block.terminator
        if isinstance(end, Branch):
            end = Branch(end.cond, self.outside(end.then), self.outside(end.orelse), end.span)
        return Block(tuple(statements), end)

    def must_be_cut(self, guarded: Guarded) -> bool:
        kept = self.in_loop and keeps_values(guarded.body, self.found)
        return kept or not is_whole(guarded.body, self.found)

    def splits(self, statement: Statement) -> bool:
        """Whether a piece must end before or behind a statement."""
        return acts(statement, self.found) or (self.in_loop and _keeps_values(statement, self.found))

    def cut(self, guarded: Guarded) -> list[Statement]:
        """A ``try`` statement whose body only hands out what the pieces computed, behind the pieces."""
        if guarded.context is not None or guarded.final is not None:
            raise NotSeparable
        pieces, values, raised = self.run(guarded)
        body = self.ended_well(raised, Block((), Yield(values)), Block((), Raise(raised)), guarded)
        handlers = tuple(Handler(each.exception, each.name, self.outside(each.body)) for each in guarded.handlers)
        return [*pieces, Guarded(None, None, body, handlers, None, guarded.targets, guarded.span)]

    def run(self, guarded: Guarded) -> tuple[list[Statement], tuple[Atom, ...], Var]:
        """The statements that run a body in pieces; what it yields; the exception, or None."""
        count = len(guarded.targets)
        targets = tuple(Var(target.hint, target.type, target.named) for target in guarded.targets)
        raised = Var("raised", OPAQUE)
        whole = self.pieces(guarded.body, _yielding(count))
        never = Block((), Yield((*(UNDEFINED,) * count, NOTHING)))
        return [If(Const(True), whole, never, (*targets, raised), guarded.span)], targets, raised

    def ended_well(self, raised: Var, then: Block, orelse: Block, around: Statement) -> Block:
        """What runs after a piece: ``then`` where it raised nothing."""
        well = Var("t", BOOL)
        test = Call((well,), operator.is_, (raised, NOTHING), (), around.span)
        return Block((test,), Branch(well, then, orelse, around.span))

    # -- blocks that run in pieces -----------------------------------------------------------------------------------

    def pieces(self, block: Block, ends: _Ends) -> Block:
        """A block that ends in ``ends.raised`` where it would raise."""
        statements = block.statements
        first = next((place for place, each in enumerate(statements) if self.splits(each)), None)
        if first is None:
            return self.attempted(statements, Block((), block.terminator), ends)
        whole = is_one_change(statements[first])
        count = first + 1 if whole else first
        rest = Block(statements[count:], block.terminator)
        return self.attempted(statements[:count], rest, ends, apart=not whole)

    def attempted(self, piece: Sequence[Statement], rest: Block, ends: _Ends, *, apart: bool = False) -> Block:
        """A piece, and behind it what follows; ``apart`` says that the next statement is a construct to go into."""

        def following(block: Block) -> Block:
            if apart:
                return self.construct(block, ends)
            return self.pieces(block, ends) if block.statements else self.end(block.terminator, ends)

        if not any(map(may_raise, piece)):
            after = following(rest)
            return Block((*piece, *after.statements), after.terminator)
        used = vars_used(rest)
        bound = [var for statement in piece for var in targets_of(statement) if var in used]
        raised, problem = Var("raised", OPAQUE), Var("problem", OPAQUE)
        attempt = Guarded(
            None,
            None,
            clone(Block(tuple(piece), Yield((*bound, NOTHING)))),
            (Handler(Const(BaseException), problem, Block((), Yield((*(UNDEFINED for _ in bound), problem)))),),
            None,
            (*bound, raised),
            piece[-1].span,
        )
        behind = self.ended_well(raised, following(rest), Block((), ends.raised(raised)), piece[-1])
        return Block((attempt, *behind.statements), behind.terminator)

    def end(self, terminator: Terminator, ends: _Ends) -> Block:
        match terminator:
            case Branch(cond=cond, then=then, orelse=orelse, span=span):
                if not is_decided(cond):
                    raise NotSeparable
                return Block((), Branch(cond, self.pieces(then, ends), self.pieces(orelse, ends), span))
            case Raise():
                return self.raising(terminator, ends)
            case _:
                return Block((), ends.reached(terminator))

    def raising(self, end: Raise, ends: _Ends) -> Block:
        """A ``raise`` hands out its exception."""
        raised, problem = Var("raised", OPAQUE), Var("problem", OPAQUE)
        handler = Handler(Const(BaseException), problem, Block((), Yield((problem,))))
        attempt = Guarded(None, None, Block((), end), (handler,), None, (raised,), end.span)
        return Block((attempt,), ends.raised(raised))

    # -- constructs that change memory inside ------------------------------------------------------------------------

    def construct(self, block: Block, ends: _Ends) -> Block:
        """A block that starts with a construct in whose blocks memory is changed."""
        first, rest = block.statements[0], Block(block.statements[1:], block.terminator)
        match first:
            case If(cond=cond) if is_decided(cond):
                made, raised = self.choice(first)
            case Loop() if not raises_itself(first):
                made, raised = self.loop(first)
            case Guarded(context=None, final=None):
                made, raised = self.inner(first)
            case _:
                raise NotSeparable
        following = self.pieces(rest, ends) if rest.statements else self.end(rest.terminator, ends)
        behind = self.ended_well(raised, following, Block((), ends.raised(raised)), first)
        return Block((*made, *behind.statements), behind.terminator)

    def choice(self, statement: If) -> tuple[list[Statement], Var]:
        count, raised = len(statement.targets), Var("raised", OPAQUE)
        ends = _yielding(count)
        then, orelse = self.pieces(statement.then, ends), self.pieces(statement.orelse, ends)
        return [If(statement.cond, then, orelse, (*statement.targets, raised), statement.span)], raised

    def loop(self, loop: Loop) -> tuple[list[Statement], Var]:
        """A loop that is left where its body raises."""
        count = len(loop.params)
        param, raised = Var("raised", OPAQUE), Var("raised", OPAQUE)
        kind = 1 + max((leaf.kind for leaf in leaves(loop.body) if isinstance(leaf, Exit)), default=0)

        def reached(end: Terminator) -> Terminator:
            match end:
                case Continue(values=values):
                    return Continue((*values, NOTHING))
                case Exit(kind=own, values=values):
                    return Exit(own, (*values[:count], NOTHING, *values[count:]))
            raise NotSeparable

        def lost(problem: Var) -> Terminator:
            return Exit(kind, (*(UNDEFINED,) * count, problem, *(UNDEFINED,) * (len(loop.targets) - count)))

        around, self.in_loop = self.in_loop, True
        body = self.pieces(loop.body, _EndsOf(reached, lost))
        self.in_loop = around
        targets = (*loop.targets[:count], raised, *loop.targets[count:])
        params, inits = (*loop.params, param), (*loop.inits, NOTHING)
        return [Loop(loop.over, loop.index, params, inits, body, targets, loop.exit, loop.span)], raised

    def inner(self, guarded: Guarded) -> tuple[list[Statement], Var]:
        """A ``try`` statement inside: which handler fits is found out first, and then that one runs in pieces."""
        count = len(guarded.targets)
        pieces, values, problem = self.run(guarded)
        way, escaped, caught = Var("way", INT), Var("raised", OPAQUE), Var("problem", OPAQUE)
        ends = _yielding(count)
        fits = tuple(
            Handler(handler.exception, None, Block((), Yield((Const(place), NOTHING))))
            for place, handler in enumerate(guarded.handlers, 1)
        )
        other = Handler(Const(BaseException), caught, Block((), Yield((Const(0), caught))))
        asked = Guarded(None, None, Block((), Raise(problem)), (*fits, other), None, (way, escaped), guarded.span)
        handled: Block = Block((), ends.raised(escaped))
        for place, handler in reversed(list(enumerate(guarded.handlers, 1))):
            names: dict[Var, Atom] = {} if handler.name is None else {handler.name: problem}
            body = self.pieces(_raising_again(substitute(handler.body, names), problem), ends)
            is_it = Var("t", BOOL)
            test = Call((is_it,), operator.eq, (way, Const(place)), (), guarded.span)
            handled = Block((test,), Branch(is_it, body, handled, guarded.span))
        handled = Block((asked, *handled.statements), handled.terminator)
        raised = Var("raised", OPAQUE)
        well = self.ended_well(problem, Block((), Yield((*values, NOTHING))), handled, guarded)
        never = Block((), Yield((*(UNDEFINED,) * count, NOTHING)))
        return [*pieces, If(Const(True), well, never, (*guarded.targets, raised), guarded.span)], raised


def _spliced(block: Block) -> Block:
    """The block with the statements written out in it that only stand together."""
    statements: list[Statement] = []
    renamed: dict[Var, Atom] = {}
    for statement in block.statements:
        current = map_blocks(substitute(statement, renamed), _spliced)
        if isinstance(current, If) and current.cond == Const(True) and isinstance(current.then.terminator, Yield):
            statements += current.then.statements
            renamed.update(zip(current.targets, current.then.terminator.values, strict=True))
        else:
            statements.append(current)
    end = substitute(block.terminator, renamed)
    if isinstance(end, Branch):
        end = Branch(end.cond, _spliced(end.then), _spliced(end.orelse), end.span)
    return Block(tuple(statements), end)


class _Ends:
    """In what blocks end that run in pieces: where they are through, and where something was raised."""

    def __init__(self, through: Callable[[tuple[Atom, ...]], Terminator], raised: Callable[[Var], Terminator]) -> None:
        self._through = through
        self.raised = raised

    def reached(self, end: Terminator) -> Terminator:
        if not isinstance(end, Yield):
            raise NotSeparable
        return self._through(end.values)


class _EndsOf(_Ends):
    """The same for a block that ends in other ways than by yielding."""

    def __init__(self, reached: Callable[[Terminator], Terminator], raised: Callable[[Var], Terminator]) -> None:
        super().__init__(lambda values: Yield(values), raised)
        self._reached = reached

    def reached(self, end: Terminator) -> Terminator:
        return self._reached(end)


def _yielding(count: int) -> _Ends:
    return _Ends(lambda values: Yield((*values, NOTHING)), lambda raised: Yield((*(UNDEFINED,) * count, raised)))


def _raising_again(block: Block, problem: Var) -> Block:
    """The block with the exception named where it is raised again."""
    statements = tuple(
        statement if isinstance(statement, Guarded) else map_blocks(statement, lambda old: _raising_again(old, problem))
        for statement in block.statements
    )
    match block.terminator:
        case Raise(exception=None, span=span):
            return Block(statements, Raise(problem, None, span))
        case Branch(cond=cond, then=then, orelse=orelse, span=span):
            sides = _raising_again(then, problem), _raising_again(orelse, problem)
            return Block(statements, Branch(cond, *sides, span))
        case end:
            return Block(statements, end)
