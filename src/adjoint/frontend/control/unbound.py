"""Variables that are bound on some paths only: machine code would read anything where Python raises.

A derivative that does not need the value would pass by, and give zero. Beside such a variable goes a flag, which tells
whether it is bound; where the variable is read, the flag is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adjoint import ir
from adjoint.analysis.joins import joins, reached
from adjoint.ir.rebuild import map_blocks
from adjoint.ir.walk import operands, statements_in, terminators_in
from adjoint.records import replace
from adjoint.runtime.arithmetic.checks import check_bound


def with_unbound_told(function: ir.Function, *, returns_one_structure: bool) -> ir.Function:
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
        if isinstance(end, ir.Branch):
            read.add(end.cond)
        elif isinstance(end, ir.Return) and returns_one_structure:
            read.update(end.values)
    if unbound.isdisjoint(read):
        return function
    flagging = _Flagging(unbound, returns_one_structure)
    return ir.Function(function.name, function.params, flagging.block(function.body, lambda end: end), function.doc)


def _unbound(body: ir.Block) -> set[ir.Var]:
    """The variables that have no value on some path, and what they become."""
    flows: dict[ir.Var, list[ir.Var]] = {}
    found: set[ir.Var] = set()
    for statement in statements_in(body):
        if isinstance(statement, ir.Loop) and statement.over is not None:
            found.update(target for target in statement.targets[len(statement.params) :] if target.named)
        for source, target in joins(statement):
            if source is ir.UNDEFINED and target.named:
                found.add(target)
            elif isinstance(source, ir.Var):
                flows.setdefault(source, []).append(target)
    return reached(found, flows)


def _read(statement: ir.Statement) -> Sequence[ir.Atom]:
    """What a statement reads itself; what it hands on to what is called, or to the next iteration, is not read."""
    match statement:
        case ir.Call(callee=ir.Definition() | ir.Derived()):
            return ()
        case ir.Call(targets=targets, callee=ir.Declared(arguments=count), args=args):
            return args[: count + len(targets)]  # a residual is read by the pullback, where that runs
        case ir.Call() | ir.Load() | ir.Store():
            return operands(statement)
        case ir.If(cond=cond):
            return (cond,)
        case ir.Loop(over=ir.Range(start=start, stop=stop, step=step)):
            return start, stop, step
        case ir.Loop(over=ir.Items(iterable=iterable)):
            return (iterable,)
        case ir.Guarded(context=context) if context is not None:
            return (context,)
        case _:
            return ()


Ending = Callable[[ir.Terminator], ir.Terminator]


class _Flagging:
    def __init__(self, unbound: set[ir.Var], returns_one_structure: bool) -> None:
        self.flags = {var: ir.Var(f"{var.hint}_is_bound", ir.BOOL) for var in unbound}
        self.returns_one_structure = returns_one_structure
        self.asked: set[ir.Var] = set()

    def block(self, block: ir.Block, ending: Ending) -> ir.Block:
        """A block whose ends are changed by ``ending``."""
        outer = set(self.asked)
        statements: list[ir.Statement] = []
        for statement in block.statements:
            statements += self.questions(_read(statement), statement)
            statements.append(self.statement(statement))
        end = block.terminator
        if isinstance(end, ir.Branch):
            statements += self.questions((end.cond,), end)
            end = ir.Branch(end.cond, self.block(end.then, ending), self.block(end.orelse, ending), end.span)
        elif isinstance(end, ir.Return) and self.returns_one_structure:
            statements += self.questions(end.values, end)
        else:
            end = ending(end)
        self.asked = outer
        return ir.Block(tuple(statements), end)

    def questions(self, read: Sequence[ir.Atom], where: ir.Statement | ir.Branch | ir.Return) -> list[ir.Statement]:
        """Asks for what is read and has not been asked for."""
        asked = [atom for atom in dict.fromkeys(read) if isinstance(atom, ir.Var) and atom in self.flags]
        new = [var for var in asked if var not in self.asked]
        self.asked.update(new)
        return [ir.Call((), check_bound, (self.flags[var], ir.Const(var.hint)), (), where.span) for var in new]

    def statement(self, statement: ir.Statement) -> ir.Statement:
        match statement:
            case ir.If(targets=targets) | ir.Guarded(targets=targets):
                whole = map_blocks(statement, lambda inner: self.block(inner, self.yielding(targets)))
                assert isinstance(whole, (ir.If, ir.Guarded))
                return replace(whole, targets=(*targets, *self.flags_of(targets)))
            case ir.Loop():
                return self.loop(statement)
            case _:
                return statement

    def yielding(self, targets: Sequence[ir.Var]) -> Ending:
        def ending(end: ir.Terminator) -> ir.Terminator:
            return ir.Yield((*end.values, *self.told(end.values, targets))) if isinstance(end, ir.Yield) else end

        return ending

    def loop(self, loop: ir.Loop) -> ir.Loop:
        """Flags go behind what is carried; those of what only exits hand out say no until then."""
        count = len(loop.params)
        carried, late = loop.targets[:count], loop.targets[count:]
        not_yet = tuple(ir.Var(flag.hint, ir.BOOL) for flag in self.flags_of(late))

        def ending(end: ir.Terminator) -> ir.Terminator:
            match end:
                case ir.Continue(values=values):
                    return ir.Continue((*values, *self.told(values, loop.params), *not_yet))
                case ir.Exit(kind=kind, values=values):
                    mine, theirs = values[:count], values[count:]
                    return ir.Exit(kind, (*mine, *self.told(mine, carried), *self.told(theirs, late), *theirs))
                case _:
                    return end

        return replace(
            loop,
            params=(*loop.params, *self.flags_of(loop.params), *not_yet),
            inits=(*loop.inits, *self.told(loop.inits, loop.params), *(ir.Const(False) for _ in not_yet)),
            body=self.block(loop.body, ending),
            targets=(*carried, *self.flags_of(carried), *self.flags_of(late), *late),
        )

    def flags_of(self, targets: Sequence[ir.Var]) -> tuple[ir.Var, ...]:
        return tuple(self.flags[target] for target in targets if target in self.flags)

    def told(self, values: Sequence[ir.Atom], targets: Sequence[ir.Var]) -> list[ir.Atom]:
        """Of each value that becomes something with a flag, whether it is bound."""
        pairs = zip(values, targets, strict=True)
        return [self.flag(value, target) for value, target in pairs if target in self.flags]

    def flag(self, value: ir.Atom, target: ir.Var) -> ir.Atom:
        """Parts of structures that one path lacks have no value there, but nobody misses them."""
        if isinstance(value, ir.Var):
            return self.flags.get(value, ir.Const(True))
        return ir.Const(value is not ir.UNDEFINED or not target.named)
