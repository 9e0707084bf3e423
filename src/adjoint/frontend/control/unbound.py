"""Variables that are bound on some paths only: machine code would read anything where Python raises.

A derivative that does not need the value would pass by, and give zero. Beside such a variable goes a flag, which tells
whether it is bound; where the variable is read, the flag is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adjoint.analysis.joins import joins, reached
from adjoint.ir.nodes import (
    UNDEFINED,
    Atom,
    Block,
    Branch,
    Call,
    Const,
    Continue,
    Declared,
    Definition,
    Derived,
    Exit,
    Function,
    Guarded,
    If,
    Items,
    Load,
    Loop,
    Range,
    Return,
    Statement,
    Store,
    Terminator,
    Var,
    Yield,
)
from adjoint.ir.rebuild import map_blocks
from adjoint.ir.types import BOOL
from adjoint.ir.walk import operands, statements_in, terminators_in
from adjoint.records import replace
from adjoint.runtime.arithmetic.checks import check_bound


def with_unbound_told(function: Function, *, returns_one_structure: bool) -> Function:
    """The function with UnboundLocalError wherever a variable is read that is not bound.

    Parameters
    ----------
    function
        As it was lowered.
    returns_one_structure
        Whether all that it returns is there on each path; else what one path has no use for is returned unbound.
    """
    unbound = _unbound(function.body)
    read = {atom for statement in statements_in(function.body) for atom in _read(statement)}
    for end in terminators_in(function.body):
        if isinstance(end, Branch):
            read.add(end.cond)
        elif isinstance(end, Return) and returns_one_structure:
            read.update(end.values)
    if unbound.isdisjoint(read):
        return function
    flagging = _Flagging(unbound, returns_one_structure)
    return Function(function.name, function.params, flagging.block(function.body, lambda end: end), function.doc)


def _unbound(body: Block) -> set[Var]:
    """The variables that have no value on some path, and what they become."""
    flows: dict[Var, list[Var]] = {}
    found: set[Var] = set()
    for statement in statements_in(body):
        if isinstance(statement, Loop) and statement.over is not None:
            found.update(target for target in statement.targets[len(statement.params) :] if target.named)
        for source, target in joins(statement):
            if source is UNDEFINED and target.named:
                found.add(target)
            elif isinstance(source, Var):
                flows.setdefault(source, []).append(target)
    return reached(found, flows)


def _read(statement: Statement) -> Sequence[Atom]:
    """What a statement reads itself; what it hands on to what is called, or to the next iteration, is not read."""
    match statement:
        case Call(callee=Definition() | Derived()):
            return ()
        case Call(targets=targets, callee=Declared(arguments=count), args=args):
            return args[: count + len(targets)]  # a residual is read by the pullback, where that runs
        case Call() | Load() | Store():
            return operands(statement)
        case If(cond=cond):
            return (cond,)
        case Loop(over=Range(start=start, stop=stop, step=step)):
            return start, stop, step
        case Loop(over=Items(iterable=iterable)):
            return (iterable,)
        case Guarded(context=context) if context is not None:
            return (context,)
        case _:
            return ()


Ending = Callable[[Terminator], Terminator]


class _Flagging:
    def __init__(self, unbound: set[Var], returns_one_structure: bool) -> None:
        self.flags = {var: Var(f"{var.hint}_is_bound", BOOL) for var in unbound}
        self.returns_one_structure = returns_one_structure
        self.asked: set[Var] = set()

    def block(self, block: Block, ending: Ending) -> Block:
        """A block whose ends are changed by ``ending``."""
        outer = set(self.asked)
        statements: list[Statement] = []
        for statement in block.statements:
            statements += self.questions(_read(statement), statement)
            statements.append(self.statement(statement))
        end = block.terminator
        if isinstance(end, Branch):
            statements += self.questions((end.cond,), end)
            end = Branch(end.cond, self.block(end.then, ending), self.block(end.orelse, ending), end.span)
        elif isinstance(end, Return) and self.returns_one_structure:
            statements += self.questions(end.values, end)
        else:
            end = ending(end)
        self.asked = outer
        return Block(tuple(statements), end)

    def questions(self, read: Sequence[Atom], where: Statement | Branch | Return) -> list[Statement]:
        """Asks for what is read and has not been asked for."""
        asked = [atom for atom in dict.fromkeys(read) if isinstance(atom, Var) and atom in self.flags]
        new = [var for var in asked if var not in self.asked]
        self.asked.update(new)
        return [Call((), check_bound, (self.flags[var], Const(var.hint)), (), where.span) for var in new]

    def statement(self, statement: Statement) -> Statement:
        match statement:
            case If(targets=targets) | Guarded(targets=targets):
                whole = map_blocks(statement, lambda inner: self.block(inner, self.yielding(targets)))
                assert isinstance(whole, (If, Guarded))
                return replace(whole, targets=(*targets, *self.flags_of(targets)))
            case Loop():
                return self.loop(statement)
            case _:
                return statement

    def yielding(self, targets: Sequence[Var]) -> Ending:
        def ending(end: Terminator) -> Terminator:
            return Yield((*end.values, *self.told(end.values, targets))) if isinstance(end, Yield) else end

        return ending

    def loop(self, loop: Loop) -> Loop:
        """Flags go behind what is carried; those of what only exits hand out say no until then."""
        count = len(loop.params)
        carried, late = loop.targets[:count], loop.targets[count:]
        not_yet = tuple(Var(flag.hint, BOOL) for flag in self.flags_of(late))

        def ending(end: Terminator) -> Terminator:
            match end:
                case Continue(values=values):
                    return Continue((*values, *self.told(values, loop.params), *not_yet))
                case Exit(kind=kind, values=values):
                    mine, theirs = values[:count], values[count:]
                    return Exit(kind, (*mine, *self.told(mine, carried), *self.told(theirs, late), *theirs))
                case _:
                    return end

        return replace(
            loop,
            params=(*loop.params, *self.flags_of(loop.params), *not_yet),
            inits=(*loop.inits, *self.told(loop.inits, loop.params), *(Const(False) for _ in not_yet)),
            body=self.block(loop.body, ending),
            targets=(*carried, *self.flags_of(carried), *self.flags_of(late), *late),
        )

    def flags_of(self, targets: Sequence[Var]) -> tuple[Var, ...]:
        return tuple(self.flags[target] for target in targets if target in self.flags)

    def told(self, values: Sequence[Atom], targets: Sequence[Var]) -> list[Atom]:
        """Of each value that becomes something with a flag, whether it is bound."""
        pairs = zip(values, targets, strict=True)
        return [self.flag(value, target) for value, target in pairs if target in self.flags]

    def flag(self, value: Atom, target: Var) -> Atom:
        """Parts of structures that one path lacks have no value there, but nobody misses them."""
        if isinstance(value, Var):
            return self.flags.get(value, Const(True))
        return Const(value is not UNDEFINED or not target.named)
