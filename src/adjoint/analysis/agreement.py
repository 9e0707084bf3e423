"""Whether all processes come to the same messages: no condition before one may depend on the data of one process.

A value is *agreed* on if no data of a single process decide what it is: it is made of the program's constants, of
arguments that are not differentiated (numbers of processes and of steps), and of what all processes receive alike, as
the sum of ``Allreduce``. What is made of differentiated arguments, or received from one process, is not. Memory is
looked at by storage class, whatever the order of events. Compilers for graphics processors ask the same of barriers,
and call it the analysis of divergence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adjoint.analysis.activity import GROWING, all_memory, may_write_anything
from adjoint.analysis.messages import communicates
from adjoint.diagnostics.diagnostic import Diagnostic, diagnostic
from adjoint.ir.effects import effects_of
from adjoint.ir.nodes import (
    Atom,
    Block,
    Branch,
    Call,
    Continue,
    Definition,
    Exit,
    Function,
    Guarded,
    If,
    Items,
    Load,
    Loop,
    Raise,
    Range,
    Return,
    Statement,
    Store,
    Terminator,
    Var,
    Yield,
)
from adjoint.ir.types import Storage
from adjoint.ir.walk import leaves, operands, statements_in, targets_of
from adjoint.rules.registry import is_exchanged, rule_for

_OF_DATA = "the data of each process decide whether it comes to this"
_OF_RAISING = "an exception that is handled decides whether a process comes to this"
_OF_CALLS = "a function that stays a function in the derivative exchanges messages: this calls it"


def disagreements(function: Function, wrt: Sequence[int]) -> list[Diagnostic]:
    """The refusals of messages that some processes may come to and others not."""
    if not is_exchanged():
        return []
    statements = statements_in(function.body)
    found = [
        diagnostic("AD0312", call.span, _OF_CALLS, helps=("write it with a loop",))
        for call in statements
        if isinstance(call, Call) and _is_recursive(call.callee) and communicates(call.callee)
    ]
    if not found and any(map(_exchanges, statements)):
        walk = _Walk([function.params[index] for index in wrt])
        walk.run(function.body)
        found = [diagnostic("AD0312", call.span, label) for call, label in walk.problems.items()]
    spans = {problem.labels[0].span: problem for problem in reversed(found) if problem.labels}
    return list(reversed(spans.values()))


def _exchanges(statement: Statement) -> bool:
    return isinstance(statement, Call) and communicates(statement.callee)


def _is_recursive(callee: object) -> bool:
    """Whether a function stays one that is not run again as a whole."""
    return isinstance(callee, Definition) and callee.checkpoints is None


class _Walk:
    """Marks what processes may not agree on, until nothing changes; then takes down what stands under that."""

    def __init__(self, sources: Iterable[Var]) -> None:
        self.given = frozenset(sources)
        self.vars: set[Atom] = set(self.given)
        self.memory: set[Storage] = {storage for var in self.given for storage in all_memory(var.type)}
        self.grown: set[Storage] = set()
        """Containers of which processes may not agree how much is in them."""
        self.problems: dict[Call, str] = {}
        self.inside: list[Function] = []

    def run(self, body: Block) -> None:
        before = -1
        while before != self.size():
            before = self.size()
            self.problems.clear()
            self.block(body, None)

    def size(self) -> int:
        return len(self.vars) + len(self.memory) + len(self.grown)

    # Questions

    def differs(self, atom: Atom | None) -> bool:
        """Whether a value, or anything in memory that it refers to, may be another one on another process."""
        if not isinstance(atom, Var):
            return False
        return atom in self.vars or any(storage.find() in self.memory for storage in all_memory(atom.type))

    def differs_in_size(self, atom: Atom) -> bool:
        """Whether a value may have another shape, or number of items, on another process."""
        if not isinstance(atom, Var):
            return False
        grown = any(storage.find() in self.grown for storage in all_memory(atom.type))
        return grown or (atom in self.vars and atom not in self.given)

    # Marks

    def mark(self, targets: Iterable[Atom]) -> None:
        self.vars.update(targets)

    def mark_memory(self, atom: Atom) -> None:
        if isinstance(atom, Var):
            self.memory.update(storage.find() for storage in all_memory(atom.type))

    # The walk; ``why`` says what decides whether processes come here

    def block(self, block: Block, why: str | None) -> None:
        for statement in block.statements:
            self.statement(statement, why)
        end = block.terminator
        if isinstance(end, Branch):
            why = self.reason(end.cond, why) if _decides(end) else why
            self.block(end.then, why)
            self.block(end.orelse, why)

    def reason(self, cond: Atom, why: str | None) -> str | None:
        return _OF_DATA if why is None and self.differs(cond) else why

    def statement(self, statement: Statement, why: str | None) -> None:
        match statement:
            case Call():
                self.call(statement, why)
            case Load(target=target, base=base):
                if any(map(self.differs, operands(statement))):
                    self.mark((target,))
            case Store(base=base):
                if why is not None or any(map(self.differs, operands(statement)[1:])):
                    self.mark_memory(base)
            case If(cond=cond, then=then, orelse=orelse, targets=targets):
                inner = self.reason(cond, why)
                self.block(then, inner)
                self.block(orelse, inner)
                self.join((then, orelse), Yield, targets, always=inner is not None and why is None)
            case Loop():
                self.loop(statement, why)
            case Guarded():
                self.guarded(statement, why)

    def call(self, call: Call, why: str | None) -> None:
        if isinstance(call.callee, (Definition, Function)):
            self.function(call, call.callee, why)
            return
        if communicates(call.callee):
            if why is not None:
                self.problems[call] = why
            rule = rule_for(call.callee)
            if rule is None or not rule.agreed:
                self.mark(call.targets)
            return
        found, args = effects_of(call), operands(call)
        if found.reads == () and not found.fresh:
            if any(map(self.differs_in_size, args)):
                self.mark(call.targets)
            return
        if call.callee in GROWING and why is not None:
            self.grown.update(storage.find() for storage in all_memory(getattr(args[0], "type", None)))
        if not any(map(self.differs, args)):
            return
        self.mark(call.targets)
        for target in call.targets:
            self.mark_memory(target)
        written = args if may_write_anything(call) else [args[place] for place in found.writes if place < len(args)]
        for arg in written:
            self.mark_memory(arg)

    def function(self, call: Call, callee: Definition | Function, why: str | None) -> None:
        """The same in a function: its parameters are what it is given, wherever it is called."""
        if why is not None and communicates(callee):
            self.problems[call] = why
        function = callee.function if isinstance(callee, Definition) else callee
        if function is None or function in self.inside:
            self.mark(call.targets if any(map(self.differs, call.args)) else ())
            return
        self.mark(param for arg, param in zip(call.args, function.params, strict=True) if self.differs(arg))
        self.inside.append(function)
        self.block(function.body, None)
        self.inside.pop()
        self.join((function.body,), Return, call.targets, always=why is not None)
        for arg, param in zip(call.args, function.params, strict=True):
            if isinstance(arg, Var) and any(storage.find() in self.memory for storage in all_memory(param.type)):
                self.mark_memory(arg)

    def join(self, blocks: Sequence[Block], kind: type[Terminator], targets: Sequence[Var], *, always: bool) -> None:
        """Marks what blocks hand out that may differ; under a condition that may differ that is everything."""
        for block in blocks:
            for leaf in leaves(block):
                if isinstance(leaf, kind):
                    values = operands(leaf)
                    self.mark(
                        target for value, target in zip(values, targets, strict=False) if always or self.differs(value)
                    )

    def loop(self, loop: Loop, why: str | None) -> None:
        match loop.over:
            case Range(start=start, stop=stop, step=step):
                for bound in (start, stop, step):
                    why = self.reason(bound, why)
            case Items(iterable=iterable):
                if why is None and self.differs_in_size(iterable):
                    why = _OF_DATA
                if loop.index is not None and self.differs(iterable):
                    self.mark((loop.index,))
        if why is None and any(map(self.differs, _conditions(loop.body))):
            why = _OF_DATA
        self.mark(param for init, param in zip(loop.inits, loop.params, strict=True) if self.differs(init))
        self.block(loop.body, why)
        always = why is not None
        self.join((loop.body,), Continue, loop.params, always=always)
        self.join((loop.body,), Exit, loop.targets, always=always)
        pairs = zip(loop.params, loop.targets, strict=False)
        self.mark(target for param, target in pairs if always or self.differs(param))

    def guarded(self, guarded: Guarded, why: str | None) -> None:
        if guarded.handlers and why is None and any(map(_exchanges, statements_in(guarded.body))):
            why = _OF_RAISING
        blocks = [guarded.body, *(handler.body for handler in guarded.handlers)]
        for block in (*blocks, *(() if guarded.final is None else (guarded.final,))):
            self.block(block, why)
        self.join(blocks, Yield, targets_of(guarded), always=bool(guarded.handlers))


def _decides(branch: Branch) -> bool:
    """Whether there are two ways to go on: a process that raises has left the others."""
    return not any(all(isinstance(end, Raise) for end in leaves(side)) for side in (branch.then, branch.orelse))


def _conditions(body: Block) -> Iterable[Atom]:
    """What decides how an iteration ends."""
    end = body.terminator
    if isinstance(end, Branch):
        if _decides(end):
            yield end.cond
        yield from _conditions(end.then)
        yield from _conditions(end.orelse)
