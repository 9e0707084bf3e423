"""Divergence analysis: whether all processes come to the same messages.

No condition before a message may depend on the data of one process.

A value is *agreed* on if no data of a single process decide what it is: it is made of the program's constants, of
arguments that are not differentiated (numbers of processes and of steps), and of what all processes receive alike, as
the sum of ``Allreduce``. What is made of differentiated arguments, or received from one process, is not. Memory is
looked at by storage class, whatever the order of events. (Compilers for graphics processors ask the same of barriers.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from adjoint import ir
from adjoint.analysis.effects import effects, effects_of
from adjoint.analysis.memory.reachable import GROWING, may_write_anything, parts
from adjoint.analysis.messages import communicates
from adjoint.diagnostics.diagnostic import Diagnostic, diagnostic
from adjoint.ir.join import is_array, type_of_atom
from adjoint.ir.walk import key_atoms, leaves, operands, statements_in, targets_of
from adjoint.rules.registry import is_exchanged, rule_for
from adjoint.runtime import display
from adjoint.runtime.objects import make_object

_OF_DATA = "the data of each process decide whether it comes to this"
_OF_RAISING = "an exception that is handled decides whether a process comes to this"
_OF_CALLS = "a function that stays a function in the derivative exchanges messages: this calls it"


def divergent_messages(function: ir.Function, wrt: Sequence[int]) -> list[Diagnostic]:
    """The refusals of messages that some processes may come to and others not."""
    if not is_exchanged():
        return []
    statements = statements_in(function.body)
    found = [
        diagnostic("AD0312", call.span, _OF_CALLS, helps=("write it with a loop",))
        for call in statements
        if isinstance(call, ir.Call) and _is_recursive(call.callee) and communicates(call.callee)
    ]
    if not found and any(map(_exchanges, statements)):
        walk = _Walk([function.params[index] for index in wrt])
        walk.run(function.body)
        found = [diagnostic("AD0312", call.span, label) for call, label in walk.problems.items()]
    spans = {problem.labels[0].span: problem for problem in reversed(found) if problem.labels}
    return list(reversed(spans.values()))


def _exchanges(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.Call) and communicates(statement.callee)


def _is_recursive(callee: object) -> bool:
    """Whether a function stays one that is not run again as a whole."""
    return isinstance(callee, ir.Definition) and callee.checkpoints is None


Slot = tuple[ir.Storage, str | None]
"""The places of one storage class; of objects those of one field."""


def _own_slots(type_: ir.Type | None) -> tuple[Slot, ...]:
    """The slots of a reference itself."""
    match type_:
        case ir.Instance(storage=storage, fields=fields):
            return tuple([(storage.find(), name) for name in fields])
        case ir.Array(storage=storage) if not storage.written:
            return ()
        case ir.Array(storage=storage) | ir.List(storage=storage) | ir.Dict(storage=storage):
            return ((storage.find(), None),)
        case _:
            return ()


def _slots(type_: ir.Type | None) -> Iterator[Slot]:
    """The slots that can be reached from values of a type."""
    yield from _own_slots(type_)
    for part in parts(type_):
        yield from _slots(part)


class _Walk:
    """Marks what processes may not agree on, until nothing changes; then takes down what stands under that.

    A mark of a reference says that it may refer to something else on another process; a mark of a slot, that something
    else may lie there.
    """

    def __init__(self, sources: Iterable[ir.Var]) -> None:
        self.given = frozenset(sources)
        self.vars: set[ir.Atom] = {var for var in self.given if not ir.is_handle(var.type)}
        self.memory: set[Slot] = {slot for var in self.given for slot in _slots(var.type)}
        self.grown: set[ir.Storage] = set()
        """Containers of which processes may not agree how much is in them."""
        self.problems: dict[ir.Call, str] = {}
        self.inside: list[ir.Function] = []

    def run(self, body: ir.Block) -> None:
        before = -1
        while before != self.size():
            before = self.size()
            self.problems.clear()
            self.block(body, None)

    def size(self) -> int:
        return len(self.vars) + len(self.memory) + len(self.grown)

    # Questions

    def differs(self, atom: ir.Atom) -> bool:
        """Whether a value, or anything in memory that it refers to, may be another one on another process."""
        return isinstance(atom, ir.Var) and (atom in self.vars or not self.memory.isdisjoint(_slots(atom.type)))

    def becomes_another(self, value: ir.Atom, target: ir.Var) -> bool:
        """Whether a variable that is bound to a value may refer to something else, or be another number."""
        return self.differs(value) if not ir.is_handle(target.type) else value in self.vars

    def differs_in_size(self, atom: ir.Atom) -> bool:
        """Whether a value may have another shape, or number of items, on another process."""
        if not isinstance(atom, ir.Var):
            return False
        own = {storage for storage, _ in _own_slots(atom.type)}
        return not own.isdisjoint(self.grown) or (atom in self.vars and atom not in self.given)

    # The walk; ``why`` says what decides whether processes come here

    def block(self, block: ir.Block, why: str | None) -> None:
        for statement in block.statements:
            self.statement(statement, why)
        end = block.terminator
        if isinstance(end, ir.Branch):
            why = self.reason(end.cond, why) if _decides(end) else why
            self.block(end.then, why)
            self.block(end.orelse, why)

    def reason(self, cond: ir.Atom, why: str | None) -> str | None:
        return _OF_DATA if why is None and self.differs(cond) else why

    def statement(self, statement: ir.Statement, why: str | None) -> None:
        match statement:
            case ir.Call():
                self.call(statement, why)
            case ir.Load(target=target, base=base, key=key):
                named = _slots_named(base, key)
                is_view = bool(named) and is_array(base) and ir.is_handle(target.type)
                within = not self.memory.isdisjoint(named) if named else self.differs(base)
                if (within and not is_view) or base in self.vars or any(map(self.differs, key_atoms(key))):
                    self.vars.add(target)
            case ir.Store(base=base, key=key, value=value):
                if why is not None or any(map(self.differs, (value, *key_atoms(key)))):
                    self.memory.update(_slots_named(base, key))
            case ir.If(cond=cond, then=then, orelse=orelse, targets=targets):
                inner = self.reason(cond, why)
                self.block(then, inner)
                self.block(orelse, inner)
                self.join((then, orelse), ir.Yield, targets, always=inner is not None and why is None)
            case ir.Loop():
                self.loop(statement, why)
            case ir.Guarded():
                self.guarded(statement, why)

    def call(self, call: ir.Call, why: str | None) -> None:
        if isinstance(call.callee, (ir.Definition, ir.Function)):
            self.function(call, call.callee, why)
        elif communicates(call.callee):
            if why is not None:
                self.problems[call] = why
            rule = rule_for(call.callee)
            if rule is None or not rule.agreed:
                self.vars.update(call.targets)
        elif not self.made(call) and not self.grows(call, why):
            self.computed(call)

    def made(self, call: ir.Call) -> bool:
        """Whether a call makes a container; what lies in it is what it is given."""
        if call.callee is make_object:
            names, values = call.args[1], call.args[2:]
            pairs: Iterable[tuple[Any, ir.Atom]] = zip(
                names.value if isinstance(names, ir.Const) else (), values, strict=True
            )
        elif call.callee in (display.make_list, display.make_dict):
            pairs = [(None, value) for value in call.args]
        else:
            return False
        for name, value in pairs:
            if value in self.vars:
                self.memory.update(slot for slot in _own_slots(call.targets[0].type) if slot[1] == name)
        return True

    def grows(self, call: ir.Call, why: str | None) -> bool:
        """Whether a call puts something into a container."""
        if call.callee not in GROWING or not isinstance(call.args[0], ir.Var):
            return False
        slots = _own_slots(call.args[0].type)
        if why is not None:
            self.grown.update(storage for storage, _ in slots)
        if why is not None or any(
            map(self.differs if call.callee is list.extend else self.vars.__contains__, call.args[1:])
        ):
            self.memory.update(slots)
        return True

    def computed(self, call: ir.Call) -> None:
        found, args = effects_of(call), operands(call)
        if effects(call.callee).reads == () and not found.fresh:
            self.vars.update(call.targets if any(map(self.differs_in_size, args)) else ())
            return
        if not any(map(self.differs, args)):
            return
        self.vars.update(call.targets)
        written = args if may_write_anything(call) else found.written(args)
        for atom in (*call.targets, *written):
            self.memory.update(_slots(atom.type) if isinstance(atom, ir.Var) else ())

    def function(self, call: ir.Call, callee: ir.Definition | ir.Function, why: str | None) -> None:
        """The same in a function: its parameters are what it is given, wherever it is called."""
        if why is not None and communicates(callee):
            self.problems[call] = why
        function = callee.function if isinstance(callee, ir.Definition) else callee
        if function is None or function in self.inside:
            self.vars.update(call.targets if any(map(self.differs, call.args)) else ())
            return
        pairs = list(zip(call.args, function.params, strict=True))
        self.vars.update(param for arg, param in pairs if self.becomes_another(arg, param))
        self.memory.update(slot for arg, param in pairs if self.differs(arg) for slot in _slots(param.type))
        self.inside.append(function)
        self.block(function.body, None)
        self.inside.pop()
        self.join((function.body,), ir.Return, call.targets, always=why is not None)
        for arg, param in pairs:
            if isinstance(arg, ir.Var) and not self.memory.isdisjoint(_slots(param.type)):
                self.memory.update(_slots(arg.type))

    def join(
        self, blocks: Sequence[ir.Block], kind: type[ir.Terminator], targets: Sequence[ir.Var], *, always: bool
    ) -> None:
        """Marks what blocks hand out that may differ; under a condition that may differ that is everything."""
        for block in blocks:
            for leaf in leaves(block):
                if isinstance(leaf, kind):
                    pairs = zip(operands(leaf), targets, strict=False)
                    self.vars.update(target for value, target in pairs if always or self.becomes_another(value, target))

    def loop(self, loop: ir.Loop, why: str | None) -> None:
        match loop.over:
            case ir.Range(start=start, stop=stop, step=step):
                for bound in (start, stop, step):
                    why = self.reason(bound, why)
            case ir.Items(iterable=iterable):
                if why is None and self.differs_in_size(iterable):
                    why = _OF_DATA
                slots = _own_slots(type_of_atom(iterable))
                if loop.index is not None and (iterable in self.vars or not self.memory.isdisjoint(slots)):
                    self.vars.add(loop.index)
        if why is None and any(map(self.differs, _conditions(loop.body))):
            why = _OF_DATA
        self.vars.update(
            param for init, param in zip(loop.inits, loop.params, strict=True) if self.becomes_another(init, param)
        )
        self.block(loop.body, why)
        always = why is not None
        self.join((loop.body,), ir.Continue, loop.params, always=always)
        self.join((loop.body,), ir.Exit, loop.targets, always=always)
        pairs = zip(loop.params, loop.targets, strict=False)
        self.vars.update(target for param, target in pairs if always or param in self.vars)

    def guarded(self, guarded: ir.Guarded, why: str | None) -> None:
        if guarded.handlers and why is None and any(map(_exchanges, statements_in(guarded.body))):
            why = _OF_RAISING
        blocks = [guarded.body, *(handler.body for handler in guarded.handlers)]
        for block in (*blocks, *(() if guarded.final is None else (guarded.final,))):
            self.block(block, why)
        self.join(blocks, ir.Yield, targets_of(guarded), always=bool(guarded.handlers))


def _slots_named(base: ir.Atom, key: ir.Key | None) -> tuple[Slot, ...]:
    """The slots of a reference that an index or an attribute names."""
    slots = _own_slots(type_of_atom(base))
    return tuple([slot for slot in slots if slot[1] == key.name]) if isinstance(key, ir.Attribute) else slots


def _decides(branch: ir.Branch) -> bool:
    """Whether there are two ways to go on: a process that raises has left the others."""
    return not any(all(isinstance(end, ir.Raise) for end in leaves(side)) for side in (branch.then, branch.orelse))


def _conditions(body: ir.Block) -> Iterable[ir.Atom]:
    """What decides how an iteration ends."""
    end = body.terminator
    if isinstance(end, ir.Branch):
        if _decides(end):
            yield end.cond
        yield from _conditions(end.then)
        yield from _conditions(end.orelse)
